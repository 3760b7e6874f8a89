//! The pattern that stands for payload octets which nobody supplied.
//!
//! The octet at position `p` of a stream is octet `p mod 8`, counted from the
//! least significant, of the 64-bit word `mix(p div 8)`, where `mix` is the
//! output function of SplitMix64 (Steele, Lea and Flood, "Fast splittable
//! pseudorandom number generators", OOPSLA 2014, figure 16) at step
//! `p div 8 + 1` from the seed 0; of that octet the low four bits choose a
//! letter from `a` to `p`. It is text because among many random octets some
//! look like a protocol's header, and dissectors then take the stream for that
//! protocol. An octet depends on nothing else, so that any reader of any part
//! can check it; no stretch of some length comes twice, so that octets which
//! arrive shifted, swapped or twice are found.
//!
//! On the wire a virtual payload has no stream position, only sequence
//! numbers: there the octet with sequence number `s` is the octet at position
//! `s` ([`fill_sequence`]). A retransmission that cuts the stream elsewhere
//! carries the same octets, also where the numbers wrap.

use anabranch_units::Serial32;
use std::error::Error;
use std::fmt;

/// The first octet that is not what the pattern has at its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mismatch {
    /// `position` is where the octet stands in the stream, the first at 0.
    pub position: u64,
    /// `expected` is the octet that the pattern has at that position.
    pub expected: u8,
    /// `found` is the octet that was there instead.
    pub found: u8,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { position, expected, found } = self;
        write!(f, "octet {found:#04x} instead of {expected:#04x} at position {position}")
    }
}
impl Error for Mismatch {}

/// Writes the octets of the pattern from `position` on. Positions wrap at
/// 2^64.
///
/// ```
/// use anabranch_wire::pattern;
/// let mut octets = [0; 100];
/// pattern::fill(5_000_000_000, &mut octets);
/// assert!(pattern::verify(5_000_000_000, &octets).is_ok());
/// assert!(pattern::verify(5_000_000_010, &octets[10..]).is_ok());
/// assert!(pattern::verify(5_000_000_001, &octets).is_err());
/// ```
pub fn fill(position: u64, out: &mut [u8]) {
    let (mut index, skip) = (position / 8, (position % 8) as usize);
    let (head, body) = out.split_at_mut(out.len().min((8 - skip) % 8));
    if !head.is_empty() {
        head.copy_from_slice(&word(index)[skip..skip + head.len()]);
        index = next(index);
    }
    let (words, tail) = body.as_chunks_mut();
    for octets in words {
        *octets = word(index);
        index = next(index);
    }
    tail.copy_from_slice(&word(index)[..tail.len()]);
}

/// Checks that `octets` are those of the pattern from `position` on.
///
/// # Errors
/// The first octet that differs.
pub fn verify(position: u64, octets: &[u8]) -> Result<(), Mismatch> {
    // Word by word as far as it goes; what is left says where it differs.
    let head = octets.len().min((8 - (position % 8) as usize) % 8);
    let (words, _) = octets[head..].as_chunks();
    let mut index = position.wrapping_add(head as u64) / 8;
    let mut equal = 0;
    for found in words {
        if *found != word(index) {
            break;
        }
        index = next(index);
        equal += found.len();
    }
    let compare = |from: usize, octets: &[u8]| {
        for (i, &found) in (from as u64..).zip(octets) {
            let position = position.wrapping_add(i);
            let expected = word(position / 8)[(position % 8) as usize];
            if found != expected {
                return Err(Mismatch { position, expected, found });
            }
        }
        Ok(())
    };
    compare(0, &octets[..head])?;
    compare(head + equal, &octets[head + equal..])
}

/// Writes what stands on the wire for the octets of a virtual payload from
/// sequence number `seq` on: each octet is the pattern's at the position that
/// equals its own sequence number.
pub fn fill_sequence(seq: Serial32, out: &mut [u8]) {
    let before_wrap = (1_u64 << 32) - seq.0 as u64;
    match usize::try_from(before_wrap) {
        Ok(n) if n < out.len() => {
            let (head, tail) = out.split_at_mut(n);
            fill(seq.0 as u64, head);
            fill_sequence(Serial32(0), tail);
        }
        _ => fill(seq.0 as u64, out),
    }
}

/// Returns the index of the next word; indexes wrap where positions do, at 2^64 octets.
const fn next(index: u64) -> u64 {
    (index + 1) % (1 << 61)
}

fn word(index: u64) -> [u8; 8] {
    let mut z = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    let letters = ((z ^ (z >> 31)) & 0x0f0f_0f0f_0f0f_0f0f) + 0x6161_6161_6161_6161;
    letters.to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn octets(position: u64, len: usize) -> Vec<u8> {
        let mut out = vec![0; len];
        fill(position, &mut out);
        out
    }

    #[test]
    fn the_first_words_are_those_of_splitmix64_from_seed_0() {
        let letters = |word: u64| word.to_le_bytes().map(|octet| b'a' + (octet & 15));
        assert_eq!(octets(0, 8), letters(0xe220_a839_7b1d_cdaf));
        assert_eq!(octets(8, 8), letters(0x6e78_9e6a_a1b9_65f4));
    }

    #[test]
    fn an_octet_depends_on_its_position_alone() {
        for base in [0, 3, (1 << 32) - 20, 1 << 40, u64::MAX - 30] {
            let whole = octets(base, 64);
            for start in 0..40 {
                for len in 0..24 {
                    let part = octets(base.wrapping_add(start as u64), len);
                    assert_eq!(part, whole[start..start + len], "{base} {start} {len}");
                }
            }
        }
    }

    #[test]
    fn verify_names_the_first_wrong_octet() {
        let mut stream = octets(1000, 700);
        assert_eq!(verify(1000, &stream), Ok(()));
        stream[600] ^= 0x10;
        stream[650] ^= 0x10;
        let expected = octets(1600, 1)[0];
        let found = expected ^ 0x10;
        assert_eq!(verify(1000, &stream), Err(Mismatch { position: 1600, expected, found }));
    }

    #[test]
    fn sequence_numbers_wrap_octet_by_octet() {
        let mut across = [0; 20];
        fill_sequence(Serial32(u32::MAX - 7), &mut across);
        assert_eq!(across[..8], octets(u32::MAX as u64 - 7, 8));
        assert_eq!(across[8..], octets(0, 12));
    }
}
