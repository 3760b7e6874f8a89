//! The plateau of CUBIC's curve (RFC 9438 §4.2): the window at which the last reduction came, around
//! which the curve is flat, and the time from the start of a stage until it is there.
//!
//! CUBIC, MCubic and MCubic by shares have it in common. The time in which the curve runs is their
//! own: CUBIC's leaves out what must not count, MCubic moves the plateau away, and MCubic by shares
//! has a slower clock.

use crate::Cause;

/// `C` is the scale of the cubic function, in segments per second cubed (§5.1).
pub(crate) const C: f64 = 0.4;
/// `BETA_CUBIC` is the part of the window that a reduction leaves (§4.6).
pub(crate) const BETA_CUBIC: f64 = 0.7;

/// `Plateau` is the flat part of the curve; it changes when a stage of congestion avoidance begins
/// and when the window is reduced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plateau {
    /// `w_max` is the window around which the curve is flat, in octets; it is 0 when unknown: before
    /// the first loss, and after a timeout until congestion avoidance begins.
    pub w_max: f64,
    /// `k` is the time from the start of the stage to the flat point, in seconds; it is 0 when no
    /// plateau is above the window.
    pub k: f64,
}

impl Plateau {
    /// `UNKNOWN` is the plateau before the first loss.
    pub const UNKNOWN: Plateau = Plateau { w_max: 0.0, k: 0.0 };

    /// Begins a stage of congestion avoidance at the window `cwnd` (§4.2). When there is no plateau
    /// above, `k` is 0 and `w_max` is `cwnd`, as §4.8 and §4.10 have it.
    pub fn begin(&mut self, cwnd: f64, mss: f64) {
        self.w_max = self.w_max.max(cwnd);
        self.k = seconds(self.w_max - cwnd, mss);
    }

    /// Takes `cwnd`, the window before a reduction, for the plateau of the next stage (§4.6). With
    /// fast convergence a window that is below the last plateau makes a lower one, since another
    /// flow grows (§4.7); after a timeout there is none (§4.8).
    pub fn fall(&mut self, cwnd: f64, fast_convergence: bool, cause: Cause) {
        let shrinks = fast_convergence && cwnd < self.w_max;
        self.w_max = match cause {
            Cause::Timeout => 0.0,
            Cause::Loss | Cause::EcnMark if shrinks => cwnd * (1.0 + BETA_CUBIC) / 2.0,
            Cause::Loss | Cause::EcnMark => cwnd,
        };
    }

    /// Returns by how many octets an ACK for `part` of the window opens it, where there is no
    /// Reno-friendly region and the curve is taken `d` seconds after its flat point, before it where
    /// `d` is negative. The target is at most half a window away; below the curve the window grows
    /// by a segment in a hundred windows, as Linux's CUBIC does.
    pub fn growth(&self, d: f64, part: f64, cwnd: f64, mss: f64) -> f64 {
        let target = (rise(d, mss) + self.w_max).min(1.5 * cwnd);
        if target > cwnd { (target - cwnd) * part } else { mss * part / 100.0 }
    }
}

/// Returns by how many octets the curve is above its flat point, `d` seconds after it (§4.2); the
/// number is negative before it.
pub(crate) fn rise(d: f64, mss: f64) -> f64 {
    C * d * d * d * mss
}

/// Returns how many seconds the curve takes for `octets` up to its flat point: K of §4.2.
pub(crate) fn seconds(octets: f64, mss: f64) -> f64 {
    libm::cbrt(octets / mss / C)
}
