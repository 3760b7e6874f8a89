//! CRC32c (Castagnoli), the checksum of SCTP (RFC 9260 §6.8 and Appendix A).
//!
//! The polynomial is 0x1EDC6F41, here bit-reversed. Sixteen octets are taken at a
//! time (Kounavis and Berry, "A systematic approach to building high
//! performance software-based CRC generators", ISCC 2005: slicing by 8, of which
//! this is twice): only four of the look-ups wait for the octets before.

const POLYNOMIAL: u32 = 0x82f6_3b78;

/// `TABLES[k][b]`: the remainder of octet `b` followed by `k` zero octets.
static TABLES: [[u32; 256]; 16] = tables();

const fn tables() -> [[u32; 256]; 16] {
    let mut tables = [[0; 256]; 16];
    let mut b = 0;
    while b < 256 {
        let mut crc = b as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][b] = crc;
        b += 1;
    }
    let mut k = 1;
    while k < 16 {
        let mut b = 0;
        while b < 256 {
            let crc = tables[k - 1][b];
            tables[k][b] = crc >> 8 ^ tables[0][(crc & 0xff) as usize];
            b += 1;
        }
        k += 1;
    }
    tables
}

/// Returns the remainder of eight octets followed by `zeros` zero octets.
#[inline(always)]
fn sliced(zeros: usize, octets: u64) -> u32 {
    let of = |k: usize| TABLES[zeros + 7 - k][(octets >> (8 * k) & 0xff) as usize];
    (of(0) ^ of(1)) ^ (of(2) ^ of(3)) ^ ((of(4) ^ of(5)) ^ (of(6) ^ of(7)))
}

/// `Crc32c` is a running CRC32c (RFC 9260 Appendix A).
///
/// ```
/// use anabranch_wire::sctp::Crc32c;
/// assert_eq!(Crc32c::new().with(b"1234").with(b"56789").value(), 0xe306_9283);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Crc32c(u32);

impl Default for Crc32c {
    fn default() -> Crc32c {
        Crc32c::new()
    }
}

impl Crc32c {
    /// Makes the sum of no octets.
    pub const fn new() -> Crc32c {
        Crc32c(u32::MAX)
    }

    /// Returns the sum with these octets behind those before.
    #[must_use]
    pub fn with(self, octets: &[u8]) -> Crc32c {
        let mut crc = self.0;
        let (words, mut rest) = octets.as_chunks::<16>();
        for word in words {
            let word = u128::from_le_bytes(*word);
            let (low, high) = (word as u64 ^ crc as u64, (word >> 64) as u64);
            crc = sliced(8, low) ^ sliced(0, high);
        }
        if let Some((word, after)) = rest.split_first_chunk::<8>() {
            crc = sliced(0, u64::from_le_bytes(*word) ^ crc as u64);
            rest = after;
        }
        for octet in rest {
            crc = crc >> 8 ^ TABLES[0][((crc ^ *octet as u32) & 0xff) as usize];
        }
        Crc32c(crc)
    }

    /// Returns the checksum; it stands on the wire with its least significant octet first (RFC 9260
    /// Appendix A).
    pub const fn value(self) -> u32 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crc(octets: &[u8]) -> u32 {
        Crc32c::new().with(octets).value()
    }

    /// The table printed in RFC 9260 Appendix A, its corners.
    #[test]
    fn the_table_is_that_of_the_rfc() {
        assert_eq!(TABLES[0][..4], [0, 0xf26b_8303, 0xe13b_70f7, 0x1350_f3f4]);
        assert_eq!(TABLES[0][255], 0xad7d_5351);
    }

    /// RFC 3720 Appendix B.4.
    #[test]
    fn the_examples_of_iscsi() {
        let up: Vec<u8> = (0..32).collect();
        let down: Vec<u8> = (0..32).rev().collect();
        assert_eq!(crc(&[0; 32]), 0x8a91_36aa);
        assert_eq!(crc(&[0xff; 32]), 0x62a8_ab43);
        assert_eq!(crc(&up), 0x46dd_794e);
        assert_eq!(crc(&down), 0x113f_db5c);
        assert_eq!(crc(b"123456789"), 0xe306_9283);
    }

    #[test]
    fn pieces_of_any_length_give_the_same_sum() {
        let octets: Vec<u8> = (0..67_u32).map(|i| (i * 151 + 17) as u8).collect();
        // Bit by bit, as the polynomial division is defined.
        let naive = |octets: &[u8]| {
            !octets.iter().fold(u32::MAX, |crc, octet| {
                (0..8).fold(crc ^ *octet as u32, |crc, _| {
                    if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 }
                })
            })
        };
        for len in 0..octets.len() {
            for cut in 0..=len {
                let (a, b) = octets[..len].split_at(cut);
                assert_eq!(Crc32c::new().with(a).with(b).value(), naive(&octets[..len]));
            }
        }
    }
}
