//! Probes of a window that the peer has closed (RFC 9293 §3.8.6.1): when they leave.

use anabranch_endpoint::Timer;
use anabranch_units::{Span, Time};

/// The interval between zero-window probes is at most so long (RFC 9293 §3.8.6.1 leaves it open;
/// RFC 1122 practice).
const MAX_PROBE_INTERVAL: Span = Span::from_secs(60);

/// Data that would be a silly segment waits at most so long (RFC 9293 §3.8.6.2.1: 0.1 s to 1 s).
const OVERRIDE_TIMEOUT: Span = Span::from_secs(1);

/// A `Persist` has the persist timer and counts the probes since the peer last moved.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Persist {
    /// `timer` runs while data waits for the window and nothing is outstanding whose ACK could open
    /// it.
    pub timer: Timer,
    /// `due` says that a probe, or the data that waited, leaves now.
    due: bool,
    /// `doublings` counts the doublings of the interval: the probes since something new was
    /// acknowledged.
    pub doublings: u32,
    /// `silent` counts the probes since the peer acknowledged anything, be it the same again.
    pub silent: u32,
}

impl Persist {
    /// Nothing waits for the window any more, or the connection is over.
    pub fn stop(&mut self) {
        self.timer.stop();
        self.due = false;
    }

    /// The timer has expired: a probe is due.
    pub fn on_expiry(&mut self) {
        self.due = true;
    }

    /// Takes the probe that is due, if one is.
    pub fn take_due(&mut self) -> bool {
        std::mem::take(&mut self.due)
    }

    /// A probe of the closed window leaves.
    pub fn on_probe(&mut self) {
        self.doublings += 1;
        self.silent += 1;
    }

    /// Arms the timer: for the interval between probes, or, where the window `is_open` by less than is
    /// useful, for the override timeout.
    pub fn arm(&mut self, now: Time, rto: Span, is_open: bool) {
        let most = if is_open { OVERRIDE_TIMEOUT } else { MAX_PROBE_INTERVAL };
        let factor = 1 << self.doublings.min(16);
        self.timer.set(now + rto.saturating_mul(factor).min(most));
    }

    /// A window that the peer keeps confirming is probed for ever (MUST-37); true when it has been
    /// silent for as many probes as data would be sent again (§3.8.3, R2).
    pub fn is_given_up(&self, most: u32) -> bool {
        self.silent >= most
    }

    /// The peer acknowledged something, new or not.
    #[inline]
    pub fn on_answer(&mut self) {
        self.silent = 0;
    }

    /// The peer acknowledged something new.
    #[inline]
    pub fn on_progress(&mut self) {
        self.doublings = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_doubles_up_to_a_minute() {
        let mut persist = Persist::default();
        let mut intervals = Vec::new();
        for _ in 0..9 {
            persist.arm(Time::ZERO, Span::from_millis(400), false);
            intervals.push(persist.timer.deadline().as_millis());
            persist.on_probe();
        }
        assert_eq!(intervals, [400, 800, 1600, 3200, 6400, 12_800, 25_600, 51_200, 60_000]);
        persist.arm(Time::ZERO, Span::from_millis(400), true);
        assert_eq!(persist.timer.deadline().as_millis(), 1000);
    }

    /// MUST-37.
    #[test]
    fn a_peer_that_answers_is_never_given_up() {
        let mut persist = Persist::default();
        for _ in 0..100 {
            persist.on_probe();
            persist.on_answer();
        }
        assert!(!persist.is_given_up(3));
        (0..3).for_each(|_| persist.on_probe());
        assert!(persist.is_given_up(3));
    }
}
