//! MCubic by shares: a CUBIC for each path, whose clock runs the slower the less
//! of the connection's rate the path carries. A change of [MCubic](super::mcubic)
//! that the study `mcubic` argues for and measures.
//!
//! MCubic delays a path's plateau by `gamma_i = K_i SUM_j 1/K_j`, and `1/K_j`
//! rises when path j is congested. Here a path's part of the rates takes that
//! place, and the curve is stretched in time, not shifted:
//!
//! ```text
//! W_i(t) = C (tau_i - K_i)^3 + Wmax_i,   d tau_i / dt = s_i^(4/3),
//! s_i = x_i / SUM_j x_j,   x_j = w_j / rtt_j
//! ```
//!
//! Why 4/3: a CUBIC whose clock runs slower by a factor `g` has, at the same losses,
//! a mean window that is smaller by `g^(3/4)` (RFC 9438 §5.1, (4) with `C` over
//! `g^3`). A path that alone would carry `F_i` carries `s_i F_i`; so wherever `s_i`
//! stays as it is, `SUM x = F_i`: the connection carries what one CUBIC would on that
//! path, and paths on which a CUBIC would carry less lose their part to those on
//! which it would carry more. On one bottleneck the paths together are one CUBIC.
//!
//! - A share counts as `least_share` percent at least, so that a path that others
//!   have displaced is still probed.
//! - Beyond the plateau, and before the first loss (`K = 0`), the clock is the same.
//! - There is no Reno-friendly region, as in MCubic; `Wmax`, fast convergence, slow
//!   start and the reduction to 0.7 are CUBIC's. With one path it is CUBIC without
//!   that region.

use super::{Others, Term, own, term_of};
use crate::ack_clocked::{AckClocked, Common, Law};
use crate::plateau::{BETA_CUBIC, Plateau};
use crate::{Acked, Cause, PathView, Sibling};
use anabranch_units::Time;

#[cfg(test)]
mod tests;

/// `MCubicShareOptions` are the settings of [`MCubicShare`].
#[derive(Clone, PartialEq, Debug)]
pub struct MCubicShareOptions {
    /// `fast_convergence` says that capacity is released to newer flows (RFC 9438 §4.7).
    pub fast_convergence: bool,
    /// The least share that a path counts with, in percent; 10.
    pub least_share: u32,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for MCubicShareOptions {
    fn default() -> MCubicShareOptions {
        MCubicShareOptions { fast_convergence: true, least_share: 10, common: Common::default() }
    }
}

crate::options::ack_driven!(MCubicShareOptions, |o, form| {
    form.says("as in `cubic`").boolean("fast_convergence", &mut o.fast_convergence)?;
    form.says("least share that a path counts with, in percent").integer(
        "least_share",
        0..=100,
        &mut o.least_share,
    )?;
});

/// The controller of one path under MCubic by shares: [`MCubicShareLaw`] driven by ACKs.
pub type MCubicShare = AckClocked<MCubicShareLaw>;

/// `MCubicShareLaw` is the growth and reduction of one path under MCubic by shares.
#[derive(Clone, Debug)]
pub struct MCubicShareLaw {
    others: Others,
    now: Curve,
    /// `now` before the last reduction.
    undo: Curve,
    /// `last` is the time up to which `tau` has run.
    last: Time,
    fast_convergence: bool,
    /// The least share that a path counts with, in percent.
    least_share: u32,
}

/// `Curve` is what a reduction changes and an undo restores.
#[derive(Clone, Copy, Debug)]
struct Curve {
    /// `plateau` has `Wmax_i` and `K_i`, which is in seconds of the path's clock.
    plateau: Plateau,
    /// `tau` is the path's clock since the stage began, in seconds; it is negative before its first
    /// ACK.
    tau: f64,
}

impl MCubicShareLaw {
    /// Computes `s_i`, this path's part of the connection's rate, at least `least_share`; 1 before
    /// it has a rate.
    fn share(&self, own: Option<Term>) -> f64 {
        let Some(own) = own else { return 1.0 };
        let others: f64 = self.others.terms().map(|term| term.x()).sum();
        (own.x() / (own.x() + others)).max(f64::from(self.least_share) / 100.0)
    }
}

impl Law for MCubicShareLaw {
    type Options = MCubicShareOptions;
    const COUPLED: bool = true;

    fn new(options: &MCubicShareOptions) -> MCubicShareLaw {
        let curve = Curve { plateau: Plateau::UNKNOWN, tau: -1.0 };
        MCubicShareLaw {
            others: Others::default(),
            now: curve,
            undo: curve,
            last: Time::ZERO,
            fast_convergence: options.fast_convergence,
            least_share: options.least_share,
        }
    }

    fn common(options: &MCubicShareOptions) -> &Common {
        &options.common
    }

    fn on_siblings(&mut self, siblings: &[Sibling]) {
        self.others.set(siblings);
    }

    fn on_sent(&mut self, now: Time, path: &PathView) {
        if path.in_flight == 0 {
            self.last = now; // the clock stood still
        }
    }

    fn on_ack(&mut self, now: Time, limited: bool) {
        if limited {
            self.last = now;
        }
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        let mss = path.mss as f64;
        let c = &mut self.now;
        if c.tau < 0.0 {
            c.tau = 0.0;
            c.plateau.begin(cwnd, mss);
            self.last = acked.now;
        }
        let share = self.share(own(cwnd, path));
        let speed = share * libm::cbrt(share); // s^(4/3)
        self.now.tau += speed * acked.now.saturating_since(self.last).as_secs_f64();
        self.last = acked.now;
        let part = (acked.bytes as f64 / cwnd).min(1.0);
        let rtt = path.srtt.or(acked.rtt).map_or(0.0, |rtt| rtt.as_secs_f64());
        let d = self.now.tau + speed * rtt - self.now.plateau.k;
        self.now.plateau.growth(d, part, cwnd, mss)
    }

    fn reduce(&mut self, cwnd: f64, base: f64, cause: Cause, _path: &PathView) -> f64 {
        self.undo = self.now;
        let c = &mut self.now;
        c.plateau.fall(cwnd, self.fast_convergence, cause);
        c.tau = -1.0;
        base * BETA_CUBIC
    }

    fn on_undo(&mut self) {
        self.now = self.undo;
    }

    fn on_idle(&mut self) {
        self.now.tau = -1.0;
    }

    /// Returns the path's share of the rate, which slows its clock.
    fn coupling(&self, path: &Sibling) -> Option<f64> {
        Some(self.share(term_of(path)))
    }
}
