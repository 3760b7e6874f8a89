//! Every built-in algorithm, and controllers that break one invariant each.

use super::*;
use anabranch_congestion::{
    ALGORITHMS, Acked, Algorithm, Cause, CongestionEvent, Controller, PathView,
};
use anabranch_custom::Failure;
use anabranch_units::Time;
use std::sync::atomic::{AtomicU64, Ordering};

const MSS: u64 = event::MSS;

#[test]
fn every_built_in_algorithm_keeps_all() {
    for info in ALGORITHMS {
        let algorithm = Algorithm::from_name(info.name).unwrap();
        let build = |initial, ssthresh| algorithm.build(initial, ssthresh);
        let broken = check(&build, &Effort::default());
        assert!(broken.is_empty(), "{}: {broken:#?}", info.name);
    }
}

/// Reno in whole octets, but for one thing.
struct Broken {
    how: Invariant,
    cwnd: u64,
    ssthresh: u64,
    before: u64,
}

static CALLS: AtomicU64 = AtomicU64::new(0);

impl Controller for Broken {
    fn on_sent(&mut self, _now: Time, _bytes: u64, _path: &PathView) {
        if self.how == Invariant::SentDoesNotRaise {
            self.cwnd += 1;
        }
    }

    fn on_ack(&mut self, acked: &Acked, path: &PathView) {
        if path.app_limited && self.how != Invariant::AppLimited {
            return;
        }
        self.cwnd += match self.how {
            Invariant::Growth => acked.bytes * path.mss,
            Invariant::Deterministic => CALLS.fetch_add(1, Ordering::Relaxed) % 2,
            _ if self.cwnd < self.ssthresh => acked.bytes.min(path.mss),
            _ => (path.mss * path.mss / self.cwnd).max(1),
        };
    }

    fn on_congestion(&mut self, event: &CongestionEvent, path: &PathView) {
        self.before = self.cwnd;
        self.ssthresh = (path.in_flight / 2).max(2 * MSS);
        self.cwnd = self.cwnd.min(self.ssthresh);
        if event.cause == Cause::Timeout {
            self.cwnd = MSS;
        }
        match (self.how, event.cause) {
            (Invariant::NoException, Cause::EcnMark) => {
                Failure::new("mine", "nowhere", "no marks here").raise()
            }
            (Invariant::Finite, Cause::Timeout) => self.cwnd = u64::MAX,
            (Invariant::OneSegment, _) => self.cwnd = self.before / 2,
            (Invariant::LossDoesNotRaise, Cause::Loss) => {
                self.cwnd = self.ssthresh + path.in_flight
            }
            (Invariant::TimeoutReduces, Cause::Timeout) => self.cwnd = self.before,
            (Invariant::Threshold, _) => self.ssthresh = path.in_flight / 2,
            _ => {}
        }
    }

    fn on_undo(&mut self) {
        match self.how {
            Invariant::UndoRestores => self.cwnd = MSS,
            _ => self.cwnd = self.cwnd.max(self.before),
        }
    }

    fn on_idle(&mut self, initial: u64) {
        match self.how {
            Invariant::IdleDoesNotRaise => self.cwnd = initial,
            _ => self.cwnd = self.cwnd.min(initial),
        }
    }

    fn window(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }
}

#[test]
fn each_invariant_is_found_broken_by_few_events() {
    for how in Invariant::ALL {
        let build = |cwnd, ssthresh: u64| {
            Congestion::Custom(Box::new(Broken { how, cwnd, ssthresh, before: 0 }))
        };
        let broken = check(&build, &Effort::default());
        let found: Vec<_> = broken.iter().map(|broken| broken.invariant).collect();
        assert!(found.contains(&how), "{how:?}: {broken:#?}");
        let violation = broken.iter().find(|broken| broken.invariant == how).unwrap();
        assert!(violation.steps.len() <= 4, "{how:?}: {violation:#?}");
        // Only a broken window can break more than one.
        assert!(found.len() == 1 || how == Invariant::OneSegment, "{how:?}: {broken:#?}");
    }
}

#[test]
fn the_same_seed_finds_the_same() {
    let build = |cwnd, ssthresh: u64| {
        let how = Invariant::LossDoesNotRaise;
        Congestion::Custom(Box::new(Broken { how, cwnd, ssthresh, before: 0 }))
    };
    let effort = Effort { seed: 7, ..Effort::default() };
    assert_eq!(check(&build, &effort), check(&build, &effort));
}
