//! Transfers that once stood still, lost octets or outlived the clock, on networks that work.

use anabranch_scenario::{End, Outcome, RunOptions, RunResult, Scenario, run};

fn play(text: &str) -> RunResult {
    let scenario = Scenario::from_toml(text, "test").unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions { check: true, ..RunOptions::default() };
    run(&scenario, &options).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The first flow is complete, within so many seconds.
fn completes(text: &str, within_s: f64) {
    let result = play(text);
    let flow = &result.flows[0];
    assert_eq!(flow.outcome, Outcome::Complete, "{:?}", flow.why);
    assert_eq!(flow.wrong_octets, 0);
    assert!(flow.finish_s.is_some_and(|at| at < within_s), "{flow:?}");
}

/// 34,000 messages of a stream overtake those that were lost on the other path: their sequence
/// numbers span half of what there is.
#[test]
fn sctp_messages_that_overtake_each_other_by_half_of_their_numbers_arrive() {
    completes(
        r#"
        hosts = [{ name = "a", interfaces = ["i0", "i1"] }, { name = "b", interfaces = ["i0", "i1"] }]
        links = [
            { ends = ["a.i0", "b.i0"], rate = "100 Mbit/s", delay = "1046.953 ms" },
            { ends = ["a.i1", "b.i1"], rate = "1 Mbit/s", delay = "0.015 ms", queue = { kind = "dualpi2" } },
        ]
        [[flows]]
        name = "f"
        from = "a"
        to = "b"
        size = "100000 B"
        protocol = "sctp"
        sctp = { message_size = "1 B", rto = { min = "10 ms" } }
        "#,
        60.0,
    );
}

/// No chunk of a packet of 9000 octets fits a buffer of 1500: it would be sent again for ever.
#[test]
fn a_buffer_that_no_chunk_fits_is_refused() {
    let text = r#"
        hosts = ["a", "b"]
        links = [{ ends = ["a", "b"], rate = "10 Mbit/s", delay = "5 ms", mtu = "9000 B" }]
        [[flows]]
        name = "f"
        from = "a"
        to = "b"
        size = "300 kB"
        protocol = "sctp"
        sctp = { mtu = "9000 B", receive_buffer = "1500 B" }
    "#;
    let error = Scenario::from_toml(text, "test").unwrap_err().to_string();
    for part in ["flows[0].sctp.receive_buffer", "1500", "at least 8952 B"] {
        assert!(error.contains(part), "{error}");
    }
    completes(&text.replace("receive_buffer", "message_size = \"1000 B\", receive_buffer"), 10.0);
    completes(&text.replace("\"1500 B\"", "\"8952 B\""), 10.0);
}

fn two_hosts(link: &str, flow: &str) -> String {
    format!(
        "hosts = [\"a\", \"b\"]\n[[links]]\nends = [\"a\", \"b\"]\n{link}\n\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    )
}

/// Windows of 64 octets are less than the unit in which a scale of 7 tells them.
#[test]
fn tcp_with_a_window_below_its_scale_goes_on() {
    let flow = r#"
        size = "30 kB"
        tcp = { profile = "linux", mss = "64 B", initial_receive_window = "64 B" }
    "#;
    completes(&two_hosts("rate = \"5 Mbit/s\"\ndelay = \"16 ms\"", flow), 60.0);
}

/// Requests are too small to let a window of one segment grow.
#[test]
fn tcp_with_a_window_of_one_segment_answers_every_request() {
    let flow = r#"
        traffic = { kind = "requests", request = "100 B", response = "1000 B", count = 20 }
        tcp = { profile = "linux", initial_receive_window = "1460 B" }
    "#;
    completes(&two_hosts("rate = \"10 Mbit/s\"\ndelay = \"5 ms\"", flow), 10.0);
}

/// A probe of the path's MTU is acknowledged after segments were halved in an outage.
#[test]
fn tcp_that_probes_for_the_mtu_survives_an_outage() {
    for (impairments, recovery, start) in [
        (
            "{ kind = \"bernoulli\", rate = 0.05 }",
            "profile = \"freebsd\", recovery = \"newreno\"",
            "1 s",
        ),
        ("{ kind = \"duplicate\", probability = 1.0 }", "recovery = \"reno\"", "0.9 s"),
        ("{ kind = \"duplicate\", probability = 1.0 }", "recovery = \"sack\"", "0.9 s"),
        ("{ kind = \"duplicate\", probability = 1.0 }", "recovery = \"rack\"", "0.9 s"),
    ] {
        for seed in [526, 792] {
            let link = format!(
                "rate = \"500 kbit/s\"\ndelay = \"36 ms\"\nqueue = {{ limit = \"20 packets\" }}\n\
                 impairments = [{{ kind = \"outage\", intervals = [{{ at = \"{start}\", for = \"2 s\" }}] }}, {impairments}]"
            );
            let flow =
                format!("size = \"100 kB\"\ntcp = {{ mtu_probing = \"always\", {recovery} }}");
            completes(&format!("seed = {seed}\n{}", two_hosts(&link, &flow)), 60.0);
        }
    }
}

/// ACKs are lost, and nothing but one segment is out: a timeout is no round trip.
#[test]
fn tcp_that_loses_acks_keeps_its_timeout() {
    let link = r#"
        rate = "10 Mbit/s"
        delay = "10 ms"
        reverse = { impairments = [{ kind = "bernoulli", rate = 0.2 }] }
    "#;
    for (profile, within_s) in [("rfc", 80.0), ("linux", 20.0), ("freebsd", 40.0)] {
        let flow = format!(
            "size = \"200 kB\"\noctets = true\ntcp = {{ profile = \"{profile}\", send_buffer = \"1460 B\" }}"
        );
        completes(&two_hosts(link, &flow), within_s);
    }
}

/// The segment by which an end learns that it speaks TCP acknowledges what fills its buffer, or
/// opens the window.
#[test]
fn mptcp_falls_back_with_buffers_of_a_segment() {
    for (way, after, buffers) in [
        ("", 0, "send_buffer = \"1460 B\""),
        ("", 0, "send_buffer = \"2400 B\""),
        ("reverse.", 20, "receive_buffer = \"1461 B\""),
        ("reverse.", 21, "receive_buffer = \"1461 B\""),
    ] {
        let link = format!(
            "rate = \"10 Mbit/s\"\ndelay = \"5 ms\"\n\
             {way}impairments = [{{ kind = \"middlebox\", strip = [\"mptcp\"], segments = \"not-syn\", after = {after} }}]"
        );
        let flow =
            format!("size = \"50 kB\"\noctets = true\nprotocol = \"mptcp\"\ntcp = {{ {buffers} }}");
        completes(&two_hosts(&link, &flow), 60.0);
    }
}

/// A network that carries nothing any more: the flow says what it waits for, and the run ends.
#[test]
fn an_unfinished_transfer_says_why() {
    let link = |impairments: &str| {
        format!("rate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nimpairments = [{{ {impairments} }}]")
    };
    let cut = link("kind = \"outage\", intervals = [{ at = \"50 ms\", for = \"200 h\" }]");
    let limited = |text: &str| format!("time_limit = \"60 s\"\n{text}");
    let result = play(&limited(&two_hosts(&cut, "size = \"1 MB\"")));
    let flow = &result.flows[0];
    assert_eq!((flow.outcome, result.run.ended), (Outcome::Unfinished, End::TimeLimit));
    let why = flow.why.as_deref().unwrap_or_default();
    for part in
        ["of 1000000 octets", "waits for a timer at", "`from` FIN-WAIT-1", "not acknowledged"]
    {
        assert!(why.contains(part), "{why}");
    }
    // Without a limit that short it gives up, as RFC 9293 §3.8.3 has it; its peer never hears of that.
    let result = play(&two_hosts(&cut, "size = \"1 MB\""));
    assert_eq!((result.flows[0].outcome, result.run.ended), (Outcome::Ended, End::NothingPending));
    assert!(result.flows[0].why.as_deref().unwrap_or_default().contains("timed-out at from"));
}
