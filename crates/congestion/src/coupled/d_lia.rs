//! D-LIA: linked increases whose decrease follows the time between losses (Lubna, Mahmud and Cho, "D-LIA: Dynamic congestion
//! control algorithm for MPTCP", ICT Express 6(4), 2020).
//!
//! As the authors' kernel module has it (mptcp_dlia.c): windows grow as LIA's ([`lia`](super::lia)), and at a loss
//!
//! ```text
//! gamma = min(left / w, 1)
//! beta  = gamma / 4 + 3 beta / 4, from 0.5 to 0.9
//! left  = beta w
//! ```
//!
//! where `w` is the window, `left` what the last loss has left of it, 2 segments before the first, and `beta` 0.5 then. So a
//! loss soon after another, before the window has grown much, takes less of it.

use super::Others;
use super::lia::LiaLaw;
use crate::ack_clocked::{AckClocked, Common, Law};
use crate::{Acked, Cause, PathView, Sibling};

/// `DLiaOptions` are the settings of [`DLia`].
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DLiaOptions {
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

crate::options::ack_driven!(DLiaOptions);

/// The controller of one path under D-LIA: [`DLiaLaw`] driven by ACKs.
pub type DLia = AckClocked<DLiaLaw>;

/// The weight of `gamma` in the mean `beta`: `factor` of the module, 25 %.
const WEIGHT: f64 = 0.25;
/// The least part of the window that a loss leaves, `beta_min`, which is also the first.
const LEAST: f64 = 0.5;
/// The largest part, `beta_max`.
const MOST: f64 = 0.9;

/// `DLiaLaw` is LIA's growth of one path, with D-LIA's reduction.
#[derive(Clone, Debug)]
pub struct DLiaLaw {
    lia: LiaLaw,
    now: Reduction,
    /// `now` before the last reduction.
    undo: Reduction,
}

/// `Reduction` is what a reduction changes and an undo restores.
#[derive(Clone, Copy, Debug)]
struct Reduction {
    /// The part of the window that a loss leaves.
    beta: f64,
    /// What the last loss has left, in octets; `None` before the first.
    left: Option<f64>,
}

impl Law for DLiaLaw {
    type Options = DLiaOptions;
    const COUPLED: bool = true;

    fn new(_options: &DLiaOptions) -> DLiaLaw {
        let first = Reduction { beta: LEAST, left: None };
        DLiaLaw { lia: LiaLaw { others: Others::default() }, now: first, undo: first }
    }

    fn common(options: &DLiaOptions) -> &Common {
        &options.common
    }

    fn on_siblings(&mut self, siblings: &[Sibling]) {
        self.lia.on_siblings(siblings);
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        self.lia.avoid(cwnd, acked, path)
    }

    fn reduce(&mut self, _cwnd: f64, base: f64, _cause: Cause, path: &PathView) -> f64 {
        self.undo = self.now;
        let two_segments = 2.0 * path.mss as f64;
        let gamma = (self.now.left.unwrap_or(two_segments) / base.max(1.0)).min(1.0);
        let beta = (WEIGHT * gamma + (1.0 - WEIGHT) * self.now.beta).clamp(LEAST, MOST);
        self.now = Reduction { beta, left: Some((beta * base).max(two_segments)) };
        beta * base
    }

    fn on_undo(&mut self) {
        self.now = self.undo;
    }

    /// Returns LIA's `alpha`.
    fn coupling(&self, path: &Sibling) -> Option<f64> {
        self.lia.coupling(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Controller;
    use crate::testkit::{MSS, event, path};

    /// What losses at these windows leave, in segments.
    fn left(c: &mut DLia, windows: &[u64]) -> Vec<f64> {
        let leave = |segments: &u64| {
            *c = with_window(c, *segments);
            c.on_congestion(&event(Cause::Loss), &path(*segments));
            c.ssthresh() as f64 / MSS as f64
        };
        windows.iter().map(leave).collect()
    }

    /// The same law with a window of so many segments.
    fn with_window(c: &DLia, segments: u64) -> DLia {
        let mut fresh = DLia::new(&DLiaOptions::default(), segments * MSS, 1);
        fresh.law = c.law.clone();
        fresh
    }

    fn fresh() -> DLia {
        DLia::new(&DLiaOptions::default(), 10 * MSS, 1)
    }

    #[track_caller]
    fn about(found: &[f64], expected: &[f64]) {
        let close = found.iter().zip(expected).all(|(found, hand)| (found - hand).abs() < 2e-3);
        assert!(close && found.len() == expected.len(), "{found:?}, by hand {expected:?}");
    }

    /// 100: gamma = 2 / 100, beta at its least. 60: 50 / 60, beta = 0.5833. 35: all is left, 0.6875. 200: 24.06 / 200,
    /// 0.5457.
    #[test]
    fn a_loss_soon_after_another_takes_less() {
        about(&left(&mut fresh(), &[100, 60, 35, 200]), &[50.0, 35.0, 24.0625, 109.140]);
    }

    /// Losses at one window leave `beta` as it is, whatever it is; losses without any growth raise it to 0.9.
    #[test]
    fn regular_losses_halve() {
        about(&left(&mut fresh(), &[100, 100, 100]), &[50.0, 50.0, 50.0]);
        let mut c = fresh();
        left(&mut c, &[100; 1]);
        left(&mut c, &[50, 29, 20, 15, 12, 10, 8, 7, 6, 5]);
        assert!(c.law.now.beta > 0.85 && c.law.now.beta <= MOST, "{}", c.law.now.beta);
        let at = c.law.now.beta;
        c.law.now.left = Some(at * 100.0 * MSS as f64);
        about(&left(&mut c, &[100, 100]), &[100.0 * at, 100.0 * at]);
    }

    #[test]
    fn a_spurious_reduction_is_forgotten() {
        let mut c = fresh();
        left(&mut c, &[100]);
        let before = c.law.now.beta;
        left(&mut c, &[55]);
        assert!(c.law.now.beta > before);
        c.on_undo();
        assert_eq!((c.law.now.beta, c.law.now.left), (before, Some(50.0 * MSS as f64)));
    }
}
