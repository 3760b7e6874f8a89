//! Independent packet losses.

use crate::catalogue::Info;
use anabranch_endpoint::Generator;

pub(super) const INFO: Info = Info {
    name: "bernoulli",
    summary: "each packet is lost with the same probability, independently",
    reference: "ns-2 ErrorModel (uniform, packets)",
};

/// `Bernoulli` loses each packet with one probability.
#[derive(Debug)]
pub struct Bernoulli {
    rate: f64,
    generator: Generator,
}

impl Bernoulli {
    /// Makes losses with probability `rate`, 0 to 1.
    pub fn new(rate: f64, generator: Generator) -> Bernoulli {
        Bernoulli { rate, generator }
    }

    /// Returns whether the next packet is lost.
    pub fn loses(&mut self) -> bool {
        self.generator.chance(self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loses_at_its_rate() {
        let mut bernoulli = Bernoulli::new(0.02, Generator::from_u64(1));
        let n = 200_000;
        let lost = (0..n).filter(|_| bernoulli.loses()).count() as f64 / n as f64;
        // Standard error sqrt(0.02 * 0.98 / n) = 0.00031.
        assert!((lost - 0.02).abs() < 0.0013, "{lost}");
        assert!(!Bernoulli::new(0.0, Generator::from_u64(1)).loses());
        assert!(Bernoulli::new(1.0, Generator::from_u64(1)).loses());
    }
}
