//! Random scenarios keep every promise.

use anabranch_soak::{End, Summary, judge, scenario, shrink};

/// How many scenarios, and the number of the first; `make soak` has others.
const RUNS: u64 = 2000;
const FIRST: u64 = 1;

#[test]
fn random_scenarios_keep_every_promise() {
    let mut summary = Summary::default();
    let mut failures = Vec::new();
    for number in FIRST..FIRST + RUNS {
        let text = scenario(number).to_string();
        match judge(&text) {
            Err(error) => summary.refuse(&error.field),
            Ok(verdict) => {
                summary.add(number, &verdict);
                for failure in verdict.failures {
                    let small = shrink(&text, &failure, 200);
                    failures.push(format!("{failure}\n# number {number}\n{small}"));
                }
            }
        }
    }
    println!("{summary}");
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    // What is refused tries nothing, and so does what never gets through.
    assert!(summary.refusals() < RUNS / 10, "{:?}", summary.refused);
    let all: u64 = summary.flows.values().sum();
    for transport in ["tcp", "sctp", "mptcp"] {
        let of = |end| summary.flows.get(&(transport, end)).copied().unwrap_or(0);
        let completed = of(End::Completed);
        assert!(completed > all / 6, "{completed} of {all} flows completed over {transport}");
    }
}

/// What the judge says of a scenario is a function of the scenario, and so is the
/// scenario of a number.
#[test]
fn verdicts_can_be_had_again() {
    for number in [1, 2, 3] {
        let text = scenario(number).to_string();
        assert_eq!(scenario(number).to_string(), text);
        assert_eq!(judge(&text), judge(&text));
    }
}
