//! Decides which acknowledgments wait, and for how long, as Linux does; RFC
//! 5681 §4.2 leaves it open within half a second.
//!
//! - *Quick*: the first segments, and those after a gap longer than a
//!   retransmission timeout, are acknowledged at once: the peer may be in slow
//!   start. So are those by which the advertised window grows, for as long as it
//!   does (`window_growth.rs`); they leave the count as it was.
//! - *Interactive*: once data has left soon after data came, the application
//!   is taken to answer: acknowledgments wait for the answer to carry them,
//!   however many quick ones are left. So do those of the peer's FIN.
//! - Otherwise one that waits leaves when more than a full segment is not
//!   acknowledged, when the user has read all of a short one, or after a time
//!   that follows the gaps between the peer's segments, 40 ms at first.

use anabranch_units::{Span, Time};

/// Time that an acknowledgment waits at first (`TCP_ATO_MIN`).
const LEAST: Span = Span::from_millis(40);

/// Time that an acknowledgment waits at most (`TCP_DELACK_MAX`).
const MOST: Span = Span::from_millis(200);

/// The peer's segments are this large until larger ones come (RFC 9293
/// §3.7.1), octets.
pub(crate) const SEGMENT: u64 = 536;

/// Time that an acknowledgment waits before the first data: up to the next tick of a clock of 1 ms.
const TICK: Span = Span::from_millis(1);

/// The state of the decision.
#[derive(Clone, Debug)]
pub(crate) struct AckTiming {
    /// Segments that are acknowledged at once when the peer starts.
    most_quick: u32,
    /// How many more segments are acknowledged at once; at most `most_quick`.
    quick: u32,
    /// The application answers soon.
    interactive: bool,
    /// Time that an acknowledgment waits; zero before the first data.
    delay: Span,
    /// Time at which the peer's last data came; at first the end of the handshake.
    received_at: Time,
    /// What the peer sends in full segments, octets.
    segment: u64,
    /// Short segments since the last acknowledgment, up to 2.
    short: u8,
    /// Something is to be acknowledged.
    owed: bool,
}

impl AckTiming {
    /// Up to `most_quick` segments are acknowledged at once.
    pub fn new(most_quick: u32) -> AckTiming {
        AckTiming {
            most_quick,
            quick: 0,
            interactive: false,
            delay: Span::ZERO,
            received_at: Time::ZERO,
            segment: SEGMENT,
            short: 0,
            owed: false,
        }
    }

    /// Octets of the peer's full segments.
    pub fn segment(&self) -> u64 {
        self.segment
    }

    /// The handshake has ended at this time.
    pub fn on_established(&mut self, now: Time) {
        self.received_at = now;
    }

    /// `len` octets of data came into a window of `window`; `pushed`: with PSH.
    pub fn on_data(&mut self, now: Time, len: u64, pushed: bool, window: u64, rto: Span) {
        self.owed = true;
        if len >= self.segment {
            let full = len == self.segment;
            self.segment = len;
            if pushed && full {
                self.short = self.short.max(1);
            }
        } else {
            self.short = (self.short + 1).min(2);
        }
        let gap = now.saturating_since(self.received_at);
        if self.delay == Span::ZERO {
            self.quicken(window);
            self.delay = LEAST;
        } else if gap <= LEAST / 2 {
            self.delay = self.delay / 2 + LEAST / 2;
        } else if gap < self.delay {
            self.delay = (self.delay / 2 + gap).min(rto);
        } else if gap > rto {
            self.quicken(window);
        }
        self.received_at = now;
    }

    fn quicken(&mut self, window: u64) {
        let segments = (window / (2 * self.segment)).max(2);
        let quick = segments.min(self.most_quick as u64) as u32;
        self.quick = self.quick.max(quick);
    }

    /// Something came out of order or twice: the peer repairs. Or the
    /// handshake is over, whose acknowledgment waits for what is written.
    pub fn on_irregular(&mut self, window: u64) {
        self.quicken(window);
        (self.owed, self.interactive, self.delay) = (true, false, LEAST);
    }

    /// The peer will send no more; this side may.
    pub fn on_end(&mut self) {
        (self.owed, self.interactive) = (true, true);
    }

    /// Whether to wait for answers of the application (`TCP_QUICKACK`).
    pub fn set_interactive(&mut self, on: bool) {
        self.interactive = on;
    }

    /// Whether an acknowledgment must leave now, with so many octets not acknowledged.
    pub fn must_leave(&self, unacknowledged: u64) -> bool {
        self.owed && (unacknowledged > self.segment || self.is_quick())
    }

    /// Data came that made the advertised window grow: its acknowledgment, at
    /// least, is quick.
    pub fn on_growth(&mut self) {
        self.quick |= 1;
    }

    fn is_quick(&self) -> bool {
        self.most_quick == u32::MAX || self.quick > 0 && !self.interactive
    }

    /// The user has read, and nothing is left to read if `all`: what was short
    /// was the end of something.
    pub fn must_leave_after_read(&self, unacknowledged: u64, all: bool) -> bool {
        let end = self.short == 2 || self.short == 1 && !self.interactive;
        self.owed && (unacknowledged > self.segment || end && all)
    }

    /// Returns how long an acknowledgment that waits waits.
    pub fn wait(&self, srtt: Option<Span>) -> Span {
        if self.delay == Span::ZERO {
            return TICK;
        }
        if self.delay <= LEAST {
            return self.delay;
        }
        let most = srtt.map_or(MOST, |srtt| srtt.max(LEAST).min(MOST));
        self.delay.min(most)
    }

    /// An acknowledgment has waited in vain for data to carry it.
    pub fn on_waited(&mut self, rto: Span) {
        if self.interactive {
            (self.interactive, self.delay) = (false, LEAST);
        } else {
            self.delay = self.delay.saturating_mul(2).min(rto);
        }
    }

    /// A segment with an acknowledgment left.
    pub fn on_ack_sent(&mut self) {
        if self.owed && self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay = LEAST;
            }
        }
        (self.owed, self.short) = (false, 0);
    }

    /// Data of this side has left, which may answer what the peer sent.
    pub fn on_data_sent(&mut self, now: Time) {
        self.interactive |= now.saturating_since(self.received_at) < self.delay;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: u64 = 65_535;
    const RTO: Span = Span::from_millis(200);

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Data of `len` octets comes; whether its acknowledgment leaves at once.
    fn comes(timing: &mut AckTiming, at: u64, len: u64) -> bool {
        timing.on_data(ms(at), len, false, WINDOW, RTO);
        let leaves = timing.must_leave(len);
        if leaves {
            timing.on_ack_sent();
        }
        leaves
    }

    #[test]
    fn the_first_sixteen_leave_at_once_and_then_every_second() {
        let mut timing = AckTiming::new(16);
        assert!((0..16).all(|n| comes(&mut timing, n, 1000)));
        assert!(!comes(&mut timing, 16, 1000));
        timing.on_data(ms(17), 1000, false, WINDOW, RTO);
        assert!(!timing.must_leave(1000) && timing.must_leave(2000));
        assert_eq!(timing.wait(None), Span::from_millis(40));
    }

    /// An answer soon after data, and the next acknowledgment waits for one.
    #[test]
    fn where_the_application_answers_acknowledgments_wait() {
        let mut timing = AckTiming::new(16);
        assert!(comes(&mut timing, 100, 1000));
        timing.on_data_sent(ms(141));
        assert!(comes(&mut timing, 200, 1000), "too late to be an answer");
        timing.on_data_sent(ms(210));
        assert!(!comes(&mut timing, 300, 1000));
        timing.on_waited(RTO);
        assert!(comes(&mut timing, 500, 1000), "no answer came");
    }

    #[test]
    fn the_acknowledgment_of_an_end_waits_for_the_own() {
        let mut timing = AckTiming::new(16);
        timing.on_end();
        assert!(!timing.must_leave(1));
        assert_eq!(timing.wait(None), TICK, "nothing is known of the peer's pace");
        let mut timing = AckTiming::new(16);
        comes(&mut timing, 100, 1000);
        timing.on_end();
        assert!(!timing.must_leave(1));
        assert_eq!(timing.wait(None), Span::from_millis(40));
    }

    /// The delay follows the gaps: half of it and the gap.
    #[test]
    fn a_slow_peer_makes_acknowledgments_wait_longer() {
        let mut timing = AckTiming::new(0);
        let gaps = [100, 130, 165, 205];
        let waits = gaps.map(|at| {
            timing.on_data(ms(at), 1000, false, WINDOW, RTO);
            timing.wait(Some(Span::from_millis(300))).as_millis()
        });
        assert_eq!(waits, [40, 50, 60, 70]);
        assert_eq!(timing.wait(Some(Span::from_millis(50))), Span::from_millis(50));
    }

    #[test]
    fn reading_all_of_a_short_segment_acknowledges_it() {
        let mut timing = AckTiming::new(0);
        timing.on_data(ms(100), 100, true, WINDOW, RTO);
        assert!(!timing.must_leave(100));
        assert!(
            timing.must_leave_after_read(100, true) && !timing.must_leave_after_read(100, false)
        );
        timing.set_interactive(true);
        assert!(!timing.must_leave_after_read(100, true));
        timing.on_data(ms(101), 100, true, WINDOW, RTO);
        assert!(timing.must_leave_after_read(200, true), "two of them");
    }
}
