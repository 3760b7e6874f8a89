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
//! Left out: ECN reductions below one segment (§4.6), which need pacing.

mod steps;

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::plateau::{self, BETA_CUBIC, Plateau};
use crate::{Acked, Cause, PathView};
use anabranch_units::{Span, Time};
use steps::Steps;

/// Additive increase that makes AIMD with `BETA_CUBIC` as fast as Reno
/// (§4.3).
const ALPHA_CUBIC: f64 = 3.0 * (1.0 - BETA_CUBIC) / (1.0 + BETA_CUBIC);

/// `CubicOptions` are the settings of [`Cubic`].
#[derive(Clone, PartialEq, Debug)]
pub struct CubicOptions {
    /// `fast_convergence` says that capacity is released to newer flows (§4.7).
    pub fast_convergence: bool,
    /// `reno_friendly` says that the window is never slower than Reno (§4.3).
    pub reno_friendly: bool,
    /// `reno_increase` is the increase that applies once Reno has regained what the reduction took.
    pub reno_increase: RenoIncrease,
    /// `reno_step` says how soon the window follows the one that Reno would have.
    pub reno_step: RenoStep,
    /// `least_first_growth` is the least growth in a round trip while no plateau is known, in
    /// percent of the window: before the first loss and after a timeout. 0 is the RFC; Linux has 5
    /// (`net/ipv4/tcp_cubic.c`: at most 20 segments for one).
    pub least_first_growth: u8,
    /// `lookahead` is the time ahead of now for which the curve is taken.
    pub lookahead: Lookahead,
    /// `update_interval` is the time after which the way to the target is found anew, or earlier
    /// when the window is another, in whole segments. 0 is the RFC, with every ACK; Linux has
    /// `HZ / 32`.
    pub update_interval: Span,
    /// `count_limited_time` says that time in which ACKs come and the window is not the limit
    /// counts in `t`. The RFC leaves it out (§5.8); Linux leaves out that in which nothing is in
    /// flight alone.
    pub count_limited_time: bool,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for CubicOptions {
    fn default() -> CubicOptions {
        CubicOptions {
            fast_convergence: true,
            reno_friendly: true,
            reno_increase: RenoIncrease::Whole,
            reno_step: RenoStep::AtOnce,
            least_first_growth: 0,
            lookahead: Lookahead::Smoothed,
            update_interval: Span::ZERO,
            count_limited_time: false,
            common: Common::default(),
        }
    }
}

/// `RenoIncrease` is the additive increase of the Reno-friendly window from `cwnd_prior` on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RenoIncrease {
    /// The increase is a segment in a round trip (RFC 9438 §4.3).
    Whole,
    /// The increase stays as it was below, 0.53 segments: on average as fast as Reno, which halves
    /// its window (RFC 8312 §4.2, Linux).
    Kept,
}

/// `RenoStep` says how the window follows the Reno-friendly one, where that is above the curve.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RenoStep {
    /// The window is set to it with one ACK (RFC 9438 §4.3).
    AtOnce,
    /// It goes there in a round trip, as to a point of the curve (RFC 9438
    /// §4.4; `bictcp_update` of `net/ipv4/tcp_cubic.c`).
    InARound,
}

/// The round trip by which the curve is ahead of now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lookahead {
    /// The smoothed round-trip time (RFC 9438 §4.2, §4.1.4).
    Smoothed,
    /// The smallest, without what waits in queues (Linux, `delay_min`).
    Smallest,
}

crate::options::ack_driven!(CubicOptions, |o, form| {
    form.says("a loss below the last maximum makes the next one smaller (RFC 9438 §4.7)")
        .boolean("fast_convergence", &mut o.fast_convergence)?;
    form.says("the window is at least the Reno-friendly one (RFC 9438 §4.3)")
        .boolean("reno_friendly", &mut o.reno_friendly)?;
    let increases = [("whole", RenoIncrease::Whole), ("kept", RenoIncrease::Kept)];
    form.says(
        "of the Reno-friendly window once it is what it was before the reduction: a segment in \
         a round trip (RFC 9438 §4.3), or `\"kept\"`: 0.53 as before (RFC 8312, Linux)",
    )
    .choice("reno_increase", &increases, &mut o.reno_increase)?;
    let steps = [("at-once", RenoStep::AtOnce), ("in-a-round", RenoStep::InARound)];
    form.says(
        "the window is set to the Reno-friendly one where that is larger (RFC 9438 §4.3), or \
         `\"in-a-round\"`: goes there within a round trip (Linux)",
    )
    .choice("reno_step", &steps, &mut o.reno_step)?;
    form.says(
        "least growth in a round trip before the first loss and after a timeout, in percent of \
         the window; Linux has 5",
    )
    .integer("least_first_growth", 0..=100, &mut o.least_first_growth)?;
    let aheads = [("srtt", Lookahead::Smoothed), ("min-rtt", Lookahead::Smallest)];
    form.says(
        "the round trip by which the curve is ahead of now: the smoothed one (RFC 9438 §4.2), \
         or `\"min-rtt\"`, the smallest (Linux)",
    )
    .choice("lookahead", &aheads, &mut o.lookahead)?;
    form.says(
        "the way to the target is kept for so long while the window has as many whole \
         segments; Linux has 1/32 s",
    )
    .span("update_interval", &mut o.update_interval)?;
    form.says(
        "time in which ACKs come and the window is not the limit counts in `t`, against RFC \
         9438 §5.8; Linux counts it",
    )
    .boolean("count_limited_time", &mut o.count_limited_time)?;
});

/// The controller of CUBIC: [`CubicLaw`] driven by ACKs.
pub type Cubic = AckClocked<CubicLaw>;

/// CUBIC's growth and reduction, with what of Linux's form was chosen.
#[derive(Clone, Debug)]
pub struct CubicLaw {
    /// `now` is what a reduction changes and an undo restores.
    now: Curve,
    /// `undo` is `now` before the last reduction (§4.9, the `undo_` variables).
    undo: Curve,
    /// `last_event` is the time of the last ACK, or of data sent after idleness; idle time since is
    /// left out of the epoch.
    last_event: Time,
    fast_convergence: bool,
    reno: Option<(RenoIncrease, RenoStep)>,
    least_first_growth: u8,
    lookahead: Lookahead,
    count_limited_time: bool,
    /// Steps of the window, where windows are whole segments or targets are kept.
    steps: Option<Box<Steps>>,
    /// `w_max` is that of a loss; before the last reduction, too.
    is_known: bool,
    was_known: bool,
}

/// The variables of §4.1.2, but for the window and its threshold, which every
/// algorithm has; windows in octets.
#[derive(Clone, Copy, Debug)]
struct Curve {
    /// `cwnd` when `ssthresh` was last set; 0 before the first time.
    cwnd_prior: f64,
    /// `plateau` has `W_max` and `K`.
    plateau: Plateau,
    /// `w_est` is the window that Reno would have, in octets (§4.3).
    w_est: f64,
    /// `t_epoch` is the start of the current congestion avoidance stage; [`Time::NEVER`] before its
    /// first ACK. It is moved forward by the time that must not count (§5.8).
    t_epoch: Time,
}

impl CubicLaw {
    /// Returns W_cubic(t) of §4.2, in octets.
    fn w_cubic(&self, t: f64, mss: f64) -> f64 {
        let away = plateau::rise(t - self.now.plateau.k, mss);
        // Whole segments away from the flat point.
        self.now.plateau.w_max + away.signum() * self.whole(away.abs(), mss)
    }

    /// Returns these octets, in whole segments where those count.
    fn whole(&self, octets: f64, mss: f64) -> f64 {
        self.steps.as_ref().map_or(octets, |steps| steps.whole(octets, mss))
    }

    /// Lets W_est of §4.3 grow with an ACK for `part` of the window: alpha_cubic = 1 once Reno has
    /// regained what the reduction took.
    fn grow_reno(&mut self, part: f64, cwnd: f64, mss: f64) {
        let Some((increase, _)) = self.reno else { return };
        let is_whole = increase == RenoIncrease::Whole && self.now.w_est >= self.now.cwnd_prior;
        let alpha = if is_whole { 1.0 } else { ALPHA_CUBIC };
        self.now.w_est += match &mut self.steps {
            None => alpha * mss * part,
            Some(steps) => steps.of_reno(alpha, part, cwnd, mss),
        };
    }

    /// Moves the epoch on: the time since the last event does not count (§5.8).
    fn skip_to(&mut self, now: Time) {
        if self.now.t_epoch != Time::NEVER {
            let idle = now.saturating_since(self.last_event);
            self.now.t_epoch = self.now.t_epoch.saturating_add(idle);
        }
    }
}

impl Law for CubicLaw {
    type Options = CubicOptions;

    fn new(options: &CubicOptions) -> CubicLaw {
        let curve =
            Curve { cwnd_prior: 0.0, plateau: Plateau::UNKNOWN, w_est: 0.0, t_epoch: Time::NEVER };
        CubicLaw {
            now: curve,
            undo: curve,
            last_event: Time::ZERO,
            fast_convergence: options.fast_convergence,
            reno: options.reno_friendly.then_some((options.reno_increase, options.reno_step)),
            least_first_growth: options.least_first_growth,
            lookahead: options.lookahead,
            count_limited_time: options.count_limited_time,
            steps: Steps::new(options.common.whole_segments, options.update_interval).map(Box::new),
            is_known: false,
            was_known: false,
        }
    }

    fn common(options: &CubicOptions) -> &Common {
        &options.common
    }

    fn on_sent(&mut self, now: Time, path: &PathView) {
        // Nothing was in flight: no ACK could have let the window grow.
        if path.in_flight == 0 {
            self.skip_to(now);
            self.last_event = now;
        }
    }

    fn on_ack(&mut self, now: Time, limited: bool) {
        if limited && !self.count_limited_time {
            self.skip_to(now);
        }
        self.last_event = now;
    }

    /// Returns the growth with one ACK in congestion avoidance, in octets (§4.2 to §4.5).
    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        let mss = path.mss as f64;
        if self.now.t_epoch == Time::NEVER {
            self.now.begin_stage(self.whole(cwnd, mss), acked.now, mss);
            self.steps.iter_mut().for_each(|steps| steps.begin());
        }
        // The part of a window that this ACK covers: `segments_acked / cwnd`.
        let part = (acked.bytes as f64 / cwnd).min(1.0);
        self.grow_reno(part, cwnd, mss);
        if let Some(steps) = &mut self.steps
            && !steps.is_due(acked.now, cwnd, mss)
        {
            return steps.take(part, cwnd, mss);
        }
        let least = match self.is_known {
            true => 0.0,
            false => f64::from(self.least_first_growth) / 100.0,
        };
        let t = acked.now.saturating_since(self.now.t_epoch).as_secs_f64();
        if let Some((_, RenoStep::AtOnce)) = self.reno
            && self.w_cubic(t, mss) < self.now.w_est
        {
            self.steps.iter_mut().for_each(|steps| steps.set_way(0.0));
            // Deviation: "set to W_est", but an ACK never shrinks cwnd.
            return (self.now.w_est - cwnd).max(least * part * cwnd);
        }
        let known = match self.lookahead {
            Lookahead::Smoothed => path.srtt,
            Lookahead::Smallest => path.min_rtt,
        };
        let rtt = known.or(acked.rtt).map_or(0.0, |rtt| rtt.as_secs_f64());
        // §4.2: the window wanted one round trip from now.
        let mut target = self.w_cubic(t + rtt, mss);
        if let Some((_, RenoStep::InARound)) = self.reno {
            target = target.max(self.now.w_est);
        }
        let way = (target.clamp(cwnd, 1.5 * cwnd) - cwnd).max(least * cwnd);
        match &mut self.steps {
            // §4.4, §4.5: (target - cwnd) / cwnd for each segment acknowledged.
            None => way * part,
            Some(steps) => {
                steps.set_way(way);
                steps.take(part, cwnd, mss)
            }
        }
    }

    /// Answers a congestion event (§4.6).
    fn reduce(&mut self, cwnd: f64, base: f64, cause: Cause, path: &PathView) -> f64 {
        let mss = path.mss as f64;
        (self.undo, self.was_known) = (self.now, self.is_known);
        self.is_known = cause != Cause::Timeout;
        let c = &mut self.now;
        c.plateau.fall(cwnd, self.fast_convergence, cause);
        c.cwnd_prior = cwnd;
        c.t_epoch = Time::NEVER;
        self.now.plateau.w_max = self.whole(self.now.plateau.w_max, mss);
        self.steps.iter_mut().for_each(|steps| steps.forget());
        self.whole(base * BETA_CUBIC, mss)
    }

    /// Returns two segments at least after a loss, one after a mark.
    fn fewest(&self, cause: Cause) -> f64 {
        if cause == Cause::EcnMark { 1.0 } else { 2.0 }
    }

    fn on_undo(&mut self) {
        (self.now, self.is_known) = (self.undo, self.was_known);
    }

    fn on_idle(&mut self) {
        self.now.t_epoch = Time::NEVER; // a new stage follows
    }
}

impl Curve {
    /// Begins a congestion avoidance stage with its first ACK.
    fn begin_stage(&mut self, cwnd: f64, now: Time, mss: f64) {
        self.t_epoch = now;
        self.w_est = cwnd;
        self.plateau.begin(cwnd, mss);
    }
}

#[cfg(test)]
mod tests;
