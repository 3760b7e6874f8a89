//! Whatever algorithms, queues, losses and outages a run has: octets arrive as
//! they were sent, packets are conserved on every link, and the run is a function
//! of scenario and seed.

mod liveness;
mod mptcp;
mod sctp;

use anabranch_scenario::{RunOptions, RunResult, Scenario, run};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

/// How many random runs, none of which is kept.
fn config() -> ProptestConfig {
    ProptestConfig { failure_persistence: None, cases: 48, ..ProptestConfig::default() }
}

/// The interfaces of both hosts, one for each path.
const PATHS: [&str; 3] = ["x", "y", "z"];

/// The first line of a scenario: hosts a and b with so many paths.
fn two_hosts(paths: usize) -> String {
    let interfaces: Vec<String> = PATHS[..paths].iter().map(|n| format!("\"{n}\"")).collect();
    let interfaces = interfaces.join(", ");
    format!(
        "hosts = [{{ name = \"a\", interfaces = [{interfaces}] }}, \
         {{ name = \"b\", interfaces = [{interfaces}] }}]\n"
    )
}

/// Impairments for each direction of two or three paths.
fn both_ways<S: Strategy<Value = String>>(
    trouble: fn() -> S,
) -> impl Strategy<Value = Vec<String>> {
    (2_usize..=3).prop_flat_map(move |n| prop::collection::vec(trouble(), 2 * n))
}

/// Runs a scenario, whose resolved form means the same, and all of whose flows end.
fn play(text: &str, seed: u64) -> Result<RunResult, TestCaseError> {
    let result = play_to_any_end(text, seed)?;
    for row in &result.flows {
        prop_assert!(row.finish_s.is_some(), "{:?}\n{}", row, text);
    }
    Ok(result)
}

/// The same where flows may fail: no octet is wrong all the same.
fn play_to_any_end(text: &str, seed: u64) -> Result<RunResult, TestCaseError> {
    let scenario = Scenario::from_toml(text, "t").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let read = Scenario::from_toml(&scenario.resolved_toml(), "r");
    prop_assert_eq!(read.as_ref(), Ok(&scenario));
    let seed = Some(seed);
    let options = RunOptions { seed, check: true, trace_hash: true, ..RunOptions::default() };
    let result = run(&scenario, &options).unwrap();
    for row in &result.flows {
        prop_assert_eq!(row.wrong_octets, 0, "{}\n{}", row.flow, text);
    }
    let again = run(&scenario, &RunOptions { check: false, ..options }).unwrap();
    prop_assert_eq!(again.run.trace_hash, result.run.trace_hash);
    Ok(result)
}
