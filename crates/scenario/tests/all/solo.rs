//! Every window algorithm of the catalogue alone on idle links moves nine tenths
//! of them (docs/algorithms/solo.md has the numbers).

#[path = "../common/solo.rs"]
mod cases;

use cases::{Case, Over, all, cases, sctp_cases};

/// The cases move enough, and no more than there is, but for what came before the
/// end of the start-up and was read after it, once a hole was filled.
fn check(cases: &[Case]) {
    assert!(!cases.is_empty());
    let outcomes = all(cases);
    let wrong: Vec<String> = outcomes
        .iter()
        .filter(|outcome| !(outcome.case.enough()..=1.05).contains(&outcome.part))
        .map(|outcome| format!("{outcome:?}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), outcomes.len(), wrong.join("\n"));
}

/// A window of hundreds or thousands of packets, and up to hours of virtual time.
fn is_long(case: &Case) -> bool {
    case.mbit * case.rtt_ms > 1000
}

#[test]
fn every_window_algorithm_alone_moves_nine_tenths_of_its_links() {
    check(&cases().into_iter().filter(|case| !is_long(case)).collect::<Vec<_>>());
}

/// What slow start loses beyond a link takes RFC 9260's fast retransmit seconds to repair, which the
/// quick start-up of links with a window of hundreds of packets does not have. One algorithm's clock
/// takes a minute after that (docs/algorithms/solo-sctp.md).
#[test]
fn every_window_algorithm_alone_moves_nine_tenths_of_its_links_over_sctp() {
    let is_slow = |case: &Case| {
        (case.window, case.over, case.mbit * case.rtt_ms) == ("mcubic-share", Over::Sctp(2), 1000)
    };
    let few = |case: &Case| case.mbit * case.rtt_ms <= 1000 && !is_slow(case);
    check(&sctp_cases().into_iter().filter(few).collect::<Vec<_>>());
}

/// `make soak`, or `cargo test --release -p anabranch-scenario --test all solo -- --ignored`: minutes.
#[test]
#[ignore = "minutes in release"]
fn every_window_algorithm_alone_moves_nine_tenths_of_long_fat_links() {
    check(&cases().into_iter().filter(is_long).collect::<Vec<_>>());
}
