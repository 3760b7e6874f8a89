//! A packet octet by octet against the diagrams of RFC 9260, and every lie
//! about lengths. Round trips of all kinds are in `tests/round_trip.rs`.

use super::packet::checksum;
use super::*;
use crate::address::AddressBook;
use crate::error::EmitError;
use crate::packet::{Addr, Payload};
use crate::udp::UdpError;
use anabranch_units::Serial32;

#[rustfmt::skip]
const INIT: [u8; 56] = [
    0x13, 0x88, 0x13, 0x89, // ports 5000, 5001
    0x00, 0x00, 0x00, 0x00, // verification tag 0
    0x00, 0x00, 0x00, 0x00, // checksum, see `with_checksum`
    0x01, 0x00, 0x00, 0x29, // INIT, length 41: the last padding does not count
    0xde, 0xad, 0xbe, 0xef, // initiate tag
    0x00, 0x01, 0x00, 0x00, // a_rwnd 65536
    0x00, 0x0a, 0x08, 0x00, // 10 streams out, 2048 in
    0xff, 0xff, 0xff, 0xfe, // initial TSN
    0x00, 0x05, 0x00, 0x08, 10, 0, 0, 1, // IPv4 address 10.0.0.1
    0x00, 0x05, 0x00, 0x08, 192, 0, 2, 9, // IPv4 address 192.0.2.9
    0x80, 0x08, 0x00, 0x05, 0xc1, 0, 0, 0, // supported extensions: ASCONF
];

fn with_checksum(octets: &[u8]) -> Vec<u8> {
    let mut octets = octets.to_vec();
    let crc = checksum(&octets);
    octets[8..12].copy_from_slice(&crc.to_le_bytes());
    octets
}

fn init() -> SctpPacket {
    let parameters = vec![
        Parameter::Address(Addr(0).into()),
        Parameter::Address(Address::Ip([192, 0, 2, 9].into())),
        Parameter::SupportedExtensions([0xc1].into()),
    ];
    let init = InitChunk {
        tag: 0xdead_beef,
        a_rwnd: 65_536,
        outbound: 10,
        inbound: 2048,
        tsn: Serial32(0xffff_fffe),
        parameters,
    };
    packet(0, Chunk::Init(Box::new(init)))
}

fn packet(tag: u32, chunk: Chunk) -> SctpPacket {
    let chunks = [chunk].into_iter().collect();
    SctpPacket { src_port: 5000, dst_port: 5001, tag, udp: None, zero_checksum: false, chunks }
}

fn emitted(packet: &SctpPacket) -> Vec<u8> {
    let mut out = Vec::new();
    packet.emit(&AddressBook::new(), &mut out).unwrap();
    out
}

fn parse(octets: &[u8]) -> Result<SctpPacket, SctpError> {
    SctpPacket::parse(&with_checksum(octets), &AddressBook::new())
}

#[test]
fn an_init_is_read_and_written_octet_for_octet() {
    let octets = with_checksum(&INIT);
    assert_eq!(emitted(&init()), octets);
    assert_eq!(SctpPacket::parse(&octets, &AddressBook::new()), Ok(init()));
    assert_eq!(init().wire_len(), 56);
    // The last padding may be missing.
    assert_eq!(parse(&INIT[..53]), Ok(init()));
}

#[test]
fn data_is_read_and_written_octet_for_octet() {
    #[rustfmt::skip]
    let octets = with_checksum(&[
        0x13, 0x88, 0x13, 0x89, 0, 0, 0, 7, 0, 0, 0, 0,
        0x00, 0x0b, 0x00, 0x13, // DATA; I, B, E; length 19
        0x00, 0x00, 0x00, 0x05, // TSN
        0x00, 0x02, 0x00, 0x03, // stream 2, sequence number 3
        0x00, 0x00, 0x00, 0x33, // payload protocol identifier 51
        b'a', b'b', b'c', 0x00,
    ]);
    let data = DataChunk {
        flags: DataFlags::WHOLE.union(DataFlags::IMMEDIATE),
        tsn: Serial32(5),
        stream: 2,
        ssn: 3,
        ppid: 51,
        payload: Payload::of_octets(*b"abc"),
    };
    assert_eq!(emitted(&packet(7, Chunk::Data(data.clone()))), octets);
    assert_eq!(SctpPacket::parse(&octets, &AddressBook::new()), Ok(packet(7, Chunk::Data(data))));
}

#[test]
fn user_data_that_is_a_length_depends_on_the_tsn_alone() {
    let data = |tsn| {
        let (flags, payload) = (DataFlags::WHOLE, Payload::virtual_of(100));
        let tsn = Serial32(tsn);
        emitted(&packet(
            7,
            Chunk::Data(DataChunk { flags, tsn, stream: 0, ssn: 0, ppid: 0, payload }),
        ))
    };
    let mut pattern = [0; 100];
    crate::pattern::fill(9 << 16, &mut pattern);
    assert_eq!(data(9)[28..], pattern);
    assert_ne!(data(10)[28..], pattern);
}

#[test]
fn a_sack_lists_gaps_and_duplicates() {
    let gaps = vec![GapBlock { start: 2, end: 3 }, GapBlock { start: 5, end: 5 }];
    let duplicates = vec![Serial32(12)];
    let sack = SackChunk { cum_tsn: Serial32(12), a_rwnd: 4660, gaps, duplicates, packets: 0 };
    let sack = packet(7, Chunk::Sack(sack));
    let octets = emitted(&sack);
    #[rustfmt::skip]
    assert_eq!(octets[12..], [
        3, 0, 0, 28, 0, 0, 0, 12, 0, 0, 0x12, 0x34, 0, 2, 0, 1, // the example of RFC 9260 §3.3.4
        0, 2, 0, 3, 0, 5, 0, 5, 0, 0, 0, 12,
    ]);
    assert!(sack.is_pure_sack());
    assert_eq!(parse(&octets), Ok(sack));
}

#[test]
fn errors_name_what_is_wrong() {
    let error = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut octets = INIT.to_vec();
        change(&mut octets);
        parse(&octets).unwrap_err()
    };
    let chunk = |kind, len| SctpError::Chunk { kind, len };
    assert_eq!(SctpPacket::parse(&[0; 11], &AddressBook::new()), Err(SctpError::Truncated));
    assert_eq!(error(&|o| o[15] = 3), chunk(1, 3));
    assert_eq!(error(&|o| o[15] = 57), chunk(1, 57));
    assert_eq!(error(&|o| o[15] = 19), chunk(1, 19), "less than the fields of INIT");
    assert_eq!(error(&|o| o[35] = 7), SctpError::Parameter { kind: 5, len: 7 });
    assert_eq!(error(&|o| o[35] = 0), SctpError::Parameter { kind: 5, len: 0 });
    assert_eq!(error(&|o| o[43] = 60), SctpError::Parameter { kind: 5, len: 60 });
    assert_eq!(error(&|o| o.extend([0; 3])), SctpError::ChunkHeader);
    let mut octets = emitted(&packet(7, Chunk::Error(vec![Cause::StaleCookie(5)])));
    octets[19] = 6;
    assert_eq!(parse(&octets), Err(SctpError::Cause { code: 3, len: 6 }));
    // Missing parameters: a count of 2^31 with room for one.
    let mut octets = emitted(&packet(7, Chunk::Error(vec![Cause::MissingParameters(vec![7])])));
    octets[20] = 0x80;
    assert_eq!(parse(&octets), Err(SctpError::Cause { code: 2, len: 10 }));
    let (computed, mut octets) = (checksum(&INIT), INIT.to_vec());
    octets[8] = 1;
    assert_eq!(
        SctpPacket::parse(&octets, &AddressBook::new()),
        Err(SctpError::Checksum { found: 1, computed })
    );
    assert_eq!(chunk(1, 3).to_string(), "a chunk of type 1 cannot have the length 3");
}

#[test]
fn every_single_flipped_bit_is_found() {
    let octets = with_checksum(&INIT);
    for bit in 0..octets.len() * 8 {
        let mut octets = octets.clone();
        octets[bit / 8] ^= 1 << (bit % 8);
        let error = SctpPacket::parse(&octets, &AddressBook::new()).unwrap_err();
        assert!(matches!(error, SctpError::Checksum { .. }));
    }
}

/// RFC 9260 §3.2 and §3.2.1.
#[test]
fn the_highest_bits_say_what_to_do_with_the_unknown() {
    let action = |stop, report| UnknownAction { stop, report };
    for (kind, expected) in [
        (0x3f, action(true, false)),
        (0x7f, action(true, true)),
        (0xbf, action(false, false)),
        (0xff, action(false, true)),
    ] {
        assert_eq!(Chunk::action_on_unknown(kind), expected);
        assert_eq!(Parameter::action_on_unknown((kind as u16) << 8), expected);
    }
}

/// RFC 9260 §4.3.
#[test]
fn init_and_shutdown_complete_must_be_alone() {
    for solitary in
        [init().chunks.first().unwrap().clone(), Chunk::ShutdownComplete { reflected: false }]
    {
        let mut packet = packet(7, solitary);
        assert!(packet.is_well_bundled());
        packet.chunks.push(Chunk::CookieAck);
        assert!(!packet.is_well_bundled());
    }
    let bundle = [Chunk::CookieAck, Chunk::ShutdownAck].into_iter().collect();
    assert!(SctpPacket { chunks: bundle, ..packet(7, Chunk::CookieAck) }.is_well_bundled());
}

#[test]
fn what_does_not_fit_a_length_is_refused() {
    let refused = |chunk| {
        let mut out = vec![1];
        let error = packet(7, chunk).emit(&AddressBook::new(), &mut out).unwrap_err();
        assert_eq!(out, [1]);
        error
    };
    let field = "SCTP length";
    let octets: Box<[u8]> = vec![0; 65_532].into();
    assert_eq!(refused(Chunk::CookieEcho(octets)), EmitError::FieldRange { field, value: 65_536 });
    let address = Parameter::Address(Addr(u32::MAX).into());
    assert_eq!(refused(Chunk::Reconfig(vec![address])), EmitError::UnknownAddress(Addr(u32::MAX)));
    let payload = Payload::virtual_of(u32::MAX);
    let data = DataChunk {
        flags: DataFlags::WHOLE,
        tsn: Serial32(0),
        stream: 0,
        ssn: 0,
        ppid: 0,
        payload,
    };
    assert!(matches!(
        refused(Chunk::Data(data)),
        EmitError::TooLong(_) | EmitError::FieldRange { .. }
    ));
}

#[test]
fn addresses_follow_the_book() {
    let book = AddressBook::dense_ipv6();
    let address = packet(7, Chunk::Reconfig(vec![Parameter::Address(Addr(4).into())]));
    let mut out = Vec::new();
    address.emit(&book, &mut out).unwrap();
    assert_eq!((out.len(), address.emitted_len(&book), address.wire_len()), (36, 36, 24));
    assert_eq!(address.wire_len_with(&|addr| addr == Addr(4)), 36);
    assert_eq!(SctpPacket::parse(&out, &book).as_ref(), Ok(&address));
    // A book without that address keeps it as it stands.
    let other = SctpPacket::parse(&out, &AddressBook::new()).unwrap();
    let ip = book.ip(Addr(4)).unwrap();
    assert_eq!(other, packet(7, Chunk::Reconfig(vec![Parameter::Address(Address::Ip(ip))])));
}

/// RFC 6951 §5, and RFC 768 for the checksum.
#[test]
fn a_packet_in_udp_is_read_and_written() {
    use crate::packet::{Body, Packet};
    let book = AddressBook::new();
    let inside = packet(7, Chunk::CookieAck);
    let sctp = SctpPacket { udp: Some((40_000, UDP_PORT)), ..inside.clone() };
    let outer = Packet::new(Addr(0), Addr(1), Body::Sctp(Box::new(sctp.clone())));
    let mut octets = Vec::new();
    outer.emit(&book, &mut octets).unwrap();
    assert_eq!(octets.len() as u64, outer.wire_len().0);
    assert_eq!(octets[9], 17, "protocol");
    assert_eq!(octets[20..26], [0x9c, 0x40, 0x26, 0xab, 0, 24]);
    assert_eq!(octets[28..], emitted(&inside));
    // Ones' complement sum of the pseudo-header and the datagram.
    let mut pseudo = octets[12..20].to_vec();
    pseudo.extend([0, 17, 0, 24]);
    pseudo.extend(&octets[20..]);
    let sum: u32 = pseudo.chunks(2).map(|c| u16::from_be_bytes([c[0], c[1]]) as u32).sum();
    assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
    assert_eq!(Packet::parse(&octets, &book).as_ref(), Ok(&outer));
    // Without a checksum it is not checked; with a wrong one it is refused.
    let changed = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut octets = octets.clone();
        change(&mut octets);
        Packet::parse(&octets, &book).map(|packet| packet.body)
    };
    assert_eq!(changed(&|o| o[26..28].fill(0)), Ok(outer.body.clone()));
    let wrong = crate::ParseError::Sctp(SctpError::UdpChecksum);
    assert_eq!(changed(&|o| o[27] ^= 1), Err(wrong));
    // Other ports: UDP of somebody else, whose checksum is then wrong, and whose length is.
    let of_udp = |error| Err(crate::ParseError::Udp(error));
    assert_eq!(changed(&|o| o[22] ^= 1), of_udp(UdpError::Checksum));
    assert_eq!(changed(&|o| o[24] ^= 1), of_udp(UdpError::Truncated));
}

/// The octets of a packet with these chunks and a right checksum.
fn packet_of(chunks: &[u8]) -> Vec<u8> {
    let mut octets = [&[0; 12], chunks].concat();
    let crc = super::packet::checksum(&octets);
    octets[8..12].copy_from_slice(&crc.to_le_bytes());
    octets
}

#[test]
fn a_tolerant_reader_keeps_what_is_broken_and_reads_on_where_it_can() {
    let book = AddressBook::new();
    // FORWARD-TSN with two octets of its TSN, padding, COOKIE ACK.
    let octets = packet_of(&[0xc0, 0, 0, 6, 0, 0, 0, 0, 11, 0, 0, 4]);
    assert!(SctpPacket::parse(&octets, &book).is_err());
    let packet = SctpPacket::parse_tolerant(&octets, &book).unwrap();
    let broken = [0xc0, 0, 0, 6, 0, 0].into();
    let malformed = Chunk::Malformed { kind: 0xc0, octets: broken, truncated: false };
    assert_eq!(packet.chunks.iter().collect::<Vec<_>>(), [&malformed, &Chunk::CookieAck]);
    let mut again = Vec::new();
    packet.emit(&book, &mut again).unwrap();
    assert_eq!(again, octets);
    // A length beyond the packet: nothing after it is read.
    let octets = packet_of(&[7, 0, 0, 80, 11, 0, 0, 4]);
    let packet = SctpPacket::parse_tolerant(&octets, &book).unwrap();
    assert!(matches!(
        packet.chunks.first(),
        Some(Chunk::Malformed { kind: 7, truncated: true, .. })
    ));
    assert_eq!(packet.chunks.len(), 1);
    // Nor after a length below that of a chunk's header; what is left is no multiple of four, and stays so.
    for len in [0, 80] {
        let octets = packet_of(&[50, 3, 0, len, 11, 0]);
        let packet = SctpPacket::parse_tolerant(&octets, &book).unwrap();
        let mut again = Vec::new();
        packet.emit(&book, &mut again).unwrap();
        assert_eq!(again, octets, "{packet:?}");
    }
}

#[test]
fn an_init_with_broken_parameters_is_still_an_init() {
    let mut init = vec![1, 0, 0, 26];
    init.extend([0, 0, 0, 7, 0, 0, 5, 220, 0, 1, 0, 1, 0, 0, 0, 9]);
    init.extend([0xc0, 0, 0, 4, 0xc0, 0, 0, 0]); // the second lacks its length
    let octets = packet_of(&init);
    assert!(SctpPacket::parse(&octets, &AddressBook::new()).is_err());
    let packet = SctpPacket::parse_tolerant(&octets, &AddressBook::new()).unwrap();
    let Some(Chunk::Init(init)) = packet.chunks.first() else { panic!("no INIT") };
    let rest = Parameter::Malformed([0xc0, 0].into());
    assert_eq!((init.tag, &init.parameters[..]), (7, &[Parameter::ForwardTsnSupported, rest][..]));
}

/// RFC 4895 §4.1: padding does not count.
#[test]
fn an_unsupported_hmac_has_six_octets() {
    let mut octets = Vec::new();
    let error = packet(7, Chunk::Error(vec![Cause::UnsupportedHmac(2)]));
    error.emit(&AddressBook::new(), &mut octets).unwrap();
    assert_eq!(octets[12..], [9, 0, 0, 10, 1, 5, 0, 6, 0, 2, 0, 0]);
    assert_eq!(SctpPacket::parse(&octets, &AddressBook::new()), Ok(error));
}

/// RFC 9653 figure 1: an INIT whose CRC32c is zero.
#[rustfmt::skip]
const RIGHT_ZERO: [u8; 32] = [
    0x13, 0x89, 0x13, 0x89, // ports 5001 and 5001
    0x00, 0x00, 0x00, 0x00, // verification tag
    0x00, 0x00, 0x00, 0x00, // checksum
    0x01, 0x00, 0x00, 0x14, // INIT of 20 octets
    0xfc, 0xb7, 0x5c, 0xca, // tag
    0x00, 0x00, 0x05, 0xdc, // a_rwnd 1500
    0x00, 0x01, 0x00, 0x01, // streams
    0x00, 0x00, 0x00, 0x00, // TSN
];

/// RFC 9653 §3: zero can be the right checksum, and is then one like any other.
#[test]
fn a_right_checksum_of_zero_is_no_zero_checksum() {
    let packet = SctpPacket::parse(&RIGHT_ZERO, &AddressBook::new()).unwrap();
    assert!(!packet.zero_checksum, "{packet:?}");
    assert_eq!(emitted(&packet), RIGHT_ZERO);
}

/// RFC 9653 §5.2: zero in place of the checksum, and the packet that is read back says so.
#[test]
fn a_packet_may_go_without_a_checksum() {
    let packet = SctpPacket { zero_checksum: true, ..init() };
    let octets = emitted(&packet);
    assert_eq!(octets[8..12], [0; 4]);
    let mut summed = emitted(&init());
    summed[8..12].fill(0);
    assert_eq!(octets, summed, "nothing else differs");
    assert_eq!(SctpPacket::parse_tolerant(&octets, &AddressBook::new()), Ok(packet.clone()));
    // Nobody who has not said that it takes such a packet answers it (§5.3).
    assert_eq!(packet.refusal(), None);
    assert!(SctpPacket { zero_checksum: false, ..packet }.refusal().is_some());
}

/// RFC 9653 §4: type 0x8001, eight octets, and the method in network order. Of another length it is no
/// such parameter.
#[test]
fn zero_checksum_acceptable_has_a_method() {
    let octets = |len: u8, value: &[u8]| {
        let mut init = vec![1, 0, 0, 20 + len];
        init.extend([0, 0, 0, 7, 0, 0, 5, 220, 0, 1, 0, 1, 0, 0, 0, 9]);
        init.extend([0x80, 0x01, 0, len]);
        packet_of(&[&init, value].concat())
    };
    let read = |octets: &[u8]| {
        let packet = SctpPacket::parse(octets, &AddressBook::new()).unwrap();
        assert_eq!(emitted(&packet), octets);
        match packet.chunks.first() {
            Some(Chunk::Init(init)) => init.parameters.clone(),
            other => panic!("{other:?}"),
        }
    };
    let dtls = octets(8, &[0, 0, 0, 1]);
    assert_eq!(read(&dtls), [Parameter::ZeroChecksumAcceptable(EDMID_DTLS)]);
    assert_eq!(read(&octets(8, &[1, 2, 3, 4])), [Parameter::ZeroChecksumAcceptable(0x0102_0304)]);
    let longer = octets(12, &[0, 0, 0, 1, 0, 0, 0, 0]);
    let value = [0, 0, 0, 1, 0, 0, 0, 0].into();
    assert_eq!(read(&longer), [Parameter::Unknown { kind: 0x8001, value }]);
}
