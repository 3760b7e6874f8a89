//! MCubic: a CUBIC for each path, whose plateaus come later the more the others
//! grow (the paper reproduced by the study `mcubic`).
//!
//! CUBIC returns to the window `Wmax` of the last loss after `K_i` seconds and is
//! flat around it. MCubic replaces `K_i` by
//!
//! ```text
//! K'_i = K_i gamma_i,  gamma_i = (SUM_j 1/K_j) / (1/K_i)                   (7), (8)
//!      = K_i^2 SUM_j 1/K_j
//! W_i(t) = C (t - K'_i)^3 + Wmax_i
//! ```
//!
//! which is `n K` for n equal paths. There is no Reno-friendly region. With one
//! path it is CUBIC without that region.
//!
//! The reading of the text:
//!
//! - `W_i(0)` lies below the reduced window wherever `gamma_i > 1` (for two equal
//!   paths at `Wmax - 8 (Wmax - cwnd)`), so the window is held, for
//!   `K_i (gamma_i - 1)` seconds, until the curve reaches it; meanwhile it grows by
//!   a segment in a hundred windows, as Linux's CUBIC does below its curve.
//! - `K_i = cbrt((Wmax - cwnd) / C)` with the window after the reduction. The text
//!   has `cbrt(Wmax beta / C)`, once with beta the part that is given up, once with
//!   the part that is left; the first agrees with this one.
//! - `K_j = 0`, on a path beyond its plateau or before its first loss, makes the
//!   sum infinite: every `K` counts as `floor_rtts` smoothed round-trip times of its
//!   path at least.
//! - After a timeout CUBIC forgets its plateau. The text defines `K_i` by the window
//!   before the last reduction and says nothing of timeouts, so until the next stage
//!   begins the others go on counting with it; a CUBIC that sets its `K` to 0, as
//!   Linux's does, has them count with the floor ([`AfterTimeout`]).
//! - `K'_i` follows the others' `K` with each ACK; `Wmax`, fast convergence,
//!   slow start and the reduction to 0.7 are CUBIC's.

use super::Others;
use crate::ack_clocked::{AckClocked, Common, Law};
use crate::plateau::{self, BETA_CUBIC, Plateau};
use crate::{Acked, Cause, PathView, Shared, Sibling};
use anabranch_units::{Span, Time};

/// `MCubicOptions` are the settings of [`MCubic`].
#[derive(Clone, PartialEq, Debug)]
pub struct MCubicOptions {
    /// `fast_convergence` says that capacity is released to newer flows (RFC 9438 §4.7).
    pub fast_convergence: bool,
    /// `floor_tenths` is the least `K`, in smoothed round-trip times of its path, in tenths; 10.
    pub floor_tenths: u32,
    /// `k_beta` says which part of `Wmax` the formula of `K` takes; the paper has both.
    pub k_beta: KBeta,
    /// `after_timeout` says which `K` the others see after a timeout.
    pub after_timeout: AfterTimeout,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for MCubicOptions {
    fn default() -> MCubicOptions {
        MCubicOptions {
            fast_convergence: true,
            floor_tenths: 10,
            k_beta: KBeta::GivenUp,
            after_timeout: AfterTimeout::Kept,
            common: Common::default(),
        }
    }
}

/// `KBeta` is the part of `Wmax` in `K = cbrt(Wmax beta / C)`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KBeta {
    /// The part that a reduction gives up: the window is back at `Wmax` after `K`.
    GivenUp,
    /// The part that it leaves, as the text says once; `K` is `cbrt(7/3)` times as long.
    Left,
}

/// `AfterTimeout` is a path's `K` after a timeout, until congestion avoidance begins again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AfterTimeout {
    /// `K` keeps its last value: a path that has failed still counts as before.
    Kept,
    /// Zero, so that the floor counts: a path that is gone is counted as one that
    /// grows as fast as can be.
    Zero,
}

crate::options::ack_driven!(MCubicOptions, |o, form| {
    form.says("as in `cubic`").boolean("fast_convergence", &mut o.fast_convergence)?;
    form.says("least `K` in tenths of a smoothed RTT of its path").integer(
        "floor_tenths",
        0..=1000,
        &mut o.floor_tenths,
    )?;
    let betas = [("given-up", KBeta::GivenUp), ("left", KBeta::Left)];
    form.says(
        "the part of `Wmax` that `K` is reckoned from: what a loss takes, or with `\"left\"` \
         what it leaves",
    )
    .choice("k_beta", &betas, &mut o.k_beta)?;
    let ks = [("kept", AfterTimeout::Kept), ("zero", AfterTimeout::Zero)];
    form.says(
        "what other paths count as a path's `K` between a timeout and its next congestion \
         avoidance: the last one, or with `\"zero\"` the floor",
    )
    .choice("k_after_timeout", &ks, &mut o.after_timeout)?;
});

/// The controller of one path under MCubic: [`MCubicLaw`] driven by ACKs.
pub type MCubic = AckClocked<MCubicLaw>;

/// `MCubicLaw` is MCubic's growth and reduction of one path, with its view of the other paths.
#[derive(Clone, Debug)]
pub struct MCubicLaw {
    others: Others,
    now: Curve,
    /// `now` before the last reduction.
    undo: Curve,
    /// `last_event` is the time of the last ACK, or of data sent after idleness; idle time since is
    /// left out of the epoch.
    last_event: Time,
    fast_convergence: bool,
    /// `floor` is the least `K`, in tenths of a smoothed round-trip time.
    floor: u32,
    k_beta: KBeta,
    after_timeout: AfterTimeout,
}

/// `Curve` is what a reduction changes and an undo restores.
#[derive(Clone, Copy, Debug)]
struct Curve {
    /// `plateau` has `Wmax_i` and `K_i`, not yet stretched by the other paths.
    plateau: Plateau,
    /// `t_epoch` is the start of the stage; [`Time::NEVER`] before its first ACK.
    t_epoch: Time,
}

impl MCubicLaw {
    fn floored(&self, k: f64, srtt: Option<Span>) -> f64 {
        let floor = f64::from(self.floor) / 10.0;
        k.max(floor * srtt.map_or(0.0, |rtt| rtt.as_secs_f64())).max(1e-6)
    }

    /// Computes `K'_i` in seconds: `K_i` stretched by the other paths; 0 beyond the plateau.
    fn k_prime(&self, srtt: Option<Span>) -> f64 {
        if self.now.plateau.k == 0.0 {
            return 0.0; // beyond the plateau: CUBIC's convex branch
        }
        let k = self.floored(self.now.plateau.k, srtt);
        let others: f64 =
            self.others.iter().map(|other| 1.0 / self.floored(other.state.k, other.srtt)).sum();
        k * k * (1.0 / k + others)
    }

    /// Begins a congestion avoidance stage with its first ACK.
    fn begin_stage(&mut self, cwnd: f64, now: Time, mss: f64) {
        self.now.t_epoch = now;
        let plateau = &mut self.now.plateau;
        plateau.begin(cwnd, mss);
        // With no plateau above, `K` is 0 in any case.
        if self.k_beta == KBeta::Left && plateau.w_max > cwnd {
            plateau.k = plateau::seconds(plateau.w_max * BETA_CUBIC, mss);
        }
    }

    fn skip_to(&mut self, now: Time) {
        if self.now.t_epoch != Time::NEVER {
            let idle = now.saturating_since(self.last_event);
            self.now.t_epoch = self.now.t_epoch.saturating_add(idle);
        }
    }
}

impl Law for MCubicLaw {
    type Options = MCubicOptions;
    const COUPLED: bool = true;

    fn new(options: &MCubicOptions) -> MCubicLaw {
        let curve = Curve { plateau: Plateau::UNKNOWN, t_epoch: Time::NEVER };
        MCubicLaw {
            others: Others::default(),
            now: curve,
            undo: curve,
            last_event: Time::ZERO,
            fast_convergence: options.fast_convergence,
            floor: options.floor_tenths,
            k_beta: options.k_beta,
            after_timeout: options.after_timeout,
        }
    }

    fn common(options: &MCubicOptions) -> &Common {
        &options.common
    }

    fn on_siblings(&mut self, siblings: &[Sibling]) {
        self.others.set(siblings);
    }

    fn on_sent(&mut self, now: Time, path: &PathView) {
        if path.in_flight == 0 {
            self.skip_to(now);
            self.last_event = now;
        }
    }

    fn on_ack(&mut self, now: Time, limited: bool) {
        if limited {
            self.skip_to(now);
        }
        self.last_event = now;
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        let mss = path.mss as f64;
        if self.now.t_epoch == Time::NEVER {
            self.begin_stage(cwnd, acked.now, mss);
        }
        let part = (acked.bytes as f64 / cwnd).min(1.0);
        let rtt = path.srtt.or(acked.rtt).map_or(0.0, |rtt| rtt.as_secs_f64());
        let t = acked.now.saturating_since(self.now.t_epoch).as_secs_f64() + rtt;
        let d = t - self.k_prime(path.srtt);
        self.now.plateau.growth(d, part, cwnd, mss)
    }

    fn reduce(&mut self, cwnd: f64, base: f64, cause: Cause, _path: &PathView) -> f64 {
        self.undo = self.now;
        let c = &mut self.now;
        c.plateau.fall(cwnd, self.fast_convergence, cause);
        c.t_epoch = Time::NEVER;
        if cause == Cause::Timeout && self.after_timeout == AfterTimeout::Zero {
            c.plateau.k = 0.0;
        }
        base * BETA_CUBIC
    }

    fn on_undo(&mut self) {
        self.now = self.undo;
    }

    fn on_idle(&mut self) {
        self.now.t_epoch = Time::NEVER;
    }

    fn shared(&self, _cwnd: f64) -> Shared {
        Shared { k: self.now.plateau.k, ..Shared::default() }
    }

    /// Returns `K'_i` in seconds, for traces.
    fn coupling(&self, path: &Sibling) -> Option<f64> {
        Some(self.k_prime(path.srtt))
    }
}
