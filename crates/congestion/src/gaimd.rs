//! General AIMD: `alpha` segments more for each window acknowledged, `beta` of the window left at a
//! loss (Yang and Lam, "General AIMD congestion control", ICNP 2000; Floyd, Handley and Padhye, "A
//! comparison of equation-based and AIMD congestion control", 2000, call it AIMD(a, b), b = 1 - beta).
//!
//! With 1 and 0.5 it is Reno, whose slow start, timeouts and bound on one ACK's growth it has. Every
//! pair with `alpha = 3 (1 - beta) / (1 + beta)` has Reno's average window under periodic loss; the
//! paper's TCP-friendly pairs, `alpha = 4 (1 - beta^2) / 3`, allow for timeouts too and are a little
//! more than that above `beta` = 0.5.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::reno::one_segment_per_round;
use crate::{Acked, Cause, PathView};

/// `GaimdOptions` are the settings of [`Gaimd`].
#[derive(Clone, PartialEq, Debug)]
pub struct GaimdOptions {
    /// `alpha`: segments more for each window acknowledged, 0.31 by default.
    pub alpha: f64,
    /// `beta`: the part of the window that a loss, mark or timeout leaves, 0.875 by default. After a
    /// timeout it is the threshold up to which slow start goes.
    pub beta: f64,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for GaimdOptions {
    /// Returns the pair whose flows the paper measures beside TCP's.
    fn default() -> GaimdOptions {
        GaimdOptions { alpha: 0.31, beta: 0.875, common: Common::default() }
    }
}

crate::options::ack_driven!(GaimdOptions, |o, form| {
    form.says("segments more for each window acknowledged").number(
        "alpha",
        0.0..=1000.0,
        &mut o.alpha,
    )?;
    form.says("part of the window that a loss leaves").probability("beta", &mut o.beta)?;
});

/// The controller of general AIMD: [`GaimdLaw`] driven by ACKs.
pub type Gaimd = AckClocked<GaimdLaw>;

/// `GaimdLaw` is the growth and reduction of general AIMD.
#[derive(Clone, Copy, Debug)]
pub struct GaimdLaw {
    /// Segments by which a window grows while it is acknowledged once.
    alpha: f64,
    beta: f64,
}

impl Law for GaimdLaw {
    type Options = GaimdOptions;

    fn new(options: &GaimdOptions) -> GaimdLaw {
        GaimdLaw { alpha: options.alpha, beta: options.beta }
    }

    fn common(options: &GaimdOptions) -> &Common {
        &options.common
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        self.alpha * one_segment_per_round(cwnd, acked, path)
    }

    fn reduce(&mut self, _cwnd: f64, base: f64, _cause: Cause, _path: &PathView) -> f64 {
        base * self.beta
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Controller;
    use crate::reno::{Reno, RenoOptions};
    use crate::testkit::{MSS, Path};
    use anabranch_testkit::marks::record;
    use anabranch_units::Span;

    fn gaimd(alpha: f64, beta: f64, segments: u64) -> Gaimd {
        let options = GaimdOptions { alpha, beta, ..GaimdOptions::default() };
        Gaimd::new(&options, segments * MSS, MSS)
    }

    /// Between two losses the window climbs from `beta` W to W by `alpha` a round, which takes
    /// (1 - beta^2) W^2 / (2 alpha) = 1/p segments: the mean is sqrt(alpha (1 + beta) / (2 (1 - beta) p)).
    #[test]
    fn the_mean_window_is_that_of_the_saw_tooth() {
        for (alpha, beta) in [(1.0, 0.5), (0.31, 0.875), (0.2, 0.875), (3.0, 0.25), (0.05, 0.97)] {
            for p in [1e-3, 1e-4, 1e-5] {
                let law = f64::sqrt(alpha * (1.0 + beta) / (2.0 * (1.0 - beta) * p));
                let mut c = gaimd(alpha, beta, law as u64);
                let mut path = Path::new(Span::from_millis(100));
                path.periodic_loss(&mut c, p, 50);
                let measured = path.periodic_loss(&mut c, p, 50);
                let quantity = format!("gaimd({alpha}, {beta}): average window, p = {p:e}");
                record("T7", &quantity, format!("{law:.1}"), format!("{measured:.1}"), "1 %");
                assert!((measured / law - 1.0).abs() < 0.01, "{quantity}: {measured} of {law}");
            }
        }
    }

    /// On the line alpha = 3 (1 - beta) / (1 + beta) the mean is Reno's, sqrt(3/2) / sqrt(p).
    #[test]
    fn a_smoother_pair_on_reno_s_line_has_reno_s_mean() {
        let p = 1e-4;
        for beta in [0.5, 0.7, 0.875] {
            let mut c = gaimd(3.0 * (1.0 - beta) / (1.0 + beta), beta, 122);
            let mut path = Path::new(Span::from_millis(100));
            path.periodic_loss(&mut c, p, 50);
            let measured = path.periodic_loss(&mut c, p, 50);
            assert!((measured / f64::sqrt(1.5 / p) - 1.0).abs() < 0.01, "{beta}: {measured}");
        }
    }

    #[test]
    fn one_and_a_half_are_reno() {
        let (mut ours, mut reno) =
            (gaimd(1.0, 0.5, 40), Reno::new(&RenoOptions::default(), 40 * MSS, MSS));
        for cause in [Cause::Loss, Cause::EcnMark, Cause::Timeout] {
            let mut paths = [Path::new(Span::from_millis(100)), Path::new(Span::from_millis(100))];
            for _ in 0..20 {
                paths[0].round(&mut ours);
                paths[1].round(&mut reno);
                assert_eq!((ours.window(), ours.ssthresh()), (reno.window(), reno.ssthresh()));
            }
            paths[0].signal(&mut ours, cause);
            paths[1].signal(&mut reno, cause);
            assert_eq!((ours.window(), ours.ssthresh()), (reno.window(), reno.ssthresh()));
        }
    }

    #[test]
    fn a_round_adds_alpha_segments_and_a_loss_leaves_beta() {
        let mut c = gaimd(0.31, 0.875, 100);
        let mut path = Path::new(Span::from_millis(100));
        path.round(&mut c);
        assert!((100_300..=100_310).contains(&c.window()), "{}", c.window());
        let before = c.window();
        path.signal(&mut c, Cause::Loss);
        assert!(c.window().abs_diff(before * 7 / 8) <= 1, "{} of {before}", c.window());
    }

    #[test]
    fn a_timeout_leaves_beta_as_the_threshold() {
        let mut c = gaimd(0.31, 0.875, 80);
        Path::new(Span::from_millis(100)).signal(&mut c, Cause::Timeout);
        assert_eq!((c.window(), c.ssthresh()), (MSS, 70 * MSS));
    }
}
