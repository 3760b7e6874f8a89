//! LIA: the linked increases algorithm (RFC 6356).
//!
//! §3, for each ACK of `bytes_acked` octets on path i, in congestion avoidance:
//!
//! ```text
//! cwnd_i += min(alpha bytes_acked MSS_i / cwnd_total,
//!               bytes_acked MSS_i / cwnd_i)                                (1)
//! alpha = cwnd_total MAX(cwnd_i / rtt_i^2) / (SUM(cwnd_i / rtt_i))^2       (2)
//! ```
//!
//! Slow start, fast recovery and the halving at a loss stay those of RFC 5681.
//! Alpha is computed with each ACK, where §4.1 lets it be less often.

use super::{Others, Term, own, term_of};
use crate::ack_clocked::{AckClocked, Common, Law};
use crate::reno::one_segment_per_round;
use crate::{Acked, Cause, PathView, Sibling};

/// `LiaOptions` are the settings of [`Lia`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LiaOptions {
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

crate::options::ack_driven!(LiaOptions);

/// The controller of one path under LIA: [`LiaLaw`] driven by ACKs.
pub type Lia = AckClocked<LiaLaw>;

/// `LiaLaw` is LIA's growth of one path, with its view of the other paths.
#[derive(Clone, Debug)]
pub struct LiaLaw {
    pub(super) others: Others,
}

impl LiaLaw {
    /// `alpha` (2) and `cwnd_total` in segments.
    fn alpha(&self, own: Term) -> (f64, f64) {
        let all = || self.others.terms().chain([own]);
        let total: f64 = all().map(|p| p.w).sum();
        let best = all().map(|p| p.w / (p.rtt * p.rtt)).fold(0.0, f64::max);
        let rates: f64 = all().map(Term::x).sum();
        (total * best / (rates * rates), total)
    }
}

impl Law for LiaLaw {
    type Options = LiaOptions;
    const COUPLED: bool = true;

    fn new(_options: &LiaOptions) -> LiaLaw {
        LiaLaw { others: Others::default() }
    }

    fn common(options: &LiaOptions) -> &Common {
        &options.common
    }

    fn on_siblings(&mut self, siblings: &[Sibling]) {
        self.others.set(siblings);
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        let alone = one_segment_per_round(cwnd, acked, path);
        let Some(own) = own(cwnd, path) else { return alone };
        let (alpha, total) = self.alpha(own);
        // (1), windows in segments of this path: MSS_i cancels.
        let segments = acked.bytes as f64 / path.mss as f64;
        let linked = alpha * segments / total * path.mss as f64;
        linked.min(alone)
    }

    /// Returns half of `base`, as RFC 5681 §3.1 has it.
    fn reduce(&mut self, _cwnd: f64, base: f64, _cause: Cause, _path: &PathView) -> f64 {
        base / 2.0
    }

    /// Returns `alpha` of RFC 6356 (2) for traces; `None` before the path has a round-trip time.
    fn coupling(&self, path: &Sibling) -> Option<f64> {
        Some(self.alpha(term_of(path)?).0)
    }
}
