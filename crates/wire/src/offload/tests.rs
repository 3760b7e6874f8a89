use super::*;
use crate::packet::{Addr, Ecn};
use crate::pattern;
use crate::tcp::{TcpOptions, Timestamps};
use crate::udp::UdpDatagram;
use anabranch_units::Serial32;

const HEADERS: usize = 20 + 32;

/// 4000 octets that are pushed and end the stream, from octet 2^32 − 1000 on.
fn whole() -> Packet {
    let mut data = vec![0; 4000];
    pattern::fill(7, &mut data);
    let timestamps = Some(Timestamps { value: 5, echo: 6 });
    let segment = TcpSegment {
        src_port: 1,
        dst_port: 2,
        seq: Serial32(1000_u32.wrapping_neg()),
        ack: Serial32(99),
        flags: TcpFlags::ACK.union(TcpFlags::PSH).union(TcpFlags::FIN).union(TcpFlags::CWR),
        window: 77,
        urgent: 0,
        options: TcpOptions { timestamps, ..TcpOptions::default() },
        payload: Payload::of_octets(data),
    };
    let packet = Packet::new(Addr(0), Addr(1), Body::Tcp(segment));
    Packet { ident: u16::MAX, ecn: Ecn::Ect0, ..packet }
}

/// The packet as a kernel hands it over: `segment` octets of data each, and
/// of the checksum the pseudo header alone.
fn handed_over(packet: &Packet, book: &AddressBook, segment: u16, kind: u8) -> Vec<u8> {
    let mut octets = vec![NEEDS_CHECKSUM, kind];
    let ip = if kind & !WITH_CWR == TCP_V6 { 40 } else { 20 };
    for word in [HEADERS as u16, segment, ip, 16] {
        octets.extend_from_slice(&word.to_ne_bytes());
    }
    packet.emit(book, &mut octets).unwrap();
    octets[DeviceHeader::LEN + usize::from(ip) + 16..][..2].copy_from_slice(&[0xbe, 0xef]);
    octets
}

fn read(octets: &mut [u8], book: &AddressBook) -> Result<Vec<Packet>, ParseError> {
    let (header, rest) = DeviceHeader::split(octets)?;
    let packets = Packet::parse_from_device(header, rest, book)?;
    let said = packets.len();
    let packets: Vec<Packet> = packets.collect();
    assert_eq!(said, packets.len());
    Ok(packets)
}

fn tcp(packet: &Packet) -> &TcpSegment {
    let Body::Tcp(segment) = &packet.body else { panic!("no TCP") };
    segment
}

/// As Linux cuts them by itself (`tcp_gso_segment`).
#[test]
fn segments_in_one_are_cut_as_the_kernel_cuts_them() {
    for (book, kind) in [(AddressBook::new(), TCP_V4), (AddressBook::dense_ipv6(), TCP_V6)] {
        let packets = read(&mut handed_over(&whole(), &book, 1448, kind | WITH_CWR), &book);
        let packets = packets.unwrap();
        let [first, second, third] = &packets[..] else { panic!("{} packets", packets.len()) };
        let lengths = [first, second, third].map(|item| tcp(item).payload.len());
        assert_eq!(lengths, [1448, 1448, 1104]);
        let seqs = [first, second, third].map(|item| tcp(item).seq);
        assert_eq!(seqs, [whole_seq(), whole_seq().add(1448), Serial32(1896)]);
        let (ack, cwr) = (TcpFlags::ACK, TcpFlags::CWR);
        let last = ack.union(TcpFlags::PSH).union(TcpFlags::FIN);
        assert_eq!([first, second, third].map(|item| tcp(item).flags), [ack.union(cwr), ack, last]);
        let all: Vec<u8> = packets
            .iter()
            .flat_map(|packet| tcp(packet).payload.octets().unwrap())
            .copied()
            .collect();
        assert_eq!(Some(&all[..]), tcp(&whole()).payload.octets());
        for packet in &packets {
            assert_eq!((packet.src, packet.dst, packet.ecn), (Addr(0), Addr(1), Ecn::Ect0));
            assert_eq!(tcp(packet).options, tcp(&whole()).options);
            assert_eq!((tcp(packet).ack, tcp(packet).window), (Serial32(99), 77));
        }
        let idents = if kind == TCP_V4 { [u16::MAX, 0, 1] } else { [0; 3] };
        assert_eq!([first, second, third].map(|item| item.ident), idents);
    }
}

fn whole_seq() -> Serial32 {
    tcp(&whole()).seq
}

#[test]
fn a_segment_by_itself_only_lacks_its_checksum() {
    let book = AddressBook::new();
    let mut octets = handed_over(&whole(), &book, 0, 0);
    assert_eq!(read(&mut octets, &book), Ok(vec![whole()]));
    // What is said to be whole is not believed.
    octets[0] = 0;
    assert!(matches!(read(&mut octets, &book), Err(ParseError::Tcp(_))));
    let mut ack = whole();
    let Body::Tcp(segment) = &mut ack.body else { unreachable!() };
    segment.payload = Payload::EMPTY;
    assert_eq!(read(&mut handed_over(&ack, &book, 0, 0), &book), Ok(vec![ack]));
    // As many octets as fit exactly.
    assert_eq!(read(&mut handed_over(&whole(), &book, 4000, TCP_V4), &book), Ok(vec![whole()]));
    assert_eq!(read(&mut handed_over(&whole(), &book, 1000, TCP_V4), &book).unwrap().len(), 4);
}

/// The other way: the kernel finishes the sum, and finds what the whole octets are.
#[test]
fn the_checksum_of_a_segment_with_data_is_left_to_the_kernel() {
    for book in [AddressBook::new(), AddressBook::dense_ipv6()] {
        let (mut out, mut expected) = (vec![1, 2], Vec::new());
        whole().emit_for_device(&book, &mut out).unwrap();
        whole().emit(&book, &mut expected).unwrap();
        assert_eq!(out[..2], [1, 2]);
        let (header, octets) = DeviceHeader::split(&mut out[2..]).unwrap();
        let (start, offset) = header.checksum.unwrap();
        let transport = usize::from(start);
        assert_eq!((octets.len(), offset), (expected.len(), 16));
        let sum = Sum::default().with(&octets[transport..]).checksum();
        let place = transport + usize::from(offset);
        assert_ne!(octets[place..place + 2], expected[place..place + 2]);
        octets[place..place + 2].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(octets, expected);
    }
}

/// Handshakes, ACKs and other protocols are whole.
#[test]
fn what_has_no_data_has_its_checksum() {
    let book = AddressBook::new();
    let mut ack = whole();
    let Body::Tcp(segment) = &mut ack.body else { unreachable!() };
    segment.payload = Payload::EMPTY;
    let body = Body::Other { protocol: 253, payload: Payload::of_octets([7; 9]) };
    let mut unknown = Packet::new(Addr(0), Addr(1), body);
    for packet in [&ack, &unknown] {
        let (mut out, mut expected) = (Vec::new(), vec![0; DeviceHeader::LEN]);
        packet.emit_for_device(&book, &mut out).unwrap();
        packet.emit(&book, &mut expected).unwrap();
        assert_eq!(out, expected);
    }
    unknown.dscp = 64;
    let mut out = vec![3];
    assert!(unknown.emit_for_device(&book, &mut out).is_err());
    assert_eq!(out, [3]);
}

/// A datagram of UDP from port 1 to 2, whose checksum has to be filled in.
#[test]
fn a_checksum_of_others_is_filled_in() {
    let book = AddressBook::new();
    let udp = [0, 1, 0, 2, 0, 12, 0x14, 0x11 + 12 + 3, 9, 8, 7, 6];
    let body = Body::Other { protocol: 17, payload: Payload::of_octets(udp) };
    let mut octets = vec![NEEDS_CHECKSUM, 0];
    for word in [28, 0, 20, 6_u16] {
        octets.extend_from_slice(&word.to_ne_bytes());
    }
    Packet::new(Addr(0), Addr(1), body).emit(&book, &mut octets).unwrap();
    let packets = read(&mut octets, &book).unwrap();
    // The parser has verified the checksum, which was not there before.
    assert_eq!(packets[0].body, Body::Udp(UdpDatagram::of_octets(1, 2, &[9, 8, 7, 6])));
}

#[test]
fn what_does_not_fit_together_is_an_error() {
    let book = AddressBook::new();
    let error = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut octets = handed_over(&whole(), &book, 1448, TCP_V4);
        change(&mut octets);
        match read(&mut octets, &book) {
            Err(ParseError::Device(error)) => error,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(error(&|item| item.truncate(9)), DeviceError::Truncated);
    assert_eq!(error(&|item| item[1] = 3), DeviceError::Kind(3));
    assert_eq!(error(&|item| item[4..6].fill(0)), DeviceError::Segment(0));
    assert_eq!(error(&|item| item[0] = 0), DeviceError::Segment(1448));
    assert_eq!(error(&|item| item[DeviceHeader::LEN + 9] = 17), DeviceError::Segment(1448));
    let far = |item: &mut Vec<u8>| item[6..8].copy_from_slice(&5000_u16.to_ne_bytes());
    assert_eq!(error(&far), DeviceError::Checksum(5000, 16));
    assert_eq!(read(&mut [0; 10], &book), Err(ParseError::Empty));
}

/// What was cut and is joined again is one, but for what is left of its ending.
#[test]
fn what_was_cut_is_joined_again() {
    for (book, kind) in [(AddressBook::new(), TCP_V4), (AddressBook::dense_ipv6(), TCP_V6)] {
        let mut plain = whole();
        let Body::Tcp(segment) = &mut plain.body else { unreachable!() };
        segment.flags = TcpFlags::ACK.union(TcpFlags::PSH);
        plain.ident = 0;
        let packets = read(&mut handed_over(&plain, &book, 1448, kind), &book).unwrap();
        let mut out = Vec::new();
        let mut train = Train::begin(&packets[0], &book, &mut out).unwrap().unwrap();
        assert!(!train.join(&packets[2], &mut out), "there is one between");
        assert!(train.join(&packets[1], &mut out) && train.join(&packets[2], &mut out));
        assert!(!train.join(&packets[2], &mut out), "it has ended");
        assert_eq!(train.finish(&mut out), 3);
        let mut whole = out.clone();
        let (header, rest) = DeviceHeader::split(&mut whole).unwrap();
        assert_eq!(header.segment, Some(1448));
        // The checksum has the sum of the pseudo header: with the rest, all ones.
        let (start, offset) = header.checksum.unwrap();
        let sum = Sum::default().with(&rest[usize::from(start)..]).checksum();
        rest[usize::from(start + offset)..][..2].copy_from_slice(&sum.to_be_bytes());
        assert_eq!(Packet::parse(rest, &book), Ok(plain.clone()));
        let again = read(&mut out, &book).unwrap();
        assert_eq!(
            again.iter().map(tcp).collect::<Vec<_>>(),
            packets.iter().map(tcp).collect::<Vec<_>>()
        );
    }
}

#[test]
fn segments_that_tell_something_else_are_not_joined() {
    let book = AddressBook::new();
    let packets = read(&mut handed_over(&whole(), &book, 1448, TCP_V4), &book).unwrap();
    let mut first = packets[0].clone();
    let (mut out, mut joined) = (Vec::new(), packets[1].clone());
    assert!(Train::begin(&first, &book, &mut out).unwrap().is_none(), "CWR is by itself");
    let Body::Tcp(segment) = &mut first.body else { unreachable!() };
    segment.flags = TcpFlags::ACK;
    let mut joins = |change: &dyn Fn(&mut Packet, &mut TcpSegment)| {
        out.clear();
        let mut train = Train::begin(&first, &book, &mut out).unwrap().unwrap();
        let mut packet = joined.clone();
        let mut segment = tcp(&packet).clone();
        change(&mut packet, &mut segment);
        packet.body = Body::Tcp(segment);
        let before = out.clone();
        let joins = train.join(&packet, &mut out);
        assert!(joins || out == before);
        joins
    };
    assert!(joins(&|_, _| ()) && joins(&|item, _| item.ident = 9));
    assert!(joins(&|_, segment| segment.flags = TcpFlags::ACK.union(TcpFlags::PSH)));
    assert!(!joins(&|item, _| item.ecn = Ecn::Ce));
    assert!(!joins(&|item, _| item.ttl -= 1));
    assert!(!joins(&|item, _| item.src = Addr(3)));
    assert!(!joins(&|_, segment| segment.flags = TcpFlags::ACK.union(TcpFlags::FIN)));
    assert!(!joins(&|_, segment| segment.seq = segment.seq.add(1)));
    assert!(!joins(&|_, segment| segment.ack = segment.ack.add(1)));
    assert!(!joins(&|_, segment| segment.window += 1));
    assert!(!joins(&|_, segment| segment.src_port += 1));
    assert!(!joins(&|_, segment| segment.options.timestamps = None));
    assert!(!joins(&|_, segment| segment.payload = Payload::EMPTY));
    assert!(!joins(&|_, segment| segment.payload = Payload::of_octets([0; 1449])));
    joined.body = Body::Other { protocol: 17, payload: Payload::EMPTY };
    out.clear();
    assert!(Train::begin(&joined, &book, &mut out).unwrap().is_none());
    assert_eq!(out.len(), DeviceHeader::LEN + 20);
}

/// No more than IP's length can say, and the last one may be shorter.
#[test]
fn a_train_fits_in_one_packet_of_ip() {
    let book = AddressBook::new();
    let mut packet =
        read(&mut handed_over(&whole(), &book, 1448, TCP_V4), &book).unwrap().remove(1);
    let mut out = Vec::new();
    let mut train = Train::begin(&packet, &book, &mut out).unwrap().unwrap();
    loop {
        let Body::Tcp(segment) = &mut packet.body else { unreachable!() };
        segment.seq = segment.seq.add(1448);
        if !train.join(&packet, &mut out) {
            break;
        }
    }
    assert_eq!(train.finish(&mut out), 45);
    assert_eq!(out.len(), DeviceHeader::LEN + HEADERS + 45 * 1448);
    assert_eq!(read(&mut out, &book).unwrap().len(), 45);
}

/// Whatever octets come, and whatever the header says of them: an error or
/// packets, whose data is no more than what came.
#[test]
fn any_octets_are_packets_or_an_error() {
    let mut state = 1_u32;
    let mut random = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % below
    };
    let mut parsed = 0;
    for (book, kind) in [(AddressBook::new(), TCP_V4), (AddressBook::dense_ipv6(), TCP_V6)] {
        let sound = handed_over(&whole(), &book, 1448, kind);
        for _ in 0..5000 {
            let mut octets = sound.clone();
            // Headers are the first 10 + 40 + 32 octets.
            for _ in 0..1 + random(3) {
                octets[random(82)] = random(256) as u8;
            }
            let len = if random(3) == 0 { random(octets.len()) } else { octets.len() };
            octets.truncate(len);
            if let Ok(packets) = read(&mut octets, &book) {
                let data: u32 = packets.iter().map(Packet::payload_len).sum();
                assert!(data as usize <= octets.len());
                parsed += 1;
            }
        }
    }
    assert!(parsed > 1000, "{parsed}");
}
