//! Congestion-window validation (RFC 7661): how much of the window is in use
//! decides whether it grows, and what a signal leaves of it.
//!
//! §4.2 pipeACK, §4.3 the phases, §4.4.1 signals in the non-validated phase,
//! §4.4.3 its end after five minutes. §4.5.1's bins hold the maximum.
//!
//! A window of which at least half is in use may grow although the
//! application limits the sender now and then; one that is used less is kept,
//! over idle times too, and reduced to what was used when congestion shows.
//!
//! The factor of the reductions is that of the algorithm, one half for Reno.
//! `R` of §4.4.1, the volume retransmitted, is taken as what was found lost
//! during the recovery. The limit of bursts (§4.4.2) is pacing's business.

use crate::round::Round;
use crate::window::Window;
use crate::{Feedback, PathView};
use anabranch_units::{Span, Time};

/// `NVP` is the time for which an unused window is kept (§4.4.3).
const NVP: Span = Span::from_secs(5 * 60);
/// Parts of the sampling period over which the maximum is kept.
const BINS: usize = 4;

/// `Validation` is what validation remembers of the use of the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Validation {
    /// `initial` is the initial window, in octets.
    initial: f64,
    /// Most octets acknowledged in a round, in each part of the sampling
    /// period, the newest first; pipeACK is the largest.
    bins: [Option<u64>; BINS],
    /// `bin_since` is the start of the newest part of the sampling period, and `bin_length` the
    /// length of a part.
    bin_since: Time,
    bin_length: Span,
    round: Round,
    /// Octets acknowledged at the start of the round being measured; `None`
    /// while none is.
    acked_before: Option<u64>,
    /// Last time at which the window was known to be in use.
    validated: Time,
    /// Octets found lost since a signal in the non-validated phase; `None` without one.
    recovering: Option<u64>,
    /// The recovery that is meant has been seen to begin.
    in_recovery: bool,
}

impl Validation {
    pub(crate) fn new(initial: f64) -> Validation {
        Validation {
            initial,
            bins: [None; BINS],
            bin_since: Time::ZERO,
            bin_length: Span::ZERO,
            round: Round::default(),
            acked_before: None,
            validated: Time::ZERO,
            recovering: None,
            in_recovery: false,
        }
    }

    /// Returns pipeACK in octets; `None` is the RFC's "undefined".
    fn pipe_ack(&self) -> Option<u64> {
        self.bins.iter().flatten().max().copied()
    }

    /// Returns whether the window is in use: pipeACK is undefined or at least half the window
    /// (§4.3).
    fn is_validated(&self, cwnd: f64) -> bool {
        self.pipe_ack().is_none_or(|pipe| pipe as f64 >= cwnd / 2.0)
    }

    /// Measures with an ACK outside recovery; true in the validated phase.
    pub(crate) fn on_ack(&mut self, window: &mut Window, now: Time, path: &PathView) -> bool {
        self.turn_bins(now, path);
        if self.round.begins(path)
            && let Some(before) = self.acked_before.replace(path.acked)
        {
            self.bins[0] = self.bins[0].max(Some(path.acked - before));
        }
        self.check(window, now)
    }

    /// Begins new parts of the sampling period, which is max(3 RTT, 1 s) (§4.2).
    fn turn_bins(&mut self, now: Time, path: &PathView) {
        let period = path.srtt.map_or(Span::ZERO, |rtt| rtt.saturating_mul(3));
        self.bin_length = period.max(Span::from_secs(1)) / BINS as u64;
        self.expire(now);
    }

    fn expire(&mut self, now: Time) {
        if self.bin_length == Span::ZERO {
            return; // before the first ACK
        }
        let passed = now.saturating_since(self.bin_since).as_picos() / self.bin_length.as_picos();
        if passed > 0 && self.pipe_ack().is_some() {
            // A measured pipe that has drained is none, not undefined.
            for _ in 0..passed.min(BINS as u64) {
                self.bins.rotate_right(1);
                self.bins[0] = Some(0);
            }
        }
        self.bin_since += Span::from_picos(passed * self.bin_length.as_picos());
    }

    /// Reduces a window that was not used for the time of §4.4.3; true in the validated phase.
    fn check(&mut self, window: &mut Window, now: Time) -> bool {
        if self.is_validated(window.cwnd) {
            self.validated = now;
            return true;
        }
        if now.saturating_since(self.validated) >= NVP {
            window.ssthresh = window.ssthresh.max(0.75 * window.cwnd);
            window.cwnd = window.cwnd.min((window.cwnd / 2.0).max(self.initial));
            self.validated = now;
        }
        false
    }

    pub(crate) fn on_sent(&mut self, window: &mut Window, now: Time) {
        self.expire(now);
        self.check(window, now);
    }

    /// Returns what the reduction of a signal is a part of: in the non-validated phase max(pipeACK,
    /// LossFlightSize), whatever the window is (§4.4.1).
    pub(crate) fn on_congestion(&mut self, window: &Window, base: f64, path: &PathView) -> f64 {
        let pipe = self.pipe_ack();
        let validated = self.is_validated(window.cwnd);
        // Undefined until measured anew.
        self.bins = [None; BINS];
        self.acked_before = None;
        match pipe {
            Some(pipe) if !validated => {
                self.recovering = Some(0);
                self.in_recovery = false;
                pipe.max(path.in_flight) as f64
            }
            _ => base,
        }
    }

    /// The signal was none: the window is what it was, and stays so.
    pub(crate) fn on_undo(&mut self) {
        self.recovering = None;
    }

    /// Lowers the window by R / 2 at the end of the recovery (§4.4.1).
    pub(crate) fn on_feedback(&mut self, window: &mut Window, feedback: &Feedback, mss: f64) {
        let Some(lost) = &mut self.recovering else { return };
        *lost += feedback.lost;
        if feedback.in_recovery {
            self.in_recovery = true;
        } else if self.in_recovery {
            window.cwnd = (window.cwnd - *lost as f64 / 2.0).max(mss);
            window.ssthresh = window.cwnd.max(2.0 * mss);
            self.recovering = None;
        }
    }
}

#[cfg(test)]
mod tests;
