//! The steps in which a window goes to its target.
//!
//! RFC 9438 §4.4 adds `(target - cwnd) / cwnd` segments for each that is
//! acknowledged, and finds the target anew with every ACK. Linux counts in
//! whole segments, all rounded down (`net/ipv4/tcp_cubic.c`,
//! `tcp_cong_avoid_ai` of `net/ipv4/tcp_cong.c`): the window grows by one when
//! `cnt = cwnd / (target - cwnd)` are acknowledged, Reno's when
//! `cwnd / alpha` are, in eighths; and while the window is the same, `cnt` is kept for
//! some time. With windows of a few segments that makes a difference.

use crate::window::{ALMOST, whole_segments};
use anabranch_units::{Span, Time};

/// `Steps` is what is counted between two steps; windows and ways are in octets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    whole_segments: bool,
    interval: Span,
    /// `way` is the distance from the window to its target, as last found, in octets.
    way: f64,
    /// `found` is the time at which `way` was found, and the window of then in whole segments;
    /// `NEVER` before the first time of a stage.
    found: (Time, f64),
    /// `reno` is how many octets were acknowledged since Reno's window grew.
    reno: f64,
    /// `credit` is how many octets were acknowledged since the window grew.
    credit: f64,
}

/// Windows to be acknowledged for a segment where the window is at its target:
/// `cnt = 100 * cwnd`.
const NOWHERE: f64 = 100.0;

impl Steps {
    /// Nothing where the window goes as the RFC says.
    pub(super) fn new(whole_segments: bool, interval: Span) -> Option<Steps> {
        (whole_segments || interval > Span::ZERO).then_some(Steps {
            whole_segments,
            interval,
            way: 0.0,
            found: (Time::NEVER, 0.0),
            reno: 0.0,
            credit: 0.0,
        })
    }

    /// `octets` in whole segments, where those count.
    pub(super) fn whole(&self, octets: f64, mss: f64) -> f64 {
        if self.whole_segments { whole_segments(octets, mss) } else { octets }
    }

    /// Begins a congestion avoidance stage with its first ACK.
    pub(super) fn begin(&mut self) {
        self.reno = 0.0;
        self.found.0 = Time::NEVER;
    }

    /// The window was reduced: nothing is acknowledged towards its growth.
    pub(super) fn forget(&mut self) {
        self.credit = 0.0;
    }

    /// Returns by how many octets Reno's window grows with an ACK for `part` of the window.
    pub(super) fn of_reno(&mut self, alpha: f64, part: f64, cwnd: f64, mss: f64) -> f64 {
        if !self.whole_segments {
            return alpha * mss * part;
        }
        self.reno += part * cwnd;
        // `beta_scale`: 1 / alpha in eighths, 15 of them.
        let eighths = (8.0 / alpha + ALMOST).floor();
        let each = self.whole(cwnd * eighths / 8.0, mss).max(mss);
        // A segment for each time that more than `each` is acknowledged.
        let steps = ((self.reno / each) - ALMOST).ceil().max(1.0) - 1.0;
        self.reno -= steps * each;
        steps * mss
    }

    /// Returns whether the way to the target must be found anew.
    pub(super) fn is_due(&mut self, now: Time, cwnd: f64, mss: f64) -> bool {
        if self.interval == Span::ZERO {
            return true;
        }
        let segments = (cwnd / mss + ALMOST).floor();
        let (then, of) = self.found;
        let is_due =
            then == Time::NEVER || of != segments || now.saturating_since(then) >= self.interval;
        if is_due {
            self.found = (now, segments);
        }
        is_due
    }

    /// Takes in the way to the target, as it is now, in octets.
    pub(super) fn set_way(&mut self, way: f64) {
        self.way = way;
    }

    /// Returns by how many octets the window grows towards its target with an ACK for `part` of it.
    pub(super) fn take(&mut self, part: f64, cwnd: f64, mss: f64) -> f64 {
        if !self.whole_segments {
            return self.way * part;
        }
        // `cnt`, in octets; acknowledgments count while there is no way to go, too.
        let each = if self.way > 0.0 {
            self.whole(cwnd / self.way * mss, mss).max(2.0 * mss)
        } else {
            NOWHERE * cwnd
        };
        let mut steps = 0.0;
        // What was acknowledged while a step took more counts as one.
        if self.credit >= each {
            self.credit = 0.0;
            steps = 1.0;
        }
        self.credit += part * cwnd;
        let more = (self.credit / each + ALMOST).floor();
        self.credit -= more * each;
        (steps + more) * mss
    }
}
