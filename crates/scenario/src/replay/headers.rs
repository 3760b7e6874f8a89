//! What a time-sequence plot needs of a TCP segment, from the octets of its
//! headers; checksums and payload are not looked at.

use anabranch_units::Serial32;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A TCP segment without its payload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Segment {
    pub(super) seq: Serial32,
    pub(super) ack: Serial32,
    /// Octets of payload.
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

const TCP: u8 = 6;

/// The ends, from and to, and the segment of an IP packet; `None` for what is no
/// TCP, a fragment, or cut within its headers.
pub(super) fn read(ip: &[u8]) -> Option<([SocketAddr; 2], Segment)> {
    let half = |at: usize| Some(u16::from_be_bytes(*ip.get(at..)?.first_chunk()?));
    let (addresses, start, end): ([IpAddr; 2], usize, usize) = match ip.first()? >> 4 {
        4 => {
            let fragment = half(6)? & 0x3fff != 0;
            if fragment || *ip.get(9)? != TCP {
                return None;
            }
            let address = |at: usize| Some(Ipv4Addr::from(*ip.get(at..)?.first_chunk::<4>()?));
            // A length of 0 stands for a segment that the card was to cut.
            let stated = usize::from(half(2)?);
            let len = if stated == 0 { ip.len() } else { stated };
            ([address(12)?.into(), address(16)?.into()], usize::from(ip[0] & 15) * 4, len)
        }
        6 => {
            if *ip.get(6)? != TCP {
                return None;
            }
            let address = |at: usize| Some(Ipv6Addr::from(*ip.get(at..)?.first_chunk::<16>()?));
            let stated = usize::from(half(4)?);
            let len = if stated == 0 { ip.len() } else { 40 + stated };
            ([address(8)?.into(), address(24)?.into()], 40, len)
        }
        _ => return None,
    };
    let tcp = ip.get(start..)?;
    let word = |at: usize| Some(u32::from_be_bytes(*tcp.get(at..)?.first_chunk()?));
    let port = |at: usize| Some(u16::from_be_bytes(*tcp.get(at..)?.first_chunk()?));
    let offset = usize::from(*tcp.get(12)? >> 4) * 4;
    let payload = end.checked_sub(start + offset).filter(|_| offset >= 20)?;
    let [from, to] = addresses;
    let ends = [SocketAddr::new(from, port(0)?), SocketAddr::new(to, port(2)?)];
    let segment = Segment {
        seq: Serial32(word(4)?),
        ack: Serial32(word(8)?),
        len: payload as u32,
        flags: *tcp.get(13)?,
        multipath: has_option(tcp.get(20..offset).unwrap_or(&[]), 30),
    };
    Some((ends, segment))
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
