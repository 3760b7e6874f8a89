//! Every window algorithm of the catalogue alone on idle links moves nine tenths
//! of them (docs/algorithms/solo.md has the numbers).

#[path = "common/solo.rs"]
mod solo;

use solo::{Case, ENOUGH, all, cases};

/// The cases that `which` takes move [`ENOUGH`], and no more than there is, but for what came before the
/// end of the start-up and was read after it, once a hole was filled.
fn check(which: impl Fn(&Case) -> bool) {
    let cases: Vec<Case> = cases().into_iter().filter(which).collect();
    assert!(!cases.is_empty());
    let outcomes = all(&cases);
    let wrong: Vec<String> = outcomes
        .iter()
        .filter(|it| !(ENOUGH..=1.05).contains(&it.part))
        .map(|it| format!("{it:?}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), outcomes.len(), wrong.join("\n"));
}

/// A window of thousands of packets, and hours of virtual time.
fn is_long(case: &Case) -> bool {
    case.mbit * case.rtt_ms > 10_000
}

#[test]
fn every_window_algorithm_alone_moves_nine_tenths_of_its_links() {
    check(|case| !is_long(case));
}

/// `cargo test --release -p anabranch-scenario --test solo -- --ignored`: minutes.
#[test]
#[ignore = "minutes in release"]
fn every_window_algorithm_alone_moves_nine_tenths_of_long_fat_links() {
    check(is_long);
}
