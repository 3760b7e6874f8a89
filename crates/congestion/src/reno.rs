//! Reno: additive increase, multiplicative decrease (RFC 5681).
//!
//! §3.1: slow start, equation (2); congestion avoidance, equation (3);
//! reduction, equation (4); the timeout rules. §4.1: restart after idle time.
//! Windows are octets with their fraction: an increment smaller than an octet
//! is not lost, and with one MSS per ACK the growth is ns-2's
//! `cwnd += 1 / cwnd`.
//!
//! Left out: the inflation of fast recovery (§3.2), which belongs to the
//! recovery scheme; the rounding up of equation (3) to one octet, which kept
//! integer windows growing and is needless with a fraction.

use crate::reduction::{SsthreshFrom, held, reported};
use crate::slow_start::{SlowStart, SlowStartExit};
use crate::{Acked, Cause, CongestionEvent, Controller, PathView};

/// What can be chosen about [`Reno`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RenoOptions {
    /// What a reduction halves.
    pub ssthresh_from: SsthreshFrom,
    /// When slow start ends.
    pub slow_start_exit: SlowStartExit,
    /// Most segments added per ACK in slow start (RFC 3465 §2.2, `L`; 1 is
    /// RFC 5681 to the letter). Zero counts as 1.
    pub slow_start_limit: u8,
}

impl Default for RenoOptions {
    fn default() -> RenoOptions {
        RenoOptions {
            ssthresh_from: SsthreshFrom::InFlight,
            slow_start_exit: SlowStartExit::Standard,
            slow_start_limit: 2,
        }
    }
}

/// A Reno window.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    /// Congestion window, octets.
    cwnd: f64,
    /// Slow-start threshold, octets; infinite at first.
    ssthresh: f64,
    /// `(cwnd, ssthresh)` before the last reduction.
    before: Option<(f64, f64)>,
    /// The timer expired and no ACK has come since: the segment that times
    /// out next has been retransmitted already.
    backed_off: bool,
    slow_start: SlowStart,
    ssthresh_from: SsthreshFrom,
}

impl Reno {
    /// A window of `initial_window` octets that doubles each round until
    /// `initial_ssthresh` octets (`u64::MAX` for no threshold).
    pub fn new(options: &RenoOptions, initial_window: u64, initial_ssthresh: u64) -> Reno {
        Reno {
            cwnd: initial_window.max(1) as f64,
            ssthresh: held(initial_ssthresh),
            before: None,
            backed_off: false,
            slow_start: SlowStart::new(options.slow_start_exit, options.slow_start_limit),
            ssthresh_from: options.ssthresh_from,
        }
    }
}

impl Controller for Reno {
    fn on_ack(&mut self, acked: &Acked, path: &PathView) {
        self.backed_off = false;
        if path.app_limited {
            return;
        }
        self.cwnd += match self.slow_start.on_ack(self.cwnd, self.ssthresh, acked, path) {
            Some(octets) => octets,
            // RFC 5681 (3): MSS * MSS / cwnd for each MSS acknowledged, and
            // at most one MSS per ACK.
            None => path.mss as f64 * (acked.bytes as f64 / self.cwnd).min(1.0),
        };
    }

    fn on_congestion(&mut self, event: &CongestionEvent, path: &PathView) {
        let mss = path.mss as f64;
        // RFC 5681 §3.1: when the segment that timed out has already been
        // retransmitted by a timeout, ssthresh is held constant.
        let repeated = event.cause == Cause::Timeout && self.backed_off;
        if !repeated {
            self.before = Some((self.cwnd, self.ssthresh));
            // (4): max(FlightSize / 2, 2 MSS).
            self.ssthresh = (self.ssthresh_from.base(self.cwnd, path) / 2.0).max(2.0 * mss);
        }
        match event.cause {
            // RFC 3168 §6.1.2: a mark counts as a loss.
            Cause::Loss | Cause::EcnMark => self.cwnd = self.cwnd.min(self.ssthresh).max(mss),
            Cause::Timeout => {
                self.cwnd = mss; // §3.1, the loss window
                self.backed_off = true;
                self.slow_start.on_timeout();
            }
        }
    }

    fn on_undo(&mut self) {
        if let Some((cwnd, ssthresh)) = self.before.take() {
            self.cwnd = self.cwnd.max(cwnd);
            self.ssthresh = ssthresh;
            self.backed_off = false;
            self.slow_start.on_undo();
        }
    }

    fn on_idle(&mut self, initial: u64) {
        // RFC 5681 §4.1: RW = min(IW, cwnd).
        self.cwnd = self.cwnd.min(initial.max(1) as f64);
        self.before = None;
    }

    fn window(&self) -> u64 {
        self.cwnd as u64
    }

    fn ssthresh(&self) -> u64 {
        reported(self.ssthresh)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{MSS, ack, event, path};

    fn reno(window: u64, ssthresh: u64) -> Reno {
        Reno::new(&RenoOptions::default(), window * MSS, ssthresh.saturating_mul(MSS))
    }

    #[test]
    fn slow_start_adds_what_was_acknowledged_up_to_the_limit() {
        for (limit, bytes, grows) in [
            (1, MSS, MSS),
            (1, 2 * MSS, MSS),
            (2, 2 * MSS, 2 * MSS),
            (2, 9 * MSS, 2 * MSS),
            (2, 300, 300),
        ] {
            let options = RenoOptions { slow_start_limit: limit, ..RenoOptions::default() };
            let mut c = Reno::new(&options, 10 * MSS, u64::MAX);
            c.on_ack(&ack(bytes), &path(10));
            assert_eq!(c.window(), 10 * MSS + grows, "L = {limit}, {bytes} octets");
        }
    }

    #[test]
    fn after_a_timeout_slow_start_adds_one_segment_per_ack() {
        // RFC 3465 §2.3.
        let mut c = reno(20, u64::MAX);
        c.on_congestion(&event(Cause::Timeout), &path(20));
        c.on_ack(&ack(8 * MSS), &path(1));
        assert_eq!(c.window(), 2 * MSS);
    }

    #[test]
    fn acks_counted_as_segments_grow_the_window_as_ns2_does() {
        // ns-2: windowInit_ 2, ssthresh 10, 23 ACKs: slow start by 8, then
        // cwnd += 1 / cwnd by 15. The oracle reports 11.41.
        let mut c = reno(2, 10);
        let mut segments = 2.0_f64;
        for _ in 0..23 {
            c.on_ack(&ack(MSS), &path(2));
            segments += if segments < 10.0 { 1.0 } else { 1.0 / segments };
        }
        assert_eq!(c.window(), (segments * MSS as f64) as u64);
        assert!((segments - 11.41).abs() < 0.01, "{segments}");
    }

    #[test]
    fn no_fraction_is_lost() {
        // 1000 ACKs of one octet in a window of 1000 MSS: less than an octet
        // each, one in sum (RFC 5681 equation (3)).
        let mut c = reno(1000, 1);
        for _ in 0..1000 {
            c.on_ack(&ack(1), &path(1000));
        }
        assert_eq!(c.window(), 1000 * MSS + 1 - 1); // 0.9999995 so far
        c.on_ack(&ack(1), &path(1000));
        assert_eq!(c.window(), 1000 * MSS + 1);
    }

    #[test]
    fn loss_halves_the_flight_or_the_window() {
        // RFC 5681 equation (4).
        for (from, left) in [(SsthreshFrom::InFlight, 4_000), (SsthreshFrom::Cwnd, 5_500)] {
            let options = RenoOptions { ssthresh_from: from, ..RenoOptions::default() };
            let mut c = Reno::new(&options, 11 * MSS, u64::MAX);
            c.on_congestion(&event(Cause::Loss), &path(8));
            assert_eq!((c.window(), c.ssthresh()), (left, left));
        }
    }

    #[test]
    fn a_reduction_leaves_two_segments_and_a_timeout_one() {
        for (cause, window) in [(Cause::Loss, 2), (Cause::EcnMark, 2), (Cause::Timeout, 1)] {
            let mut c = reno(3, u64::MAX);
            c.on_congestion(&event(cause), &path(3));
            assert_eq!((c.window(), c.ssthresh()), (window * MSS, 2 * MSS), "{cause:?}");
        }
    }

    #[test]
    fn a_second_timeout_of_a_segment_holds_ssthresh() {
        // RFC 5681 §3.1.
        let mut c = reno(20, u64::MAX);
        c.on_congestion(&event(Cause::Timeout), &path(20));
        c.on_congestion(&event(Cause::Timeout), &path(1));
        assert_eq!((c.window(), c.ssthresh()), (MSS, 10 * MSS));
        c.on_ack(&ack(MSS), &path(1));
        c.on_congestion(&event(Cause::Timeout), &path(2));
        assert_eq!(c.ssthresh(), 2 * MSS);
    }

    #[test]
    fn undo_restores_the_state_before_the_first_timeout() {
        let mut c = reno(20, 15);
        c.on_congestion(&event(Cause::Timeout), &path(20));
        c.on_congestion(&event(Cause::Timeout), &path(1));
        c.on_undo();
        assert_eq!((c.window(), c.ssthresh()), (20 * MSS, 15 * MSS));
        c.on_congestion(&event(Cause::Loss), &path(20));
        c.on_undo();
        c.on_undo(); // nothing left to undo
        assert_eq!((c.window(), c.ssthresh()), (20 * MSS, 15 * MSS));
    }

    #[test]
    fn idleness_restarts_from_the_smaller_window_and_keeps_ssthresh() {
        // RFC 5681 §4.1.
        let mut c = reno(20, 15);
        c.on_idle(10 * MSS);
        assert_eq!((c.window(), c.ssthresh()), (10 * MSS, 15 * MSS));
        c.on_idle(12 * MSS);
        assert_eq!(c.window(), 10 * MSS);
    }

    #[test]
    fn a_window_that_is_not_the_limit_does_not_grow() {
        let mut c = reno(20, 15);
        c.on_ack(&ack(MSS), &PathView { app_limited: true, ..path(3) });
        assert_eq!(c.window(), 20 * MSS);
    }
}
