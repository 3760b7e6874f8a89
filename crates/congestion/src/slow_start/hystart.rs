//! HyStart: leave slow start when the ACKs of a round fill half a round trip,
//! or when the round-trip time rises (Ha and Rhee, "Taming the elephants: New
//! TCP slow start", Computer Networks 55(9), 2011), as Linux's CUBIC does.
//!
//! ACK train (§4.1): ACKs that follow each other closely since the start of the
//! round were let leave at the bottleneck's rate; when such a train is as long
//! as the forward delay, taken as half the smallest round-trip time, the window
//! has reached the path's capacity. Delay (§4.2): the smallest of a round's
//! first samples exceeds the smallest of all by an eighth, within bounds.
//!
//! Linux's constants. Where ACKs are paced their spacing says less; a train
//! must then be twice as long, as in Linux. Unlike HyStart++ it works in every
//! slow start and ends it at once.

use super::Step;
use crate::round::Round;
use crate::{Acked, PathView};
use anabranch_units::{Span, Time};

/// `HyStartOptions` are the settings of HyStart.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HyStartOptions {
    /// `low_window` is the window below which slow start is not left, in segments; 16.
    pub low_window: u32,
    /// `ack_train` says that the length of ACK trains is watched.
    pub ack_train: bool,
    /// `delay` says that the round-trip time is watched.
    pub delay: bool,
    /// `ack_delta` is how far apart ACKs of a train may be at most; 2 ms.
    pub ack_delta: Span,
}

impl Default for HyStartOptions {
    fn default() -> HyStartOptions {
        HyStartOptions {
            low_window: 16,
            ack_train: true,
            delay: true,
            ack_delta: Span::from_millis(2),
        }
    }
}

/// Samples of a round that its delay is judged by.
const MIN_SAMPLES: u32 = 8;
/// `DELAY_MIN` and `DELAY_MAX` bound the rise of the round-trip time that counts.
const DELAY_MIN: Span = Span::from_millis(4);
const DELAY_MAX: Span = Span::from_millis(16);

#[derive(Clone, Copy, Debug)]
pub(crate) struct HyStart {
    options: HyStartOptions,
    paced: bool,
    round: Round,
    round_start: Time,
    /// `last_ack` is the time of the last ACK of the train; the train is broken when it is not
    /// recent.
    last_ack: Time,
    /// `current` is the smallest round-trip time of this round, and `smallest` that of the
    /// connection.
    current: Span,
    smallest: Span,
    samples: u32,
}

impl HyStart {
    pub(crate) fn new(options: HyStartOptions, paced: bool) -> HyStart {
        HyStart {
            options,
            paced,
            round: Round::default(),
            round_start: Time::ZERO,
            last_ack: Time::ZERO,
            current: Span::MAX,
            smallest: Span::MAX,
            samples: 0,
        }
    }

    /// Answers one ACK in slow start; `standard` is what it adds.
    pub(crate) fn on_ack(
        &mut self,
        cwnd: f64,
        standard: f64,
        acked: &Acked,
        path: &PathView,
    ) -> Step {
        if self.round.begins(path) {
            self.round_start = acked.now;
            self.last_ack = acked.now;
            self.current = Span::MAX;
            self.samples = 0;
        }
        // Both are followed in small windows too, where neither decides. The
        // delay is judged by the samples before this one.
        let found = self.train_is_long(acked.now) | self.delay_rose();
        if let Some(rtt) = acked.rtt {
            self.smallest = self.smallest.min(rtt);
            if self.samples < MIN_SAMPLES {
                self.current = self.current.min(rtt);
                self.samples += 1;
            }
        }
        let large = cwnd >= f64::from(self.options.low_window) * path.mss as f64;
        if found && large { Step::End } else { Step::Grow(standard) }
    }

    fn train_is_long(&mut self, now: Time) -> bool {
        if now.saturating_since(self.last_ack) > self.options.ack_delta {
            return false;
        }
        self.last_ack = now;
        let enough = if self.paced { self.smallest } else { self.smallest / 2 };
        self.options.ack_train
            && self.smallest != Span::MAX
            && now.saturating_since(self.round_start) > enough
    }

    fn delay_rose(&self) -> bool {
        if !self.options.delay || self.samples < MIN_SAMPLES {
            return false;
        }
        let rise = (self.smallest / 8).max(DELAY_MIN).min(DELAY_MAX);
        self.current > self.smallest + rise
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{MSS, path};

    const MS: fn(u64) -> Span = Span::from_millis;

    /// ACKs of one round, `apart` from each other, each with this round-trip
    /// time: after which of them slow start ends.
    fn ends_at(hystart: &mut HyStart, cwnd: u64, apart: Span, rtt: Span, acks: u64) -> Option<u64> {
        let begin = hystart.round_start + MS(1000);
        let sent = 1_000_000_000 * (begin.as_millis() / 1000 + 1);
        (1..=acks).find(|i| {
            let acked = sent - 1_000_000_000 + i;
            let view = PathView { sent, acked, ..path(cwnd) };
            let now = begin + apart * (i - 1);
            let ack = Acked { now, bytes: MSS, rtt: Some(rtt) };
            let cwnd = (cwnd * MSS) as f64;
            hystart.on_ack(cwnd, MSS as f64, &ack, &view) == Step::End
        })
    }

    #[test]
    fn a_train_of_half_a_round_trip_ends_slow_start() {
        // §4.1, 100 ms: 1 ms apart, the 52nd ACK is 51 ms after the first.
        let mut h = HyStart::new(HyStartOptions::default(), false);
        assert_eq!(ends_at(&mut h, 20, MS(1), MS(100), 50), None);
        assert_eq!(ends_at(&mut h, 20, MS(1), MS(100), 99), Some(52));
        let mut h = HyStart::new(HyStartOptions::default(), true);
        assert_eq!(ends_at(&mut h, 20, MS(1), MS(100), 150), Some(102), "paced");
    }

    #[test]
    fn acks_far_apart_are_no_train_and_small_windows_are_not_judged() {
        let mut h = HyStart::new(HyStartOptions::default(), false);
        assert_eq!(ends_at(&mut h, 20, MS(3), MS(100), 33), None);
        assert_eq!(ends_at(&mut h, 15, MS(1), MS(100), 99), None);
        assert_eq!(ends_at(&mut h, 16, MS(1), MS(100), 99), Some(52));
    }

    #[test]
    fn eight_samples_of_a_round_that_rose_end_slow_start_with_the_next_ack() {
        // §4.2: by an eighth, 4 ms at least and 16 ms at most.
        for (rtt, below, above) in [(10, 14, 15), (80, 90, 91), (400, 416, 417)] {
            let mut h = HyStart::new(HyStartOptions::default(), false);
            assert_eq!(ends_at(&mut h, 20, MS(3), MS(rtt), 8), None);
            assert_eq!(ends_at(&mut h, 20, MS(3), MS(below), 9), None, "{below}");
            assert_eq!(ends_at(&mut h, 20, MS(3), MS(above), 9), Some(9), "{above}");
        }
    }

    #[test]
    fn either_can_be_left_out() {
        let options = HyStartOptions { ack_train: false, ..HyStartOptions::default() };
        let mut h = HyStart::new(options, false);
        assert_eq!(ends_at(&mut h, 20, MS(1), MS(100), 99), None);
        let options = HyStartOptions { delay: false, ..HyStartOptions::default() };
        let mut h = HyStart::new(options, false);
        assert_eq!(ends_at(&mut h, 20, MS(3), MS(100), 9), None);
        assert_eq!(ends_at(&mut h, 20, MS(3), MS(200), 9), None);
    }
}
