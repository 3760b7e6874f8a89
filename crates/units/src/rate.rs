//! Transmission rates in bits per second.

use crate::{Bytes, Span};
use std::fmt;

/// A transmission rate, in whole bits per second; never zero.
///
/// ```
/// use anabranch_units::{Bytes, Rate, Span};
/// assert_eq!(Rate::mbit(10).time_for(Bytes(1500)), Span::from_micros(1200));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(u64);

impl Rate {
    /// `bps` bits per second; `None` for zero.
    pub const fn from_bps(bps: u64) -> Option<Rate> {
        if bps == 0 { None } else { Some(Rate(bps)) }
    }
    /// `n` kbit/s. Panics when `n` is zero.
    pub const fn kbit(n: u64) -> Rate {
        assert!(n > 0, "a rate is never zero");
        Rate(n * 1_000)
    }
    /// `n` Mbit/s. Panics when `n` is zero.
    pub const fn mbit(n: u64) -> Rate {
        assert!(n > 0, "a rate is never zero");
        Rate(n * 1_000_000)
    }
    /// `n` Gbit/s. Panics when `n` is zero.
    pub const fn gbit(n: u64) -> Rate {
        assert!(n > 0, "a rate is never zero");
        Rate(n * 1_000_000_000)
    }
    /// Returns the rate in bits per second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }
    /// The time that `size` takes on the line, rounded to the nearest
    /// picosecond; [`Span::MAX`] where that is longer than 213 days.
    pub const fn time_for(self, size: Bytes) -> Span {
        let bits = size.0 as u128 * 8 * 1_000_000_000_000;
        let ps = (bits + self.0 as u128 / 2) / self.0 as u128;
        Span::from_picos(if ps > u64::MAX as u128 { u64::MAX } else { ps as u64 })
    }
    /// Returns how many whole octets pass in `span`.
    pub const fn bytes_in(self, span: Span) -> Bytes {
        Bytes((self.0 as u128 * span.as_picos() as u128 / 8_000_000_000_000) as u64)
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, name) in [(1_000_000_000, "Gbit/s"), (1_000_000, "Mbit/s"), (1_000, "kbit/s")] {
            if self.0.is_multiple_of(unit) {
                return write!(f, "{} {name}", self.0 / unit);
            }
        }
        write!(f, "{} bit/s", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_packets_at_high_rates_are_exact_within_one_percent() {
        let t = Rate::gbit(400).time_for(Bytes(64));
        assert_eq!(t, Span::from_picos(1_280));
    }

    #[test]
    fn bytes_in_inverts_time_for() {
        for bps in [9_600, 1_000_000, 2_500_000_000] {
            let rate = Rate::from_bps(bps).unwrap();
            for n in [1, 40, 1500, 65_535] {
                let t = rate.time_for(Bytes(n)) + Span::from_picos(1);
                assert_eq!(rate.bytes_in(t), Bytes(n), "{rate} {n}");
            }
        }
    }
}
