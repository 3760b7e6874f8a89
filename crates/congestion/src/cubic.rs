//! CUBIC (RFC 9438).
//!
//! The window after a reduction is a cubic function of the time since, flat
//! around the window at which the reduction happened. Implemented: §4.2 window
//! growth with the target's bounds, §4.3 Reno-friendly region, §4.4 concave
//! and §4.5 convex region, §4.6 decrease, §4.7 fast convergence, §4.8
//! timeouts, §4.9 spurious events, §4.10 slow start with a threshold found
//! without loss, §5.8 application-limited periods.
//!
//! The RFC's windows are segments; here they are octets with their fraction,
//! and only the constant `C` is converted. Fields carry the RFC's names.
//!
//! Left out: HyStart++ (§4.10), which is an exit of slow start and not part
//! of the window; ECN reductions below one segment (§4.6), which need pacing.

use crate::reduction::{SsthreshFrom, held, reported};
use crate::slow_start::{SlowStart, SlowStartExit};
use crate::{Acked, Cause, CongestionEvent, Controller, PathView};
use anabranch_units::Time;

/// Scale of the cubic function, segments per second cubed (§5.1).
const C: f64 = 0.4;
/// What a reduction leaves of the window (§4.6).
const BETA_CUBIC: f64 = 0.7;
/// Additive increase that makes AIMD with `BETA_CUBIC` as fast as Reno
/// (§4.3).
const ALPHA_CUBIC: f64 = 3.0 * (1.0 - BETA_CUBIC) / (1.0 + BETA_CUBIC);

/// What can be chosen about [`Cubic`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CubicOptions {
    /// Release capacity to newer flows (§4.7).
    pub fast_convergence: bool,
    /// Never slower than Reno (§4.3).
    pub reno_friendly: bool,
    /// What a reduction takes a part of (§4.6).
    pub ssthresh_from: SsthreshFrom,
    /// When slow start ends.
    pub slow_start_exit: SlowStartExit,
    /// Most segments added per ACK in slow start (RFC 3465 §2.2, `L`). Zero
    /// counts as 1.
    pub slow_start_limit: u8,
}

impl Default for CubicOptions {
    fn default() -> CubicOptions {
        CubicOptions {
            fast_convergence: true,
            reno_friendly: true,
            ssthresh_from: SsthreshFrom::InFlight,
            slow_start_exit: SlowStartExit::Standard,
            slow_start_limit: 2,
        }
    }
}

/// A CUBIC window.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    /// What a reduction changes and an undo restores.
    now: State,
    /// `now` before the last reduction (§4.9, the `undo_` variables).
    undo: State,
    /// `undo` holds something.
    can_undo: bool,
    /// When the window was last told of an ACK or of data sent after idleness.
    last_event: Time,
    /// The timer expired and no ACK has come since: the segment that times
    /// out next has been retransmitted already (RFC 5681 §3.1).
    backed_off: bool,
    slow_start: SlowStart,
    options: Options,
}

/// [`CubicOptions`] that are read after construction.
#[derive(Clone, Copy, Debug)]
struct Options {
    fast_convergence: bool,
    reno_friendly: bool,
    ssthresh_from: SsthreshFrom,
}

/// The variables of §4.1.2; windows in octets.
#[derive(Clone, Copy, Debug)]
struct State {
    cwnd: f64,
    ssthresh: f64,
    /// `cwnd` when `ssthresh` was last set; 0 before the first time.
    cwnd_prior: f64,
    /// The window around which the curve is flat; 0 when unknown: before the
    /// first loss, and after a timeout until congestion avoidance begins.
    w_max: f64,
    /// Seconds from the start of the stage to the flat point.
    k: f64,
    /// The window that Reno would have.
    w_est: f64,
    /// Start of the current congestion avoidance stage; [`Time::NEVER`]
    /// before its first ACK. Moved forward by the time that must not count
    /// (§5.8).
    t_epoch: Time,
}

impl Cubic {
    /// A window of `initial_window` octets that doubles each round until
    /// `initial_ssthresh` octets (`u64::MAX` for no threshold).
    pub fn new(options: &CubicOptions, initial_window: u64, initial_ssthresh: u64) -> Cubic {
        let state = State {
            cwnd: initial_window.max(1) as f64,
            ssthresh: held(initial_ssthresh),
            cwnd_prior: 0.0,
            w_max: 0.0,
            k: 0.0,
            w_est: 0.0,
            t_epoch: Time::NEVER,
        };
        Cubic {
            now: state,
            undo: state,
            can_undo: false,
            last_event: Time::ZERO,
            backed_off: false,
            slow_start: SlowStart::new(options.slow_start_exit, options.slow_start_limit),
            options: Options {
                fast_convergence: options.fast_convergence,
                reno_friendly: options.reno_friendly,
                ssthresh_from: options.ssthresh_from,
            },
        }
    }

    /// §5.8: the time since the last event does not count.
    fn skip_to(&mut self, now: Time) {
        if self.now.t_epoch != Time::NEVER {
            let idle = now.saturating_since(self.last_event);
            self.now.t_epoch = self.now.t_epoch.saturating_add(idle);
        }
    }
}

impl Controller for Cubic {
    fn on_sent(&mut self, now: Time, _bytes: u64, path: &PathView) {
        // Nothing was in flight: no ACK could have let the window grow.
        if path.in_flight == 0 {
            self.skip_to(now);
            self.last_event = now;
        }
    }

    fn on_ack(&mut self, acked: &Acked, path: &PathView) {
        self.backed_off = false;
        if path.app_limited {
            self.skip_to(acked.now);
        } else {
            let s = &mut self.now;
            match self.slow_start.on_ack(s.cwnd, s.ssthresh, acked, path) {
                Some(octets) => s.cwnd += octets,
                None => s.avoid_congestion(acked, path, self.options.reno_friendly),
            }
        }
        self.last_event = acked.now;
    }

    fn on_congestion(&mut self, event: &CongestionEvent, path: &PathView) {
        let mss = path.mss as f64;
        let repeated = event.cause == Cause::Timeout && self.backed_off;
        if !repeated {
            self.undo = self.now;
            self.can_undo = true;
            let base = self.options.ssthresh_from.base(self.now.cwnd, path);
            self.now.reduce(base, event.cause, mss, self.options.fast_convergence);
        }
        if event.cause == Cause::Timeout {
            // §4.8: as Reno, one segment; the next stage starts afresh.
            self.now.cwnd = mss;
            self.now.w_max = 0.0;
            self.backed_off = true;
            self.slow_start.on_timeout();
        }
    }

    fn on_undo(&mut self) {
        // §4.9.2: when the window has already outgrown what it was, the
        // current values stay.
        if self.can_undo && self.now.cwnd <= self.undo.cwnd {
            self.now = self.undo;
            self.backed_off = false;
            self.slow_start.on_undo();
        }
        self.can_undo = false;
    }

    fn on_idle(&mut self, initial: u64) {
        // RFC 5681 §4.1: RW = min(IW, cwnd); a new stage follows.
        self.now.cwnd = self.now.cwnd.min(initial.max(1) as f64);
        self.now.t_epoch = Time::NEVER;
        self.can_undo = false;
    }

    fn window(&self) -> u64 {
        self.now.cwnd as u64
    }

    fn ssthresh(&self) -> u64 {
        reported(self.now.ssthresh)
    }
}

impl State {
    /// One ACK in congestion avoidance (§4.2 to §4.5).
    fn avoid_congestion(&mut self, acked: &Acked, path: &PathView, reno_friendly: bool) {
        let mss = path.mss as f64;
        if self.t_epoch == Time::NEVER {
            self.begin_stage(acked.now, mss);
        }
        // The part of a window that this ACK covers: `segments_acked / cwnd`.
        let part = (acked.bytes as f64 / self.cwnd).min(1.0);
        let t = acked.now.saturating_since(self.t_epoch).as_secs_f64();
        let rtt = path.srtt.or(acked.rtt).map_or(0.0, |rtt| rtt.as_secs_f64());

        if reno_friendly {
            // §4.3, with alpha_cubic = 1 once Reno has regained what
            // the reduction took.
            let alpha = if self.w_est >= self.cwnd_prior { 1.0 } else { ALPHA_CUBIC };
            self.w_est += alpha * mss * part;
            if self.w_cubic(t, mss) < self.w_est {
                // Deviation: "set to W_est", but an ACK never shrinks cwnd.
                self.cwnd = self.cwnd.max(self.w_est);
                return;
            }
        }
        // §4.2: the window wanted one round trip from now; §4.4, §4.5:
        // (target - cwnd) / cwnd for each segment acknowledged.
        let target = self.w_cubic(t + rtt, mss).clamp(self.cwnd, 1.5 * self.cwnd);
        self.cwnd += (target - self.cwnd) * part;
    }

    /// The first ACK of a congestion avoidance stage.
    fn begin_stage(&mut self, now: Time, mss: f64) {
        self.t_epoch = now;
        self.w_est = self.cwnd;
        // §4.2. When there is no plateau above: K = 0 and W_max =
        // cwnd, as §4.8 and §4.10 have it.
        self.w_max = self.w_max.max(self.cwnd);
        self.k = libm::cbrt((self.w_max - self.cwnd) / mss / C);
    }

    /// W_cubic(t) of §4.2, in octets.
    fn w_cubic(&self, t: f64, mss: f64) -> f64 {
        let d = t - self.k;
        C * d * d * d * mss + self.w_max
    }

    /// A congestion event (§4.6); `base` is FlightSize or cwnd.
    fn reduce(&mut self, base: f64, cause: Cause, mss: f64, fast_convergence: bool) {
        // §4.7: the plateau fell since the last event, another flow grows.
        let shrinks = fast_convergence && self.cwnd < self.w_max;
        self.w_max = if shrinks { self.cwnd * (1.0 + BETA_CUBIC) / 2.0 } else { self.cwnd };
        self.cwnd_prior = self.cwnd;
        let reduced = base * BETA_CUBIC;
        // Two segments at least after a loss, one after a mark.
        let least = if cause == Cause::EcnMark { mss } else { 2.0 * mss };
        self.cwnd = self.cwnd.min(reduced.max(least)).max(mss);
        self.ssthresh = reduced.max(2.0 * mss);
        self.t_epoch = Time::NEVER;
    }
}

#[cfg(test)]
mod tests;
