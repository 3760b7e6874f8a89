//! TCP: our stack and the kernel's, both roles.

use crate::support::{Case, cases, machine, run};
use anabranch_scenario::live::LiveResult;

const LOSSY: &str = r#"impairments = [{ kind = "bernoulli", rate = 0.01 }]"#;
const REORDERING: &str = r#"impairments = [
    { kind = "bernoulli", rate = 0.005 },
    { kind = "reorder", probability = 0.03, extra = "12 ms" },
    { kind = "duplicate", probability = 0.01 },
]"#;

/// Two kernels, whose packets only the network is ours.
#[test]
fn a_kernel_sends_to_a_kernel() {
    if !machine() {
        return;
    }
    let run = run(r#"
        hosts = [{ name = "a", external = true }, { name = "b", external = true }]
        [[links]]
        ends = ["a", "b"]
        rate = "20 Mbit/s"
        delay = "10 ms"
        queue = { kind = "droptail", limit = "40 packets" }
        impairments = [{ kind = "periodic", every = 100 }]
        [[flows]]
        name = "f"
        from = "a"
        to = "b"
        size = "1 MB"
        [[observe]]
        what = "cwnd"
        "#);
    let flow = &run.result.flows[0];
    assert_eq!((flow.bytes, flow.wrong_octets, flow.closed), (1_000_000, 0, Some("normal")));
    // The link cannot be faster than it is: 691 segments of 1500 octets and two
    // round trips.
    assert!(flow.finish_s.unwrap() > 691.0 * 1500.0 * 8.0 / 20e6 + 0.03, "{flow:?}");
    let link = &run.result.links[0].counters;
    let dropped = link.dropped_loss + link.dropped_queue;
    assert!(link.dropped_loss >= 6 && flow.retransmitted_packets >= dropped, "{flow:?} {link:?}");
    assert_eq!(run.kernel_senders, ["f"]);
    let [a, b] = [&run.ports[0], &run.ports[1]];
    assert_eq!(a.name, "tun0 of a");
    // At most the last ACKs were still under way.
    assert!(a.counters.entered - dropped - b.counters.left <= 2, "{a:?} {b:?}");
    assert_eq!((a.counters.refused, b.counters.refused, a.counters.ignored), (0, 0, 0));
    let cwnd = run.result.series.iter().find(|series| series.name == "f.cwnd").unwrap();
    assert_eq!(cwnd.value.iter().find(|item| **item > 0.0), Some(&(10.0 * 1448.0)));
    assert!(cwnd.value.iter().any(|item| *item > 20.0 * 1448.0));
    assert_eq!(run.precision.lateness.count(), a.counters.left + b.counters.left);
}

/// Flows of one kernel have the window algorithms that the scenario says, each its own.
#[test]
fn each_flow_of_a_kernel_has_its_own_window_algorithm() {
    if !machine() {
        return;
    }
    let flow = |name: &str, window: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\nfrom = \"a\"\nto = \"b\"\nsize = \"100 kB\"\n\
             tcp = {{ window = \"{window}\" }}\n"
        )
    };
    let run = run(&(r#"
        hosts = [{ name = "a", external = true }, { name = "b", external = true }]
        [[links]]
        ends = ["a", "b"]
        rate = "20 Mbit/s"
        delay = "10 ms"
        "#
    .to_owned()
        + &flow("first", "cubic")
        + &flow("second", "reno")));
    let senders = run.sockets.iter().filter(|socket| socket.host == "a");
    let windows: Vec<_> = senders
        .map(|socket| (socket.flow.as_str(), socket.congestion_control.as_deref()))
        .collect();
    assert_eq!(windows, [("first", Some("cubic")), ("second", Some("reno"))]);
}

/// The same over IPv6: kernels, and ours with either, ECN and losses.
#[test]
fn tcp_crosses_over_ipv6() {
    if !machine() {
        return;
    }
    let ecn = r#"queue = { kind = "codel", ecn = true }"#;
    let list = [
        Case::ours("ours-loss", LOSSY, "recovery = \"rack\""),
        Case::ours("ours-reordering", REORDERING, "recovery = \"sack\""),
        Case::ours("ours-ecn", ecn, "ecn = \"on\""),
        Case::kernels("kernels-loss", LOSSY, ""),
        Case::kernels("kernels-ecn", ecn, "ecn = \"on\""),
    ];
    let run = run(&format!("ip = 6\n{}", cases(&list)));
    check_all(&list, &run);
    for port in &run.ports {
        assert_eq!((port.counters.ignored, port.counters.refused), (0, 0), "{port:?}");
    }
    for (i, case) in list.iter().enumerate().filter(|(_, item)| item.name.starts_with("kernels")) {
        // Segments of a kernel fill the packets.
        let way = &run.result.links[2 * i].counters;
        let least = case.bytes.div_ceil(1428);
        assert!((least..least + 60).contains(&way.received), "{}: {way:?}", case.name);
    }
    let error = run.result.flows.iter().find(|flow| flow.wrong_octets > 0);
    assert_eq!(error, None);
}

#[test]
fn ipv6_needs_its_least_mtu() {
    let text = "ip = 6\nhosts = [{ name = \"a\", external = true }, \"b\"]\n\
                links = [{ ends = [\"a\", \"b\"], rate = \"1 Mbit/s\", delay = \"1 ms\", mtu = \"1000 B\" }]\n\
                flows = [{ name = \"f\", from = \"a\", to = \"b\", size = \"1 kB\" }]";
    assert!(refusal(text).contains("at least 1280 B in a live run over IPv6"));
}

/// Of links with 1000 octets those are refused that IPv6 may cross: the third leads from a
/// router of such an interface, the first does not.
#[test]
fn links_of_ipv4_alone_may_have_less() {
    let text = |mtus: [u32; 4]| {
        let ends = [("a.x", "b.x"), ("a.y", "r"), ("r", "s"), ("s", "b.y")];
        let links = ends.iter().zip(mtus).map(|((from, to), mtu)| {
            format!(
                "{{ ends = [\"{from}\", \"{to}\"], rate = \"1 Mbit/s\", delay = \"1 ms\", \
                 mtu = \"{mtu} B\" }}"
            )
        });
        let links: Vec<_> = links.collect();
        let hosts = ["a", "b"].map(|name| {
            format!(
                "{{ name = \"{name}\", external = true, \
                 interfaces = [\"x\", {{ name = \"y\", ip = 6 }}] }}"
            )
        });
        format!(
            "hosts = [{}]\nrouters = [\"r\", \"s\"]\nlinks = [{}]\n\
             flows = [{{ name = \"f\", from = \"a\", to = \"b\", size = \"1 kB\" }}]",
            hosts.join(", "),
            links.join(", ")
        )
    };
    let said = refusal(&text([1000, 1500, 1000, 1500]));
    assert!(said.contains("field `links[2].mtu`: value `1000`"), "{said}");
    let said = refusal(&text([1000, 1500, 1500, 1279]));
    assert!(said.contains("field `links[3].mtu`: value `1279`"), "{said}");
}

fn refusal(text: &str) -> String {
    let scenario = anabranch_scenario::Scenario::from_toml(text, "t").unwrap();
    let options = anabranch_scenario::live::LiveOptions::default();
    anabranch_scenario::live::live(&scenario, &options, |_| ()).unwrap_err().to_string()
}

/// Everything arrived, at both ends of each case.
fn check_all(cases: &[Case], live_result: &LiveResult) {
    for (case, flow) in cases.iter().zip(&live_result.result.flows) {
        assert_eq!((flow.bytes, flow.wrong_octets), (case.bytes, 0), "{flow:?}");
        assert!(flow.finish_s.is_some() && flow.established, "{flow:?}");
    }
}

/// Our TCP sends to the kernel's with each scheme of loss recovery, and hears
/// the kernel's ACKs with each set of options.
#[test]
fn our_tcp_sends_to_a_kernel() {
    if !machine() {
        return;
    }
    let mut list = Vec::new();
    for scheme in
        ["tahoe", "reno", "newreno", "sack", "fack", "rack", "decoupled", "decoupled-rack"]
    {
        let options = format!("recovery = \"{scheme}\"");
        list.push(Case::ours(&format!("{scheme}-loss"), LOSSY, &options));
        list.push(Case::ours(&format!("{scheme}-reordering"), REORDERING, &options));
    }
    for window in ["cubic", "bbr", "highspeed", "westwood", "vegas", "dctcp"] {
        list.push(Case::ours(window, LOSSY, &format!("window = \"{window}\"")));
    }
    for (name, options) in [
        ("plain", "sack = false, timestamps = false, window_scale = false, recovery = \"newreno\""),
        ("no-timestamps", "timestamps = false"),
        ("no-scale", "window_scale = false"),
        ("dsack", "dsack = true, recovery = \"rack\""),
        ("linux", "profile = \"linux\""),
        ("freebsd", "profile = \"freebsd\""),
    ] {
        list.push(Case::ours(name, LOSSY, options));
    }
    let run = run(&cases(&list));
    check_all(&list, &run);
    for (case, flow) in list.iter().zip(&run.result.flows) {
        assert!(flow.retransmitted_packets > 0, "{}: {flow:?}", case.name);
    }
    assert!(run.kernel_senders.is_empty());
}

/// The kernel's TCP sends to ours.
#[test]
fn a_kernel_sends_to_our_tcp() {
    if !machine() {
        return;
    }
    let mut list = Vec::new();
    for window in ["cubic", "reno", "bbr"] {
        for (name, impairments) in [("loss", LOSSY), ("reordering", REORDERING)] {
            let options = format!("window = \"{window}\", recovery = \"rack\", dsack = true");
            list.push(Case::kernels(&format!("{window}-{name}"), impairments, &options));
        }
    }
    for (name, options) in [
        ("plain", "sack = false, timestamps = false, window_scale = false, recovery = \"newreno\""),
        ("no-timestamps", "timestamps = false"),
        ("no-sack", "sack = false, recovery = \"newreno\""),
        ("no-scale", "window_scale = false"),
        ("small-buffer", "receive_buffer = \"20 kB\""),
    ] {
        list.push(Case::kernels(name, LOSSY, options));
    }
    let run = run(&cases(&list));
    check_all(&list, &run);
    let retransmitting =
        run.result.flows.iter().filter(|flow| flow.retransmitted_packets > 0).count();
    assert_eq!(retransmitting, list.len());
    assert_eq!(run.kernel_senders.len(), list.len());
}

/// A queue that marks instead of dropping, between stacks that agree on ECN: one
/// end's marks are the other's reductions.
#[test]
fn marks_are_echoed_and_obeyed() {
    if !machine() {
        return;
    }
    let codel = r#"queue = { kind = "codel", limit = "500 packets", ecn = true }"#;
    let on = "ecn = \"on\"";
    let list = [Case::ours("ours", codel, on), Case::kernels("kernels", codel, on)];
    let list = list.map(|case| case.of(2_500_000));
    let run = run(&cases(&list));
    check_all(&list, &run);
    for (i, case) in list.iter().enumerate() {
        let link = &run.result.links[2 * i].counters;
        assert!(link.marked > 0, "{}: {link:?}", case.name);
        // Control packets are not ECN-capable, data is.
        assert!(link.dropped_aqm <= 2 && link.dropped_queue == 0, "{}: {link:?}", case.name);
    }
}

/// Streams in both directions at once, and requests with responses, between our
/// applications over either stack.
#[test]
fn traffic_of_all_kinds_crosses() {
    if !machine() {
        return;
    }
    let run = run(r#"
        hosts = [{ name = "a", external = true }, "b"]
        [[links]]
        ends = ["a", "b"]
        rate = "20 Mbit/s"
        delay = "5 ms"
        [[flows]]
        name = "both"
        from = "a"
        to = "b"
        size = "400 kB"
        reverse_size = "300 kB"
        [[flows]]
        name = "requests"
        from = "b"
        to = "a"
        traffic = { kind = "requests", request = "200 B", response = "20 kB", count = 8 }
        [[flows]]
        name = "constant"
        from = "a"
        to = "b"
        start = "100 ms"
        size = "50 kB"
        traffic = { kind = "constant", rate = "1 Mbit/s", chunk = "1 kB" }
        [[observe]]
        what = "responses"
        flow = "requests"
        "#);
    let moved = |name: &str| {
        let flow = run.result.flows.iter().find(|flow| flow.flow == name).unwrap();
        assert_eq!(flow.wrong_octets, 0, "{flow:?}");
        (flow.bytes, flow.reverse_bytes, flow.finish_s.unwrap())
    };
    let (bytes, reverse, _) = moved("both");
    assert_eq!((bytes, reverse), (400_000, 300_000));
    let (bytes, reverse, _) = moved("requests");
    assert_eq!((bytes, reverse), (8 * 200, 8 * 20_000));
    let (bytes, _, finish) = moved("constant");
    // 50 kB at 1 Mbit/s: 49 times 8 ms, and the way.
    assert!(bytes == 50_000 && (0.397..0.6).contains(&(finish - 0.1)), "{finish}");
    let responses = &run.result.series[0];
    assert_eq!(responses.value.len(), 8);
    assert!(responses.value.iter().all(|item| *item > 0.010), "{responses:?}");
}

/// A router that holds back ACKs and a queue that drops early, between kernels.
#[test]
fn a_regulator_and_an_aqm_stand_between_kernels() {
    if !machine() {
        return;
    }
    let run = run(r#"
        hosts = [{ name = "a", external = true }, { name = "b", external = true }]
        routers = ["r", "s"]
        [[links]]
        ends = ["a", "r"]
        rate = "100 Mbit/s"
        delay = "1 ms"
        [[links]]
        ends = ["r", "s"]
        rate = "10 Mbit/s"
        delay = "10 ms"
        queue = { kind = "droptail", limit = "60 packets" }
        regulator = { law = "threshold-linear", max_delay = "60 ms" }
        reverse = { queue = { kind = "codel", limit = "200 packets" } }
        [[links]]
        ends = ["s", "b"]
        rate = "100 Mbit/s"
        delay = "1 ms"
        [[flows]]
        name = "regulated"
        from = "a"
        to = "b"
        size = "2 MB"
        [[flows]]
        name = "managed"
        from = "b"
        to = "a"
        size = "2 MB"
        "#);
    for flow in &run.result.flows {
        assert_eq!((flow.bytes, flow.wrong_octets, flow.closed), (2_000_000, 0, Some("normal")));
    }
    let regulator = &run.result.regulators[0].counters;
    assert!(regulator.received > 100 && regulator.delayed > 0, "{regulator:?}");
    let managed = run.result.links.iter().find(|link| link.name == "s-r").unwrap();
    assert!(managed.counters.dropped_aqm > 0, "{:?}", managed.counters);
}

/// Bursts over a link that never waits: an ACK for every second segment of a
/// kernel, and with the offload for many; a kernel, which takes together what
/// comes while it is busy, acknowledges with the offload no more often.
#[test]
fn segments_found_together_are_answered_once() {
    if !machine() {
        return;
    }
    let acks_per_segment = |from: &str, to: &str, offload: bool| {
        let run = run(&format!(
            r#"
            hosts = [
                {{ name = "a", external = true, receive_offload = {offload} }},
                {{ name = "b", receive_offload = {offload} }},
            ]
            [[links]]
            ends = ["a", "b"]
            rate = "100 Gbit/s"
            delay = "0 s"
            queue = {{ limit = "unlimited" }}
            [[flows]]
            name = "f"
            from = "{from}"
            to = "{to}"
            size = "3 MB"
            "#
        ));
        let flow = &run.result.flows[0];
        // Who closes first may be in TIME-WAIT at the end.
        let closed = Some("normal").filter(|_| from == "a");
        assert_eq!((flow.bytes, flow.wrong_octets), (3_000_000, 0));
        assert!(closed.is_none() || flow.closed == closed, "{:?}", flow.closed);
        let counters = run.ports[0].counters;
        assert_eq!((counters.ignored, counters.refused), (0, 0), "{:?}", run.ports[0]);
        let (a, b) = (counters.entered as f64, counters.left as f64);
        assert!(a.max(b) >= 2055.0, "each segment counts: {counters:?}");
        a.min(b) / a.max(b)
    };
    let (plain, together) = (acks_per_segment("a", "b", false), acks_per_segment("a", "b", true));
    assert!(plain > 0.45 && together < 0.25, "{plain} {together}");
    let together = acks_per_segment("b", "a", true);
    assert!(together < 0.3, "{together}");
}
