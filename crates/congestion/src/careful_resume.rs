//! Careful Resume: a flow begins with half of the window that an earlier one had on the same path
//! (RFC 9959, "Convergence of Congestion Control from Retained State").
//!
//! The phases of §3.2 to §3.5:
//!
//! ```text
//! reconnaissance --> unvalidated --> validating --> normal
//!       |                 |    `-----------|----------^
//!       |                 `-> safe retreat <          |
//!       `--------------------------|------------------'
//! ```
//!
//! *Reconnaissance*: slow start as ever, until the initial window has been acknowledged; a signal, or a
//! round-trip time of at most half or more than ten times the saved one, ends it all. *Unvalidated*: the
//! window is `jump_cwnd`, half of `saved_cwnd` at most, and paced over a round trip. It ends when all of it
//! has been sent, when the first packet of it was acknowledged, or after a round trip: then the window is
//! what is in flight, or, where that is no more than what has arrived (`PipeSize`), that.
//! *Validating*: normal growth until the last packet of the unvalidated phase was acknowledged.
//! *Safe retreat*: after a signal the window is half of `PipeSize`, and does not grow until that packet was
//! acknowledged; then `ssthresh` is `beta PipeSize`.
//!
//! Choices: the jump comes with the acknowledgment after the one that confirms the path (§3.2
//! allows to defer it), so that the sender paces from its first packet on. A sender that has no more data
//! stays in reconnaissance (§4.2), and one whose window is as large as the jump by itself does not
//! jump. `PipeSize` counts what was in flight before the jump once, as in the example of Appendix B.4,
//! where §3.3 can be read to count its acknowledgments too. A retreat is never taken back.
//!
//! Left out: observing (§3.1) and the life of what was saved, since both are settings; that one
//! flow alone may use them (§3.2) is left to whoever sets them. Recovery schemes that reduce in
//! proportion (PRR) do so in a safe retreat too, which §4.5 advises against.

use crate::PathView;
use crate::window::Window;
use crate::{Cause, Feedback};
use anabranch_units::{Rate, Span, Time};

/// `CarefulResumeOptions` are the parameters that were saved of an earlier flow, and the bounds of
/// their use.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct CarefulResumeOptions {
    /// `saved_cwnd`: octets that the earlier flow had in flight in a round trip (§3.1).
    pub saved_cwnd: u64,
    /// `saved_rtt`: the smallest round-trip time of the earlier flow.
    pub saved_rtt: Span,
    /// `max_jump`: octets that the window may jump to; `None` for half of `saved_cwnd`.
    pub max_jump: Option<u64>,
    /// `Beta`: part of `PipeSize` that is the threshold after a safe retreat; 0.5, at most 1.
    pub beta: f64,
}

impl CarefulResumeOptions {
    /// `jump_cwnd`, in octets: half of the saved window, or `max_jump` where that is less (§4.3.2).
    fn jump(&self) -> f64 {
        self.max_jump.unwrap_or(u64::MAX).min(self.saved_cwnd / 2) as f64
    }

    /// Returns whether a path with this smallest round-trip time is the one that was saved (§4.2.1).
    fn is_path(&self, min_rtt: Span) -> bool {
        min_rtt * 2 > self.saved_rtt && min_rtt <= self.saved_rtt.saturating_mul(10)
    }
}

/// `Phase` is a phase of §3; offsets count octets sent so far.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Phase {
    /// The path is not known yet.
    Reconnaissance,
    /// The path is the saved one: the next acknowledgment begins the unvalidated phase.
    Confirmed,
    /// The window is `jump_cwnd`.
    Unvalidated {
        /// Where the first unvalidated packet begins.
        first: u64,
        /// After this date the phase is over: a round trip has passed.
        until: Time,
    },
    /// All unvalidated packets have been sent: they end at `last`.
    Validating { last: u64 },
    /// Congestion was found; packets up to `last` are in the network.
    SafeRetreat { last: u64 },
    /// Careful Resume is over.
    Normal,
}

/// `CarefulResume` is the state of Careful Resume on a path.
#[derive(Clone, Debug)]
pub(crate) struct CarefulResume {
    options: CarefulResumeOptions,
    /// `IW`, the window with which the flow began, in octets.
    initial_window: f64,
    phase: Phase,
    /// `PipeSize`: what was in flight before the jump and what of later packets has arrived since,
    /// in octets.
    pipe_size: f64,
    /// Octets that were in flight before the jump and are still: they are in `pipe_size` already.
    counted: u64,
}

impl CarefulResume {
    pub(crate) fn new(options: CarefulResumeOptions, initial_window: f64) -> CarefulResume {
        CarefulResume {
            options,
            initial_window,
            phase: Phase::Reconnaissance,
            pipe_size: 0.0,
            counted: 0,
        }
    }

    /// Returns whether there is more to come.
    pub(crate) fn is_active(&self) -> bool {
        self.phase != Phase::Normal
    }

    /// Returns whether acknowledgments leave the window as it is (§3.3 and §3.5).
    pub(crate) fn holds(&self) -> bool {
        matches!(self.phase, Phase::Unvalidated { .. } | Phase::SafeRetreat { .. })
    }

    /// Data leaves; `path` is as it was before.
    pub(crate) fn on_sent(&mut self, window: &mut Window, bytes: u64, path: &PathView) {
        let in_flight = (path.in_flight + bytes) as f64;
        let full = in_flight + path.mss as f64 > window.cwnd;
        if matches!(self.phase, Phase::Unvalidated { .. }) && full {
            self.end_unvalidated(window, in_flight, path.sent + bytes);
        }
    }

    /// Takes all that an acknowledgment told; `path` is as it was left.
    pub(crate) fn on_feedback(
        &mut self,
        window: &mut Window,
        feedback: &Feedback,
        path: &PathView,
    ) {
        let counted = self.counted.min(feedback.delivered);
        self.counted -= counted;
        self.pipe_size += (feedback.delivered - counted) as f64;
        match self.phase {
            Phase::Reconnaissance if path.acked as f64 >= self.initial_window => {
                self.confirm(path);
            }
            Phase::Confirmed => self.jump(window, feedback.now, path),
            Phase::Unvalidated { first, until } => {
                if path.min_rtt.is_some_and(|rtt| !self.options.is_path(rtt)) {
                    self.retreat(window, path);
                } else if path.acked > first
                    || feedback.now > until
                    || path.in_flight as f64 + path.mss as f64 > window.cwnd
                {
                    self.end_unvalidated(window, path.in_flight as f64, path.sent);
                }
            }
            Phase::Validating { last } if path.acked >= last => self.phase = Phase::Normal,
            Phase::SafeRetreat { last } if path.acked >= last => {
                let threshold = self.pipe_size * self.options.beta;
                window.ssthresh = threshold.max(2.0 * path.mss as f64);
                self.phase = Phase::Normal;
            }
            _ => {}
        }
    }

    /// The initial data has arrived: is the path the one that was saved?
    fn confirm(&mut self, path: &PathView) {
        if path.app_limited {
            return; // §4.2: until there is more data
        }
        let is_path = path.min_rtt.is_some_and(|rtt| self.options.is_path(rtt));
        self.phase = if is_path { Phase::Confirmed } else { Phase::Normal };
    }

    /// The unvalidated phase begins (§3.3).
    fn jump(&mut self, window: &mut Window, now: Time, path: &PathView) {
        let jump = self.options.jump();
        if jump <= window.cwnd {
            self.phase = Phase::Normal;
            return;
        }
        (self.pipe_size, self.counted) = (path.in_flight as f64, path.in_flight);
        window.cwnd = jump;
        let until = now.saturating_add(path.srtt.unwrap_or(self.options.saved_rtt));
        self.phase = Phase::Unvalidated { first: path.sent, until };
    }

    /// The unvalidated phase is over, with so much in flight and so much sent so far (§3.3, "check
    /// flight_size").
    fn end_unvalidated(&mut self, window: &mut Window, in_flight: f64, sent: u64) {
        if in_flight < self.initial_window || in_flight <= self.pipe_size {
            window.cwnd = self.pipe_size.max(self.initial_window).min(window.cwnd);
            self.phase = Phase::Normal;
        } else {
            window.cwnd = in_flight.min(window.cwnd);
            self.phase = Phase::Validating { last: sent };
        }
    }

    /// A signal, after the law has answered it; true where the reduction must not be taken back.
    pub(crate) fn on_congestion(
        &mut self,
        window: &mut Window,
        cause: Cause,
        path: &PathView,
    ) -> bool {
        match self.phase {
            _ if cause == Cause::Timeout => self.phase = Phase::Normal, // §3.6
            Phase::Unvalidated { .. } | Phase::Validating { .. } => {
                self.retreat(window, path);
                return true;
            }
            Phase::Reconnaissance | Phase::Confirmed => self.phase = Phase::Normal,
            Phase::SafeRetreat { .. } | Phase::Normal => {}
        }
        false
    }

    /// The safe retreat begins (§3.5).
    fn retreat(&mut self, window: &mut Window, path: &PathView) {
        let least = 2.0 * path.mss as f64;
        window.cwnd = window.cwnd.min((self.pipe_size / 2.0).max(least)).max(path.mss as f64);
        window.ssthresh = window.cwnd.max(least);
        let last = match self.phase {
            Phase::Validating { last } => last,
            _ => path.sent,
        };
        self.phase = Phase::SafeRetreat { last };
    }

    /// The path was idle: what is known of it is old.
    pub(crate) fn on_idle(&mut self) {
        self.phase = Phase::Normal;
    }

    /// The rate of the unvalidated phase: the jump in a round trip (§4.3.2).
    pub(crate) fn pacing_rate(&self, srtt: Option<Span>) -> Option<Rate> {
        if !matches!(self.phase, Phase::Confirmed | Phase::Unvalidated { .. }) {
            return None;
        }
        let seconds = srtt.filter(|srtt| *srtt > Span::ZERO)?.as_secs_f64();
        Rate::from_bps(((self.options.jump() * 8.0 / seconds) as u64).max(1))
    }
}

#[cfg(test)]
mod tests;
