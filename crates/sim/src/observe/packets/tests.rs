use super::*;
use crate::observe::Place;
use anabranch_network::{LinkDrop, LinkEvent, LinkId, NodeId};
use anabranch_units::Span;
use anabranch_wire::sctp::{Chunk, Chunks, DataChunk, DataFlags, GapBlock, InitChunk, SackChunk};
use anabranch_wire::{
    Addr, Body, Payload, SackBlock, SctpPacket, TcpFlags, TcpOptions, TcpSegment,
};

const FLOW: FlowId = FlowId(3);
const ISN: Serial32 = Serial32(u32::MAX - 999);

/// A recorder that hears packets at the client, the server and a link, one a
/// millisecond.
struct Bench {
    recorder: PacketRecorder,
    ms: u64,
}

impl Bench {
    fn new() -> Bench {
        let mut recorder = PacketRecorder::new();
        recorder.record(FLOW, Side::Client);
        Bench { recorder, ms: 0 }
    }

    fn tell(&mut self, kind: PacketEventKind, side: Option<Side>, packet: &Packet) {
        self.ms += 1;
        let place = side.map_or(Place::Link(LinkId(0)), |_| Place::Node(NodeId(0)));
        let event = PacketEvent { kind, place, flow: side.map(|side| (FLOW, side)) };
        self.recorder.packet(Time::ZERO + Span::from_millis(self.ms), &event, packet);
    }

    fn sent(&mut self, packet: &Packet) {
        self.tell(PacketEventKind::Sent, Some(Side::Client), packet);
    }

    fn at_sender(&mut self, packet: &Packet) {
        self.tell(PacketEventKind::Received, Some(Side::Client), packet);
    }

    fn at_receiver(&mut self, packet: &Packet) {
        self.tell(PacketEventKind::Received, Some(Side::Server), packet);
    }

    fn lost(&mut self, packet: &Packet) {
        self.tell(PacketEventKind::Link(LinkEvent::Dropped(LinkDrop::Queue)), None, packet);
    }

    fn lanes(&self) -> &[Lane] {
        self.recorder.lanes(FLOW)
    }
}

/// From address `from` to 9, the sequence number counted from the first data.
fn tcp(from: u32, offset: u32, len: u32, flags: TcpFlags) -> Packet {
    let segment = TcpSegment {
        src_port: 1,
        dst_port: 2,
        seq: ISN.add(1).add(offset),
        ack: Serial32(0),
        flags,
        window: 100,
        urgent: 0,
        options: TcpOptions::default(),
        payload: Payload::virtual_of(len),
    };
    Packet::new(Addr(from), Addr(9), Body::Tcp(segment))
}

fn syn(from: u32, len: u32) -> Packet {
    let mut packet = tcp(from, 0, len, TcpFlags::SYN);
    if let Body::Tcp(segment) = &mut packet.body {
        segment.seq = ISN;
    }
    packet
}

/// Back to address `to`, with SACK blocks.
fn ack(to: u32, offset: u32, blocks: &[(u32, u32)]) -> Packet {
    let mut packet = tcp(9, 0, 0, TcpFlags::ACK);
    (packet.src, packet.dst) = (Addr(9), Addr(to));
    if let Body::Tcp(segment) = &mut packet.body {
        (segment.src_port, segment.dst_port) = (2, 1);
        segment.ack = ISN.add(1).add(offset);
        for (left, right) in blocks {
            let [left, right] = [left, right].map(|offset| ISN.add(1).add(*offset));
            assert!(segment.options.sack.push(SackBlock { left, right }));
        }
    }
    packet
}

#[test]
fn a_loss_as_its_sender_sees_it() {
    let mut bench = Bench::new();
    bench.sent(&syn(1, 0));
    bench.at_sender(&ack(1, 0, &[]));
    let data = |offset| tcp(1, offset, 1000, TcpFlags::ACK);
    bench.sent(&data(0)); // the sequence number wraps within the second
    bench.sent(&data(1000));
    bench.lost(&data(0));
    bench.at_receiver(&data(1000));
    bench.at_sender(&ack(1, 0, &[(1000, 2000)]));
    bench.sent(&data(0));
    bench.at_receiver(&data(0));
    bench.at_sender(&ack(1, 2000, &[(0, 1000)])); // a duplicate, RFC 2883

    let [lane] = bench.lanes() else { panic!("one way") };
    assert_eq!(lane.sends.offset, [0, 1000, 0]);
    assert_eq!(lane.sends.retransmission, [false, false, true]);
    assert_eq!(lane.acks.offset, [0, 0, 2000]);
    assert_eq!((&lane.sacks.offset[..], &lane.sacks.len[..]), (&[1000, 0][..], &[1000, 1000][..]));
    assert_eq!(lane.receives.offset, [1000, 0]);
    assert_eq!((&lane.drops.offset[..], &lane.drops.len[..]), (&[0][..], &[1000][..]));
    assert_eq!(lane.drops.time, [Time::ZERO + Span::from_millis(5)]);
}

#[test]
fn data_in_a_syn_is_data() {
    let mut bench = Bench::new();
    bench.sent(&syn(1, 500));
    bench.sent(&tcp(1, 500, 100, TcpFlags::ACK));
    bench.sent(&syn(1, 500));
    let sends = &bench.lanes()[0].sends;
    assert_eq!(sends.offset, [0, 500, 0]);
    assert_eq!(sends.retransmission, [false, false, true]);
}

#[test]
fn each_subflow_counts_for_itself() {
    let mut bench = Bench::new();
    bench.sent(&syn(1, 0));
    bench.sent(&tcp(1, 0, 700, TcpFlags::ACK));
    bench.sent(&syn(2, 0));
    bench.sent(&tcp(2, 0, 300, TcpFlags::ACK));
    bench.at_sender(&ack(2, 300, &[]));
    bench.lost(&tcp(2, 300, 300, TcpFlags::ACK));
    let [first, second] = bench.lanes() else { panic!("two ways") };
    assert_eq!((first.key.src, second.key.src), (Addr(1), Addr(2)));
    assert_eq!((&first.sends.len[..], &second.sends.len[..]), (&[700][..], &[300][..]));
    assert_eq!(second.sends.retransmission, [false]);
    assert_eq!((&first.acks.offset[..], &second.acks.offset[..]), (&[][..], &[300][..]));
    assert_eq!((&first.drops.offset[..], &second.drops.offset[..]), (&[][..], &[300][..]));
}

#[test]
fn what_others_lose_is_theirs() {
    let mut bench = Bench::new();
    bench.sent(&syn(1, 0));
    bench.lost(&tcp(7, 0, 1000, TcpFlags::ACK));
    assert!(bench.lanes()[0].drops.time.is_empty());
}

fn sctp(to: u32, chunks: &[Chunk]) -> Packet {
    let mut all = Chunks::new();
    chunks.iter().for_each(|chunk| all.push(chunk.clone()));
    let packet = SctpPacket {
        src_port: 1,
        dst_port: 2,
        tag: 1,
        udp: None,
        zero_checksum: false,
        chunks: all,
    };
    Packet::new(Addr(1), Addr(to), Body::Sctp(Box::new(packet)))
}

fn data(tsn: u32, len: u32) -> Chunk {
    let payload = Payload::virtual_of(len);
    let tsn = Serial32(tsn);
    Chunk::Data(DataChunk { flags: DataFlags::WHOLE, tsn, stream: 0, ssn: 0, ppid: 0, payload })
}

#[test]
fn paths_of_an_association_share_their_numbers() {
    let init = InitChunk {
        tag: 1,
        a_rwnd: 1,
        outbound: 1,
        inbound: 1,
        tsn: Serial32(100),
        parameters: Vec::new(),
    };
    let mut bench = Bench::new();
    bench.sent(&sctp(8, &[Chunk::Init(Box::new(init))]));
    bench.sent(&sctp(8, &[data(100, 10), data(101, 20)]));
    bench.lost(&sctp(8, &[data(100, 10), data(101, 20)]));
    bench.sent(&sctp(9, &[data(102, 30)]));
    bench.at_receiver(&sctp(9, &[data(102, 30)]));
    let gaps = vec![GapBlock { start: 3, end: 3 }];
    let sack =
        SackChunk { cum_tsn: Serial32(99), a_rwnd: 1, gaps, duplicates: Vec::new(), packets: 0 };
    let mut back = sctp(1, &[Chunk::Sack(sack)]);
    back.src = Addr(9);
    bench.at_sender(&back);
    bench.sent(&sctp(9, &[data(100, 10)]));

    let [first, second] = bench.lanes() else { panic!("two ways") };
    assert_eq!((first.key.dst, second.key.dst), (Addr(8), Addr(9)));
    assert_eq!((&first.sends.offset[..], &first.sends.len[..]), (&[0, 1][..], &[10, 20][..]));
    assert_eq!(first.drops.offset, [0, 1]);
    assert_eq!(second.sends.offset, [2, 0]);
    assert_eq!(second.sends.retransmission, [false, true]);
    assert_eq!(second.receives.offset, [2]);
    assert_eq!(second.acks.offset, [0]);
    assert_eq!((&second.sacks.offset[..], &second.sacks.len[..]), (&[2][..], &[1][..]));
}
