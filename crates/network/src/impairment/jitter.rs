//! Jitter: each packet travels longer by a random time, `mean + deviation · x`
//! and at least zero, with x uniform in [-1, 1), standard normal, or Pareto
//! (shape 3, shifted and scaled to mean 0 and variance 1), as netem's
//! distributions have it. Packets overtake each other, or keep their order.
//!
//! Deviation: netem's correlation mixes uniform numbers, which narrows their
//! law. Here a normal process of first order with that correlation is mapped
//! to the law, which is then exact.

use crate::catalogue::Info;
use anabranch_endpoint::{Bounds, Generator};
use anabranch_units::Span;

pub(super) const INFO: Info = Info {
    name: "jitter",
    summary: "each packet travels longer by a random time, in order or not",
    reference: "as netem (Hemminger, linux.conf.au 2005): uniform, normal, Pareto; correlation",
};

/// `JitterLaw` is the distribution of the extra time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum JitterLaw {
    /// `x` is uniform in [-1, 1).
    #[default]
    Uniform,
    /// `x` is standard normal.
    Normal,
    /// x from a Pareto law of shape 3 with mean 0 and variance 1.
    Pareto,
}

/// `JitterConfig` has the parameters of a jitter.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JitterConfig {
    /// `mean` is the mean of the extra time before the cut at zero.
    pub mean: Span,
    /// `deviation` is the deviation of the extra time: half the width of the uniform law, the
    /// standard deviation of the others.
    pub deviation: Span,
    /// `law` is the distribution of the extra time around its mean.
    pub law: JitterLaw,
    /// `correlation` is that of one packet's time with the next's, below 1.
    pub correlation: f64,
    /// `keep_order` says that no packet overtakes another.
    pub keep_order: bool,
}

impl JitterConfig {
    /// What `correlation` may be.
    pub const CORRELATION: Bounds<f64> = Bounds::from_to_below(0.0, 1.0);
}

/// `Jitter` draws the extra time of each packet.
#[derive(Debug)]
pub struct Jitter {
    config: JitterConfig,
    /// The last normal number, where there is correlation.
    last: Option<f64>,
    generator: Generator,
}

impl Jitter {
    /// Makes a source of extra times with these parameters.
    pub fn new(config: &JitterConfig, generator: Generator) -> Jitter {
        Jitter { config: *config, last: None, generator }
    }

    /// Returns the extra time of the next packet.
    pub fn extra(&mut self) -> Span {
        let x = match self.config.correlation {
            0.0 => self.independent(),
            rho => self.correlated(rho),
        };
        let extra = self.config.mean.as_secs_f64() + self.config.deviation.as_secs_f64() * x;
        Span::from_secs_f64(extra.max(0.0)).unwrap_or(Span::MAX)
    }

    /// Returns whether packets keep their order.
    pub fn keeps_order(&self) -> bool {
        self.config.keep_order
    }

    fn independent(&mut self) -> f64 {
        match self.config.law {
            JitterLaw::Uniform => 2.0 * self.generator.uniform() - 1.0,
            JitterLaw::Normal => self.normal(),
            JitterLaw::Pareto => pareto(1.0 - self.generator.uniform()),
        }
    }

    fn correlated(&mut self, rho: f64) -> f64 {
        let fresh = self.normal();
        let z = match self.last {
            None => fresh,
            Some(last) => rho * last + (1.0 - rho * rho).sqrt() * fresh,
        };
        self.last = Some(z);
        // 1 - Phi(z).
        let above = 0.5 * libm::erfc(z / std::f64::consts::SQRT_2);
        match self.config.law {
            JitterLaw::Uniform => 1.0 - 2.0 * above,
            JitterLaw::Normal => z,
            JitterLaw::Pareto => pareto(above.max(f64::MIN_POSITIVE)),
        }
    }

    /// Draws from the normal law, by Box and Muller 1958; the second number is not kept.
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * libm::log(1.0 - self.generator.uniform())).sqrt();
        radius * libm::cos(2.0 * std::f64::consts::PI * self.generator.uniform())
    }
}

/// Pareto of shape 3 where `above` is left above: mean 3/2, variance 3/4.
fn pareto(above: f64) -> f64 {
    (1.0 / libm::cbrt(above) - 1.5) / 0.75_f64.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean, standard deviation and lag-one correlation, in milliseconds.
    fn measure(law: JitterLaw, correlation: f64) -> (f64, f64, f64) {
        let config = JitterConfig {
            mean: Span::from_millis(100),
            deviation: Span::from_millis(10),
            law,
            correlation,
            keep_order: false,
        };
        let mut jitter = Jitter::new(&config, Generator::from_u64(21));
        let n = 400_000;
        let draws: Vec<f64> = (0..n).map(|_| jitter.extra().as_secs_f64() * 1000.0).collect();
        let mean = draws.iter().sum::<f64>() / n as f64;
        let var = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
        let lag = draws.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum::<f64>();
        (mean, var.sqrt(), lag / n as f64 / var)
    }

    #[test]
    fn each_law_has_its_mean_and_deviation_with_and_without_correlation() {
        let uniform = 10.0 / 3.0_f64.sqrt();
        for rho in [0.0, 0.5] {
            let (mean, deviation, lag) = measure(JitterLaw::Uniform, rho);
            assert!((mean - 100.0).abs() < 0.1 && (deviation - uniform).abs() < 0.05);
            // Of a uniform law behind a normal one: 6/pi asin(rho/2).
            let expected = 6.0 / std::f64::consts::PI * (rho / 2.0).asin();
            assert!((lag - expected).abs() < 0.01, "{lag} {expected}");
            let (mean, deviation, lag) = measure(JitterLaw::Normal, rho);
            assert!((mean - 100.0).abs() < 0.1 && (deviation - 10.0).abs() < 0.1);
            assert!((lag - rho).abs() < 0.01, "{lag}");
            // The fourth moment of this Pareto law is infinite: wider bounds.
            let (mean, deviation, _) = measure(JitterLaw::Pareto, rho);
            assert!((mean - 100.0).abs() < 0.15, "{mean}");
            assert!((deviation - 10.0).abs() < 0.8, "{deviation}");
        }
    }

    #[test]
    fn times_are_not_negative() {
        let config = JitterConfig {
            mean: Span::ZERO,
            deviation: Span::from_millis(10),
            law: JitterLaw::Normal,
            correlation: 0.0,
            keep_order: true,
        };
        let mut jitter = Jitter::new(&config, Generator::from_u64(1));
        let zeros = (0..10_000).filter(|_| jitter.extra() == Span::ZERO).count();
        assert!((4800..5200).contains(&zeros), "{zeros}");
    }
}
