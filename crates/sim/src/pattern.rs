//! The octets of a checked stream: each depends on its position alone, so that
//! integrity is checked without storing the stream.
//!
//! Positions that differ by less than 2^40 have unrelated octets, so a shifted,
//! repeated or swapped piece shows.

/// The octet at a position.
pub(crate) fn octet(position: u64) -> u8 {
    let mixed = (position + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 56) as u8
}

/// Writes the octets from `position` on.
pub(crate) fn fill(position: u64, buf: &mut [u8]) {
    for (at, slot) in buf.iter_mut().enumerate() {
        *slot = octet(position + at as u64);
    }
}

/// How many octets, read from `position` on, are wrong.
pub(crate) fn mismatches(position: u64, buf: &[u8]) -> usize {
    buf.iter().enumerate().filter(|(at, read)| **read != octet(position + *at as u64)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shift_shows() {
        let mut buf = [0; 4096];
        fill(1 << 33, &mut buf);
        assert_eq!(mismatches(1 << 33, &buf), 0);
        for shift in [1, 8, 256, 1448, 65_536] {
            assert!(mismatches((1 << 33) + shift, &buf) > 4000, "{shift}");
        }
    }
}
