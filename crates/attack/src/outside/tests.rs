use super::*;
use crate::ATTACKS;
use anabranch_endpoint::Seed;
use anabranch_units::Serial32;
use anabranch_wire::sctp::{Chunk, DataChunk, DataFlags, SackChunk};
use anabranch_wire::{AddressBook, Body, Payload, SackBlocks, TcpFlags};

const VICTIM: (Addr, u16) = (Addr(1), 80);
const PEER: (Addr, u16) = (Addr(0), 5000);

fn source(kind: Kind, aim: Aim) -> Source {
    let every = Span::from_millis(1);
    let (start, end) = (Time::ZERO, Time::ZERO + Span::from_millis(100));
    let plan = Plan { kind, every, start, end, aim, size: 100 };
    let peer = (kind.info().target == Target::Flow).then_some(PEER);
    let forged = (Addr(1 << 20), 50);
    let sight = Sight { here: Addr(2), forged, victim: VICTIM, peer, side: 1 };
    Source::new(plan, sight, Seed { seed: 1, replication: 0 }.generator("attack"))
}

/// What it sends by itself, the calls at their dates.
fn sent(source: &mut Source) -> Vec<Packet> {
    let mut all = Vec::new();
    while source.poll_timeout() != Time::NEVER {
        let now = source.poll_timeout();
        source.handle_timeout(now);
        all.extend(std::iter::from_fn(|| source.poll_transmit(now)));
    }
    all
}

/// The last packets of a connection over TCP, or of an association.
fn overhear(source: &mut Source, transport: &str) {
    for (side, (src, dst)) in [(PEER, VICTIM), (VICTIM, PEER)].into_iter().enumerate() {
        let body = match transport == "sctp" {
            false => Body::Tcp(anabranch_wire::TcpSegment {
                src_port: src.1,
                dst_port: dst.1,
                window: 1000,
                ..scene::segment(
                    Serial32(1000 * (1 + side as u32)),
                    Serial32(2000 - 1000 * side as u32),
                    TcpFlags::ACK,
                )
            }),
            true => Body::Sctp(Box::new(anabranch_wire::SctpPacket {
                src_port: src.1,
                dst_port: dst.1,
                tag: 77 + side as u32,
                udp: None,
                zero_checksum: false,
                chunks: sack_and_data(side as u32).into_iter().collect(),
            })),
        };
        source.overhear(side, &Packet::new(src.0, dst.0, body));
    }
}

/// A side has received up to TSN 10, or 11 the server's, and sends 50, or 51.
fn sack_and_data(side: u32) -> Vec<Chunk> {
    let sack = SackChunk {
        cum_tsn: Serial32(10 + side),
        a_rwnd: 1000,
        gaps: Vec::new(),
        duplicates: Vec::new(),
        packets: 0,
    };
    let data = DataChunk {
        flags: DataFlags::WHOLE,
        tsn: Serial32(50 + side),
        stream: 0,
        ssn: 0,
        ppid: 0,
        payload: Payload::virtual_of(100),
    };
    vec![Chunk::Sack(sack), Chunk::Data(data)]
}

/// Every attack sends at its rate what a wire can carry, towards its victim, and ends.
#[test]
fn every_attack_from_outside_sends_packets() {
    let book = AddressBook::new();
    let outside = ATTACKS.iter().filter(|attack| attack.target != Target::Peer);
    let all = outside.flat_map(|info| info.transports.iter().map(move |over| (info, *over)));
    for (info, transport) in all {
        let mut source = source(info.kind, Aim::Exact);
        overhear(&mut source, transport);
        let all = sent(&mut source);
        assert_eq!(all.len(), 100, "{} over {transport}", info.name);
        for packet in all {
            assert_eq!(packet.dst, VICTIM.0, "{}", info.name);
            let mut octets = Vec::new();
            packet.emit(&book, &mut octets).unwrap_or_else(|e| panic!("{}: {e}", info.name));
            assert!(octets.len() <= 1500, "{}: {}", info.name, octets.len());
        }
    }
}

/// Before both ends have been heard nothing is known.
#[test]
fn connections_are_attacked_once_they_were_heard() {
    assert!(sent(&mut source(Kind::BlindReset, Aim::Exact)).is_empty());
}

#[test]
fn aims_are_what_they_say() {
    let seqs = |aim| {
        let mut source = source(Kind::BlindReset, aim);
        overhear(&mut source, "tcp");
        let all = sent(&mut source);
        let seq = |packet: &Packet| match &packet.body {
            Body::Tcp(segment) => segment.seq.0,
            _ => panic!("no TCP"),
        };
        all.iter().map(seq).collect::<Vec<_>>()
    };
    assert!(seqs(Aim::Exact).iter().all(|seq| *seq == 1000));
    assert!(seqs(Aim::Window).iter().all(|seq| (1001..=2000).contains(seq)));
    assert!(seqs(Aim::Sweep).windows(2).all(|seq| seq[1].wrapping_sub(seq[0]) == 1000));
    let random = seqs(Aim::Random);
    assert!(random.iter().filter(|seq| (1000..=2000).contains(*seq)).count() < 2);
}

/// What the server, the victim, has sent ends at 2000; its peer has acknowledged that much.
#[test]
fn forged_acks_are_of_what_was_sent_or_of_anything() {
    let acks = |kind, aim| {
        let mut source = source(kind, aim);
        overhear(&mut source, "tcp");
        let all = sent(&mut source).into_iter();
        all.map(|packet| match packet.body {
            Body::Tcp(segment) => (segment.seq.0, segment.ack.0, segment.options.sack),
            _ => panic!("no TCP"),
        })
        .collect::<Vec<_>>()
    };
    for aim in [Aim::Exact, Aim::Window] {
        assert!(
            acks(Kind::BlindAck, aim)
                .iter()
                .all(|(_, ack, sacks)| *ack == 2000 && sacks.is_empty())
        );
    }
    let of_sacks = acks(Kind::BlindSack, Aim::Exact);
    assert!(of_sacks.iter().all(|(seq, ack, _)| (*seq, *ack) == (1000, 2000)));
    let block = |sacks: &SackBlocks| sacks.as_slice().first().map(|b| (b.left.0, b.right.0));
    assert!(of_sacks.iter().all(|(_, _, sacks)| block(sacks) == Some((6380, 7840))));
    let random = acks(Kind::BlindAck, Aim::Random);
    assert!(random.iter().filter(|(_, ack, _)| *ack == 2000).count() < 2);
}

/// Whoever does not know the verification tag guesses it (RFC 9260 §8.5).
#[test]
fn chunks_have_the_tag_where_it_is_known() {
    let chunks = |kind, aim| {
        let mut source = source(kind, aim);
        overhear(&mut source, "sctp");
        let all = sent(&mut source).into_iter();
        all.map(|packet| match packet.body {
            Body::Sctp(sctp) => (sctp.tag, sctp.chunks.iter().next().cloned()),
            _ => panic!("no SCTP"),
        })
        .collect::<Vec<_>>()
    };
    // The tag of packets to the server, which are the client's.
    for (tag, chunk) in chunks(Kind::BlindAck, Aim::Exact) {
        let Some(Chunk::Sack(sack)) = chunk else { panic!("{chunk:?}") };
        assert_eq!((tag, sack.cum_tsn.0, sack.gaps.len()), (77, 51, 0));
    }
    for (tag, chunk) in chunks(Kind::BlindSack, Aim::Exact) {
        let Some(Chunk::Sack(sack)) = chunk else { panic!("{chunk:?}") };
        assert_eq!((tag, sack.cum_tsn.0, sack.gaps.len()), (77, 10, 1));
    }
    for (tag, chunk) in chunks(Kind::BlindData, Aim::Exact) {
        let Some(Chunk::Data(data)) = chunk else { panic!("{chunk:?}") };
        assert_eq!((tag, data.tsn.0), (77, 12));
    }
    for kind in [Kind::BlindAck, Kind::BlindSack, Kind::BlindData] {
        assert!(chunks(kind, Aim::Random).iter().filter(|(tag, _)| *tag == 77).count() < 2);
    }
}

/// The answer to a forged SYN comes back, and is answered from where it was sent to.
#[test]
fn handshakes_are_ended_from_the_forged_address() {
    let mut source = source(Kind::ConnectionFlood, Aim::Exact);
    source.handle_timeout(Time::ZERO);
    let syn = source.poll_transmit(Time::ZERO).unwrap();
    let Body::Tcp(tcp) = &syn.body else { panic!("no TCP") };
    let flags = TcpFlags::SYN.union(TcpFlags::ACK);
    let answer = anabranch_wire::TcpSegment {
        src_port: tcp.dst_port,
        dst_port: tcp.src_port,
        ..scene::segment(Serial32(7), tcp.seq.add(1), flags)
    };
    source.handle_input(Time::ZERO, &Packet::new(syn.dst, syn.src, Body::Tcp(answer)));
    let ack = source.poll_transmit(Time::ZERO).unwrap();
    assert_eq!(ack.flow_key(), syn.flow_key());
    let Body::Tcp(body) = &ack.body else { panic!("no TCP") };
    assert_eq!((body.flags, body.ack.0), (TcpFlags::ACK, 8));
}

#[test]
fn the_catalogue_has_each_attack_once() {
    for (i, item) in ATTACKS.iter().enumerate() {
        assert!(
            ATTACKS[..i].iter().all(|other| other.name != item.name && other.kind != item.kind)
        );
        assert_eq!(item.kind.info(), item);
    }
}
