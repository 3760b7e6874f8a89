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
