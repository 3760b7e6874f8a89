//! Packets of nobody, blind attackers and peers that lie (RFC 9260 §8.4,
//! §8.5, §12).

use super::*;
use crate::receiver::reassembly::OVERHEAD;
use anabranch_wire::sctp::{Cause, DataChunk, DataFlags, GapBlock, SackChunk};

fn established() -> (Association, Association) {
    let mut pair = pair(&plain(Config::rfc9260()), 1, deliver);
    pair.drive(at_ms(1000));
    (pair.client, pair.server)
}

fn answers(association: &mut Association, packet: &Packet) -> Vec<Chunk> {
    association.handle_input(at_ms(1000), packet);
    std::iter::from_fn(|| association.poll_transmit(at_ms(1000)))
        .flat_map(|p| sctp(&p).chunks.iter().cloned().collect::<Vec<_>>())
        .collect()
}

fn data(client: &Association, offset: u32, flags: u8, len: u32) -> Chunk {
    Chunk::Data(DataChunk {
        flags: DataFlags(flags),
        tsn: client.sender.origin.add(offset),
        stream: 0,
        ssn: 0,
        ppid: 0,
        payload: Payload::virtual_of(len),
    })
}

/// §8.4, rule by rule.
#[test]
fn packets_out_of_the_blue_are_answered_as_the_list_says() {
    let (client, _) = established();
    let (_, mut closed) = ends(&plain(Config::rfc9260()), 1);
    let abort = Chunk::Abort { reflected: true, causes: Vec::new() };
    for (chunk, expected) in [
        (Chunk::Abort { reflected: false, causes: Vec::new() }, vec![]),
        (Chunk::ShutdownAck, vec![Chunk::ShutdownComplete { reflected: true }]),
        (Chunk::ShutdownComplete { reflected: false }, vec![]),
        (Chunk::CookieAck, vec![]),
        (Chunk::Error(vec![Cause::StaleCookie(1)]), vec![]),
        (Chunk::Error(vec![Cause::OutOfResource]), vec![abort.clone()]),
        (data(&client, 1, 3, 5), vec![abort.clone()]),
        (Chunk::Heartbeat([].into()), vec![abort]),
        (Chunk::CookieEcho([1; 200].into()), vec![]),
    ] {
        let packet = from_client(&client, 77, vec![chunk.clone()]);
        assert_eq!(answers(&mut closed, &packet), expected, "{chunk:?}");
        assert_eq!(closed.state(), State::Closed);
    }
}

/// §8.5: without the tag nothing happens, in any state.
#[test]
fn a_wrong_tag_is_silently_discarded() {
    let (client, mut server) = established();
    let wrong = server.identity.local_tag ^ 1;
    let reflected = server.identity.peer_tag;
    for chunk in [
        Chunk::Abort { reflected: false, causes: Vec::new() },
        Chunk::Abort { reflected: true, causes: Vec::new() },
        Chunk::ShutdownComplete { reflected: true },
        Chunk::Shutdown(Serial32(0)),
        data(&client, 1, 3, 10),
        Chunk::Heartbeat([1].into()),
    ] {
        assert_eq!(answers(&mut server, &from_client(&client, wrong, vec![chunk])), []);
        assert_eq!(server.state(), State::Established);
    }
    // The T bit with the right tag of the peer is an ABORT.
    let abort = Chunk::Abort { reflected: true, causes: Vec::new() };
    assert_eq!(answers(&mut server, &from_client(&client, reflected, vec![abort])), []);
    assert_eq!(server.state(), State::Closed);
}

#[test]
fn bundling_what_must_be_alone_is_discarded() {
    let (client, mut server) = established();
    let abort = Chunk::Abort { reflected: false, causes: Vec::new() };
    let bundle = vec![abort, Chunk::ShutdownComplete { reflected: false }];
    let packet = from_client(&client, server.identity.local_tag, bundle);
    assert_eq!(answers(&mut server, &packet), []);
    assert_eq!(server.state(), State::Established);
}

#[test]
fn data_without_data_and_acknowledgments_of_nothing_abort() {
    let (client, mut server) = established();
    let packet = from_client(&client, server.identity.local_tag, vec![data(&client, 1, 3, 0)]);
    let answer = answers(&mut server, &packet);
    assert!(matches!(&answer[..], [Chunk::Abort { causes, .. }] if causes[0].code() == 9));
    let (client, mut server) = established();
    let cum_tsn = server.sender.origin.add(1);
    let sack =
        SackChunk { cum_tsn, a_rwnd: 1, gaps: Vec::new(), duplicates: Vec::new(), packets: 0 };
    let packet = from_client(&client, server.identity.local_tag, vec![Chunk::Sack(sack)]);
    let answer = answers(&mut server, &packet);
    assert!(matches!(&answer[..], [Chunk::Abort { causes, .. }] if causes[0].code() == 13));
}

/// §6.5: acknowledged, reported, not delivered.
#[test]
fn a_stream_that_does_not_exist_is_reported() {
    let (client, mut server) = established();
    let chunk = match data(&client, 1, 3, 10) {
        Chunk::Data(data) => Chunk::Data(DataChunk { stream: 5000, ..data }),
        _ => unreachable!("it is DATA"),
    };
    let packet = from_client(&client, server.identity.local_tag, vec![chunk]);
    let answer = answers(&mut server, &packet);
    assert!(matches!(&answer[..], [Chunk::Error(causes), Chunk::Sack(_)]
        if causes[..] == [Cause::InvalidStream(5000)]));
    assert_eq!(server.receive(), None);
}

/// §3.2: unknown chunks by the bits of their types.
#[test]
fn unknown_chunks_stop_and_report_by_their_bits() {
    let (client, mut server) = established();
    let mut offset = 0;
    for (kind, delivered, reported) in
        [(0x3f, false, false), (0x7f, false, true), (0xbf, true, false), (0xff, true, true)]
    {
        let unknown = Chunk::Unknown { kind, flags: 0, value: [1, 2, 3].into() };
        let chunks = vec![unknown, data(&client, offset + 1, 7, 10)];
        let packet = from_client(&client, server.identity.local_tag, chunks);
        let answer = answers(&mut server, &packet);
        assert_eq!(server.receive().is_some(), delivered, "{kind:#x}");
        offset += delivered as u32;
        let error = answer.iter().any(|c| matches!(c, Chunk::Error(_)));
        assert_eq!(error, reported, "{kind:#x}");
    }
}

/// Tiny fragments of a message that never ends, far ahead: bounded memory.
#[test]
fn tiny_fragments_hold_bounded_memory() {
    let (client, mut server) = established();
    let buffer = u64::from(server.config.receive_buffer.max(64 * 1500));
    for n in 0..100_000_u32 {
        let flags = if n == 0 { 2 } else { 0 };
        let packet =
            from_client(&client, server.identity.local_tag, vec![data(&client, n + 1, flags, 1)]);
        server.handle_input(at_ms(1000), &packet);
        while server.poll_transmit(at_ms(1000)).is_some() {}
        assert!(server.receiver.reassembly.memory() <= 4 * buffer + OVERHEAD);
    }
    assert!(server.receiver.reassembly.memory() > buffer, "the test reaches the bound");
    // Every second TSN: as many ranges as are kept, and no more chunks.
    let (client, mut server) = established();
    for n in 0..30_000_u32 {
        let packet =
            from_client(&client, server.identity.local_tag, vec![data(&client, 2 * n + 2, 3, 1)]);
        server.handle_input(at_ms(1000), &packet);
        while let Some(packet) = server.poll_transmit(at_ms(1000)) {
            assert!(packet.wire_len().0 <= 1500, "a SACK fits a packet");
        }
    }
    assert!(server.receiver.reassembly.memory() <= 1024 * (OVERHEAD + 1));
}

/// Gap blocks that overlap, run backwards, or reach beyond what was sent.
#[test]
fn nonsense_in_gap_blocks_is_harmless() {
    let mut pair = pair(&plain(Config::rfc9260()), 1, |_, p| match p.payload_len() {
        0 => Fate::Deliver,
        _ => Fate::Drop,
    });
    pair.drive(at_ms(1000));
    pair.client.write(3 * 1452);
    pair.drive(at_ms(1010));
    let blocks = [(0, 0), (0, u16::MAX), (5, 2), (2, 2), (2, 2), (u16::MAX, 0), (60_000, 60_001)];
    let gaps: Vec<GapBlock> =
        (0..1000).map(|i| blocks[i % 7]).map(|(start, end)| GapBlock { start, end }).collect();
    let (cum_tsn, a_rwnd) = (pair.client.sender.origin, u32::MAX);
    let duplicates = vec![cum_tsn; 300];
    let sack = Chunk::Sack(SackChunk { cum_tsn, a_rwnd, gaps, duplicates, packets: 0 });
    let packet = from_server(pair.client.identity.local_tag, sack);
    pair.client.handle_input(at_ms(1010), &packet);
    assert_eq!(pair.client.state(), State::Established);
    assert!(pair.client.observe().in_flight <= 3 * 1468);
}

/// Whatever is reported, no packet exceeds the MTU.
#[test]
fn reports_fit_a_packet() {
    let (client, mut server) = established();
    for len in [1, 600, 1400, 1460] {
        let unknown = |kind| Chunk::Unknown { kind, flags: 0, value: vec![9; len].into() };
        let chunks = vec![unknown(0xff), unknown(0xfe), data(&client, 1, 7, 10)];
        let packet = from_client(&client, server.identity.local_tag, chunks);
        server.handle_input(at_ms(1000), &packet);
        let mut errors = 0;
        while let Some(packet) = server.poll_transmit(at_ms(1000)) {
            assert!(packet.wire_len().0 <= 1500, "{len}: {packet:?}");
            let is_error = |c: &&Chunk| matches!(c, Chunk::Error(_));
            errors += sctp(&packet).chunks.iter().filter(is_error).count();
        }
        assert_eq!(errors, if len < 1000 { 2 } else { 1 }, "{len}: one packet answers (§12.4)");
    }
}

/// Many unknown parameters do not blow up the INIT ACK.
#[test]
fn an_init_ack_fits_a_packet() {
    let (mut client, mut server) = ends(&plain(Config::rfc9260()), 2);
    client.connect(Time::ZERO);
    let mut init = client.poll_transmit(Time::ZERO).unwrap();
    if let Body::Sctp(sctp) = &mut init.body
        && let Some(Chunk::Init(init)) = sctp.chunks.iter_mut().next()
    {
        for kind in 0xc100..0xc150 {
            let unknown = anabranch_wire::sctp::Parameter::Unknown { kind, value: [0; 10].into() };
            init.parameters.push(unknown);
        }
        for n in 0..100 {
            let addr = anabranch_wire::sctp::Parameter::Address(Addr(1000 + n).into());
            init.parameters.push(addr);
        }
    }
    server.handle_input(Time::ZERO, &init);
    let ack = server.poll_transmit(Time::ZERO).unwrap();
    assert!(matches!(sctp(&ack).chunks.first(), Some(Chunk::InitAck(_))));
    assert!(ack.wire_len().0 <= 512, "{}", ack.wire_len());
}
