//! BIC: after a loss the window searches between what lost and what did not by halving the interval,
//! in steps that are bounded both ways, and probes beyond it in steps that double (Xu, Harfoush and
//! Rhee, "Binary increase congestion control for fast long-distance networks", INFOCOM 2004, §III).
//!
//! Names are the paper's pseudocode's. Left out: nothing; up to `low_window` it is Reno.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::reno::one_segment_per_round;
use crate::{Acked, Cause, PathView};

/// `BicOptions` are the settings of [`Bic`]: the parameters of §III.
#[derive(Clone, PartialEq, Debug)]
pub struct BicOptions {
    /// `S_max`: most segments that a round trip adds; 32.
    pub s_max: f64,
    /// `S_min`: fewest segments that a round trip adds, at the end of the search; 0.01.
    pub s_min: f64,
    /// `beta`: the part of the window that a loss takes; 0.125.
    pub beta: f64,
    /// `low_window`: the window, in segments, up to which it is Reno; 14.
    pub low_window: u32,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for BicOptions {
    fn default() -> BicOptions {
        let common = Common::default();
        BicOptions { s_max: 32.0, s_min: 0.01, beta: 0.125, low_window: 14, common }
    }
}

crate::options::ack_driven!(BicOptions, |o, form| {
    form.says("most segments a round trip").number("s_max", 0.0..=1e6, &mut o.s_max)?;
    form.says("fewest segments a round trip").number("s_min", 0.0..=1e6, &mut o.s_min)?;
    form.says("part that a loss takes").probability("beta", &mut o.beta)?;
    form.says("segments up to which it is Reno").integer(
        "low_window",
        1..=1_000_000,
        &mut o.low_window,
    )?;
    form.require(o.s_min > 0.0 && o.s_min <= o.s_max, "s_min", "more than 0, at most `s_max`")?;
});

/// The controller of BIC: [`BicLaw`] driven by ACKs.
pub type Bic = AckClocked<BicLaw>;

/// `BicLaw` is the growth and reduction of BIC; windows are in segments.
#[derive(Clone, Copy, Debug)]
pub struct BicLaw {
    s_max: f64,
    s_min: f64,
    beta: f64,
    low_window: f64,
    /// `max_win`: where the search ends; infinite before the first loss and once it is passed.
    max_win: f64,
    /// `max_win` before the last reduction.
    undone: f64,
    /// The window at which max probing began, while it goes on.
    probing_from: Option<f64>,
}

impl BicLaw {
    /// Returns how many segments a round trip adds to a window of `w`.
    fn increase(&mut self, w: f64) -> f64 {
        if w < self.max_win {
            self.probing_from = None;
            // Binary search: to the middle, by S_max at most (additive increase).
            return ((self.max_win - w) / 2.0).clamp(self.s_min, self.s_max);
        }
        // Max probing: 1, 2, 4, ... segments a round, which is the way gone so far, then S_max.
        // A window that idleness has lowered begins anew.
        let from = self.probing_from.map_or(w, |from| from.min(w));
        self.probing_from = Some(from);
        (w - from + 1.0).min(self.s_max)
    }
}

impl Law for BicLaw {
    type Options = BicOptions;

    fn new(options: &BicOptions) -> BicLaw {
        let BicOptions { s_max, s_min, beta, low_window, .. } = *options;
        BicLaw {
            s_max,
            s_min,
            beta,
            low_window: f64::from(low_window),
            max_win: 0.0,
            undone: 0.0,
            probing_from: None,
        }
    }

    fn common(options: &BicOptions) -> &Common {
        &options.common
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        let w = cwnd / path.mss as f64;
        if w < self.low_window {
            return one_segment_per_round(cwnd, acked, path);
        }
        self.increase(w) * path.mss as f64 * (acked.bytes as f64 / cwnd).min(1.0)
    }

    fn reduce(&mut self, cwnd: f64, base: f64, _cause: Cause, path: &PathView) -> f64 {
        let w = cwnd / path.mss as f64;
        self.undone = self.max_win;
        self.probing_from = None;
        if w < self.low_window {
            self.max_win = w;
            return base / 2.0;
        }
        // Fast convergence: a window that is going down gives up some more.
        self.max_win = if w < self.max_win { w * (1.0 - self.beta / 2.0) } else { w };
        base * (1.0 - self.beta)
    }

    fn on_undo(&mut self) {
        self.max_win = self.undone;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Controller;
    use crate::testkit::{MSS, Path};
    use anabranch_testkit::marks::record;
    use anabranch_units::Span;

    fn bic(segments: u64) -> (Bic, Path) {
        let mut c = Bic::new(&BicOptions::default(), segments * MSS, MSS);
        let mut path = Path::new(Span::from_millis(100));
        path.signal(&mut c, Cause::Loss);
        (c, path)
    }

    /// §III: additive increase for N1 = max(ceil(W_max beta / S_max) - 2, 0) rounds, then binary search
    /// for N2 = log2((W_max beta - N1 S_max) / S_min) + 2. The last step is to the middle: it comes
    /// within S_min of W_max.
    #[test]
    fn the_search_takes_the_rounds_of_the_paper() {
        for w_max in [500.0_f64, 1000.0, 4000.0] {
            let (mut c, mut path) = bic(w_max as u64);
            assert_eq!(c.window() as f64, 0.875 * w_max * MSS as f64);
            let given_up = 0.125 * w_max;
            let n1 = ((given_up / 32.0).ceil() - 2.0).max(0.0);
            let n2 = ((given_up - n1 * 32.0) / 0.01).log2() + 2.0;
            let mut rounds = 0.0;
            while (c.window() as f64) < (w_max - 0.02) * MSS as f64 {
                path.round(&mut c);
                rounds += 1.0;
            }
            let law = n1 + n2;
            let quantity = format!("bic: rounds from a loss at {w_max} to W_max");
            record("T7", &quantity, format!("{law:.1}"), rounds, "within a round's halving: 40 %");
            // ACK by ACK the distance shrinks by e^(-1/2) in a round, not by half: N2 / 0.72.
            let continuous = n1 + n2 * std::f64::consts::LN_2 * 2.0;
            assert!(
                rounds > law - 3.0 && rounds < continuous + 3.0,
                "{rounds}, {law}, {continuous}"
            );
        }
    }

    /// Additive increase, then beyond W_max steps that double up to S_max.
    #[test]
    fn steps_are_bounded_both_ways_and_double_beyond_the_maximum() {
        let mut law = BicLaw::new(&BicOptions::default());
        law.max_win = 1000.0;
        assert_eq!(law.increase(800.0), 32.0);
        assert_eq!(law.increase(980.0), 10.0);
        assert_eq!(law.increase(999.99), 0.01);
        let mut w = 1000.0;
        let steps: Vec<f64> = (0..7)
            .map(|_| {
                let step = law.increase(w);
                w += step;
                step
            })
            .collect();
        assert_eq!(steps, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 32.0]);
    }

    /// Fast convergence: W (1 - beta / 2) where the window was below the last maximum.
    #[test]
    fn a_second_loss_below_the_maximum_lowers_it() {
        let (mut c, mut path) = bic(1000);
        assert_eq!(c.law.max_win, 1000.0);
        path.signal(&mut c, Cause::Loss);
        assert_eq!(c.law.max_win, 875.0 * 0.9375);
        c.on_undo();
        assert_eq!(c.law.max_win, 1000.0);
    }
}
