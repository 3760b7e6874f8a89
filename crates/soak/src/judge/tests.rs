//! The judge sees what is broken: what ran over a bad network is judged as if the network were
//! good.

use super::*;

/// A transfer over a link with this impairment; 0 for none.
fn over(impairment: &str) -> Scenario {
    let text = format!(
        "hosts = [\"a\", \"b\"]\n\
         [[links]]\nends = [\"a\", \"b\"]\nrate = \"1 Mbit/s\"\ndelay = \"5 ms\"\n\
         impairments = [{impairment}]\n\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nsize = \"200 kB\"\noctets = true\n"
    );
    Scenario::from_toml(&text, "t").unwrap_or_else(|error| panic!("{error}"))
}

/// What is said of a run over `bad`, taken for one over a network without impairments.
fn said_of(bad: &str) -> Vec<Promise> {
    let mut driven = drive(&over(bad), true).expect("it is built");
    driven.passengers = None;
    let mut verdict = Verdict::default();
    judge_flows(&over(""), &driven, &mut verdict);
    verdict.failures.iter().map(|failure| failure.promise).collect()
}

#[test]
fn broken_promises_are_told() {
    assert_eq!(said_of(""), []);
    let changed = "{ kind = \"middlebox\", change_every = \"10 kB\" }";
    assert_eq!(said_of(changed), [Promise::OctetsEqual]);
    // The connection gives up.
    let cut = "{ kind = \"outage\", intervals = [{ at = \"100 ms\", for = \"10 h\" }] }";
    assert_eq!(said_of(cut), [Promise::Completes]);
    // It does not, and comes late.
    let late = "{ kind = \"jitter\", mean = \"170 s\" }";
    assert_eq!(said_of(late), [Promise::Completes]);
}

/// The same network as it is: nothing is promised that cannot be kept.
#[test]
fn bad_networks_excuse() {
    for impairment in [
        "{ kind = \"middlebox\", change_every = \"10 kB\" }",
        "{ kind = \"outage\", intervals = [{ at = \"100 ms\", for = \"10 h\" }] }",
        "{ kind = \"bernoulli\", rate = 0.8 }",
    ] {
        let verdict = judge(&over(impairment).resolved_toml()).expect("a scenario");
        assert_eq!(verdict.failures, [], "{impairment}");
    }
}

#[test]
fn panics_are_told_with_their_place() {
    let failure = caught(|| panic!("on purpose")).expect_err("it panics");
    assert_eq!((failure.promise, failure.what.as_str()), (Promise::NoPanic, "on purpose"));
    assert!(failure.of.contains("judge/tests.rs:"), "{}", failure.of);
}

/// A second run of another scenario has other packets.
#[test]
fn runs_that_differ_are_told() {
    let driven = drive(&over(""), true).expect("it is built");
    let mut verdict = Verdict::default();
    compare(&over("{ kind = \"periodic\", every = 9 }"), &driven, &mut verdict);
    let said: Vec<_> = verdict.failures.iter().map(|failure| failure.promise).collect();
    assert_eq!(said, [Promise::SameBits]);
}
