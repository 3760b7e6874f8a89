//! TCP in UDP, as FreeBSD has it (`net.inet.tcp.udp_tunneling_port`): a UDP header (RFC 768) in front
//! of the segment. The checksum of UDP covers both; that of TCP is zero.
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |          Source Port          |       Destination Port        |
//! |            Length             |           Checksum            |
//! |                  header and data of the segment               |
//! ```
//!
//! The packet is a [`Body::Other`] of UDP: who wraps and unwraps is the host, not the connection.

use crate::address::AddressBook;
use crate::checksum::PseudoHeader;
use crate::error::EmitError;
use crate::packet::{Body, Packet, Payload};
use crate::tcp::{CHECKSUM_AT, TcpSegment, TcpView};
use std::net::IpAddr;

/// IP protocol number of UDP.
pub const PROTOCOL: u8 = 17;
/// Octets of the header.
pub const HEADER: usize = 8;

/// Source and destination port of UDP.
pub type Ports = (u16, u16);

fn pseudo(packet: &Packet, book: &AddressBook) -> Option<PseudoHeader> {
    match (book.ip_towards(packet.src, packet.dst)?, book.ip_towards(packet.dst, packet.src)?) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => Some(PseudoHeader::V4 { src, dst }),
        (IpAddr::V6(src), IpAddr::V6(dst)) => Some(PseudoHeader::V6 { src, dst }),
        _ => None,
    }
}

/// The packet with its segment in a datagram; anything but TCP stays as it is.
///
/// # Errors
/// The segment or its addresses cannot be written.
pub fn wrap(packet: Packet, ports: Ports, book: &AddressBook) -> Result<Packet, EmitError> {
    let Body::Tcp(segment) = &packet.body else { return Ok(packet) };
    let pseudo = pseudo(&packet, book).ok_or(EmitError::UnknownAddress(packet.src))?;
    let mut octets = vec![0; HEADER];
    segment.emit(&pseudo, &mut octets)?;
    let len = octets.len() as u64;
    let length = u16::try_from(len).map_err(|_| EmitError::TooLong(len))?;
    octets[HEADER + CHECKSUM_AT..HEADER + CHECKSUM_AT + 2].fill(0);
    for (at, half) in [ports.0, ports.1, length].into_iter().enumerate() {
        octets[2 * at..2 * at + 2].copy_from_slice(&half.to_be_bytes());
    }
    // RFC 768: a checksum of zero is sent as all ones.
    let sum = pseudo.sum(PROTOCOL, length.into()).with(&octets).checksum();
    octets[6..8].copy_from_slice(&(if sum == 0 { 0xFFFF } else { sum }).to_be_bytes());
    let body = Body::Other { protocol: PROTOCOL, payload: Payload::of_octets(octets) };
    Ok(Packet { body, ..packet })
}

/// The segment in a datagram, as a packet of TCP, and the ports of UDP; `None` for what is no
/// datagram with a segment in it, or has a wrong checksum.
pub fn unwrap(packet: &Packet, book: &AddressBook) -> Option<(Ports, Packet)> {
    let Body::Other { protocol: PROTOCOL, payload } = &packet.body else { return None };
    let octets = payload.octets()?;
    let header = octets.first_chunk::<HEADER>()?;
    let half = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    let datagram = octets.get(..half(4) as usize)?;
    let sum = pseudo(packet, book)?.sum(PROTOCOL, half(4).into()).with(datagram);
    if half(6) != 0 && sum.checksum() != 0 {
        return None;
    }
    let view = TcpView::new_checked(datagram.get(HEADER..)?).ok()?;
    let segment = TcpSegment::without_data(&view).ok()?;
    let segment = TcpSegment { payload: Payload::from_wire(view.payload()), ..segment };
    Some(((half(0), half(2)), Packet { body: Body::Tcp(segment), ..packet.clone() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Addr;
    use crate::tcp::{TcpFlags, TcpOptions};
    use anabranch_units::Serial32;

    fn packet(len: u32) -> Packet {
        let segment = TcpSegment {
            src_port: 80,
            dst_port: 5000,
            seq: Serial32(7),
            ack: Serial32(9),
            flags: TcpFlags::ACK,
            window: 100,
            urgent: 0,
            options: TcpOptions { mss: Some(1452), ..TcpOptions::default() },
            payload: Payload::virtual_of(len),
        };
        Packet::new(Addr(1), Addr(2), Body::Tcp(segment))
    }

    #[test]
    fn a_datagram_holds_the_segment_that_was_wrapped() {
        for book in [AddressBook::new(), AddressBook::dense_ipv6()] {
            let wrapped = wrap(packet(3), (9811, 4000), &book).unwrap();
            assert_eq!(wrapped.wire_len().0, packet(3).wire_len().0 + 8);
            let (ports, inner) = unwrap(&wrapped, &book).unwrap();
            let Body::Tcp(segment) = packet(3).body else { panic!() };
            assert_eq!((ports, inner.body), ((9811, 4000), Body::Tcp(segment.canonical())));
        }
    }

    #[test]
    fn a_wrong_checksum_and_what_is_no_segment_are_refused() {
        let book = AddressBook::new();
        let wrapped = wrap(packet(3), (9811, 4000), &book).unwrap();
        let Body::Other { payload, .. } = &wrapped.body else { panic!() };
        let octets = payload.octets().unwrap();
        for at in [0, 6, 12, octets.len() - 1] {
            let mut other = octets.to_vec();
            other[at] ^= 0x10;
            let body = Body::Other { protocol: 17, payload: Payload::of_octets(other) };
            assert_eq!(unwrap(&Packet { body, ..wrapped.clone() }, &book), None, "octet {at}");
        }
        for len in [0, 7, 8, 27] {
            let body = Body::Other { protocol: 17, payload: payload.part(0, len) };
            assert_eq!(unwrap(&Packet { body, ..wrapped.clone() }, &book), None, "{len} octets");
        }
    }
}
