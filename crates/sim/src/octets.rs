//! Whether octets are those that were written.

use anabranch_wire::pattern;

/// Returns how many octets, read from `position` on, are not the pattern's.
pub(crate) fn mismatches(position: u64, octets: &[u8]) -> usize {
    if pattern::verify(position, octets).is_ok() {
        return 0;
    }
    let mut expected = vec![0; octets.len()];
    pattern::fill(position, &mut expected);
    octets.iter().zip(&expected).filter(|(found, expected)| found != expected).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_octets_are_counted() {
        let mut octets = [0; 1000];
        pattern::fill(5, &mut octets);
        assert_eq!(mismatches(5, &octets), 0);
        octets[7] ^= 1;
        octets[999] ^= 0x80;
        assert_eq!(mismatches(5, &octets), 2);
        assert!(mismatches(6, &octets) > 900);
    }
}
