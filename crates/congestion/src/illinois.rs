//! Illinois: losses say when to reduce, the delay how much to grow and to reduce (Liu, Başar and
//! Srikant, "TCP-Illinois: a loss- and delay-based congestion control algorithm for high-speed
//! networks", Performance Evaluation 65(6-7), 2008; first VALUETOOLS 2006).
//!
//! §3.2: `alpha` falls from `alpha_max` to `alpha_min` with the mean queueing delay of a round, `beta`
//! rises from `beta_min` to `beta_max`; the five constants follow from continuity. `alpha` returns to
//! its maximum after `theta` rounds of small delay. Below `W_thresh` it is Reno.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::round::Round;
use crate::{Acked, Cause, PathView};
use anabranch_units::Span;

/// `IllinoisOptions` are the settings of [`Illinois`]: the parameters of §3.2.
#[derive(Clone, PartialEq, Debug)]
pub struct IllinoisOptions {
    /// Segments a round trip, at the smallest and at the largest delay; 10 and 0.3.
    pub alpha_max: f64,
    /// Segments a round trip at the largest delay; more than 0, less than `alpha_max`; 0.3.
    pub alpha_min: f64,
    /// The part that a loss takes, at the largest and at the smallest delay; 0.5 and 0.125.
    pub beta_max: f64,
    /// The part of the window that a loss takes at the smallest delay; 0.125.
    pub beta_min: f64,
    /// `W_thresh`: the window, in segments, below which it is Reno; 10.
    pub w_thresh: u32,
    /// `theta` is how many rounds of small delay let `alpha` return to its maximum; 5.
    pub theta: u32,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for IllinoisOptions {
    fn default() -> IllinoisOptions {
        IllinoisOptions {
            alpha_max: 10.0,
            alpha_min: 0.3,
            beta_max: 0.5,
            beta_min: 0.125,
            w_thresh: 10,
            theta: 5,
            common: Common::default(),
        }
    }
}

crate::options::ack_driven!(IllinoisOptions, |o, form| {
    form.says("largest step, in segments a round trip").number(
        "alpha_max",
        0.0..=1e6,
        &mut o.alpha_max,
    )?;
    form.says("smallest step, in segments a round trip").number(
        "alpha_min",
        0.0..=1e6,
        &mut o.alpha_min,
    )?;
    form.says("largest part that a loss takes").probability("beta_max", &mut o.beta_max)?;
    form.says("smallest part that a loss takes").probability("beta_min", &mut o.beta_min)?;
    form.says("segments up to which it is Reno").integer(
        "w_thresh",
        1..=1_000_000,
        &mut o.w_thresh,
    )?;
    form.says("rounds of small delay after which the step is its largest").integer(
        "theta",
        1..=1000,
        &mut o.theta,
    )?;
    let falls = o.alpha_min > 0.0 && o.alpha_min < o.alpha_max;
    form.require(falls, "alpha_min", "more than 0, less than `alpha_max`")?;
    form.require(o.beta_min < o.beta_max, "beta_min", "less than `beta_max`")?;
});

/// `eta_1`, `eta_2`, `eta_3`: the parts of the largest delay at which the curves bend.
const ETA: [f64; 3] = [0.01, 0.1, 0.8];

/// The controller of TCP-Illinois: [`IllinoisLaw`] driven by ACKs.
pub type Illinois = AckClocked<IllinoisLaw>;

/// `IllinoisLaw` is TCP-Illinois' growth and reduction, with the delays that they need.
#[derive(Debug)]
pub struct IllinoisLaw {
    options: Box<IllinoisOptions>,
    alpha: f64,
    beta: f64,
    /// `T_min` and `T_max`: the smallest and the largest round-trip time so far.
    rtt_min: Span,
    rtt_max: Span,
    round: Round,
    /// `samples` is the number of the round's samples, and `sum` their sum in seconds.
    samples: u32,
    sum: f64,
    /// `small` counts rounds in a row with a delay of at most `d_1`.
    small: u32,
}

/// `alpha = f_1(d_a)`; `d` is `d_a / d_m`.
fn f1(o: &IllinoisOptions, d: f64) -> f64 {
    if d <= ETA[0] {
        return o.alpha_max;
    }
    // kappa_1 / (kappa_2 + d) through (eta_1, alpha_max) and (1, alpha_min).
    let ratio = o.alpha_min / (o.alpha_max - o.alpha_min);
    let kappa1 = (1.0 - ETA[0]) * ratio * o.alpha_max;
    let kappa2 = (1.0 - ETA[0]) * ratio - ETA[0];
    kappa1 / (kappa2 + d)
}

/// Computes `beta = f_2(d_a)`, linear in the mean queueing delay between `d_2` and `d_3`.
fn f2(o: &IllinoisOptions, d: f64) -> f64 {
    let along = ((d - ETA[1]) / (ETA[2] - ETA[1])).clamp(0.0, 1.0);
    o.beta_min + (o.beta_max - o.beta_min) * along
}

impl IllinoisLaw {
    /// A round is over: `alpha` and `beta` for the next.
    fn update(&mut self) {
        let d_m = (self.rtt_max - self.rtt_min).as_secs_f64();
        let mean = self.sum / f64::from(self.samples);
        let d = if d_m > 0.0 { (mean - self.rtt_min.as_secs_f64()) / d_m } else { 0.0 };
        (self.samples, self.sum) = (0, 0.0);
        self.beta = f2(&self.options, d);
        let at_maximum = self.alpha >= self.options.alpha_max;
        self.small = if d <= ETA[0] { self.small + 1 } else { 0 };
        if d > ETA[0] || at_maximum || self.small >= self.options.theta {
            self.alpha = f1(&self.options, d);
        }
    }
}

impl Law for IllinoisLaw {
    type Options = IllinoisOptions;

    fn new(options: &IllinoisOptions) -> IllinoisLaw {
        IllinoisLaw {
            options: Box::new(options.clone()),
            alpha: options.alpha_max,
            beta: options.beta_max,
            rtt_min: Span::MAX,
            rtt_max: Span::ZERO,
            round: Round::default(),
            samples: 0,
            sum: 0.0,
            small: 0,
        }
    }

    fn common(options: &IllinoisOptions) -> &Common {
        &options.common
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        if let Some(rtt) = acked.rtt.filter(|rtt| *rtt > Span::ZERO) {
            self.rtt_min = self.rtt_min.min(rtt).min(path.min_rtt.unwrap_or(rtt));
            self.rtt_max = self.rtt_max.max(rtt);
            self.samples += 1;
            self.sum += rtt.as_secs_f64();
        }
        if self.samples > 0 && self.round.begins(path) {
            self.update();
        }
        let mss = path.mss as f64;
        let reno = cwnd < f64::from(self.options.w_thresh) * mss;
        let alpha = if reno { 1.0 } else { self.alpha };
        alpha * mss * (acked.bytes as f64 / cwnd).min(1.0)
    }

    fn reduce(&mut self, cwnd: f64, base: f64, cause: Cause, path: &PathView) -> f64 {
        let reno = cwnd < f64::from(self.options.w_thresh) * path.mss as f64;
        if cause == Cause::Timeout {
            (self.alpha, self.beta, self.small) = (1.0, 0.5, 0);
        }
        base * (1.0 - if reno { 0.5 } else { self.beta })
    }

    fn wants_feedback(&self) -> bool {
        true // for the samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Controller;
    use crate::testkit::{MSS, Path, path as view};
    use anabranch_testkit::marks::record;

    /// Figure 1: alpha from 10 to 0.3 by a hyperbola, beta from 1/8 at a tenth of the delay to 1/2 at
    /// eight tenths. In the middle kappa_1 = 0.99 0.3 10 / 9.7, kappa_2 = 0.99 0.3 / 9.7 - 0.01.
    #[test]
    fn alpha_and_beta_are_the_curves_of_figure_1() {
        let o = IllinoisOptions::default();
        let middle = (0.99 * 3.0 / 9.7) / (0.99 * 0.3 / 9.7 - 0.01 + 0.5);
        let rows = [(0.0, 10.0, 0.125), (0.01, 10.0, 0.125), (0.1, 2.538, 0.125)];
        for (d, alpha, beta) in rows.into_iter().chain([
            (0.5, middle, 0.125 + 0.375 * 4.0 / 7.0),
            (0.8, 0.373, 0.5),
            (1.0, 0.3, 0.5),
        ]) {
            let (a, b) = (f1(&o, d), f2(&o, d));
            record(
                "T7",
                &format!("illinois: alpha, beta at {d} d_m"),
                format!("{alpha:.3}, {beta:.3}"),
                format!("{a:.3}, {b:.3}"),
                "0.001",
            );
            assert!((a - alpha).abs() < 0.001 && (b - beta).abs() < 0.001, "{d}: {a}, {b}");
        }
    }

    /// Without a queue a round adds alpha_max segments, and a loss takes an eighth.
    #[test]
    fn without_delay_it_grows_by_ten_and_loses_an_eighth() {
        let mut c = Illinois::new(&IllinoisOptions::default(), 100 * MSS, MSS);
        let mut path = Path::new(Span::from_millis(100));
        path.round(&mut c);
        let gained = c.window() as f64 / MSS as f64 - 100.0;
        assert!((gained - 9.6).abs() < 0.6, "{gained}");
        let before = c.window() as f64;
        path.round(&mut c);
        assert!(c.window() as f64 > before);
        let before = c.window() as f64;
        path.signal(&mut c, Cause::Loss);
        assert!((c.window() as f64 / before - 0.875).abs() < 0.001);
    }

    #[test]
    fn alpha_returns_after_theta_rounds_of_small_delay() {
        let mut law = IllinoisLaw::new(&IllinoisOptions::default());
        let mut round = 0;
        let mut sample = |law: &mut IllinoisLaw, ms| {
            round += 1;
            let view =
                PathView { acked: 2 * round, sent: 2 * round + 1, min_rtt: None, ..view(100) };
            let rtt = Some(Span::from_millis(ms));
            law.avoid(1e5, &Acked { rtt, ..crate::testkit::ack(MSS) }, &view);
            law.alpha
        };
        sample(&mut law, 100);
        assert!((sample(&mut law, 200) - 0.3).abs() < 1e-9);
        for _ in 0..4 {
            assert!((sample(&mut law, 100) - 0.3).abs() < 1e-9);
        }
        assert_eq!(sample(&mut law, 100), 10.0);
    }
}
