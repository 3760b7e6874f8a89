//! The Internet checksum (RFC 1071) and the pseudo headers that it covers for
//! transports over IPv4 (RFC 9293 §3.1) and IPv6 (RFC 8200 §8.1).
//!
//! Left out: incremental update (RFC 1624), since routers here hand on values
//! and write no octets, and UDP's rule that a zero is sent as all ones.

use std::net::{Ipv4Addr, Ipv6Addr};

/// `Sum` is a running ones' complement sum over octets, in pieces of any length.
///
/// ```
/// use anabranch_wire::checksum::Sum;
/// // RFC 1071 §3: the sum is ddf2, so the checksum is its complement.
/// let sum = Sum::default().with(&[0x00, 0x01, 0xf2]).with(&[0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
/// assert_eq!(sum.checksum(), !0xddf2);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    /// `total` is the sum of 16- and 32-bit words; 2^16 ≡ 1 modulo 2^16 − 1, so both fold to the
    /// same. 2^32 additions fit.
    total: u64,
    /// An odd number of octets was added: the next is a low half.
    odd: bool,
}

impl Sum {
    /// Adds octets to the sum; an odd octet waits for the next to make a word.
    #[must_use]
    pub fn with(mut self, mut octets: &[u8]) -> Sum {
        if let (true, Some((low, rest))) = (self.odd, octets.split_first()) {
            self.total += *low as u64;
            self.odd = false;
            octets = rest;
        }
        let (words, rest) = octets.as_chunks();
        // In the machine's own order, which compilers make vectors of; the sum
        // of swapped octets is the swapped sum (RFC 1071 §2 (B)).
        let native: u64 = words.iter().map(|word| u32::from_ne_bytes(*word) as u64).sum();
        self.total += u16::from_be_bytes(fold(native).to_ne_bytes()) as u64;
        for pair in rest.chunks(2) {
            match *pair {
                [high, low] => self.total += u16::from_be_bytes([high, low]) as u64,
                [high] => {
                    self.total += (high as u64) << 8;
                    self.odd = true;
                }
                _ => {}
            }
        }
        self
    }

    /// Returns the value of the checksum field. Over octets that include a right checksum field,
    /// this is 0.
    pub fn checksum(self) -> u16 {
        !fold(self.total)
    }
}

/// Folds a sum into 16 bits: adds the carries until there are none (RFC 1071 §4.1).
fn fold(mut total: u64) -> u16 {
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

/// `PseudoHeader` has the addresses that a transport's checksum covers; [`PseudoHeader::sum`] adds
/// protocol and length to them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PseudoHeader {
    /// `V4` covers 12 octets: addresses, a zero, the protocol, and the length in 16 bits (RFC 9293
    /// §3.1).
    V4 {
        /// `src` is the source address of the IPv4 header.
        src: Ipv4Addr,
        /// `dst` is the destination address of the IPv4 header.
        dst: Ipv4Addr,
    },
    /// `V6` covers 40 octets: addresses, the length in 32 bits, three zeros and the protocol (RFC
    /// 8200 §8.1).
    V6 {
        /// `src` is the source address of the IPv6 header.
        src: Ipv6Addr,
        /// `dst` is the destination address of the IPv6 header. With a Routing header the last
        /// address would count; none is read here.
        dst: Ipv6Addr,
    },
}

impl PseudoHeader {
    /// Returns the sum of the pseudo header for `len` octets of `protocol`. The length field has 16
    /// bits over IPv4 and 32 over IPv6; the sum is the same for every length that IPv4 can carry.
    pub fn sum(&self, protocol: u8, len: u32) -> Sum {
        let addresses = match self {
            PseudoHeader::V4 { src, dst } => Sum::default().with(&src.octets()).with(&dst.octets()),
            PseudoHeader::V6 { src, dst } => Sum::default().with(&src.octets()).with(&dst.octets()),
        };
        addresses.with(&[0, protocol]).with(&len.to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum as RFC 1071 §4.1 writes it.
    fn naive(octets: &[u8]) -> u16 {
        let mut sum = 0_u32;
        for (i, octet) in octets.iter().enumerate() {
            sum += if i % 2 == 0 { (*octet as u32) << 8 } else { *octet as u32 };
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }

    #[test]
    fn pieces_of_any_length_give_the_same_sum() {
        let octets: Vec<u8> = (0..61_u32).map(|i| (i * 151 + 17) as u8).collect();
        for len in 0..octets.len() {
            for cut in 0..=len {
                let (a, b) = octets[..len].split_at(cut);
                assert_eq!(Sum::default().with(a).with(b).checksum(), naive(&octets[..len]));
            }
        }
    }

    #[test]
    fn a_well_known_ipv4_header() {
        let header = [
            0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8,
            0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
        ];
        assert_eq!(Sum::default().with(&header).checksum(), 0);
    }

    #[test]
    fn extremes() {
        assert_eq!(Sum::default().checksum(), 0xffff);
        assert_eq!(Sum::default().with(&[0xff; 65_535]).checksum(), naive(&[0xff; 65_535]));
    }

    #[test]
    fn pseudo_header_has_the_layout_of_the_standard() {
        let (src, dst) = (Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(198, 51, 100, 2));
        let header = [192, 0, 2, 1, 198, 51, 100, 2, 0, 6, 0x05, 0xc8];
        let sum = PseudoHeader::V4 { src, dst }.sum(6, 0x05c8);
        assert_eq!(sum.checksum(), naive(&header));
    }
}
