//! HTB with transports in front of it: classes by flow, host and code point.

use anabranch_scenario::{RunOptions, RunResult, Scenario, run};

/// Four flows of each class over 10 Mbit/s; each class is named otherwise.
fn shared(a: &str, b: &str) -> RunResult {
    let text = format!(
        r#"
        duration = "40 s"
        hosts = ["one", "two", "x"]
        routers = ["r"]

        [[links]]
        ends = ["one", "r"]
        rate = "100 Mbit/s"
        delay = "5 ms"

        [[links]]
        ends = ["two", "r"]
        rate = "100 Mbit/s"
        delay = "5 ms"

        [[links]]
        ends = ["r", "x"]
        rate = "100 Mbit/s"
        delay = "5 ms"
        queue = {{ kind = "htb", classes = [
            {{ name = "root", rate = "10 Mbit/s" }},
            {{ name = "a", parent = "root", rate = "3 Mbit/s", ceil = "10 Mbit/s", quantum = "1500 B", queue = {{ limit = "50 packets" }}, {a} }},
            {{ name = "b", parent = "root", rate = "6 Mbit/s", ceil = "10 Mbit/s", quantum = "1500 B", queue = {{ kind = "red" }}, {b} }},
        ] }}

        [[flows]]
        name = "first"
        from = "one"
        to = "x"
        count = 4
        tcp = {{ dscp = "af11" }}

        [[flows]]
        name = "second"
        from = "two"
        to = "x"
        count = 4
        protocol = "sctp"
        sctp = {{ dscp = "cs1" }}
        "#
    );
    let scenario = Scenario::from_toml(&text, "htb").unwrap_or_else(|error| panic!("{error}"));
    run(&scenario, &RunOptions { check: true, ..RunOptions::default() }).unwrap()
}

/// 3.5 and 6.5 Mbit/s, of which headers take a few per cent.
#[test]
fn classes_have_their_rates_however_they_are_named() {
    for (a, b) in [
        ("flows = [\"first\"]", "flows = [\"second\"]"),
        ("flows = [\"first-0\", \"first-1\", \"first-2\", \"first-3\"]", "dscp = [\"cs1\"]"),
        ("hosts = [\"one\"]", "hosts = [\"two\"]"),
        ("dscp = [10]", "hosts = [\"two\"]"),
    ] {
        let result = shared(a, b);
        let of = |name: &str| {
            let flows = result.flows.iter().filter(|flow| flow.flow.starts_with(name));
            flows.map(|flow| flow.goodput_bps).sum::<f64>() / 1e6
        };
        let (first, second) = (of("first"), of("second"));
        assert!((3.1..3.5).contains(&first), "{a} {b}: {first} {second}");
        assert!((5.8..6.5).contains(&second), "{a} {b}: {first} {second}");
    }
}
