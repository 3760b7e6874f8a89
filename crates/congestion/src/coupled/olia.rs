//! OLIA: the opportunistic linked increases algorithm (Khalili, Gast, Popovic,
//! Upadhyay and Le Boudec, "MPTCP Is Not Pareto-Optimal: Performance Issues and a
//! Possible Solution", CoNEXT 2012, section 4).
//!
//! For each segment acknowledged on path r, in congestion avoidance, windows in
//! segments:
//!
//! ```text
//! w_r += (w_r / rtt_r^2) / (SUM_p w_p / rtt_p)^2 + alpha_r / w_r           (5)
//! ```
//!
//! With R the paths, M those with the largest window, B those presumed the best:
//! of the largest `l_p / rtt_p^2`, `l_p` the octets between the last two losses or
//! since the last one, whichever are more:
//!
//! ```text
//! alpha_r =  1 / (|R| |B \ M|)   for r in B \ M
//!           -1 / (|R| |M|)       for r in M, where B \ M is not empty
//!            0                   otherwise                                 (6)
//! ```
//!
//! Choices: B by `l / rtt^2`, the square of the rate that a loss each `l` octets
//! lets a Reno flow have (the paper's text and Linux agree); windows count as
//! equal in M when they are in whole segments, as Linux's are; octets are counted
//! with the ACKs that may open the window.
//!
//! The MCubic paper abridges (5): its equation (3) has `alpha / SUM w` for the
//! first term.

use super::{Others, Term, own, term_of};
use crate::ack_clocked::{AckClocked, Common, Law};
use crate::reno::one_segment_per_round;
use crate::window::Window;
use crate::{Acked, Cause, PathView, Shared, Sibling};

/// `OliaOptions` are the settings of [`Olia`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct OliaOptions {
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

crate::options::ack_driven!(OliaOptions);

/// The controller of one path under OLIA: [`OliaLaw`] driven by ACKs.
pub type Olia = AckClocked<OliaLaw>;

/// `OliaLaw` is OLIA's growth of one path, with its view of the other paths.
#[derive(Clone, Debug)]
pub struct OliaLaw {
    others: Others,
    /// Octets between the last two losses, and since the last.
    between: f64,
    pub(super) since: f64,
    before_undo: (f64, f64),
}

impl OliaLaw {
    /// Returns `l_r` in octets, the larger distance between losses of the current and the previous
    /// interval.
    fn l(&self) -> f64 {
        self.between.max(self.since)
    }

    /// Computes the first term of equation (5), in segments for each segment acknowledged.
    fn linked(&self, own: Term) -> f64 {
        let rates: f64 = self.others.terms().chain([own]).map(Term::x).sum();
        own.w / (own.rtt * own.rtt) / (rates * rates)
    }

    /// Computes `alpha_r` of equation (6): positive on the best paths, negative on those with the
    /// largest windows.
    fn alpha(&self, own: Term) -> f64 {
        let others = || self.others.iter().filter_map(|other| Some((term_of(other)?, other.state)));
        let quality = |p: Term, l: f64| l / (p.rtt * p.rtt);
        let mine = quality(own, self.l());
        let best = others().map(|(p, other)| quality(p, other.between_losses)).fold(mine, f64::max);
        let largest = others().map(|(p, _)| p.w.floor()).fold(own.w.floor(), f64::max);
        let in_b = |p: Term, l: f64| quality(p, l) >= best;
        let in_m = |p: Term| p.w.floor() >= largest;
        let all = || others().map(|(p, other)| (p, other.between_losses)).chain([(own, self.l())]);
        let paths = all().count() as f64;
        let best_but_small = all().filter(|(p, l)| in_b(*p, *l) && !in_m(*p)).count() as f64;
        let large = all().filter(|(p, _)| in_m(*p)).count() as f64;
        if best_but_small == 0.0 {
            0.0
        } else if in_m(own) {
            -1.0 / (paths * large)
        } else if in_b(own, self.l()) {
            1.0 / (paths * best_but_small)
        } else {
            0.0
        }
    }
}

impl Law for OliaLaw {
    type Options = OliaOptions;
    const COUPLED: bool = true;

    fn new(_options: &OliaOptions) -> OliaLaw {
        OliaLaw { others: Others::default(), between: 0.0, since: 0.0, before_undo: (0.0, 0.0) }
    }

    fn common(options: &OliaOptions) -> &Common {
        &options.common
    }

    fn on_siblings(&mut self, siblings: &[Sibling]) {
        self.others.set(siblings);
    }

    fn steer(&mut self, _window: &mut Window, acked: &Acked, _path: &PathView) -> bool {
        self.since += acked.bytes as f64;
        false
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        let Some(own) = own(cwnd, path) else { return one_segment_per_round(cwnd, acked, path) };
        let step = self.linked(own) + self.alpha(own) / own.w; // (5)
        let mss = path.mss as f64;
        (step * acked.bytes as f64).max(mss - cwnd) // one segment remains
    }

    fn reduce(&mut self, _cwnd: f64, base: f64, _cause: Cause, _path: &PathView) -> f64 {
        self.before_undo = (self.between, self.since);
        (self.between, self.since) = (self.since, 0.0);
        base / 2.0
    }

    fn on_undo(&mut self) {
        let since = self.since;
        (self.between, self.since) = self.before_undo;
        self.since += since;
    }

    fn shared(&self, _cwnd: f64) -> Shared {
        Shared { between_losses: self.l(), ..Shared::default() }
    }

    /// Growth of the window, as a multiple of Reno's, without what is taken off large windows.
    fn coupling(&self, path: &Sibling) -> Option<f64> {
        let own = term_of(path)?;
        Some(self.linked(own) * own.w + self.alpha(own).max(0.0))
    }
}
