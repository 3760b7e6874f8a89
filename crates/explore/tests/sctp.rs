//! SCTP: each option with every single fault, and what a search of two faults finds in a
//! hundred thousand states.

use anabranch_explore::{Bounds, Explore, cases};

#[test]
fn each_option_survives_every_fault() {
    let mut states = 0;
    for case in cases::sctp::few() {
        let report = case.explore(Bounds { faults: 1, states: 200_000, findings: 1 });
        report.assert_no_findings();
        assert_eq!(report.complete(), Some(1), "{report}");
        states += report.states;
    }
    assert!(states > 30_000, "{states} states");
}

#[test]
fn two_faults_do_no_harm() {
    for case in cases::sctp::few().iter().step_by(5) {
        case.explore(Bounds { faults: 2, states: 5_000, findings: 1 }).assert_no_findings();
    }
}
