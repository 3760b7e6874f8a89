use super::*;
use crate::observe::Place;
use anabranch_endpoint::PathState;
use anabranch_network::NodeId;
use anabranch_units::Serial32;
use anabranch_wire::sctp::{Chunk, Chunks};
use anabranch_wire::{Body, Payload, SctpPacket, TcpFlags, TcpOptions, TcpSegment};

const FLOW: FlowId = FlowId(1);

/// A recorder that hears of flow 1, whose client sends the data.
struct Bench(EventRecorder);

impl Bench {
    fn new(paths: Paths) -> Bench {
        let mut recorder = EventRecorder::new();
        recorder.record(FLOW, Side::Client, paths);
        Bench(recorder)
    }

    fn packet(&mut self, ms: u64, kind: PacketEventKind, side: Side, packet: &Packet) {
        let event = PacketEvent { kind, place: Place::Node(NodeId(0)), flow: Some((FLOW, side)) };
        self.0.packet(at(ms), &event, packet);
    }

    fn sent(&mut self, ms: u64, side: Side, packet: &Packet) {
        self.packet(ms, PacketEventKind::Sent, side, packet);
    }

    fn received(&mut self, ms: u64, side: Side, packet: &Packet) {
        self.packet(ms, PacketEventKind::Received, side, packet);
    }

    /// Milliseconds, end, words and number of each.
    fn told(&self) -> Vec<(u64, Side, String, u64)> {
        let events = self.0.events(FLOW).iter();
        let ms = |time: Time| time.as_nanos() / 1_000_000;
        events.map(|it| (ms(it.from), it.side, it.kind.text(), it.count)).collect()
    }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn tcp(src: u32, dst: u32, flags: TcpFlags) -> Packet {
    let segment = TcpSegment {
        src_port: 1,
        dst_port: 2,
        seq: Serial32(7),
        ack: Serial32(0),
        flags,
        window: 100,
        urgent: 0,
        options: TcpOptions::default(),
        payload: Payload::EMPTY,
    };
    Packet::new(Addr(src), Addr(dst), Body::Tcp(segment))
}

fn sctp(src: u32, dst: u32, chunk: Chunk) -> Packet {
    let mut chunks = Chunks::new();
    chunks.push(chunk);
    let packet =
        SctpPacket { src_port: 1, dst_port: 2, tag: 1, udp: None, zero_checksum: false, chunks };
    Packet::new(Addr(src), Addr(dst), Body::Sctp(Box::new(packet)))
}

/// A path as its sender sees it: timeouts so far, the timeout in force, errors in a row.
fn path(timeouts: u64, rto_s: u64, errors: u32, state: PathState) -> PathObservation {
    PathObservation {
        local: Addr(2),
        remote: Addr(8),
        subflow: None,
        state,
        cwnd: 1,
        ssthresh: 1,
        in_flight: 0,
        srtt: None,
        rto: Span::from_secs(rto_s),
        errors,
        timeouts,
        fast_retransmits: 0,
        ecn_reductions: 0,
        packets: 0,
        retransmitted: 0,
        bytes_acked: 0,
        bytes_received: None,
        heartbeats: 0,
        coupling: None,
    }
}

#[test]
fn a_handshake_is_told_at_both_ends() {
    let mut bench = Bench::new(Paths::One);
    let (syn, syn_ack) = (tcp(1, 9, TcpFlags::SYN), tcp(9, 1, TcpFlags::SYN.union(TcpFlags::ACK)));
    bench.sent(0, Side::Client, &syn);
    bench.sent(1000, Side::Client, &syn); // the first was lost
    bench.received(1010, Side::Server, &syn);
    bench.sent(1010, Side::Server, &syn_ack);
    bench.received(1020, Side::Client, &syn_ack);
    bench.sent(1020, Side::Client, &tcp(1, 9, TcpFlags::ACK));
    bench.sent(1500, Side::Server, &tcp(9, 1, TcpFlags::RST));
    let words = |ms, side, text: &str| (ms, side, text.to_owned(), 1);
    assert_eq!(
        bench.told(),
        [
            words(0, Side::Client, "SYN sent"),
            words(1000, Side::Client, "SYN sent"),
            words(1010, Side::Server, "SYN received"),
            words(1010, Side::Server, "SYN-ACK sent"),
            words(1020, Side::Client, "SYN-ACK received"),
            words(1500, Side::Server, "RST sent"),
        ]
    );
}

#[test]
fn marks_that_follow_each_other_are_one_event() {
    let mut bench = Bench::new(Paths::One);
    let mut data = tcp(1, 9, TcpFlags::ACK);
    data.ecn = Ecn::Ce;
    for ms in [10, 30, 80, 131] {
        bench.received(ms, Side::Server, &data);
    }
    bench.sent(140, Side::Client, &data); // marked on its way, not when it leaves
    let text = "packet with CE received".to_owned();
    assert_eq!(bench.told(), [(10, Side::Server, text.clone(), 3), (131, Side::Server, text, 1)]);
    assert_eq!(bench.0.events(FLOW)[0].until, at(80));
}

#[test]
fn counts_that_grow_are_events() {
    let mut bench = Bench::new(Paths::One);
    let state = |timeouts, fast_retransmits, ecn_reductions| Observation {
        timeouts,
        fast_retransmits,
        ecn_reductions,
        ..Observation::default()
    };
    bench.0.endpoint(at(1), FLOW, Side::Client, &state(0, 0, 0));
    bench.0.endpoint(at(200), FLOW, Side::Client, &state(0, 1, 0));
    bench.0.endpoint(at(300), FLOW, Side::Client, &state(0, 1, 2));
    bench.0.endpoint(at(900), FLOW, Side::Server, &state(1, 0, 0));
    bench.0.endpoint(at(901), FlowId(0), Side::Client, &state(1, 0, 0)); // nobody asked
    assert_eq!(
        bench.told(),
        [
            (200, Side::Client, "fast retransmit".to_owned(), 1),
            (300, Side::Client, "window reduced for marks".to_owned(), 2),
            (900, Side::Server, "retransmission timeout".to_owned(), 1),
        ]
    );
}

#[test]
fn both_ends_call_a_path_the_same() {
    let mut bench = Bench::new(Paths::Destinations);
    let heartbeat = sctp(2, 8, Chunk::Heartbeat(Box::new([])));
    bench.sent(1, Side::Client, &heartbeat);
    bench.received(5, Side::Server, &heartbeat);
    let path = |timeouts| path(timeouts, 1, 0, PathState::Active);
    bench.0.path(at(6), FLOW, Side::Client, &path(0));
    bench.0.path(at(1000), FLOW, Side::Client, &path(1));
    // The association counts it, too; it is the path's.
    let whole = Observation { timeouts: 1, ..Observation::default() };
    bench.0.endpoint(at(1000), FLOW, Side::Client, &whole);
    let paths: Vec<_> = bench.0.events(FLOW).iter().map(|it| it.path.unwrap().remote).collect();
    assert_eq!(paths, [Addr(8); 3]);
    assert_eq!(bench.told()[2].2, "retransmission timeout");
}

/// A timeout says how long the timer ran, and a path that is given up after how many errors.
#[test]
fn timeouts_and_states_tell_what_brought_them_about() {
    let mut bench = Bench::new(Paths::Destinations);
    let mut look = |ms, state| bench.0.path(at(ms), FLOW, Side::Client, &state);
    look(0, path(0, 1, 0, PathState::Active));
    look(1000, path(1, 2, 1, PathState::Active));
    look(3000, path(2, 4, 2, PathState::Inactive));
    look(9000, path(2, 4, 0, PathState::Active));
    let told: Vec<_> = bench
        .0
        .events(FLOW)
        .iter()
        .map(|event| (event.kind.text(), event.cause.map(Cause::text).unwrap_or_default()))
        .collect();
    let words = |what: &str, why: &str| (what.to_owned(), why.to_owned());
    assert_eq!(
        told,
        [
            words("retransmission timeout", "after 1.000 s, next after 2.000 s, 1 error in a row"),
            words("path inactive", "2 errors in a row"),
            words("retransmission timeout", "after 2.000 s, next after 4.000 s, 2 errors in a row"),
            words("path active", ""),
        ]
    );
}

#[test]
fn subflows_between_the_same_addresses_are_told_apart() {
    let mut bench = Bench::new(Paths::Pairs);
    let syn = |port| {
        let mut packet = tcp(1, 9, TcpFlags::SYN);
        if let Body::Tcp(segment) = &mut packet.body {
            segment.src_port = port;
        }
        packet
    };
    bench.sent(0, Side::Client, &syn(1));
    bench.sent(10, Side::Client, &syn(5));
    bench.received(20, Side::Server, &syn(5));
    bench.received(21, Side::Server, &syn(1));
    let numbers: Vec<u8> = bench.0.events(FLOW).iter().map(|it| it.path.unwrap().subflow).collect();
    assert_eq!(numbers, [0, 1, 1, 0]);
}
