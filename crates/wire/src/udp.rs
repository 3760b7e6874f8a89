//! A UDP datagram (RFC 768).
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |          Source Port          |       Destination Port        |
//! |            Length             |           Checksum            |
//! |                          data octets                          |
//! ```
//!
//! The first data octets stand in place, as [`Head`]: an application's own header (a sequence
//! number, RTP) is then real without an allocation, while the rest may be a length alone.
//!
//! Left out: jumbograms (RFC 2675), and sending without a checksum; what comes without one is
//! taken over IPv4 and refused over IPv6 (RFC 8200 §8.1).

use crate::checksum::PseudoHeader;
use crate::error::EmitError;
use crate::packet::Payload;
use crate::pattern;
use std::error::Error;
use std::fmt;

/// `Head` has the first data octets of a datagram, at most [`Head::MOST`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Head {
    octets: [u8; Head::MOST],
    len: u8,
}

impl Head {
    /// `MOST` is how many octets a head can have: a fixed header of RTP (RFC 3550 §5.1).
    pub const MOST: usize = 12;

    /// Makes a head of these octets.
    ///
    /// # Panics
    /// When there are more than [`Head::MOST`].
    pub fn new(first: &[u8]) -> Head {
        let mut octets = [0; Head::MOST];
        octets[..first.len()].copy_from_slice(first);
        Head { octets, len: first.len() as u8 }
    }

    /// Returns the octets of the head, 0 to [`Head::MOST`].
    pub fn octets(&self) -> &[u8] {
        &self.octets[..usize::from(self.len)]
    }
}

/// `UdpDatagram` is a datagram: ports, and data whose first octets may be real while the rest is
/// counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UdpDatagram {
    /// `src_port` is the sender's port, to which answers go; 0 says that none is expected (RFC
    /// 768).
    pub src_port: u16,
    /// `dst_port` is the port at the destination host that the datagram is for.
    pub dst_port: u16,
    /// `head` has the first data octets, which are always real.
    pub head: Head,
    /// `payload` is the data that follows the head, real or counted.
    pub payload: Payload,
}

/// `UdpError` says why octets are not a UDP datagram.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UdpError {
    /// There are fewer octets than the header has, or than its length field says.
    Truncated,
    /// The length field, in octets, does not cover the header of 8.
    Length(u16),
    /// The checksum is wrong, or absent over IPv6 (RFC 8200 §8.1).
    Checksum,
}

impl fmt::Display for UdpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UdpError::Truncated => f.write_str("fewer octets than its length field says"),
            UdpError::Length(len) => write!(f, "a length of {len} octets; its header has 8"),
            UdpError::Checksum => f.write_str("wrong checksum"),
        }
    }
}
impl Error for UdpError {}

impl UdpDatagram {
    /// `PROTOCOL` is IANA's number of UDP, for the IP header.
    pub const PROTOCOL: u8 = 17;
    /// `HEADER` is the length of the UDP header, in octets.
    pub const HEADER: u32 = 8;
    /// `MOST_DATA` is how many data octets fit: the length field has 16 bits, and IPv4's counts its
    /// header of 20 octets, too.
    pub const MOST_DATA: u32 = 65_535 - 20 - Self::HEADER;

    /// Makes a datagram of real octets; those that fit stand in its head.
    pub fn of_octets(src_port: u16, dst_port: u16, data: &[u8]) -> UdpDatagram {
        let (head, rest) = data.split_at(data.len().min(Head::MOST));
        let payload = Payload::from_wire(rest);
        UdpDatagram { src_port, dst_port, head: Head::new(head), payload }
    }

    /// Returns how many data octets there are, in head and payload.
    pub fn data_len(&self) -> u32 {
        u32::from(self.head.len) + self.payload.len()
    }

    /// Returns the length on the wire, in octets: header, head and payload.
    pub fn wire_len(&self) -> u32 {
        Self::HEADER + self.data_len()
    }

    /// Appends the data octets; a payload that is a length becomes the [`pattern`] from position 0
    /// on.
    pub fn write_data(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.head.octets());
        match self.payload.octets() {
            Some(octets) => out.extend_from_slice(octets),
            None => {
                let start = out.len();
                out.resize(start + self.payload.len() as usize, 0);
                pattern::fill(0, &mut out[start..]);
            }
        }
    }

    /// Returns what a parser makes of the datagram's octets: all are real, and the head is full
    /// before the payload begins.
    #[must_use]
    pub fn canonical(&self) -> UdpDatagram {
        let mut data = Vec::new();
        self.write_data(&mut data);
        UdpDatagram::of_octets(self.src_port, self.dst_port, &data)
    }

    /// Appends header and data, with the checksum.
    ///
    /// # Errors
    /// [`EmitError::TooLong`] beyond 65,535 octets; `out` is unchanged.
    pub(crate) fn emit(&self, pseudo: &PseudoHeader, out: &mut Vec<u8>) -> Result<(), EmitError> {
        let len = u64::from(self.payload.len()) + u64::from(self.head.len) + 8;
        let length = u16::try_from(len).map_err(|_| EmitError::TooLong(len))?;
        let start = out.len();
        for half in [self.src_port, self.dst_port, length, 0] {
            out.extend_from_slice(&half.to_be_bytes());
        }
        self.write_data(out);
        let sum = pseudo.sum(Self::PROTOCOL, length.into()).with(&out[start..]).checksum();
        // A checksum of zero is sent as all ones: zero says that there is none.
        let sum = if sum == 0 { 0xFFFF } else { sum };
        out[start + 6..start + 8].copy_from_slice(&sum.to_be_bytes());
        Ok(())
    }

    /// Reads a datagram and verifies its checksum. Octets beyond its length are ignored.
    ///
    /// # Errors
    /// See [`UdpError`].
    pub(crate) fn parse(octets: &[u8], pseudo: &PseudoHeader) -> Result<UdpDatagram, UdpError> {
        let header = octets.first_chunk::<8>().ok_or(UdpError::Truncated)?;
        let half = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let (length, checksum) = (half(4), half(6));
        if u32::from(length) < Self::HEADER {
            return Err(UdpError::Length(length));
        }
        let datagram = octets.get(..usize::from(length)).ok_or(UdpError::Truncated)?;
        let is_right = match (checksum, pseudo) {
            (0, PseudoHeader::V4 { .. }) => true,
            (0, PseudoHeader::V6 { .. }) => false,
            _ => pseudo.sum(Self::PROTOCOL, length.into()).with(datagram).checksum() == 0,
        };
        if !is_right {
            return Err(UdpError::Checksum);
        }
        Ok(UdpDatagram::of_octets(half(0), half(2), &datagram[8..]))
    }
}

#[cfg(test)]
mod tests;
