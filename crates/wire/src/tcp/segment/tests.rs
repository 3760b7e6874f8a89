use super::*;
use std::net::Ipv4Addr;

const PSEUDO: PseudoHeader =
    PseudoHeader::V4 { src: Ipv4Addr::new(10, 0, 0, 1), dst: Ipv4Addr::new(10, 0, 0, 2) };

fn segment() -> TcpSegment {
    TcpSegment {
        src_port: 0x1234,
        dst_port: 80,
        seq: Serial32(0x0102_0304),
        ack: Serial32(0xfffe_fdfc),
        flags: TcpFlags::ACK.union(TcpFlags::PSH),
        window: 0xabcd,
        urgent: 0x55aa,
        options: TcpOptions::default(),
        payload: Payload::EMPTY,
    }
}

fn emitted(segment: &TcpSegment) -> Vec<u8> {
    let mut out = Vec::new();
    segment.emit(&PSEUDO, &mut out).unwrap();
    assert_eq!(out.len() as u32, segment.wire_len());
    out
}

#[test]
fn every_field_stands_where_the_diagram_says() {
    let octets = emitted(&segment());
    assert_eq!(octets[..4], [0x12, 0x34, 0, 80]);
    assert_eq!(octets[4..12], [1, 2, 3, 4, 0xff, 0xfe, 0xfd, 0xfc]);
    assert_eq!(octets[12..16], [0x50, 0x18, 0xab, 0xcd]);
    assert_eq!(octets[18..], [0x55, 0xaa]);
    assert_eq!(TcpSegment::parse(&octets, &PSEUDO), Ok(segment()));
}

#[test]
fn all_twelve_bits_beside_the_offset_are_kept() {
    for bit in 0..12 {
        let segment = TcpSegment { flags: TcpFlags(1 << bit), ..segment() };
        assert_eq!(TcpSegment::parse(&emitted(&segment), &PSEUDO), Ok(segment));
    }
    let wide = TcpSegment { flags: TcpFlags(0x1000), ..segment() };
    let error = EmitError::FieldRange { field: "flags", value: 0x1000 };
    assert_eq!(wide.emit(&PSEUDO, &mut Vec::new()), Err(error));
}

#[test]
fn a_virtual_payload_is_the_pattern_at_its_sequence_numbers() {
    let payload = Payload::virtual_of(100);
    let plain = TcpSegment { payload: payload.clone(), ..segment() };
    let mut expected = [0; 100];
    pattern::fill(0x0102_0304, &mut expected);
    assert_eq!(emitted(&plain)[20..], expected);
    assert_eq!(TcpSegment::parse(&emitted(&plain), &PSEUDO), Ok(plain.canonical()));

    // Data on a SYN starts after it (RFC 9293 §3.4).
    let syn = TcpSegment { flags: TcpFlags::SYN, seq: Serial32(0x0102_0303), ..plain };
    assert_eq!(emitted(&syn)[20..], expected);
}

#[test]
fn a_retransmission_cut_elsewhere_carries_the_same_octets_across_the_wrap() {
    let at = |seq, len| {
        let payload = Payload::virtual_of(len);
        emitted(&TcpSegment { seq: Serial32(seq), payload, ..segment() })[20..].to_vec()
    };
    let whole = at(u32::MAX - 49, 100);
    assert_eq!(whole[30..], at(u32::MAX - 19, 70));
    assert_eq!(whole[50..], at(0, 50));
}

#[test]
fn lies_are_errors() {
    let octets = emitted(&TcpSegment { payload: Payload::virtual_of(4), ..segment() });
    let error = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut octets = octets.clone();
        change(&mut octets);
        TcpSegment::parse(&octets, &PSEUDO).unwrap_err()
    };
    assert_eq!(error(&|o| o.truncate(19)), TcpError::Truncated);
    assert_eq!(error(&|o| o[12] = 0x40), TcpError::DataOffset(4));
    assert_eq!(error(&|o| o[12] = 0xf0), TcpError::Truncated);
    assert_eq!(error(&|o| o[23] ^= 1), TcpError::Checksum);
    assert_eq!(error(&|o| o.push(1)), TcpError::Checksum);
    let mut swapped = [octets.clone(), octets[..20].to_vec()].concat();
    swapped[13] = 0;
    assert_eq!(TcpSegment::parse(&swapped, &PSEUDO), Err(TcpError::Checksum));
}

#[test]
fn a_failed_emission_leaves_the_buffer_alone() {
    let mut out = vec![7; 3];
    let mut segment = segment();
    segment.options.rare_mut().unknown = [30, 1].into();
    assert_eq!(segment.emit(&PSEUDO, &mut out), Err(EmitError::MalformedOptions));
    let long = TcpSegment { payload: Payload::virtual_of(u32::MAX), ..self::segment() };
    assert_eq!(long.emit(&PSEUDO, &mut out), Err(EmitError::TooLong(u32::MAX as u64 + 20)));
    assert_eq!(out, [7; 3]);
}
