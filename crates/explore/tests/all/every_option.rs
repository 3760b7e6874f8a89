//! Each option of each protocol with every single fault, and what a search of two faults finds in
//! a hundred thousand states.

use anabranch_explore::{Bounds, Explore, cases};

fn survives_every_fault<E: Explore>(cases: &[E]) {
    let mut states = 0;
    for case in cases {
        let report = case.explore(Bounds { faults: 1, states: 200_000, findings: 1 });
        report.assert_no_findings();
        assert_eq!(report.complete(), Some(1), "{report}");
        states += report.states;
    }
    assert!(states > 30_000, "{states} states");
}

fn survives_two<E: Explore>(cases: &[E]) {
    for case in cases.iter().step_by(5) {
        case.explore(Bounds { faults: 2, states: 5_000, findings: 1 }).assert_no_findings();
    }
}

#[test]
fn tcp_survives_every_fault() {
    survives_every_fault(&cases::tcp::few());
}

#[test]
fn tcp_survives_two_faults() {
    survives_two(&cases::tcp::few());
}

#[test]
fn sctp_survives_every_fault() {
    survives_every_fault(&cases::sctp::few());
}

#[test]
fn sctp_survives_two_faults() {
    survives_two(&cases::sctp::few());
}

#[test]
fn mptcp_survives_every_fault() {
    survives_every_fault(&cases::mptcp::few());
}

#[test]
fn mptcp_survives_two_faults() {
    survives_two(&cases::mptcp::few());
}
