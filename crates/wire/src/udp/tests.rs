use super::*;
use crate::checksum::Sum;
use std::net::{Ipv4Addr, Ipv6Addr};

fn v4() -> PseudoHeader {
    PseudoHeader::V4 { src: Ipv4Addr::new(10, 0, 0, 1), dst: Ipv4Addr::new(10, 0, 0, 2) }
}

fn v6() -> PseudoHeader {
    let ip = |last| Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, last);
    PseudoHeader::V6 { src: ip(1), dst: ip(2) }
}

fn emitted(datagram: &UdpDatagram, pseudo: &PseudoHeader) -> Vec<u8> {
    let mut out = Vec::new();
    datagram.emit(pseudo, &mut out).expect("it fits");
    out
}

/// RFC 768, "Fields": the four fields in order, and a checksum that covers the addresses, zero,
/// the protocol, the length, and the datagram.
#[test]
fn the_header_is_that_of_the_standard() {
    let datagram = UdpDatagram::of_octets(0x1234, 0x0035, b"abc");
    let octets = emitted(&datagram, &v4());
    assert_eq!(octets[..6], [0x12, 0x34, 0x00, 0x35, 0, 11]);
    assert_eq!(octets[8..], *b"abc");
    let covered = [10, 0, 0, 1, 10, 0, 0, 2, 0, 17, 0, 11];
    assert_eq!(Sum::default().with(&covered).with(&octets).checksum(), 0);
    assert_eq!(UdpDatagram::parse(&octets, &v4()), Ok(datagram));
}

/// RFC 768, "Fields": "If the computed checksum is zero, it is transmitted as all ones".
#[test]
fn a_checksum_of_zero_is_sent_as_all_ones() {
    let sums: Vec<u16> = (0..=u16::MAX)
        .map(|value| {
            let octets = emitted(&UdpDatagram::of_octets(1, 2, &value.to_be_bytes()), &v4());
            assert!(UdpDatagram::parse(&octets, &v4()).is_ok(), "{value}");
            u16::from_be_bytes([octets[6], octets[7]])
        })
        .collect();
    // Of all two data octets some must sum up to zero.
    assert!(sums.contains(&0xFFFF) && !sums.contains(&0));
}

/// RFC 768, "Fields": an all zero checksum means that the transmitter generated none; RFC 8200
/// §8.1: over IPv6 receivers discard such datagrams.
#[test]
fn a_datagram_without_checksum_is_taken_over_ipv4_alone() {
    let datagram = UdpDatagram::of_octets(1, 2, b"abc");
    let mut octets = emitted(&datagram, &v4());
    octets[6..8].fill(0);
    assert_eq!(UdpDatagram::parse(&octets, &v4()), Ok(datagram));
    assert_eq!(UdpDatagram::parse(&octets, &v6()), Err(UdpError::Checksum));
}

#[test]
fn what_is_no_datagram_is_refused() {
    let octets = emitted(&UdpDatagram::of_octets(1, 2, b"abc"), &v4());
    assert_eq!(UdpDatagram::parse(&octets[..7], &v4()), Err(UdpError::Truncated));
    assert_eq!(UdpDatagram::parse(&octets[..10], &v4()), Err(UdpError::Truncated));
    let mut short = octets.clone();
    short[5] = 7;
    assert_eq!(UdpDatagram::parse(&short, &v4()), Err(UdpError::Length(7)));
    let mut damaged = octets.clone();
    damaged[9] ^= 1;
    assert_eq!(UdpDatagram::parse(&damaged, &v4()), Err(UdpError::Checksum));
    // Octets behind the length are none of the datagram's.
    let padded = [&octets[..], &[9; 5]].concat();
    assert_eq!(UdpDatagram::parse(&padded, &v4()).map(|datagram| datagram.data_len()), Ok(3));
}

#[test]
fn head_and_payload_are_one_on_the_wire() {
    let payload = Payload::virtual_of(30);
    let datagram =
        UdpDatagram { src_port: 5, dst_port: 6, head: Head::new(&[1, 2, 3, 4]), payload };
    assert_eq!((datagram.data_len(), datagram.wire_len()), (34, 42));
    let octets = emitted(&datagram, &v4());
    assert_eq!(octets.len(), 42);
    let parsed = UdpDatagram::parse(&octets, &v4()).expect("it is right");
    assert_eq!(parsed, datagram.canonical());
    assert_eq!(parsed.head.octets()[..4], [1, 2, 3, 4]);
    let huge = UdpDatagram { payload: Payload::virtual_of(65_530), ..datagram };
    assert_eq!(huge.emit(&v4(), &mut Vec::new()), Err(EmitError::TooLong(65_542)));
}
