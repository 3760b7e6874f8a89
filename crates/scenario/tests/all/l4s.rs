//! Scalable and classic senders over DualPI2 (RFC 9332), with accurate ECN
//! feedback (RFC 9768).

use anabranch_scenario::{RunOptions, RunResult, Scenario, run};
use anabranch_testkit::marks::record;

fn run_text(text: &str) -> RunResult {
    let scenario = Scenario::from_toml(text, "l4s.toml").unwrap();
    run(&scenario, &RunOptions::default()).unwrap()
}

/// Mean of a series after five seconds, weighted by time.
fn mean(result: &RunResult, name: &str) -> f64 {
    let series = result.series.iter().find(|series| series.name == name).expect(name);
    let (mut sum, mut whole) = (0.0, 0.0);
    for (i, pair) in series.time_s.windows(2).enumerate() {
        if pair[0] > 5.0 {
            sum += series.value[i] * (pair[1] - pair[0]);
            whole += pair[1] - pair[0];
        }
    }
    sum / whole
}

fn bytes(result: &RunResult, flow: &str) -> f64 {
    result.flows.iter().find(|item| item.flow == flow).unwrap().bytes as f64
}

const EXAMPLE: &str = include_str!("../../../../examples/l4s.toml");

/// The example with other words in it.
fn variant(from: &str, to: &str) -> RunResult {
    assert!(EXAMPLE.contains(from), "{from}");
    run_text(&EXAMPLE.replace(from, to))
}

/// A round trip takes 12 ms without a queue. The low-latency queue marks from
/// 0.8 ms on, the classic one aims at 15 ms.
#[test]
fn the_scalable_flow_waits_for_a_millisecond_and_the_classic_for_the_target() {
    let result = run_text(EXAMPLE);
    let (scalable, classic) = (mean(&result, "scalable.srtt"), mean(&result, "classic.srtt"));
    assert!((0.012..0.0135).contains(&scalable), "{scalable}");
    assert!((0.024..0.030).contains(&classic), "{classic}");
    let sum = bytes(&result, "scalable") + bytes(&result, "classic");
    assert!(sum * 8.0 / 30.0 > 0.94 * 50e6, "{sum}");
    assert!(result.flows.iter().all(|flow| flow.retransmitted_packets == 0));
}

/// In the classic queue it waits as everybody does, and leaves others little:
/// there marks mean p'^2 to it too.
#[test]
fn under_ect0_it_has_neither_low_latency_nor_a_fair_share() {
    let result = variant("ecn_codepoint = \"ect1\"", "ecn_codepoint = \"ect0\"");
    assert!(mean(&result, "scalable.srtt") > 0.024);
    assert!(bytes(&result, "scalable") > 5.0 * bytes(&result, "classic"));
}

/// RFC 9332 §2.1 and §2.4: the base probability p' marks the scalable flow with
/// k p' and the classic with p'^2, k = 2. DualPI2 spaces its marks, so that the
/// first mark after a reduction comes after half a space: with the argument of
/// `crates/tcp/tests/all/scalable_law.rs`, x = p W of DCTCP is (1 - p) + sqrt((1 -
/// p)^2 + (1 - p)); and of Reno sqrt(p) W = sqrt(3/2).
#[test]
fn windows_are_those_of_the_coupled_law() {
    let result = variant("\"cubic\"", "\"reno\"");
    let link = result.links.iter().find(|link| link.name == "bottleneck").unwrap();
    let packets = |flow: &str| bytes(&result, flow) / 1448.0;
    let (low, classic, marked) =
        (packets("scalable"), packets("classic"), link.counters.marked as f64);
    // marked = low 2 p' + classic p'^2.
    let base = ((low * low + classic * marked).sqrt() - low) / classic;
    let window = |flow: &str| packets(flow) / 30.0 * mean(&result, &format!("{flow}.srtt"));
    let free = 1.0 - 2.0 * base;
    let law = free + (free * free + free).sqrt();
    let found = window("scalable") * 2.0 * base;
    assert!((found / law - 1.0).abs() < 0.08, "DCTCP: {found}, law {law}, p' = {base}");
    let found = window("classic") * base;
    assert!((found / 1.5_f64.sqrt() - 1.0).abs() < 0.15, "Reno: {found}, p' = {base}");
}

/// The threshold of CoDel (Linux) does for a queue of each flow what the ramp
/// does for that of low latency.
#[test]
fn a_threshold_on_flow_queues_keeps_a_scalable_flow_short() {
    let with = "kind = \"fq-codel\", ce_threshold = \"1 ms\"";
    let result = variant("kind = \"dualpi2\"", with);
    let scalable = mean(&result, "scalable.srtt");
    assert!((0.012..0.0135).contains(&scalable), "{scalable}");
}

/// As many flows of Prague as of CUBIC with classic ECN at the same round-trip time, 60 s: the ratio of
/// what they move, and the seconds that the packets of a flow of Prague wait.
fn prague_beside_cubic(mbit: u64, rtt_ms: u64, flows: u64) -> (f64, f64) {
    let result = run_text(&format!(
        r#"
        duration = "60 s"
        hosts = ["a", "b"]
        [[links]]
        ends = ["a", "b"]
        rate = "{mbit} Mbit/s"
        delay = "{} us"
        queue = {{ kind = "dualpi2" }}
        [[flows]]
        name = "prague"
        from = "a"
        to = "b"
        count = {flows}
        start_spread = "1 s"
        tcp = {{ window = "prague", ecn = "accurate", ecn_codepoint = "ect1" }}
        [[flows]]
        name = "cubic"
        from = "a"
        to = "b"
        count = {flows}
        start_spread = "1 s"
        tcp = {{ window = "cubic", ecn = "on" }}
        [[observe]]
        what = "srtt"
        "#,
        rtt_ms * 500
    ));
    let one = if flows == 1 { "prague.srtt" } else { "prague-0.srtt" };
    let waits = mean(&result, one) - rtt_ms as f64 / 1e3;
    let moved = |name: &str| {
        let all = result.flows.iter().filter(|flow| flow.flow.starts_with(name));
        all.map(|flow| flow.bytes as f64).sum::<f64>()
    };
    (moved("prague") / moved("cubic"), waits)
}

/// Less than a millisecond for Prague at every round-trip time; neither starves the other (the
/// page of the algorithm says what of 0.8 to 1.25 is reached, and why not all).
#[test]
fn prague_waits_for_less_than_a_millisecond_and_starves_nobody() {
    for rtt_ms in [5, 10, 25, 50, 100] {
        let (ratio, waits) = prague_beside_cubic(50, rtt_ms, 1);
        assert!(waits < 1e-3, "{rtt_ms} ms: {waits}");
        assert!((0.4..2.5).contains(&ratio), "{rtt_ms} ms: {ratio}");
    }
}

/// RFC 9332 §2.1 with a base probability that hardly moves, as five classic flows leave it. Bursts of a
/// packet and a queue that marks by its own law only what leaves more than a packet behind (Figure 7,
/// lines 4a and 5a) are what lets the coupling decide.
#[test]
fn five_flows_of_prague_and_five_of_cubic_share() {
    for (mbit, rtt_ms) in [(40, 20), (40, 100), (120, 50)] {
        let (ratio, _) = prague_beside_cubic(mbit, rtt_ms, 5);
        record(
            "T10",
            &format!("prague: rate over CUBIC's, 5 + 5 flows, {mbit} Mbit/s, {rtt_ms} ms"),
            1.0,
            format!("{ratio:.2}"),
            "0.8 to 1.25",
        );
        assert!((0.8..1.25).contains(&ratio), "{mbit} Mbit/s, {rtt_ms} ms: {ratio}");
    }
}

/// The rates of two Prague flows at 5 and 25 ms over one DualPI2 queue, the first over the second, after
/// ten seconds.
fn short_over_long(window: &str) -> f64 {
    let text = |seconds: u32| {
        format!(
            r#"
            duration = "{seconds} s"
            hosts = ["a", "b", "c", "d"]
            routers = ["l", "r"]
            links = [
                {{ ends = ["a", "l"], rate = "1 Gbit/s", delay = "500 us" }},
                {{ ends = ["b", "l"], rate = "1 Gbit/s", delay = "10500 us" }},
                {{ ends = ["l", "r"], rate = "50 Mbit/s", delay = "1500 us", queue = {{ kind = "dualpi2" }} }},
                {{ ends = ["r", "c"], rate = "1 Gbit/s", delay = "500 us" }},
                {{ ends = ["r", "d"], rate = "1 Gbit/s", delay = "500 us" }},
            ]
            [[flows]]
            name = "short"
            from = "a"
            to = "c"
            tcp = {{ window = {window}, ecn = "accurate", ecn_codepoint = "ect1" }}
            [[flows]]
            name = "long"
            from = "b"
            to = "d"
            tcp = {{ window = {window}, ecn = "accurate", ecn_codepoint = "ect1" }}
            "#
        )
    };
    let (before, after) = (run_text(&text(10)), run_text(&text(60)));
    let moved = |flow| bytes(&after, flow) - bytes(&before, flow);
    moved("short") / moved("long")
}

/// Under the same marks flows below 25 ms send at the same rate; with the real round-trip time, as DCTCP,
/// the shorter has several times as much.
#[test]
fn prague_flows_share_whatever_their_round_trip_times_below_25_ms() {
    let (virtual_rtt, real) = (
        short_over_long("\"prague\""),
        short_over_long("{ algorithm = \"prague\", virtual_rtt = \"real\" }"),
    );
    assert!((0.7..1.4).contains(&virtual_rtt), "{virtual_rtt}");
    assert!(real > 2.0 * virtual_rtt, "{real} against {virtual_rtt}");
}
