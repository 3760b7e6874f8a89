//! Scalable and classic senders over DualPI2 (RFC 9332), with accurate ECN
//! feedback (RFC 9768).

use anabranch_scenario::{RunOptions, RunResult, Scenario, run};

fn run_text(text: &str) -> RunResult {
    let scenario = Scenario::from_toml(text, "l4s.toml").unwrap();
    run(&scenario, &RunOptions::default()).unwrap()
}

/// Mean of a series after five seconds, weighted by time.
fn mean(result: &RunResult, name: &str) -> f64 {
    let series = result.series.iter().find(|it| it.name == name).expect(name);
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
    result.flows.iter().find(|it| it.flow == flow).unwrap().bytes as f64
}

const EXAMPLE: &str = include_str!("../../../examples/l4s.toml");

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
/// `crates/tcp/tests/scalable_law.rs`, x = p W of DCTCP is (1 - p) + sqrt((1 -
/// p)^2 + (1 - p)); and of Reno sqrt(p) W = sqrt(3/2).
#[test]
fn windows_are_those_of_the_coupled_law() {
    let result = variant("\"cubic\"", "\"reno\"");
    let link = result.links.iter().find(|it| it.name == "bottleneck").unwrap();
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
