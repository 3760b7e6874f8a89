//! The first packets are what a Linux 6.18 kernel sent through a TUN port as
//! the SYN of `connect` to port 4242, checked field by field against the
//! diagrams.

use super::*;
use crate::packet::Ecn;
use crate::tcp::{TcpError, TcpFlags, TcpOptions, Timestamps};
use crate::{checksum::Sum, ipv4::Ipv4Error, ipv6::Ipv6Error};
use anabranch_units::Serial32;

#[rustfmt::skip]
const SYN_IPV4: [u8; 60] = [
    0x45, 0x00, 0x00, 0x3c, // version 4, IHL 5; DSCP 0, Not-ECT; total length 60
    0xa1, 0xc6, 0x40, 0x00, // identification; DF
    0x40, 0x06, 0x84, 0xf3, // TTL 64; TCP; checksum
    0x0a, 0x00, 0x00, 0x01, // 10.0.0.1
    0x0a, 0x00, 0x00, 0x02, // 10.0.0.2
    0xe5, 0x78, 0x10, 0x92, // ports 58744, 4242
    0x2d, 0x22, 0x9d, 0xcc, // sequence number
    0x00, 0x00, 0x00, 0x00, // acknowledgment number
    0xa0, 0x02, 0xfa, 0xf0, // data offset 10, SYN; window 64240
    0xaf, 0x5e, 0x00, 0x00, // checksum; urgent pointer
    0x02, 0x04, 0x05, 0xb4, // MSS 1460
    0x04, 0x02, 0x08, 0x0a, // SACK permitted; timestamps
    0x86, 0x5e, 0x42, 0x53, //   TSval
    0x00, 0x00, 0x00, 0x00, //   TSecr
    0x01, 0x03, 0x03, 0x0a, // NOP; window scale 10
];

#[rustfmt::skip]
const SYN_IPV6: [u8; 80] = [
    0x60, 0x02, 0xa6, 0xc0, // version 6, DSCP 0, Not-ECT; flow label 0x2a6c0
    0x00, 0x28, 0x06, 0x40, // payload length 40; TCP; hop limit 64
    0xfd, 0x00, 0x61, 0x6e, 0x61, 0x62, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, // fd00:616e:6162::1
    0xfd, 0x00, 0x61, 0x6e, 0x61, 0x62, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, // fd00:616e:6162::2
    0xe5, 0x76, 0x10, 0x92, // ports 58742, 4242
    0x76, 0x25, 0x23, 0xb9, // sequence number
    0x00, 0x00, 0x00, 0x00, // acknowledgment number
    0xa0, 0x02, 0xfd, 0x20, // data offset 10, SYN; window 64800
    0x75, 0x0f, 0x00, 0x00, // checksum; urgent pointer
    0x02, 0x04, 0x05, 0xa0, // MSS 1440
    0x04, 0x02, 0x08, 0x0a, // SACK permitted; timestamps
    0x80, 0x30, 0x46, 0x23, //   TSval
    0x00, 0x00, 0x00, 0x00, //   TSecr
    0x01, 0x03, 0x03, 0x0a, // NOP; window scale 10
];

fn syn(port: u16, seq: u32, window: u16, mss: u16, clock: u32) -> Body {
    Body::Tcp(TcpSegment {
        src_port: port,
        dst_port: 4242,
        seq: Serial32(seq),
        ack: Serial32(0),
        flags: TcpFlags::SYN,
        window,
        urgent: 0,
        options: TcpOptions {
            mss: Some(mss),
            window_scale: Some(10),
            sack_permitted: true,
            timestamps: Some(Timestamps { value: clock, echo: 0 }),
            ..TcpOptions::default()
        },
        payload: Payload::EMPTY,
    })
}

fn syn_ipv4() -> Packet {
    let body = syn(58_744, 0x2d22_9dcc, 64_240, 1460, 0x865e_4253);
    Packet { ident: 0xa1c6, ..Packet::new(Addr(0), Addr(1), body) }
}

fn emitted(packet: &Packet, book: &AddressBook) -> Vec<u8> {
    let mut out = Vec::new();
    packet.emit(book, &mut out).unwrap();
    out
}

/// The captured packet with a change, and its IPv4 checksum set right again.
fn changed(change: impl FnOnce(&mut [u8])) -> Result<Packet, ParseError> {
    let mut octets = SYN_IPV4;
    change(&mut octets);
    octets[10..12].fill(0);
    let checksum = Sum::default().with(&octets[..20]).checksum();
    octets[10..12].copy_from_slice(&checksum.to_be_bytes());
    Packet::parse(&octets, &AddressBook::new())
}

#[test]
fn a_captured_ipv4_packet_is_read_and_written_octet_for_octet() {
    let book = AddressBook::new();
    assert_eq!(Packet::parse(&SYN_IPV4, &book), Ok(syn_ipv4()));
    assert_eq!(emitted(&syn_ipv4(), &book), SYN_IPV4);
    assert_eq!(syn_ipv4().wire_len().0, 60);
}

#[test]
fn a_captured_ipv6_packet_is_read_and_written_but_for_its_flow_label() {
    let book = AddressBook::dense_ipv6();
    let body = syn(58_742, 0x7625_23b9, 64_800, 1440, 0x8030_4623);
    let packet = Packet::new(Addr(0), Addr(1), body);
    assert_eq!(Packet::parse(&SYN_IPV6, &book).as_ref(), Ok(&packet));
    let mut octets = SYN_IPV6;
    octets[..4].copy_from_slice(&[0x60, 0, 0, 0]);
    assert_eq!(emitted(&packet, &book), octets);
}

#[test]
fn an_error_names_its_layer() {
    let book = AddressBook::new();
    assert_eq!(Packet::parse(&[], &book), Err(ParseError::Empty));
    assert_eq!(changed(|o| o[0] = 0x95), Err(ParseError::Version(9)));
    let truncated = Packet::parse(&SYN_IPV4[..59], &book);
    assert_eq!(truncated, Err(ParseError::Ipv4(Ipv4Error::Truncated)));
    let truncated = Packet::parse(&SYN_IPV6[..79], &book);
    assert_eq!(truncated, Err(ParseError::Ipv6(Ipv6Error::Truncated)));
    let unknown = ParseError::UnknownAddress("fd00:616e:6162::1".parse().unwrap());
    assert_eq!(Packet::parse(&SYN_IPV6, &book), Err(unknown));
    assert_eq!(changed(|o| o[6] = 0x20), Err(ParseError::Fragment));
    assert_eq!(changed(|o| o[7] = 0x01), Err(ParseError::Fragment));
    assert_eq!(changed(|o| o[59] ^= 1), Err(ParseError::Tcp(TcpError::Checksum)));
    let mut octets = SYN_IPV4;
    octets[8] = 63;
    assert_eq!(Packet::parse(&octets, &book), Err(ParseError::Ipv4(Ipv4Error::Checksum)));
}

#[test]
fn no_flipped_bit_passes_the_checksums() {
    for bit in 0..SYN_IPV4.len() * 8 {
        let mut octets = SYN_IPV4;
        octets[bit / 8] ^= 1 << (bit % 8);
        assert!(Packet::parse(&octets, &AddressBook::new()).is_err(), "bit {bit}");
    }
}

#[test]
fn routers_may_change_what_the_tcp_checksum_leaves_out() {
    let packet = changed(|o| (o[8], o[1]) = (63, 0xbb)).unwrap();
    assert_eq!((packet.ttl, packet.dscp, packet.ecn), (63, 0b10_1110, Ecn::Ce));
}

#[test]
fn addresses_without_octets_and_sizes_that_do_not_fit_are_errors() {
    let mut book = AddressBook::new();
    let mut out = vec![1, 2];
    let mut emit = |packet: &Packet, book: &AddressBook| {
        let result = packet.emit(book, &mut out);
        assert_eq!(out, [1, 2], "nothing is left behind");
        result.unwrap_err()
    };
    let far = Packet { dst: Addr(1 << 30), ..syn_ipv4() };
    assert_eq!(emit(&far, &book), EmitError::UnknownAddress(Addr(1 << 30)));
    let other = |len| Body::Other { protocol: 17, payload: Payload::virtual_of(len) };
    let long = Packet { body: other(65_516), ..syn_ipv4() };
    assert_eq!(emit(&long, &book), EmitError::TooLong(65_536));
    let longer = Packet { body: other(u32::MAX), ..syn_ipv4() };
    assert_eq!(emit(&longer, &book), EmitError::TooLong(u32::MAX as u64));
    let mut options = syn_ipv4();
    if let Body::Tcp(segment) = &mut options.body {
        segment.options.rare_mut().unknown = [0].into();
    }
    assert_eq!(emit(&options, &book), EmitError::MalformedOptions);
    book.insert(Addr(1), "2001:db8::1".parse().unwrap()).unwrap();
    assert_eq!(emit(&syn_ipv4(), &book), EmitError::MixedFamilies(Addr(0), Addr(1)));
}

#[test]
fn extension_headers_are_kept_as_octets() {
    let mut octets = SYN_IPV6;
    octets[6] = 60; // destination options
    let packet = Packet::parse(&octets, &AddressBook::dense_ipv6()).unwrap();
    let payload = Payload::of_octets(&SYN_IPV6[40..]);
    assert_eq!(packet.body, Body::Other { protocol: 60, payload });
}
