//! CAKE with transports in front of it: what its paper (Høiland-Jørgensen, Täht and Morton, LANMAN 2018) says
//! that it is for.

use anabranch_scenario::{RunOptions, RunResult, Scenario, run};
use anabranch_testkit::marks::record;

fn scenario(text: &str) -> RunResult {
    let scenario = Scenario::from_toml(text, "cake").unwrap();
    run(&scenario, &RunOptions { check: true, ..RunOptions::default() }).unwrap()
}

/// Goodput of all flows whose names begin so, in Mbit/s.
fn goodput(result: &RunResult, name: &str) -> f64 {
    let flows = result.flows.iter().filter(|flow| flow.flow.starts_with(name));
    flows.map(|flow| flow.goodput_bps).sum::<f64>() / 1e6
}

/// Host `one` has a flow to `x`, host `four` has four to `y`, over a bottleneck of 10 Mbit/s. Returns the part
/// of what all get that `one` gets.
fn share_of_one(isolation: &str) -> f64 {
    let result = scenario(&format!(
        r#"
        duration = "60 s"
        hosts = ["one", "four", "x", "y"]
        routers = ["r", "s"]
        links = [
            {{ ends = ["one", "r"], rate = "100 Mbit/s", delay = "5 ms" }},
            {{ ends = ["four", "r"], rate = "100 Mbit/s", delay = "5 ms" }},
            {{ ends = ["r", "s"], rate = "100 Mbit/s", delay = "5 ms", queue = {{ kind = "cake", rate = "10 Mbit/s", isolation = "{isolation}" }} }},
            {{ ends = ["s", "x"], rate = "100 Mbit/s", delay = "5 ms" }},
            {{ ends = ["s", "y"], rate = "100 Mbit/s", delay = "5 ms" }},
        ]
        flows = [
            {{ name = "one", from = "one", to = "x" }},
            {{ name = "four", from = "four", to = "y", count = 4 }},
        ]
        "#
    ));
    let (one, four) = (goodput(&result, "one"), goodput(&result, "four"));
    // Five flows that start together lose together: windows of 5 packets leave some of the rate.
    assert!(one + four > 8.0 && one + four < 9.7, "{isolation}: {one} + {four} Mbit/s");
    one / (one + four)
}

/// Hosts share alike whatever the number of their flows. One CUBIC flow alone does not use all of a half:
/// behind 5 ms of queue its window is below the path's capacity for a while after each drop.
#[test]
fn hosts_share_alike() {
    for (isolation, expected) in
        [("triple-isolate", 0.5), ("dual-srchost", 0.5), ("dual-dsthost", 0.5), ("flows", 0.2)]
    {
        let share = share_of_one(isolation);
        let what =
            format!("CAKE: share of a host with 1 CUBIC flow beside one with 4, {isolation}");
        record("Q4", &what, expected, format!("{share:.3}"), "within 0.05");
        assert!((share - expected).abs() < 0.05, "{isolation}: {share}");
    }
}

/// A modem of 10 Mbit/s down and 1 Mbit/s up with a buffer of 250 packets, and a router before it
/// with this queue. Four uploads; a probe each 20 ms. Returns the median and the 95th percentile of the probes'
/// round-trip times in milliseconds, without the 40 ms of the path, and the uploads' goodput in Mbit/s.
fn upload(at_router: &str, at_modem: &str) -> (f64, f64, f64) {
    let result = scenario(&format!(
        r#"
        duration = "60 s"
        hosts = ["home", "server"]
        routers = ["router", "modem"]
        links = [
            {{ ends = ["home", "router"], rate = "100 Mbit/s", delay = "0 ms" }},
            {{ ends = ["router", "modem"], rate = "100 Mbit/s", delay = "0 ms", queue = {at_router} }},
            {{ ends = ["modem", "server"], rate = "1 Mbit/s", delay = "20 ms", queue = {at_modem}, reverse = {{ rate = "10 Mbit/s" }} }},
        ]
        flows = [
            {{ name = "up", from = "home", to = "server", count = 4 }},
            {{ name = "ping", from = "home", to = "server", protocol = "udp", start = "10 s", traffic = {{ kind = "ping", interval = "20 ms" }} }},
        ]
        "#
    ));
    let echoes = result.datagrams.iter().find_map(|row| row.summary.round_trip.as_ref());
    let queueing = |s: f64| s * 1000.0 - 40.0;
    let trips = echoes.expect("echoes have come");
    (queueing(trips.p50), queueing(trips.p95), goodput(&result, "up"))
}

/// A fair queue before a modem that is slower never has a queue; a shaper there has it in the modem's place.
#[test]
fn latency_under_load_before_a_modem() {
    let (dumb, plain) = ("{ limit = \"250 packets\" }", "{ limit = \"1000 packets\" }");
    let fair = "{ kind = \"fq-codel\" }";
    let without = upload(plain, dumb);
    assert!(without.0 > 1500.0, "{without:?}");
    assert_eq!(upload(fair, dumb), without);
    let in_modem = upload(plain, fair);
    let shaped = upload("{ kind = \"cake\", rate = \"950 kbit/s\" }", dumb);
    let what =
        "CAKE at 95 % before a modem of 1 Mbit/s: median wait of a probe, fq-codel in the modem";
    let measured = format!("{:.1} ms", shaped.0);
    record("Q4", what, format!("{:.1} ms", in_modem.0), measured, "at most as long");
    assert!(shaped.0 <= in_modem.0 && shaped.1 <= in_modem.1, "{shaped:?} {in_modem:?}");
    assert!(in_modem.0 < 20.0 && shaped.2 > 0.9 * 0.95, "{shaped:?} {in_modem:?}");
}

/// 50 Mbit/s down and 1 Mbit/s up, where ACKs take two cells of ATM each: a download beside an upload. Returns
/// the goodput of both in Mbit/s.
fn asymmetric(filter: &str) -> (f64, f64) {
    let result = scenario(&format!(
        r#"
        duration = "60 s"
        hosts = ["home", "server"]
        routers = ["router"]
        links = [
            {{ ends = ["home", "router"], rate = "100 Mbit/s", delay = "0 ms", queue = {{ kind = "cake", rate = "1 Mbit/s", framing = "atm", overhead = 40, ack_filter = "{filter}" }}, reverse = {{ queue = {{ limit = "1000 packets" }} }} }},
            {{ ends = ["router", "server"], rate = "100 Mbit/s", delay = "20 ms", reverse = {{ queue = {{ kind = "cake", rate = "50 Mbit/s" }} }} }},
        ]
        flows = [
            {{ name = "down", from = "server", to = "home" }},
            {{ name = "up", from = "home", to = "server" }},
        ]
        "#
    ));
    (goodput(&result, "down"), goodput(&result, "up"))
}

#[test]
fn the_ack_filter_lifts_downloads_on_asymmetric_links() {
    let [off, conservative, aggressive] = ["off", "conservative", "aggressive"].map(asymmetric);
    for (filter, found) in [("conservative", conservative), ("aggressive", aggressive)] {
        let what = format!(
            "CAKE: download over 50:1 beside an upload, {filter} ACK filter (none: {:.1})",
            off.0
        );
        record("Q4", &what, "more", format!("{:.1} Mbit/s", found.0), "at least 15 %");
        // Fewer ACKs leave the upload no less.
        assert!(found.0 > 1.15 * off.0 && found.1 > 0.99 * off.1, "{filter} {found:?} {off:?}");
    }
    assert!(aggressive.0 > conservative.0, "{aggressive:?} {conservative:?}");
}
