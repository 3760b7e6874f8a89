//! End systems: processing time and back-pressure, against closed forms.

use anabranch_scenario::{RunOptions, RunResult, Scenario, run, run_watched};

fn result(text: &str, changes: &[&str]) -> RunResult {
    let scenario = Scenario::with_overrides(text, "test.toml", changes)
        .unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions { check: true, ..RunOptions::default() };
    run(&scenario, &options).unwrap_or_else(|error| panic!("{error}"))
}

fn most_waiting(result: &RunResult, link: &str) -> f64 {
    let name = format!("{link}.queue");
    let series =
        result.series.iter().find(|series| series.name == name).expect("the queue is observed");
    series.value.iter().copied().fold(0.0, f64::max)
}

const PLAIN: &str = r#"
    hosts = ["a", "b"]
    links = [{ ends = ["a", "b"], rate = "100 Mbit/s", delay = "5 ms" }]
    observe = [{ what = "queue" }]
    [[flows]]
    name = "f"
    from = "a"
    to = "b"
    size = "4 MB"
    tcp = { delayed_ack = { count = 1, delay = "40 ms" }, timestamps = false }
"#;

/// A packet every millisecond is 1460 octets of data every millisecond.
#[test]
fn a_slow_receiver_sets_the_pace() {
    let flow = &result(PLAIN, &["hosts.b.processing={ receive = \"1 ms\" }"]).flows[0];
    let seconds = flow.finish_s.unwrap() - flow.start_s;
    let packets = 4_000_000_f64 / 1460.0;
    // The handshake before, and a little idle time before windows have grown.
    let least = packets.ceil() / 1000.0 + 0.017;
    assert!((least..least + 0.003).contains(&seconds), "{seconds} s, at least {least}");
    assert_eq!(flow.retransmitted_packets, 0);
}

/// Three milliseconds for a packet received and its ACK sent, one processor.
#[test]
fn one_processor_receives_and_sends() {
    let changes = [
        "hosts.b.processing={ receive = \"1 ms\", send = \"2 ms\" }",
        "flows.f.size=1 MB",
        // Few ACKs are left to be sent at the end.
        "flows.f.tcp.receive_buffer=29200 B",
    ];
    let flow = &result(PLAIN, &changes).flows[0];
    let rate = flow.bytes as f64 / (flow.finish_s.unwrap() - flow.start_s);
    assert!((rate / (1460.0 / 0.003) - 1.0).abs() < 0.03, "{rate} octets/s");
}

/// A round trip takes both hosts' processing once each way.
#[test]
fn processing_adds_to_the_round_trip() {
    let srtt = |changes: &[&str]| {
        let mut all = vec!["observe=[{ what = \"srtt\" }]", "flows.f.size=1 kB"];
        all.extend(changes);
        let result = result(PLAIN, &all);
        let series = result.series.iter().find(|series| series.name == "f.srtt").expect("observed");
        series.value[0]
    };
    let more = srtt(&["hosts.a.processing=300 us", "hosts.b.processing=200 us"]) - srtt(&[]);
    // SYN: send at a, receive at b; SYN-ACK: send at b, receive at a.
    assert!((more - 0.001).abs() < 1e-9, "{more} s");
}

#[test]
fn back_pressure_bounds_what_waits_and_keeps_the_line_busy() {
    for queue in ["droptail", "drr", "fq-codel", "priority"] {
        let queue = format!("links.0.queue={{ kind = \"{queue}\" }}");
        let free = result(PLAIN, &[&queue]);
        let held = result(PLAIN, &[&queue, "hosts.a.backpressure=3000 B"]);
        assert!(most_waiting(&free, "a-b") > 20.0, "{queue}");
        // More than 3000 octets: after the third packet.
        assert_eq!(most_waiting(&held, "a-b"), 3.0, "{queue}");
        assert_eq!(held.flows[0].retransmitted_packets, 0, "{queue}");
        let finish = |run_result: &RunResult| run_result.flows[0].finish_s.unwrap();
        assert!(finish(&held) < finish(&free) + 1e-3, "{queue}");
    }
}

/// With 0 B one packet waits; the line never idles between them.
#[test]
fn the_least_back_pressure_lets_one_packet_wait() {
    let held = result(PLAIN, &["hosts.a.backpressure=0 B"]);
    assert_eq!(most_waiting(&held, "a-b"), 1.0);
    let free = result(PLAIN, &["links.0.queue={ limit = \"unlimited\" }"]);
    assert_eq!(held.flows[0].finish_s, free.flows[0].finish_s);
}

/// The queue of a host is too short for slow start; back-pressure keeps the
/// bursts in the connection.
#[test]
fn back_pressure_saves_a_short_queue_of_the_host_from_overflow() {
    let short = "links.0.queue={ limit = \"4 packets\" }";
    assert!(result(PLAIN, &[short]).flows[0].retransmitted_packets > 0);
    let held = result(PLAIN, &[short, "hosts.a.backpressure=3000 B"]);
    assert_eq!(held.flows[0].retransmitted_packets, 0);
    assert_eq!(held.links[0].counters.dropped_queue, 0);
}

/// Of two connections, each is held for its own octets alone.
#[test]
fn each_connection_is_held_for_itself() {
    let two = ["flows.f.count=2", "hosts.a.backpressure=3000 B"];
    let held = result(PLAIN, &two);
    assert_eq!(most_waiting(&held, "a-b"), 6.0);
    let ends: Vec<_> = held.flows.iter().map(|flow| flow.finish_s.unwrap()).collect();
    assert!((ends[0] - ends[1]).abs() < 0.01, "{ends:?}");
}

/// What is dropped or copied before the queue, lost after it, paced, or waits
/// for the processor, is accounted for: the transfer goes on to its end.
#[test]
fn what_waits_is_forgotten_however_it_goes() {
    let mishaps = [
        "links.0.impairments=[{ kind = \"bernoulli\", rate = 0.02 }]",
        "links.0.impairments=[{ kind = \"bernoulli\", rate = 0.02, at = \"egress\" }]",
        "links.0.impairments=[{ kind = \"duplicate\", probability = 0.1 }]",
        "links.0.impairments=[{ kind = \"corrupt\", probability = 0.02 }]",
        "links.0.queue={ kind = \"codel\", target = \"1 us\", interval = \"1 ms\" }",
        "links.0.queue={ kind = \"fq-codel\", limit = \"2 packets\" }",
        "links.0.queue={ limit = \"1 packets\" }",
        "hosts.a.processing=200 us",
        "flows.f.tcp.window=bbr",
        "flows.f.tcp.window={ algorithm = \"cubic\", pacing = true }",
        "flows.f.reverse_size=1 MB",
        "links.0.schedule={ steps = [{ at = \"0 s\", rate = \"9 Mbit/s\" }, { at = \"100 ms\", rate = \"0 bit/s\" }], period = \"150 ms\" }",
    ];
    for mishap in mishaps {
        for octets in ["0 B", "3000 B"] {
            let limits = [
                format!("hosts.a.backpressure={octets}"),
                format!("hosts.b.backpressure={octets}"),
            ];
            let result = result(PLAIN, &[mishap, &limits[0], &limits[1], "flows.f.size=2 MB"]);
            assert!(result.flows[0].finish_s.is_some(), "{mishap}");
        }
    }
}

/// An association over two interfaces of each host: packets of both count for
/// the one endpoint, both interfaces share the processor, and it ends.
#[test]
fn interfaces_of_a_host_share_its_processor_and_its_back_pressure() {
    let text = r#"
        hosts = [{ name = "a", interfaces = ["x", "y"] }, { name = "b", interfaces = ["x", "y"] }]
        observe = [{ what = "queue" }]
        [[links]]
        ends = ["a.x", "b.x"]
        rate = "10 Mbit/s"
        delay = "5 ms"
        impairments = [{ kind = "outage", intervals = [{ at = "500 ms", for = "60 s" }] }]
        [[links]]
        ends = ["a.y", "b.y"]
        rate = "10 Mbit/s"
        delay = "5 ms"
        [[flows]]
        name = "f"
        from = "a"
        to = "b"
        size = "3 MB"
        protocol = "sctp"
    "#;
    let free = result(text, &[]);
    let held = result(
        text,
        &["hosts.a.backpressure=3000 B", "hosts.a.processing=20 us", "hosts.b.processing=20 us"],
    );
    for link in ["a-x-b-x", "a-y-b-y"] {
        let least = if link == "a-x-b-x" { 5.0 } else { 1.0 };
        assert!(most_waiting(&free, link) > least, "{link}");
        assert!(most_waiting(&held, link) <= 3.0, "{link}");
    }
    let carried = |i: usize| held.links[i].counters.delivered;
    assert!(carried(0) > 100 && carried(2) > 100, "both interfaces carry data");
    assert!(held.flows[0].finish_s.is_some());
}

/// A host is held until the packet before has begun to leave; when it has left by then there is
/// nothing to do any more, and the timer of the connection, which comes later, stays where it is.
/// Where a run is looked at in between changes nothing either.
#[test]
fn a_host_with_nothing_left_to_do_moves_no_timer() {
    let text = r#"
        hosts = [{ name = "a", backpressure = "100 B" }, "b"]
        routers = ["r"]
        links = [
            { ends = ["a", "r"], rate = "7500 bit/s", delay = "1 us" },
            { ends = ["r", "b"], rate = "10 kbit/s", delay = "200 s" },
        ]
        [[flows]]
        name = "f"
        from = "a"
        to = "b"
        size = "1 B"
        tcp = { rto = { initial = "20 ms", min = "20 ms" } }
    "#;
    let scenario = Scenario::from_toml(text, "test.toml").unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions { trace_hash: true, ..RunOptions::default() };
    let straight = run(&scenario, &options).expect("it runs");
    let looked_at = run_watched(&scenario, &options, &|| false).expect("it runs");
    assert_eq!(straight.run.trace_hash, looked_at.run.trace_hash);
}
