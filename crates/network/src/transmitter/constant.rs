//! One rate. Transmission times as [`Rate::time_for`] but without its 128-bit
//! division.

use anabranch_units::{Bytes, Rate, Span};

/// `Line` is a line of constant rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    rate: Rate,
    /// Picoseconds for each octet, when that is a whole number; else zero.
    ps_per_octet: u64,
}

impl Line {
    const PS_TIMES_BITS: u64 = 8_000_000_000_000;

    pub(crate) fn new(rate: Rate) -> Line {
        let whole = Self::PS_TIMES_BITS % rate.as_bps() == 0;
        Line { rate, ps_per_octet: if whole { Self::PS_TIMES_BITS / rate.as_bps() } else { 0 } }
    }

    pub(crate) fn rate(&self) -> Rate {
        self.rate
    }

    /// Returns the time that `size` octets take.
    #[inline]
    pub(crate) fn time_for(&self, size: u32) -> Span {
        if self.ps_per_octet != 0 {
            Span::from_picos(self.ps_per_octet.saturating_mul(size as u64))
        } else {
            self.divided(size)
        }
    }

    fn divided(&self, size: u32) -> Span {
        let bps = self.rate.as_bps();
        match (size as u64).checked_mul(Self::PS_TIMES_BITS).and_then(|n| n.checked_add(bps / 2)) {
            Some(bits) => Span::from_picos(bits / bps),
            None => self.rate.time_for(Bytes(size as u64)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn transmission_times_are_those_of_the_rate(
            bps in 1_u64..500_000_000_000,
            size in 0_u32..1 << 20,
        ) {
            let rate = Rate::from_bps(bps).unwrap();
            prop_assume!(size as u64 * 8 / bps < 1_000_000);
            prop_assert_eq!(Line::new(rate).time_for(size), rate.time_for(Bytes(size as u64)));
        }
    }
}
