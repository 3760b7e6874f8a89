//! SCTP in UDP (RFC 6951 §5): a UDP header in front of the common header.
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |          Source Port          |       Destination Port        |
//! |            Length             |           Checksum            |
//! ```
//!
//! A datagram is read as SCTP if one of its ports is 9899, the port that §3.1
//! registers; others, and what is not SCTP behind such a port, stay as they are.

use super::packet::{SctpError, SctpPacket};
use crate::address::AddressBook;
use crate::checksum::PseudoHeader;
use crate::error::EmitError;

/// `PROTOCOL` is IANA's number of UDP, for the IP header.
pub(crate) const PROTOCOL: u8 = 17;
/// `HEADER` is the length of the UDP header, in octets.
pub(crate) const HEADER: u32 = 8;
/// `PORT` is the port that is registered for SCTP in UDP (RFC 6951 §3.1).
pub const PORT: u16 = 9899;

/// Appends the UDP header, with its checksum, and the packet.
pub(crate) fn emit(
    sctp: &SctpPacket,
    ports: (u16, u16),
    book: &AddressBook,
    pseudo: &PseudoHeader,
    out: &mut Vec<u8>,
) -> Result<(), EmitError> {
    let start = out.len();
    let len = sctp.emitted_len(book);
    let length = u16::try_from(len).map_err(|_| EmitError::TooLong(len))?;
    for half in [ports.0, ports.1, length, 0] {
        out.extend_from_slice(&half.to_be_bytes());
    }
    sctp.emit(book, out)?;
    // RFC 768: a checksum of zero is sent as all ones.
    let sum = pseudo.sum(PROTOCOL, len as u32).with(&out[start..]).checksum();
    let sum = if sum == 0 { 0xffff } else { sum };
    out[start + 6..start + 8].copy_from_slice(&sum.to_be_bytes());
    Ok(())
}

/// Returns the SCTP packet of a datagram; `None` where it is none of ours.
pub(crate) fn parse(
    octets: &[u8],
    book: &AddressBook,
    pseudo: &PseudoHeader,
) -> Option<Result<SctpPacket, SctpError>> {
    let header = octets.first_chunk::<8>()?;
    let half = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let (src, dst, length, sum) = (half(0), half(2), half(4) as usize, half(6));
    if src != PORT && dst != PORT {
        return None;
    }
    let datagram = octets.get(..length)?;
    let payload = datagram.get(8..)?;
    let right = sum == 0 || pseudo.sum(PROTOCOL, length as u32).with(datagram).checksum() == 0;
    if !right {
        return Some(Err(SctpError::UdpChecksum));
    }
    Some(
        SctpPacket::parse_tolerant(payload, book)
            .map(|sctp| SctpPacket { udp: Some((src, dst)), ..sctp }),
    )
}
