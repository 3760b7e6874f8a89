//! Whatever algorithms, queues, losses and outages a run has: octets arrive as
//! they were sent, packets are conserved on every link, and the run is a function
//! of scenario and seed.

mod mptcp;
mod sctp;

use anabranch_scenario::{RunOptions, RunResult, Scenario, run};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

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
