//! What an IP packet carries, and what a time-sequence plot needs of a TCP
//! segment, from the octets of headers; checksums and payload are not looked at.

use anabranch_units::Serial32;
use anabranch_wire::sctp::UDP_PORT;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A TCP segment without its payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Segment {
    pub(super) seq: Serial32,
    pub(super) ack: Serial32,
    /// Octets of payload, by the lengths in the headers.
    pub(super) len: u32,
    flags: u8,
    /// It has an option of Multipath TCP (kind 30).
    pub(super) multipath: bool,
}

impl Segment {
    pub(super) fn syn(&self) -> bool {
        self.flags & 0x02 != 0
    }

    pub(super) fn fin(&self) -> bool {
        self.flags & 0x01 != 0
    }

    pub(super) fn ack_flag(&self) -> bool {
        self.flags & 0x10 != 0
    }
}

/// Protocol numbers of IP.
const TCP: u8 = 6;
const UDP: u8 = 17;
const SCTP: u8 = 132;
/// Octets of a UDP header.
const UDP_HEADER: usize = 8;

/// What an IP packet carries.
pub(super) enum Carried<'a> {
    /// The ends, from and to, and the segment.
    Tcp([SocketAddr; 2], Segment),
    /// The addresses, from and to, and the octets of an SCTP packet, which may
    /// be cut.
    Sctp([IpAddr; 2], &'a [u8]),
}

/// What an IP packet carries; `None` for other transports, a fragment, or what
/// is cut within its headers. SCTP may be in UDP (RFC 6951).
pub(super) fn read(ip: &[u8]) -> Option<Carried<'_>> {
    let half = |at: usize| Some(u16::from_be_bytes(*ip.get(at..)?.first_chunk()?));
    let (protocol, addresses, start, end): (u8, [IpAddr; 2], usize, usize) = match ip.first()? >> 4
    {
        4 => {
            if half(6)? & 0x3fff != 0 {
                return None; // a fragment
            }
            let address = |at: usize| Some(Ipv4Addr::from(*ip.get(at..)?.first_chunk::<4>()?));
            // A length of 0 stands for a segment that the card was to cut.
            let stated = usize::from(half(2)?);
            let len = if stated == 0 { ip.len() } else { stated };
            let addresses = [address(12)?.into(), address(16)?.into()];
            (*ip.get(9)?, addresses, usize::from(ip[0] & 15) * 4, len)
        }
        6 => {
            let address = |at: usize| Some(Ipv6Addr::from(*ip.get(at..)?.first_chunk::<16>()?));
            let stated = usize::from(half(4)?);
            let len = if stated == 0 { ip.len() } else { 40 + stated };
            (*ip.get(6)?, [address(8)?.into(), address(24)?.into()], 40, len)
        }
        _ => return None,
    };
    let inside = ip.get(start..end.min(ip.len()))?;
    match protocol {
        TCP => tcp(inside, addresses, end.checked_sub(start)?),
        SCTP => Some(Carried::Sctp(addresses, inside)),
        UDP => {
            let is_sctp = [half(start)?, half(start + 2)?].contains(&UDP_PORT);
            is_sctp.then_some(Carried::Sctp(addresses, inside.get(UDP_HEADER..)?))
        }
        _ => None,
    }
}

/// A segment, of which `len` octets were sent.
fn tcp<'a>(octets: &[u8], [from, to]: [IpAddr; 2], len: usize) -> Option<Carried<'a>> {
    let word = |at: usize| Some(u32::from_be_bytes(*octets.get(at..)?.first_chunk()?));
    let port = |at: usize| Some(u16::from_be_bytes(*octets.get(at..)?.first_chunk()?));
    let offset = usize::from(*octets.get(12)? >> 4) * 4;
    let payload = len.checked_sub(offset).filter(|_| offset >= 20)?;
    let ends = [SocketAddr::new(from, port(0)?), SocketAddr::new(to, port(2)?)];
    let segment = Segment {
        seq: Serial32(word(4)?),
        ack: Serial32(word(8)?),
        len: payload as u32,
        flags: *octets.get(13)?,
        multipath: has_option(octets.get(20..offset).unwrap_or(&[]), 30),
    };
    Some(Carried::Tcp(ends, segment))
}

fn has_option(mut options: &[u8], kind: u8) -> bool {
    loop {
        options = match options {
            [] | [0, ..] => return false,
            [1, rest @ ..] => rest,
            [found, ..] if *found == kind => return true,
            [_, len, ..] => options.get(usize::from((*len).max(2))..).unwrap_or(&[]),
            [_] => return false,
        };
    }
}
