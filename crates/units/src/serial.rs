//! Serial number arithmetic (RFC 1982) over 32 bits.

use std::fmt;

/// A 32-bit serial number as it stands on the wire: a TCP sequence number, an
/// SCTP TSN. It wraps, so it has no `Ord`; engines count in 64-bit offsets and
/// convert at the edge with [`Serial32::expand`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Serial32(pub u32);

impl Serial32 {
    /// `self + n` modulo 2^32 (RFC 1982 §3.1).
    #[must_use]
    pub const fn add(self, n: u32) -> Serial32 {
        Serial32(self.0.wrapping_add(n))
    }
    /// The signed distance from `other` to `self`, in −2^31 … 2^31 − 1.
    pub const fn distance_from(self, other: Serial32) -> i32 {
        self.0.wrapping_sub(other.0) as i32
    }
    /// `self` comes before `other` (RFC 1982 §3.2; the undefined case of a
    /// distance of exactly 2^31 counts as before).
    pub const fn is_before(self, other: Serial32) -> bool {
        self.distance_from(other) < 0
    }
    /// The 64-bit offset nearest to `reference` whose serial number, counted
    /// from `origin` (offset 0), is `self`; `None` when it would be negative.
    ///
    /// ```
    /// use anabranch_units::Serial32;
    /// let iss = Serial32(u32::MAX - 1);
    /// assert_eq!(Serial32(3).expand(iss, 0), Some(5));
    /// assert_eq!(iss.add(7).expand(iss, 1 << 32), Some((1 << 32) + 7));
    /// ```
    pub const fn expand(self, origin: Serial32, reference: u64) -> Option<u64> {
        let at = origin.add(reference as u32);
        reference.checked_add_signed(self.distance_from(at) as i64)
    }
    /// The serial number of the 64-bit offset `offset` counted from `self`.
    #[must_use]
    pub const fn at(self, offset: u64) -> Serial32 {
        self.add(offset as u32)
    }
}

impl fmt::Debug for Serial32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
impl fmt::Display for Serial32 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparison_wraps() {
        assert!(Serial32(u32::MAX).is_before(Serial32(0)));
        assert!(!Serial32(0).is_before(Serial32(u32::MAX)));
        assert_eq!(Serial32(2).distance_from(Serial32(u32::MAX)), 3);
    }

    #[test]
    fn expand_inverts_at_near_the_reference() {
        let origin = Serial32(0xFFFF_FF00);
        for offset in [0_u64, 1, 0x1FF, 1 << 31, (1 << 33) + 12345] {
            for delta in [-1000_i64, 0, 1000] {
                if let Some(reference) = offset.checked_add_signed(delta) {
                    assert_eq!(origin.at(offset).expand(origin, reference), Some(offset));
                }
            }
        }
    }

    #[test]
    fn a_number_before_the_origin_is_none() {
        assert_eq!(Serial32(9).expand(Serial32(10), 0), None);
    }
}
