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
//! The packet is a [`Body::Udp`]: who wraps and unwraps is the host, not the connection.

use crate::address::AddressBook;
use crate::checksum::PseudoHeader;
use crate::error::EmitError;
use crate::packet::{Addr, Body, Packet, Payload};
use crate::tcp::{CHECKSUM_AT, TcpSegment, TcpView};
use crate::udp::UdpDatagram;
use std::net::IpAddr;

/// `PROTOCOL` is IANA's number of UDP, for the IP header.
pub const PROTOCOL: u8 = UdpDatagram::PROTOCOL;
/// `HEADER` is the length of the UDP header, in octets.
pub const HEADER: usize = UdpDatagram::HEADER as usize;

/// `Ports` are source and destination port of UDP, in this order.
pub type Ports = (u16, u16);

fn pseudo(packet: &Packet, book: &AddressBook) -> Option<PseudoHeader> {
    match (book.ip_towards(packet.src, packet.dst)?, book.ip_towards(packet.dst, packet.src)?) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => Some(PseudoHeader::V4 { src, dst }),
        (IpAddr::V6(src), IpAddr::V6(dst)) => Some(PseudoHeader::V6 { src, dst }),
        _ => None,
    }
}

/// Returns the packet with its segment in a datagram; anything but TCP stays as it is.
///
/// # Errors
/// The segment or its addresses cannot be written.
pub fn wrap(packet: Packet, ports: Ports, book: &AddressBook) -> Result<Packet, EmitError> {
    let Body::Tcp(segment) = &packet.body else { return Ok(packet) };
    let pseudo = pseudo(&packet, book).ok_or(EmitError::UnknownAddress(packet.src))?;
    let mut octets = Vec::new();
    segment.emit(&pseudo, &mut octets)?;
    let len = (octets.len() + HEADER) as u64;
    u16::try_from(len).map_err(|_| EmitError::TooLong(len))?;
    octets[CHECKSUM_AT..CHECKSUM_AT + 2].fill(0);
    let body = Body::Udp(UdpDatagram::of_octets(ports.0, ports.1, &octets));
    Ok(Packet { body, ..packet })
}

/// Returns the segment in a datagram, as a packet of TCP, and the ports of UDP; `None` for what is
/// no datagram with a segment in it.
pub fn unwrap(packet: &Packet) -> Option<(Ports, Packet)> {
    let Body::Udp(datagram) = &packet.body else { return None };
    let mut octets = Vec::new();
    datagram.write_data(&mut octets);
    let view = TcpView::new_checked(&octets).ok()?;
    let segment = TcpSegment::without_data(&view).ok()?;
    let segment = TcpSegment { payload: Payload::from_wire(view.payload()), ..segment };
    let ports = (datagram.src_port, datagram.dst_port);
    Some((ports, Packet { body: Body::Tcp(segment), ..packet.clone() }))
}

/// Returns the octets of a datagram with the packet's segment in it, for a host whose socket writes
/// the header of UDP and its checksum; none for anything but TCP. Addresses are in none of them.
///
/// # Errors
/// The segment cannot be written.
pub fn payload(packet: Packet) -> Result<Vec<u8>, EmitError> {
    let mut octets = Vec::new();
    if matches!(packet.body, Body::Tcp(_))
        && let Body::Udp(datagram) = wrap(packet, (0, 0), &AddressBook::new())?.body
    {
        datagram.write_data(&mut octets);
    }
    Ok(octets)
}

/// Returns the segment that came as the octets of a datagram, as a packet between these addresses;
/// `None` for what is no segment.
pub fn segment(src: Addr, dst: Addr, octets: &[u8]) -> Option<Packet> {
    let body = Body::Udp(UdpDatagram::of_octets(0, 0, octets));
    unwrap(&Packet::new(src, dst, body)).map(|(_, packet)| packet)
}

#[cfg(test)]
mod tests {
    use super::*;
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
            let (ports, inner) = unwrap(&wrapped).unwrap();
            let Body::Tcp(segment) = packet(3).body else { panic!() };
            assert_eq!((ports, inner.body), ((9811, 4000), Body::Tcp(segment.canonical())));
        }
    }

    #[test]
    fn a_socket_carries_the_segment_alone() {
        let octets = payload(packet(3)).unwrap();
        let inner = segment(Addr(1), Addr(2), &octets).unwrap();
        let Body::Tcp(segment) = packet(3).body else { panic!() };
        assert_eq!(inner.body, Body::Tcp(segment.canonical()));
        assert_eq!((inner.src, inner.dst), (Addr(1), Addr(2)));
        assert_eq!(super::segment(Addr(1), Addr(2), &octets[..19]), None);
    }

    #[test]
    fn what_is_no_segment_is_refused() {
        let book = AddressBook::new();
        let wrapped = wrap(packet(3), (9811, 4000), &book).unwrap();
        let Body::Udp(datagram) = &wrapped.body else { panic!() };
        let mut octets = Vec::new();
        datagram.write_data(&mut octets);
        for len in [0, 7, 8, 19] {
            let body = Body::Udp(UdpDatagram::of_octets(9811, 4000, &octets[..len]));
            assert_eq!(unwrap(&Packet { body, ..wrapped.clone() }), None, "{len} octets");
        }
    }
}
