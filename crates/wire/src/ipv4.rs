//! The IPv4 header (RFC 791 §3.1): a borrowed view and a plain value.
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |Version|  IHL  |    DSCP   |ecn|          Total Length         |
//! |         Identification        |Flags|      Fragment Offset    |
//! |  Time to Live |    Protocol   |         Header Checksum       |
//! |                       Source Address                          |
//! |                    Destination Address                        |
//! |                    Options                    |    Padding    |
//! ```
//!
//! Left out: writing options (no engine sets one; those of a packet that comes
//! in can be read whole through [`Ipv4Packet::options`]), and reassembly.

use crate::checksum::Sum;
use crate::error::EmitError;
use crate::packet::Ecn;
use std::error::Error;
use std::fmt;
use std::net::Ipv4Addr;

/// `HEADER_LEN` is the length of the header without options, in octets: five words (RFC 791 §3.1).
pub const HEADER_LEN: usize = 20;

/// `Ipv4Error` says why octets are not an IPv4 packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ipv4Error {
    /// There are fewer octets than the header or the total length say.
    Truncated,
    /// The version, in the high four bits of the first octet, is this one.
    Version(u8),
    /// The header length, in words of four octets, is below 5.
    HeaderLength(u8),
    /// The total length, in octets, does not cover the header.
    TotalLength(u16),
    /// The header checksum, over header and options, is wrong.
    Checksum,
}

impl fmt::Display for Ipv4Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ipv4Error::Truncated => f.write_str("truncated"),
            Ipv4Error::Version(version) => write!(f, "version {version}"),
            Ipv4Error::HeaderLength(words) => write!(f, "header length of {words} words"),
            Ipv4Error::TotalLength(len) => write!(f, "total length {len} is below the header's"),
            Ipv4Error::Checksum => f.write_str("wrong header checksum"),
        }
    }
}
impl Error for Ipv4Error {}

/// An IPv4 packet in borrowed octets, whose lengths have been checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ipv4Packet<'a> {
    header: &'a [u8; HEADER_LEN],
    options: &'a [u8],
    payload: &'a [u8],
}

impl<'a> Ipv4Packet<'a> {
    /// Checks version and lengths. Octets after the total length (a link
    /// layer's padding) are ignored.
    ///
    /// # Errors
    /// Everything but [`Ipv4Error::Checksum`], which
    /// [`Ipv4Packet::is_checksum_valid`] looks at.
    pub fn new_checked(octets: &'a [u8]) -> Result<Ipv4Packet<'a>, Ipv4Error> {
        let (header, rest) =
            octets.split_first_chunk::<HEADER_LEN>().ok_or(Ipv4Error::Truncated)?;
        let (version, words) = (header[0] >> 4, header[0] & 0xf);
        if version != 4 {
            return Err(Ipv4Error::Version(version));
        }
        let options_len =
            (words as usize * 4).checked_sub(HEADER_LEN).ok_or(Ipv4Error::HeaderLength(words))?;
        let total = u16::from_be_bytes([header[2], header[3]]);
        let payload_len = (total as usize)
            .checked_sub(HEADER_LEN + options_len)
            .ok_or(Ipv4Error::TotalLength(total))?;
        let (options, rest) = rest.split_at_checked(options_len).ok_or(Ipv4Error::Truncated)?;
        let payload = rest.get(..payload_len).ok_or(Ipv4Error::Truncated)?;
        Ok(Ipv4Packet { header, options, payload })
    }

    /// Returns whether the header checksum is right, which covers the options, too.
    pub fn is_checksum_valid(&self) -> bool {
        Sum::default().with(self.header).with(self.options).checksum() == 0
    }
    /// Returns the source address, from octets 12 to 15 of the header.
    pub fn src(&self) -> Ipv4Addr {
        let h = self.header;
        Ipv4Addr::new(h[12], h[13], h[14], h[15])
    }
    /// Returns the destination address, from octets 16 to 19 of the header.
    pub fn dst(&self) -> Ipv4Addr {
        let h = self.header;
        Ipv4Addr::new(h[16], h[17], h[18], h[19])
    }
    /// Returns IANA's number of the protocol that the payload is of, 6 for TCP.
    pub fn protocol(&self) -> u8 {
        self.header[9]
    }
    /// Returns the time to live: how many more hops the packet may make.
    pub fn ttl(&self) -> u8 {
        self.header[8]
    }
    /// Returns the differentiated services code point, the high six bits of the second octet (RFC
    /// 2474 §3).
    pub fn dscp(&self) -> u8 {
        self.header[1] >> 2
    }
    /// Returns the ECN field, the low two bits of the second octet (RFC 3168 §5).
    pub fn ecn(&self) -> Ecn {
        Ecn::from_bits(self.header[1])
    }
    /// Returns the identification, which fragments of one datagram share.
    pub fn ident(&self) -> u16 {
        u16::from_be_bytes([self.header[4], self.header[5]])
    }
    /// Returns whether the DF flag is set: routers must not fragment the packet.
    pub fn dont_fragment(&self) -> bool {
        self.header[6] & 0x40 != 0
    }
    /// Returns whether the datagram is in pieces: this is not all of it.
    pub fn is_fragment(&self) -> bool {
        // MF or an offset.
        u16::from_be_bytes([self.header[6], self.header[7]]) & 0x3fff != 0
    }
    /// Returns the options with their padding, 0 to 40 octets.
    pub fn options(&self) -> &'a [u8] {
        self.options
    }
    /// Returns what follows the header, as far as the total length reaches.
    pub fn payload(&self) -> &'a [u8] {
        self.payload
    }
}

/// `Ipv4Repr` has the fields of an IPv4 header without options, of a datagram in one piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ipv4Repr {
    /// `src` is the address of the interface that the packet left from.
    pub src: Ipv4Addr,
    /// `dst` is the address that routers forward the packet by.
    pub dst: Ipv4Addr,
    /// `protocol` is IANA's number of the protocol that the payload is of, 6 for TCP.
    pub protocol: u8,
    /// `ttl` is how many more hops the packet may make; each router takes one off.
    pub ttl: u8,
    /// `dscp` is the differentiated services code point, at most 6 bits (RFC 2474 §3).
    pub dscp: u8,
    /// `ecn` is the ECN field, which shares an octet with `dscp` (RFC 3168 §5).
    pub ecn: Ecn,
    /// `ident` is the identification, which fragments of one datagram share.
    pub ident: u16,
    /// `dont_fragment` is the DF flag. Without it and with identification 0, a datagram is not
    /// atomic in the sense of RFC 6864 §4.
    pub dont_fragment: bool,
    /// `payload_len` is how many octets follow the header, at most 65,515.
    pub payload_len: u16,
}

impl Ipv4Repr {
    /// Reads the fields of `packet`. Options are left behind, as a host leaves those that it does
    /// not understand (RFC 1122 §3.2.1.8).
    ///
    /// # Errors
    /// The header checksum is wrong.
    pub fn parse(packet: &Ipv4Packet<'_>) -> Result<Ipv4Repr, Ipv4Error> {
        if !packet.is_checksum_valid() {
            return Err(Ipv4Error::Checksum);
        }
        Ok(Ipv4Repr {
            src: packet.src(),
            dst: packet.dst(),
            protocol: packet.protocol(),
            ttl: packet.ttl(),
            dscp: packet.dscp(),
            ecn: packet.ecn(),
            ident: packet.ident(),
            dont_fragment: packet.dont_fragment(),
            payload_len: packet.payload().len() as u16, // at most the 16-bit total length
        })
    }

    /// Appends the header, with its checksum.
    ///
    /// # Errors
    /// The DSCP or the total length does not fit; `out` is unchanged.
    pub fn emit(&self, out: &mut Vec<u8>) -> Result<(), EmitError> {
        if self.dscp > 0x3f {
            return Err(EmitError::FieldRange { field: "dscp", value: self.dscp as u32 });
        }
        let total = HEADER_LEN as u64 + self.payload_len as u64;
        let total = u16::try_from(total).map_err(|_| EmitError::TooLong(total))?;
        let mut header = [0; HEADER_LEN];
        header[0] = 0x45;
        header[1] = self.dscp << 2 | self.ecn as u8;
        header[2..4].copy_from_slice(&total.to_be_bytes());
        header[4..6].copy_from_slice(&self.ident.to_be_bytes());
        header[6] = (self.dont_fragment as u8) << 6;
        header[8] = self.ttl;
        header[9] = self.protocol;
        header[12..16].copy_from_slice(&self.src.octets());
        header[16..20].copy_from_slice(&self.dst.octets());
        let checksum = Sum::default().with(&header).checksum();
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        out.extend_from_slice(&header);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: [u8; 20] = [
        0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0x00,
        0x01, 0xc0, 0xa8, 0x00, 0xc7,
    ];

    fn repr() -> Ipv4Repr {
        Ipv4Repr {
            src: Ipv4Addr::new(192, 168, 0, 1),
            dst: Ipv4Addr::new(192, 168, 0, 199),
            protocol: 17,
            ttl: 64,
            dscp: 0,
            ecn: Ecn::NotEct,
            ident: 0,
            dont_fragment: true,
            payload_len: 95,
        }
    }

    #[test]
    fn a_well_known_header_is_read_and_written() {
        let mut octets = HEADER.to_vec();
        octets.resize(20 + 95 + 3, 0xee);
        let packet = Ipv4Packet::new_checked(&octets).unwrap();
        assert_eq!(packet.payload(), &[0xee; 95], "padding of the link is cut off");
        assert!(!packet.is_fragment() && packet.options().is_empty());
        assert_eq!(Ipv4Repr::parse(&packet), Ok(repr()));
        let mut out = Vec::new();
        repr().emit(&mut out).unwrap();
        assert_eq!(out, HEADER);
    }

    #[test]
    fn every_lie_about_lengths_is_an_error() {
        let error = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut octets = HEADER.to_vec();
            octets.resize(115, 0);
            change(&mut octets);
            Ipv4Packet::new_checked(&octets).map(|_| ()).unwrap_err()
        };
        assert_eq!(error(&|o| o.truncate(19)), Ipv4Error::Truncated);
        assert_eq!(error(&|o| o.truncate(114)), Ipv4Error::Truncated);
        assert_eq!(error(&|o| o[0] = 0x55), Ipv4Error::Version(5));
        assert_eq!(error(&|o| o[0] = 0x44), Ipv4Error::HeaderLength(4));
        assert_eq!(error(&|o| o[3] = 19), Ipv4Error::TotalLength(19));
        assert_eq!(error(&|o| (o[0], o[3]) = (0x4f, 59)), Ipv4Error::TotalLength(59));
    }

    #[test]
    fn options_are_covered_by_the_checksum_and_can_be_read() {
        let mut octets = HEADER.to_vec();
        octets.extend_from_slice(&[0x94, 0x04, 0x00, 0x00]); // router alert, RFC 2113
        (octets[0], octets[3]) = (0x46, 24);
        octets[10..12].fill(0);
        let checksum = Sum::default().with(&octets).checksum();
        octets[10..12].copy_from_slice(&checksum.to_be_bytes());
        let packet = Ipv4Packet::new_checked(&octets).unwrap();
        assert_eq!(packet.options(), &[0x94, 0x04, 0x00, 0x00]);
        assert!(packet.payload().is_empty() && packet.is_checksum_valid());
        octets[23] = 1;
        let packet = Ipv4Packet::new_checked(&octets).unwrap();
        assert_eq!(Ipv4Repr::parse(&packet), Err(Ipv4Error::Checksum));
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        let mut out = vec![1];
        let wide = Ipv4Repr { dscp: 64, ..repr() };
        assert_eq!(wide.emit(&mut out), Err(EmitError::FieldRange { field: "dscp", value: 64 }));
        let long = Ipv4Repr { payload_len: 65_516, ..repr() };
        assert_eq!(long.emit(&mut out), Err(EmitError::TooLong(65_536)));
        assert_eq!(out, [1]);
    }
}
