//! BALIA: the balanced linked adaptation algorithm (Peng, Walid, Hwang and Low,
//! "Multipath TCP: Analysis, Design, and Implementation", IEEE/ACM ToN 24(1), 2016,
//! section VI; draft-walid-mptcp-congestion-control-04).
//!
//! With `x_r = w_r / rtt_r` and `alpha_r = max_k x_k / x_r`, windows in segments:
//!
//! ```text
//! for each segment acknowledged:
//!   w_r += (x_r / rtt_r) / (SUM_k x_k)^2 (1 + alpha_r) / 2 (4 + alpha_r) / 5
//! for each loss:
//!   w_r -= w_r / 2 min(alpha_r, 1.5)
//! ```

use super::{Others, Term, own, term_of};
use crate::ack_clocked::{AckClocked, Common, Law};
use crate::reno::one_segment_per_round;
use crate::{Acked, Cause, PathView, Sibling};

/// `BaliaOptions` are the settings of [`Balia`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct BaliaOptions {
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

crate::options::ack_driven!(BaliaOptions);

/// The controller of one path under BALIA: [`BaliaLaw`] driven by ACKs.
pub type Balia = AckClocked<BaliaLaw>;

/// `BaliaLaw` is BALIA's growth and reduction of one path, with its view of the other paths.
#[derive(Clone, Debug)]
pub struct BaliaLaw {
    others: Others,
}

impl BaliaLaw {
    fn alpha(&self, own: Term) -> f64 {
        self.others.terms().map(Term::x).fold(own.x(), f64::max) / own.x()
    }

    /// Returns by how many segments an acknowledged segment opens the window, by the paper's
    /// increase rule.
    fn step(&self, own: Term) -> f64 {
        let rates: f64 = self.others.terms().chain([own]).map(Term::x).sum();
        let alpha = self.alpha(own);
        own.x() / own.rtt / (rates * rates) * ((1.0 + alpha) / 2.0) * ((4.0 + alpha) / 5.0)
    }
}

impl Law for BaliaLaw {
    type Options = BaliaOptions;
    const COUPLED: bool = true;

    fn new(_options: &BaliaOptions) -> BaliaLaw {
        BaliaLaw { others: Others::default() }
    }

    fn common(options: &BaliaOptions) -> &Common {
        &options.common
    }

    fn on_siblings(&mut self, siblings: &[Sibling]) {
        self.others.set(siblings);
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        let Some(own) = own(cwnd, path) else { return one_segment_per_round(cwnd, acked, path) };
        self.step(own) * acked.bytes as f64
    }

    fn reduce(&mut self, cwnd: f64, base: f64, cause: Cause, path: &PathView) -> f64 {
        let alpha = own(cwnd, path).map_or(1.0, |own| self.alpha(own));
        // A timeout halves, as in RFC 5681.
        let part = if cause == Cause::Timeout { 1.0 } else { alpha.min(1.5) };
        base * (1.0 - part / 2.0)
    }

    /// Returns the growth of the window, as a multiple of Reno's.
    fn coupling(&self, path: &Sibling) -> Option<f64> {
        let own = term_of(path)?;
        Some(self.step(own) * own.w)
    }
}
