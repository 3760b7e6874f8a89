//! The example of an incast in rounds.

use anabranch_scenario::{RunOptions, RunResult, Scenario, run};

const EXAMPLE: &str = include_str!("../../../../examples/dctcp-incast.toml");

fn rounds(text: &str) -> (RunResult, Vec<f64>) {
    let scenario = Scenario::from_toml(text, "incast.toml").unwrap();
    let result = run(&scenario, &RunOptions::default()).unwrap();
    let rounds =
        result.series.iter().find(|series| series.name == "job.rounds").unwrap().value.clone();
    (result, rounds)
}

/// 16 answers of 250 kB need 33.1 ms of the client's gigabit, headers counted.
/// In the first round sixteen initial windows of ten segments meet a buffer of a
/// hundred packets: whole windows are lost and wait for timers (200 ms).
#[test]
fn rounds_of_dctcp_take_what_the_link_needs_and_lossy_ones_wait_for_timers() {
    let segments = 250_000_f64 / 1448.0;
    let least = 16.0 * (250_000.0 + segments * 52.0) * 8.0 / 1e9;
    let (result, dctcp) = rounds(EXAMPLE);
    assert_eq!(dctcp.len(), 20);
    assert!(dctcp[0] > 0.2 && result.flows.iter().any(|row| row.timeouts > 0), "{dctcp:?}");
    for taken in &dctcp[1..] {
        assert!((least..1.015 * least).contains(taken), "{taken} s, least {least}");
    }
    let (_, cubic) = rounds(&EXAMPLE.replace("ecn = \"dctcp\"\nwindow = \"dctcp\"\n", ""));
    let late = cubic[1..].iter().filter(|taken| **taken > 0.2).count();
    assert!(late >= 3, "CUBIC fills the buffer, and some window is lost whole: {cubic:?}");
}
