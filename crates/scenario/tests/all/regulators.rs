//! Regulators with TCP: what they save, what they cost, and what is refused.

use anabranch_scenario::{RunOptions, RunResult, Scenario, run};
use anabranch_testkit::marks::record;

/// A flow over a - r - s - b; r-s has `rate`, 30 ms, a queue of `limit` and what
/// `more` says.
fn path(limit: &str, more: &str, tcp: &str) -> Scenario {
    let text = format!(
        r#"
        duration = "40 s"
        hosts = ["a", "b"]
        routers = ["r", "s"]
        [[links]]
        ends = ["a", "r"]
        rate = "100 Mbit/s"
        delay = "50 us"
        [[links]]
        ends = ["r", "s"]
        rate = "10 Mbit/s"
        delay = "30 ms"
        queue = {{ limit = "{limit}" }}
        {more}
        [[links]]
        ends = ["s", "b"]
        rate = "100 Mbit/s"
        delay = "1 ms"
        [[flows]]
        name = "f"
        from = "a"
        to = "b"
        tcp = {{ initial_window = "2 packets", receive_buffer = "256 KiB", {tcp} }}
        "#
    );
    Scenario::from_toml(&text, "path.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn result(scenario: &Scenario) -> RunResult {
    run(scenario, &RunOptions { check: true, ..RunOptions::default() }).unwrap()
}

/// Packets dropped in front of r-s.
fn overflow(result: &RunResult) -> u64 {
    let link = result.links.iter().find(|link| link.name == "r-s").expect("the link r-s");
    link.counters.dropped_queue
}

const BUCKET: &str = "regulator = { law = \"ack-bucket\" }";

#[test]
fn an_ack_bucket_makes_few_segments_as_good_as_an_infinite_buffer() {
    let reno = "window = \"reno\"";
    let each = "window = \"reno\", delayed_ack = { count = 1, delay = \"40 ms\" }";
    let cubic = "window = \"cubic\"";
    for (name, tcp) in [("Reno", reno), ("Reno, no delayed ACKs", each), ("CUBIC", cubic)] {
        let infinite = result(&path("unlimited", "", tcp));
        let plain = result(&path("8 packets", "", tcp));
        let bucket = result(&path("8 packets", BUCKET, tcp));
        let ratio = bucket.flows[0].bytes as f64 / infinite.flows[0].bytes as f64;
        assert!(overflow(&plain) > 0, "the buffer is too small without a regulator");
        assert_eq!((overflow(&bucket), bucket.flows[0].retransmitted_packets), (0, 0), "{tcp}");
        let name = format!("throughput with 8 packets of buffer / infinite, {name}");
        record("bucket", &name, 1, format!("{ratio:.3}"), "0.99 and no loss");
        assert!(ratio >= 0.99, "{tcp}: {ratio}");
    }
}

#[test]
fn where_a_rate_is_granted_by_schedule_the_bucket_follows_it() {
    let schedule = "schedule = { steps = [{ at = \"0 s\", rate = \"10 Mbit/s\" }, \
                    { at = \"500 ms\", rate = \"4 Mbit/s\" }], period = \"1 s\" }\n";
    let tcp = "window = \"reno\"";
    let infinite = result(&path("unlimited", schedule, tcp));
    let bucket = result(&path("12 packets", &format!("{schedule}{BUCKET}"), tcp));
    let ratio = bucket.flows[0].bytes as f64 / infinite.flows[0].bytes as f64;
    record(
        "bucket",
        "throughput with 12 packets / infinite, Reno, 10 and 4 Mbit/s in turn",
        1,
        format!("{ratio:.3}"),
        "0.99 and no loss",
    );
    assert_eq!(overflow(&bucket), 0);
    assert!(ratio >= 0.99, "{ratio}");
}

#[test]
fn threshold_linear_trades_overflow_for_delay_of_acks() {
    let tcp = "window = \"reno\"";
    let plain = result(&path("60 packets", "", tcp));
    let linear = "regulator = { law = \"threshold-linear\", low = 0.2, high = 0.8, \
                  max_delay = \"300 ms\" }";
    let regulated = result(&path("60 packets", linear, tcp));
    assert!(overflow(&plain) > 0);
    assert_eq!(overflow(&regulated), 0);
    assert!(regulated.flows[0].bytes >= plain.flows[0].bytes);
    let counters = &regulated.regulators[0].counters;
    assert_eq!((regulated.regulators[0].name.as_str(), counters.is_conserved()), ("r-s", true));
    assert!(counters.delayed > 1000 && counters.longest_delay.as_millis() <= 300, "{counters:?}");
    assert!(plain.regulators.is_empty());
}
