//! Laws of flow sizes.

use anabranch_endpoint::{Bounds, ConfigError, Generator};
use anabranch_units::Bytes;

/// A law of flow sizes, in octets. Draws are rounded and at least one.
#[derive(Clone, PartialEq, Debug)]
pub enum Sizes {
    /// Every draw is the mean.
    Constant {
        /// The size, in octets.
        mean: u64,
    },
    /// The exponential law.
    Exponential {
        /// Mean size, in octets.
        mean: u64,
    },
    /// The Pareto law.
    Pareto {
        /// Mean size, in octets.
        mean: u64,
        /// Shape of the law, above 1.
        shape: f64,
    },
    /// Pareto cut at both ends and scaled.
    BoundedPareto {
        /// The least size, in octets.
        min: u64,
        /// The largest size, in octets.
        max: u64,
        /// Shape of the law, above 0.
        shape: f64,
    },
    /// The log-normal law.
    Lognormal {
        /// Mean size, in octets.
        mean: u64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Points of a distribution function, linear in between.
    Empirical {
        /// Sizes and the share of flows up to each; ascending, the last 1.
        cdf: Vec<(u64, f64)>,
    },
}

impl Sizes {
    /// What the shape of Pareto's law may be, of durations too: there is a mean above 1 alone.
    pub const SHAPE: Bounds<f64> = Bounds::above_up_to(1.0, 1000.0);
    /// What the shape of the bounded law may be.
    pub const BOUNDED_SHAPE: Bounds<f64> = Bounds::above_up_to(0.0, 1000.0);
    /// What the deviation of the logarithm may be.
    pub const SIGMA: Bounds<f64> = Bounds::of(0.0, 10.0);

    /// Returns an error that names the first parameter out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Sizes::Constant { .. } | Sizes::Exponential { .. } => Ok(()),
            Sizes::Pareto { shape, .. } => Self::SHAPE.check("shape", *shape),
            Sizes::BoundedPareto { min, max, shape } => {
                Self::BOUNDED_SHAPE.check("shape", *shape)?;
                Bounds::more_than(Bytes(*min)).because("`min`").check("max", Bytes(*max))
            }
            Sizes::Lognormal { sigma, .. } => Self::SIGMA.check("sigma", *sigma),
            Sizes::Empirical { cdf } => {
                let ascends =
                    cdf.windows(2).all(|cdf| cdf[0].0 <= cdf[1].0 && cdf[0].1 <= cdf[1].1);
                let ends = cdf.last().is_some_and(|cdf| cdf.1 == 1.0);
                match ascends && ends && cdf[0].1 >= 0.0 {
                    true => Ok(()),
                    false => {
                        let allowed = "points that ascend from 0 to 1";
                        Err(ConfigError::new("cdf", "these points", allowed))
                    }
                }
            }
        }
    }

    /// Draws a size, in octets.
    pub fn draw(&self, generator: &mut Generator) -> u64 {
        let above = |generator: &mut Generator| 1.0 - generator.uniform();
        let size = match self {
            Sizes::Constant { mean } => return *mean,
            Sizes::Exponential { mean } => -(*mean as f64) * libm::log(above(generator)),
            Sizes::Pareto { mean, shape } => {
                let least = *mean as f64 * (shape - 1.0) / shape;
                least * libm::pow(above(generator), -1.0 / shape)
            }
            Sizes::BoundedPareto { min, max, shape } => {
                let ratio = libm::pow(*min as f64 / *max as f64, *shape);
                let share = 1.0 - generator.uniform() * (1.0 - ratio);
                *min as f64 * libm::pow(share, -1.0 / shape)
            }
            Sizes::Lognormal { mean, sigma } => {
                // Box and Muller 1958.
                let radius = (-2.0 * libm::log(above(generator))).sqrt();
                let turn = 2.0 * std::f64::consts::PI * generator.uniform();
                let z = radius * libm::cos(turn);
                *mean as f64 * libm::exp(sigma * z - sigma * sigma / 2.0)
            }
            Sizes::Empirical { cdf } => {
                let u = above(generator);
                let at = cdf.partition_point(|point| point.1 < u).min(cdf.len() - 1);
                let (size, p) = cdf[at];
                match at.checked_sub(1).map(|before| cdf[before]) {
                    Some((low, q)) if p > q => low as f64 + (size - low) as f64 * (u - q) / (p - q),
                    _ => size as f64,
                }
            }
        };
        (size.round() as u64).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mean_of(sizes: &Sizes) -> f64 {
        sizes.validate().unwrap();
        let mut generator = Generator::from_u64(8);
        let n = 400_000;
        (0..n).map(|_| sizes.draw(&mut generator) as f64).sum::<f64>() / n as f64
    }

    #[test]
    fn laws_have_their_means() {
        let mean = 100_000;
        for sizes in [
            Sizes::Constant { mean },
            Sizes::Exponential { mean },
            Sizes::Pareto { mean, shape: 3.0 },
            Sizes::Lognormal { mean, sigma: 1.0 },
        ] {
            let ratio = mean_of(&sizes) / mean as f64;
            assert!((ratio - 1.0).abs() < 0.01, "{sizes:?}: {ratio}");
        }
        // L^a / (1 - (L/H)^a) · a / (a - 1) · (L^(1-a) - H^(1-a)).
        let (low, high, a) = (1e3_f64, 1e7_f64, 1.2_f64);
        let expected = low.powf(a) / (1.0 - (low / high).powf(a)) * a / (a - 1.0)
            * (low.powf(1.0 - a) - high.powf(1.0 - a));
        let bounded_pareto = Sizes::BoundedPareto { min: 1000, max: 10_000_000, shape: a };
        let ratio = mean_of(&bounded_pareto) / expected;
        assert!((ratio - 1.0).abs() < 0.05, "{ratio}");
    }

    #[test]
    fn an_empirical_law_passes_through_its_points() {
        let cdf = vec![(1000, 0.2), (2000, 0.6), (10_000, 1.0)];
        let empirical = Sizes::Empirical { cdf };
        empirical.validate().unwrap();
        let mut generator = Generator::from_u64(2);
        let draws: Vec<u64> = (0..100_000).map(|_| empirical.draw(&mut generator)).collect();
        let share = |most: u64| draws.iter().filter(|n| **n <= most).count() as f64 / 1e5;
        for (size, p) in
            [(999, 0.0), (1000, 0.2), (1500, 0.4), (2000, 0.6), (6000, 0.8), (10_000, 1.0)]
        {
            assert!((share(size) - p).abs() < 0.006, "{size}: {}", share(size));
        }
    }

    #[test]
    fn wrong_parameters_are_named() {
        let field = |sizes: Sizes| sizes.validate().unwrap_err().field;
        assert_eq!(field(Sizes::Pareto { mean: 1, shape: 1.0 }), "shape");
        assert_eq!(field(Sizes::BoundedPareto { min: 5, max: 5, shape: 1.0 }), "max");
        assert_eq!(field(Sizes::Lognormal { mean: 1, sigma: -1.0 }), "sigma");
        assert_eq!(field(Sizes::Empirical { cdf: vec![(1, 0.5)] }), "cdf");
        assert_eq!(field(Sizes::Empirical { cdf: vec![(2, 0.5), (1, 1.0)] }), "cdf");
    }
}
