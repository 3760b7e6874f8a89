//! Choices by hand.

use super::*;
use anabranch_units::Span;

fn at_rest() -> Candidate {
    Candidate {
        active: true,
        confirmed: true,
        cwnd: 6000,
        loss: 0.01,
        srtt: Some(Span::from_millis(100)),
        min_rtt: Some(Span::from_millis(100)),
        rto: Span::from_secs(1),
        ..Candidate::default()
    }
}

fn at(seconds: u64) -> Time {
    Time::ZERO + Span::from_secs(seconds)
}

fn review(standby: &mut Standby, rule: Failover, now: Time, paths: &[Candidate]) -> Option<usize> {
    let world = World::new(now, 1500, 60_000);
    standby.review(rule, 0, &world, &paths);
    standby.path()
}

/// The primary, 0, has failed; each rule's first choice among four alternates.
#[test]
fn first_choices() {
    let ms = |ms| Some(Span::from_millis(ms));
    let failed = Candidate { active: false, ..at_rest() };
    let paths = [
        failed,
        Candidate { srtt: ms(200), min_rtt: ms(200), heard: Some(at(5)), ..at_rest() },
        Candidate { srtt: ms(90), min_rtt: ms(90), loss: 0.1, ..at_rest() },
        Candidate { loss: 0.001, srtt: ms(150), heard: Some(at(3)), ..at_rest() },
        Candidate { loss: 0.002, capacity: Some(10_000.0), heard: Some(at(4)), ..at_rest() },
    ];
    for (name, expected) in [
        ("destination", 1),
        ("next", 1),
        ("last-heard", 1),
        ("lowest-rtt", 2),
        ("least-loss", 3),
        ("highest-rate", 3),
    ] {
        let rule = Failover::from_name(name).unwrap();
        assert_eq!(rule.name(), name);
        let chosen = review(&mut Standby::default(), rule, at(9), &paths);
        assert_eq!(chosen, Some(expected), "{name}");
        // Unlike it, the others work: it is not taken.
        let mut others = paths;
        others[expected].active = false;
        let chosen = review(&mut Standby::default(), rule, at(9), &others);
        assert!(chosen.is_some_and(|path| path != expected && path != 0), "{name}");
        assert_eq!(review(&mut Standby::default(), rule, at(9), &[failed; 5]), None, "{name}");
    }
    assert_eq!(Failover::from_name("best"), None);
}

/// §8.2: one alternate, until it fails or another is worth a change.
#[test]
fn a_choice_stands_until_another_is_worth_a_change() {
    let failed = Candidate { active: false, ..at_rest() };
    let slow = |ms| Candidate { srtt: Some(Span::from_millis(ms)), ..at_rest() };
    let rule = Failover::LowestRtt;
    let mut standby = Standby::default();
    assert_eq!(review(&mut standby, rule, at(1), &[failed, slow(80), slow(90)]), Some(1));
    // 110 ms against 100: better, but not worth a change; 220 ms is, after an RTO.
    assert_eq!(review(&mut standby, rule, at(9), &[failed, slow(110), slow(100)]), Some(1));
    assert_eq!(review(&mut standby, rule, at(10), &[failed, slow(220), slow(100)]), Some(2));
    assert_eq!(review(&mut standby, rule, at(10), &[failed, slow(40), slow(100)]), Some(2));
    assert_eq!(review(&mut standby, rule, at(11), &[failed, slow(40), slow(100)]), Some(1));
    // It fails: at once.
    assert_eq!(review(&mut standby, rule, at(11), &[failed, failed, slow(100)]), Some(2));
    // Rules that do not look again.
    for rule in [Failover::Next, Failover::LastHeard] {
        let mut standby = Standby::default();
        assert_eq!(review(&mut standby, rule, at(1), &[failed, slow(1), slow(1)]), Some(1));
        let heard = Candidate { heard: Some(at(50)), ..slow(1) };
        assert_eq!(review(&mut standby, rule, at(60), &[failed, slow(900), heard]), Some(1));
    }
}

/// A path that disappoints is left for one of which nothing is known; one that does not is kept.
#[test]
fn the_unknown_is_taken_to_be_like_the_others() {
    let takes = |rate| Candidate { capacity: Some(rate), loss: 1e-6, ..at_rest() };
    let (unseen, failed) =
        (Candidate { loss: 1e-6, ..at_rest() }, |path| Candidate { active: false, ..path });
    let after = |paths: [Candidate; 3]| {
        let mut standby = Standby::default();
        standby.take(at(0), 1);
        review(&mut standby, Failover::HighestRate, at(9), &paths)
    };
    // The primary took 250 kB/s; the unknown would take 600 by its window alone.
    assert_eq!(after([failed(takes(250e3)), takes(200e3), unseen]), Some(1));
    assert_eq!(after([failed(takes(250e3)), takes(20e3), unseen]), Some(2));
    // Nothing is known of any other: it is tried.
    assert_eq!(after([failed(unseen), takes(200e3), unseen]), Some(2));
    assert_eq!(after([failed(unseen), takes(400e3), unseen]), Some(1), "not worth it");
}

/// The terms of the formula, one at a time.
#[test]
fn expected_rates_follow_the_formula() {
    let world = World::new(at(0), 1500, 60_000);
    let close = |path: Candidate, world: World, rate: f64| {
        let found = 1.0 / highest_rate::cost(&path, &world);
        assert!((found / rate - 1.0).abs() < 1e-3, "{found} octets a second, not {rate}");
    };
    // Hardly a loss: a window in each round trip.
    let clean = Candidate { loss: 1e-6, ..at_rest() };
    close(clean, world, 600_000.0);
    // 1 %: 0.1 √(4/300) + 3 √0.0075 · 0.01 · 1.0032 = 11.547 + 2.606 ms a packet.
    close(at_rest(), world, 1500.0 / 0.014_153);
    // The queue of a path in use does not count, what it takes does.
    close(Candidate { srtt: Some(Span::from_secs(3)), ..clean }, world, 600_000.0);
    close(Candidate { capacity: Some(25_000.0), ..clean }, world, 25_000.0);
    // Nor is an unknown path faster than the fastest that is known.
    close(clean, World { unseen: Some(250_000.0), ..world }, 250_000.0);
    close(Candidate { errors: 2, ..clean }, world, 150_000.0);
    // Never measured: the RTO for a round trip.
    close(Candidate { min_rtt: None, ..clean }, world, 60_000.0);
}
