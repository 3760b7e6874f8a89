//! Independent bit errors: a packet of L bits is hit with probability
//! 1 - (1 - e)^L and then dropped, as a checksum would.

use crate::catalogue::Info;
use anabranch_endpoint::Generator;

pub(super) const INFO: Info = Info {
    name: "bit-errors",
    summary: "each bit is wrong with the same probability; a packet with an error is dropped",
    reference: "packet loss 1 - (1 - e)^L for L bits",
};

/// `BitErrors` damages packets with bit errors at one rate.
#[derive(Debug)]
pub struct BitErrors {
    /// `ln(1 - e)`: the logarithm of the probability that a bit is right.
    log_good: f64,
    /// `last` is the size of the last packet and its probability: most are alike.
    last: (u32, f64),
    generator: Generator,
}

impl BitErrors {
    /// Makes errors with probability `ber` per bit.
    pub fn new(ber: f64, generator: Generator) -> BitErrors {
        BitErrors { log_good: libm::log1p(-ber), last: (0, 0.0), generator }
    }

    /// Returns whether a packet of `size` octets is hit.
    pub fn corrupts(&mut self, size: u32) -> bool {
        if size != self.last.0 {
            self.last = (size, self.packet_loss(size));
        }
        self.generator.chance(self.last.1)
    }

    /// Returns 1 - (1 - e)^L with L = 8 `size`, also exact for small e.
    pub fn packet_loss(&self, size: u32) -> f64 {
        if size == 0 { 0.0 } else { -libm::expm1(size as f64 * 8.0 * self.log_good) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_testkit::marks::record;

    #[test]
    fn packet_loss_follows_the_closed_form() {
        // Q3: 1e-6 and 12,000 bits give 1.193 %.
        let bit_errors = BitErrors::new(1e-6, Generator::from_u64(1));
        let loss = format!("{:.5}", bit_errors.packet_loss(1500));
        record("Q3", "packet loss, bit errors 1e-6, 12,000 bits", "0.01193", loss, "1e-7");
        assert!(
            (bit_errors.packet_loss(1500) - 0.011_928_3).abs() < 1e-7,
            "{}",
            bit_errors.packet_loss(1500)
        );
        assert_eq!(BitErrors::new(0.0, Generator::from_u64(1)).packet_loss(1500), 0.0);
        assert_eq!(BitErrors::new(1.0, Generator::from_u64(1)).packet_loss(1500), 1.0);
    }

    #[test]
    fn draws_follow_the_size() {
        let mut bit_errors = BitErrors::new(1e-5, Generator::from_u64(3));
        let n = 200_000;
        let mut share =
            |size| (0..n).filter(|_| bit_errors.corrupts(size)).count() as f64 / n as f64;
        assert!((share(1500) - 0.113_08).abs() < 0.003);
        assert!((share(40) - 0.003_195).abs() < 0.000_6);
    }
}
