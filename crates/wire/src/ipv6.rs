//! The IPv6 header (RFC 8200 §3): a borrowed view and a plain value.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |Version|    DSCP   |ecn|           Flow Label                  |
//! |         Payload Length        |  Next Header  |   Hop Limit   |
//! |                    Source Address (16 octets)                 |
//! |                  Destination Address (16 octets)              |
//! ```
//!
//! Left out: extension headers, which stay in the payload as octets under
//! their own next-header number, and jumbograms (RFC 2675).

use crate::error::EmitError;
use crate::packet::Ecn;
use std::error::Error;
use std::fmt;
use std::net::Ipv6Addr;

/// `HEADER_LEN` is the length of the header, in octets, which all packets have (RFC 8200 §3).
pub const HEADER_LEN: usize = 40;

/// `Ipv6Error` says why octets are not an IPv6 packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ipv6Error {
    /// There are fewer octets than the header has, or than the payload length says.
    Truncated,
    /// The version, in the high four bits of the first octet, is this one.
    Version(u8),
}

impl fmt::Display for Ipv6Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ipv6Error::Truncated => f.write_str("truncated"),
            Ipv6Error::Version(version) => write!(f, "version {version}"),
        }
    }
}
impl Error for Ipv6Error {}

/// An IPv6 packet in borrowed octets, whose lengths have been checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ipv6Packet<'a> {
    header: &'a [u8; HEADER_LEN],
    payload: &'a [u8],
}

impl<'a> Ipv6Packet<'a> {
    /// Checks version and length. Octets after the payload length are ignored.
    ///
    /// # Errors
    /// See [`Ipv6Error`].
    pub fn new_checked(octets: &'a [u8]) -> Result<Ipv6Packet<'a>, Ipv6Error> {
        let (header, rest) =
            octets.split_first_chunk::<HEADER_LEN>().ok_or(Ipv6Error::Truncated)?;
        if header[0] >> 4 != 6 {
            return Err(Ipv6Error::Version(header[0] >> 4));
        }
        let len = u16::from_be_bytes([header[4], header[5]]) as usize;
        let payload = rest.get(..len).ok_or(Ipv6Error::Truncated)?;
        Ok(Ipv6Packet { header, payload })
    }

    /// Returns the source address, from octets 8 to 23 of the header.
    pub fn src(&self) -> Ipv6Addr {
        address(self.header, 8)
    }
    /// Returns the destination address, from octets 24 to 39 of the header.
    pub fn dst(&self) -> Ipv6Addr {
        address(self.header, 24)
    }
    /// Returns the number of the payload's protocol, or of the first extension header.
    pub fn next_header(&self) -> u8 {
        self.header[6]
    }
    /// Returns the hop limit: how many more hops the packet may make (RFC 8200 §3).
    pub fn hop_limit(&self) -> u8 {
        self.header[7]
    }
    /// Returns the differentiated services code point, the high six bits of the traffic class (RFC
    /// 2474 §3).
    pub fn dscp(&self) -> u8 {
        (self.header[0] & 0xf) << 2 | self.header[1] >> 6
    }
    /// Returns the ECN field, the low two bits of the traffic class (RFC 3168 §5).
    pub fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.header[1] >> 4)
    }
    /// Returns the flow label, 20 bits; 0 where the source has set none (RFC 6437 §2).
    pub fn flow_label(&self) -> u32 {
        u32::from_be_bytes([0, self.header[1] & 0xf, self.header[2], self.header[3]])
    }
    /// Returns what follows the header, with extension headers, as far as the payload length
    /// reaches.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

fn address(header: &[u8; HEADER_LEN], at: usize) -> Ipv6Addr {
    let mut octets = [0; 16];
    octets.copy_from_slice(&header[at..at + 16]);
    octets.into()
}

/// `Ipv6Repr` has the fields of an IPv6 header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ipv6Repr {
    /// `src` is the address of the interface that the packet left from.
    pub src: Ipv6Addr,
    /// `dst` is the address that routers forward the packet by.
    pub dst: Ipv6Addr,
    /// `next_header` is the number of the payload's protocol, or of the first extension header.
    pub next_header: u8,
    /// `hop_limit` is how many more hops the packet may make; each router takes one off.
    pub hop_limit: u8,
    /// `dscp` is the differentiated services code point, at most 6 bits (RFC 2474 §3).
    pub dscp: u8,
    /// `ecn` is the ECN field, the low two bits of the traffic class (RFC 3168 §5).
    pub ecn: Ecn,
    /// `flow_label` has at most 20 bits; it is 0 where the source sets none (RFC 6437 §2).
    pub flow_label: u32,
    /// `payload_len` is how many octets follow the header, extension headers among them.
    pub payload_len: u16,
}

impl Ipv6Repr {
    /// Reads the fields of `packet`, which cannot fail: IPv6 has no header checksum.
    pub fn parse(packet: &Ipv6Packet<'_>) -> Ipv6Repr {
        Ipv6Repr {
            src: packet.src(),
            dst: packet.dst(),
            next_header: packet.next_header(),
            hop_limit: packet.hop_limit(),
            dscp: packet.dscp(),
            ecn: packet.ecn(),
            flow_label: packet.flow_label(),
            payload_len: packet.payload().len() as u16, // as the field said
        }
    }

    /// Appends the header, 40 octets.
    ///
    /// # Errors
    /// The DSCP or the flow label does not fit; `out` is unchanged.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        if self.dscp > 0x3f {
            return Err(EmitError::FieldRange { field: "dscp", value: self.dscp as u32 });
        }
        if self.flow_label > 0xf_ffff {
            return Err(EmitError::FieldRange { field: "flow_label", value: self.flow_label });
        }
        let class = (self.dscp << 2 | self.ecn as u8) as u32;
        out.extend_from_slice(&(6 << 28 | class << 20 | self.flow_label).to_be_bytes());
        out.extend_from_slice(&self.payload_len.to_be_bytes());
        out.extend_from_slice(&[self.next_header, self.hop_limit]);
        out.extend_from_slice(&self.src.octets());
        out.extend_from_slice(&self.dst.octets());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repr() -> Ipv6Repr {
        Ipv6Repr {
            src: "2001:db8::1".parse().unwrap(),
            dst: "2001:db8:ffff::2".parse().unwrap(),
            next_header: 6,
            hop_limit: 63,
            dscp: 0b10_1110, // expedited forwarding, RFC 3246
            ecn: Ecn::Ce,
            flow_label: 0xa_bcde,
            payload_len: 3,
        }
    }

    #[test]
    fn every_field_stands_where_the_diagram_says() {
        let mut out = Vec::new();
        repr().emit(&mut out).unwrap();
        // Traffic class 1011 1011 = bb between the version and the flow label.
        assert_eq!(out[..8], [0x6b, 0xba, 0xbc, 0xde, 0, 3, 6, 63]);
        assert_eq!(out[8..12], [0x20, 0x01, 0x0d, 0xb8]);
        assert_eq!(out.len(), HEADER_LEN);
        out.extend_from_slice(b"abc and padding");
        let packet = Ipv6Packet::new_checked(&out).unwrap();
        assert_eq!(packet.payload(), b"abc");
        assert_eq!(Ipv6Repr::parse(&packet), repr());
    }

    #[test]
    fn lies_are_errors() {
        let mut out = Vec::new();
        repr().emit(&mut out).unwrap();
        assert_eq!(Ipv6Packet::new_checked(&out), Err(Ipv6Error::Truncated));
        assert_eq!(Ipv6Packet::new_checked(&out[..39]), Err(Ipv6Error::Truncated));
        out[0] = 0x4b;
        assert_eq!(Ipv6Packet::new_checked(&out), Err(Ipv6Error::Version(4)));
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        let mut out = Vec::new();
        let wide = Ipv6Repr { dscp: 0xff, ..repr() };
        assert_eq!(wide.emit(&mut out), Err(EmitError::FieldRange { field: "dscp", value: 255 }));
        assert!(Ipv6Repr { flow_label: 1 << 20, ..repr() }.emit(&mut out).is_err());
        assert!(out.is_empty());
    }
}
