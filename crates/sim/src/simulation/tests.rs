use crate::observe::{
    Capture, ConservationChecker, PacketRecorder, Quantity, QueueRecorder, SeriesRecorder,
};
use crate::*;
use anabranch_endpoint::{
    ByteStream, CloseReason, Demultiplex, Endpoint, Event, HalfClose, MessageOriented, Observation,
    Observe, Progress, Seed, TemporalSharing, TimeWait,
};
use anabranch_network::{
    ImpairmentConfig, ImpairmentKind, OutageConfig, Position, QueueConfig, QueueLimit,
};
use anabranch_units::{Bytes, Rate, Serial32, Span, Time};
use anabranch_wire::pcapng::Snap;
use anabranch_wire::{
    Addr, AddressBook, Body, FlowKey, Packet, Payload, TcpFlags, TcpOptions, TcpSegment,
};
use proptest::prelude::*;
use std::collections::VecDeque;

mod messages;
mod offload;
mod outside;
mod regulators;
mod standing;

const MS: fn(u64) -> Span = Span::from_millis;

/// A stop-and-wait stream with the sequence space of TCP: position 0 is the
/// SYN, the position after the data the FIN. Enough of a transport to test the
/// simulator without one.
struct StopAndWait {
    key: FlowKey,
    /// Addresses that it turns to after a timeout.
    other: Option<(Addr, Addr)>,
    /// It is between its addresses and ports alone.
    exact: bool,
    active: bool,
    una: u64,
    /// Octets written; `data` holds them when they are real.
    end: u64,
    data: Vec<u8>,
    closing: bool,
    rcv_nxt: u64,
    unread: u64,
    inbox: VecDeque<u8>,
    deadline: Time,
    in_flight: bool,
    must_ack: bool,
    resent: u64,
    events: VecDeque<Event>,
    flaw: Option<Flaw>,
}

/// What a transport must not do.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flaw {
    /// It arms no timer.
    NoTimer,
    /// It acknowledges what it does not deliver.
    Loses,
}

const RTO: Span = Span::from_millis(300);
const CHUNK: u64 = 1000;

impl StopAndWait {
    fn new(src: (Addr, u16), dst: (Addr, u16)) -> StopAndWait {
        let (src_port, dst_port) = (src.1, dst.1);
        StopAndWait {
            key: FlowKey { src: src.0, dst: dst.0, protocol: 6, src_port, dst_port },
            other: None,
            exact: false,
            active: false,
            una: 0,
            end: 0,
            data: Vec::new(),
            closing: false,
            rcv_nxt: 0,
            unread: 0,
            inbox: VecDeque::new(),
            deadline: Time::NEVER,
            in_flight: false,
            must_ack: false,
            resent: 0,
            events: VecDeque::new(),
            flaw: None,
        }
    }

    /// What stands at `una`: flag, octets of payload.
    fn next(&self) -> Option<(TcpFlags, u64)> {
        match self.una {
            _ if !self.active => None,
            0 => Some((TcpFlags::SYN, 0)),
            una if una <= self.end => Some((TcpFlags::PSH, (self.end + 1 - una).min(CHUNK))),
            una if una == self.end + 1 && self.closing => Some((TcpFlags::FIN, 0)),
            _ => None,
        }
    }

    fn segment(&self, flags: TcpFlags, len: u64) -> Packet {
        let payload = if len == 0 || self.data.is_empty() {
            Payload::virtual_of(len as u32)
        } else {
            Payload::of_octets(&self.data[self.una as usize - 1..][..len as usize])
        };
        let segment = TcpSegment {
            src_port: self.key.src_port,
            dst_port: self.key.dst_port,
            seq: Serial32(self.una as u32),
            ack: Serial32(self.rcv_nxt as u32),
            flags: flags.union(TcpFlags::ACK),
            window: u16::MAX,
            urgent: 0,
            options: TcpOptions::default(),
            payload,
        };
        Packet::new(self.key.src, self.key.dst, Body::Tcp(segment))
    }
}

impl Endpoint for StopAndWait {
    fn handle_input(&mut self, _now: Time, packet: &Packet) {
        let Body::Tcp(segment) = &packet.body else { panic!("a segment") };
        self.active = true;
        if let Some((_, len)) = self.next().filter(|_| self.in_flight)
            && segment.ack.0 as u64 == self.una + len.max(1)
        {
            self.una += len.max(1);
            self.in_flight = false;
            self.deadline = Time::NEVER;
            if self.una == 1 {
                self.events.push_back(Event::Connected);
            } else if self.una == self.end + 2 {
                self.events.push_back(Event::Closed(CloseReason::Normal));
            }
        }
        if segment.seq_len() == 0 {
            return;
        }
        self.must_ack = true;
        if segment.seq.0 as u64 == self.rcv_nxt {
            self.rcv_nxt += segment.seq_len() as u64;
            if segment.flags.contains(TcpFlags::FIN) {
                self.events.push_back(Event::PeerClosed);
            } else if !segment.payload.is_empty() && self.flaw != Some(Flaw::Loses) {
                self.unread += segment.payload.len() as u64;
                self.inbox.extend(segment.payload.octets().unwrap_or(&[]));
                self.events.push_back(Event::Readable);
            }
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        if self.deadline <= now {
            self.in_flight = false;
            self.resent += 1;
            self.deadline = Time::NEVER;
            if let Some(other) = &mut self.other {
                std::mem::swap(&mut self.key.src, &mut other.0);
                std::mem::swap(&mut self.key.dst, &mut other.1);
            }
        }
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        if let Some((flags, len)) = self.next().filter(|_| !self.in_flight) {
            self.in_flight = true;
            self.must_ack = false;
            self.deadline = if self.flaw == Some(Flaw::NoTimer) { Time::NEVER } else { now + RTO };
            return Some(self.segment(flags, len));
        }
        std::mem::take(&mut self.must_ack).then(|| self.segment(TcpFlags::ACK, 0))
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn poll_timeout(&self) -> Time {
        self.deadline
    }
}

impl ByteStream for StopAndWait {
    fn connect(&mut self, _now: Time) {
        self.active = true;
    }

    fn write(&mut self, len: u64) -> u64 {
        self.end += len;
        len
    }

    fn write_octets(&mut self, octets: &[u8]) -> usize {
        self.data.extend(octets);
        self.end += octets.len() as u64;
        octets.len()
    }

    fn read(&mut self, max: u64) -> u64 {
        let taken = max.min(self.unread);
        self.unread -= taken;
        taken
    }

    fn read_octets(&mut self, buf: &mut [u8]) -> usize {
        let taken = buf.len().min(self.inbox.len());
        for (slot, octet) in buf.iter_mut().zip(self.inbox.drain(..taken)) {
            *slot = octet;
        }
        self.unread -= taken as u64;
        taken
    }

    fn close(&mut self) {
        self.closing = true;
    }

    fn abort(&mut self) {
        self.active = false;
        self.deadline = Time::NEVER;
        self.events.push_back(Event::Closed(CloseReason::Aborted));
    }
}

impl HalfClose for StopAndWait {}

impl MessageOriented for StopAndWait {}

impl Observe for StopAndWait {
    fn observe(&self) -> Observation {
        let in_flight = if self.in_flight { CHUNK } else { 0 };
        Observation {
            cwnd: CHUNK,
            in_flight,
            bytes_received: self.rcv_nxt.saturating_sub(1),
            retransmitted_packets: self.resent,
            timeouts: self.resent,
            ..Observation::default()
        }
    }
}

impl Demultiplex for StopAndWait {
    fn flow_key(&self) -> FlowKey {
        self.key
    }

    fn accepts(&self, packet: &Packet) -> bool {
        !self.exact || packet.flow_key().reversed() == self.key
    }
}

impl TemporalSharing for StopAndWait {}

impl TimeWait for StopAndWait {}

impl Progress for StopAndWait {}

type Builder = SimulationBuilder<StopAndWait>;

/// a - r - b with `forth` on both hops towards b and a clean way back.
fn line(builder: &mut Builder, forth: &LinkConfig, seed: Seed) -> [NodeId; 2] {
    let (a, r, b) = (builder.host("a"), builder.router("r"), builder.host("b"));
    let back = LinkConfig { impairments: Vec::new(), ..forth.clone() };
    for (from, to, name, config) in
        [(a, r, "a-r", forth), (r, b, "r-b", forth), (b, r, "b-r", &back), (r, a, "r-a", &back)]
    {
        builder.link(from, to, name, config.clone(), seed.generator(name));
    }
    [a, b]
}

fn config() -> LinkConfig {
    LinkConfig::new(Rate::mbit(8), MS(10)) // an octet takes a microsecond
}

fn spec(builder: &Builder, ends: [NodeId; 2], port: u16, bytes: u64) -> FlowSpec<StopAndWait> {
    let [a, b] = ends.map(|node| (builder.addr(node), port));
    FlowSpec {
        name: "f".to_owned(),
        client: (ends[0], port),
        server: (ends[1], port),
        client_endpoint: StopAndWait::new(a, b),
        server_endpoint: StopAndWait::new(b, a),
        client_app: App::Bulk { bytes: Some(bytes) },
        server_app: App::Sink,
        start: Time::ZERO,
        stop: None,
        octets: false,
    }
}

fn everything_wrong() -> LinkConfig {
    let kinds = [
        ImpairmentKind::Bernoulli { rate: 0.02 },
        ImpairmentKind::Duplicate { probability: 0.1 },
        ImpairmentKind::Reorder { probability: 0.1, extra: MS(30) },
        ImpairmentKind::BitErrors { ber: 1e-6 },
    ];
    let at = [Position::Ingress, Position::Ingress, Position::Egress, Position::Egress];
    let impairments = kinds.into_iter().zip(at).map(|(kind, at)| ImpairmentConfig { kind, at });
    LinkConfig { impairments: impairments.collect(), ..config() }
}

#[test]
fn dates_are_those_of_the_closed_form() {
    let mut builder = Builder::new();
    let ends = line(&mut builder, &config(), Seed::default());
    let flow =
        builder.flow(FlowSpec { start: Time::ZERO + MS(5), ..spec(&builder, ends, 80, 2500) });
    let mut sim = builder.build().unwrap();
    assert!(sim.run_to_completion(Time::ZERO + Span::from_secs(10)));

    // Handshake, then 1000, 1000 and 500 octets, each a round trip apart: two
    // hops of 10 ms and size x 1 us each way.
    let hop = |size: u64| MS(10) + Span::from_micros(size);
    let ack = hop(40) * 2;
    let finish = MS(5) + ack + ack + hop(1040) * 4 + ack * 2 + hop(540) * 2;
    let result = sim.flow_result(flow);
    assert_eq!(result.finish, Some(Time::ZERO + finish));
    assert_eq!((result.start, result.bytes), (Time::ZERO + MS(5), 2500));
    assert!(result.established);
    assert_eq!(result.retransmitted_packets, 0);

    sim.run_until(Time::ZERO + Span::from_secs(20));
    assert_eq!(sim.flow_result(flow).closed, Some(CloseReason::Normal));
    assert_eq!(sim.now(), Time::ZERO + Span::from_secs(20));
    let delivered: u64 = sim.links().map(|(_, _, counters)| counters.delivered).sum();
    assert_eq!(sim.packet_hops(), delivered);
}

#[test]
fn streams_arrive_whole_and_packets_are_conserved() {
    let mut builder = Builder::new();
    let ends = line(&mut builder, &everything_wrong(), Seed { seed: 3, replication: 0 });
    let one = builder.flow(FlowSpec { octets: true, ..spec(&builder, ends, 80, 200_000) });
    let two = builder.flow(FlowSpec {
        octets: true,
        server_app: App::BulkAndSink { bytes: Some(50_000) },
        ..spec(&builder, ends, 81, 50_000)
    });
    let mut sim = builder.build().unwrap();
    let checker = sim.attach(ConservationChecker::new());
    assert!(sim.run_to_completion(Time::ZERO + Span::from_secs(600)));
    for (flow, bytes, reverse_bytes) in [(one, 200_000, 0), (two, 50_000, 50_000)] {
        let result = sim.flow_result(flow);
        assert_eq!((result.bytes, result.reverse_bytes), (bytes, reverse_bytes));
        assert_eq!(result.wrong_octets, 0);
        assert!(result.finish.is_some());
    }
    let wrong = sim.link_counters(LinkId(0));
    assert!(wrong.dropped_loss > 0 && wrong.dropped_corrupt > 0 && wrong.duplicated > 0);
    assert_eq!(sim.observer(checker).events(), sim.events());
}

fn trace(seed: u64) -> (u64, u64) {
    let mut builder = Builder::new();
    let ends = line(&mut builder, &everything_wrong(), Seed { seed, replication: 0 });
    for port in 1..20 {
        builder.flow(spec(&builder, ends, port, 20_000));
    }
    let mut sim = builder.build().unwrap();
    sim.enable_trace_hash();
    sim.run_until(Time::ZERO + Span::from_secs(10));
    (sim.trace_hash().unwrap(), sim.events())
}

#[test]
fn at_one_date_starts_go_before_links_and_links_before_timers() {
    // One flow's SYN arrives, another starts and the first one's timer expires, all
    // at 300 ms: that is what a SYN takes over the link, and the timeout.
    let mut builder = Builder::new();
    let (a, b) = (builder.host("a"), builder.host("b"));
    let delay = RTO - Span::from_micros(40);
    let slow = LinkConfig { delay, ..config() };
    builder.link(a, b, "a-b", slow.clone(), Seed::default().generator("a-b"));
    builder.link(b, a, "b-a", slow, Seed::default().generator("b-a"));
    builder.flow(spec(&builder, [a, b], 1, 1000));
    builder.flow(FlowSpec { start: Time::ZERO + RTO, ..spec(&builder, [a, b], 2, 1000) });
    let mut sim = builder.build().unwrap();
    let order = sim.attach(Order::default());
    sim.run_until(Time::ZERO + RTO);
    let expected = [(1, Side::Client), (0, Side::Server), (0, Side::Client)];
    let heard = &sim.observer(order).0;
    assert_eq!(heard[1..], expected.map(|(flow, side)| (Time::ZERO + RTO, FlowId(flow), side)));
}

/// Which endpoints were handled, and when.
#[derive(Default)]
struct Order(Vec<(Time, FlowId, Side)>);

impl Observer for Order {
    fn interests(&self) -> Interests {
        Interests { endpoints: true, ..Interests::default() }
    }
    fn endpoint(&mut self, now: Time, flow: FlowId, side: Side, _state: &Observation) {
        self.0.push((now, flow, side));
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    assert_eq!(trace(1), trace(1));
    assert_ne!(trace(1).0, trace(2).0);
    assert_eq!(run_batch(4, 2, |_| trace(1)), vec![trace(1); 4]);
}

#[test]
fn observers_change_nothing() {
    let run = |observed: bool| {
        let mut builder = Builder::new();
        let ends = line(&mut builder, &everything_wrong(), Seed { seed: 9, replication: 0 });
        let flow = builder.flow(spec(&builder, ends, 80, 100_000));
        let mut sim = builder.build().unwrap();
        if observed {
            sim.enable_trace_hash();
            sim.attach(ConservationChecker::new());
        }
        sim.run_until(Time::ZERO + Span::from_secs(100));
        (sim.flow_result(flow), sim.events())
    };
    assert_eq!(run(true), run(false));
}

/// Samples are those of the recorded changes, whether the run ends at a date or when all is read,
/// in one piece or in slices.
#[test]
fn a_sample_is_what_the_changes_had_come_to() {
    let quantities = [(Side::Client, Quantity::InFlight), (Side::Server, Quantity::Received)];
    let run = |every: Option<Span>, slice: Option<Span>, to_completion: bool| {
        let mut builder = Builder::new();
        let ends = line(&mut builder, &everything_wrong(), Seed { seed: 9, replication: 0 });
        let flow = builder.flow(spec(&builder, ends, 80, 100_000));
        let mut sim = builder.build().unwrap();
        let mut recorder = SeriesRecorder::new();
        for (side, quantity) in quantities {
            recorder.record(flow, side, quantity, every);
        }
        let recorder = sim.attach(recorder);
        let end = Time::ZERO + Span::from_secs(100);
        let mut until = Time::ZERO;
        while until < end && !(to_completion && sim.have_all_ended()) {
            until = slice.map_or(end, |slice| until + slice);
            match to_completion {
                true => _ = sim.run_to_completion(until),
                false => sim.run_until(until),
            }
        }
        let observer = sim.observer(recorder);
        let series = |(side, what)| observer.series(flow, side, what, sim.now()).unwrap();
        (quantities.map(series), sim.now(), sim.events())
    };
    for to_completion in [false, true] {
        let (changes, end, events) = run(None, None, to_completion);
        for (every, slice) in [(MS(7), None), (MS(7), Some(MS(11))), (MS(3000), None)] {
            let (samples, ended, handled) = run(Some(every), slice, to_completion);
            assert_eq!(handled, events);
            for (sampled, changes) in samples.iter().zip(&changes) {
                let dates = (0..).map(|n| Time::ZERO + every.saturating_mul(n));
                let expected: Vec<(Time, f64)> = dates
                    .take_while(|date| *date <= ended.min(end))
                    .filter_map(|date| {
                        let last = changes.time.partition_point(|at| *at <= date).checked_sub(1)?;
                        Some((date, changes.value[last]))
                    })
                    .collect();
                let found = sampled.time.iter().copied().zip(sampled.value.iter().copied());
                assert!(found.eq(expected), "{every:?} {slice:?}");
            }
        }
    }
}

#[test]
fn recorders_tell_what_happened() {
    let mut builder = Builder::new();
    let first_data =
        FlowKey { src: Addr(0), dst: Addr(2), protocol: 6, src_port: 80, dst_port: 80 };
    let kind = ImpairmentKind::Packets { flow: first_data, numbers: vec![2] };
    let mut forth = config();
    let ends = line(&mut builder, &forth, Seed::default());
    assert_eq!(ends.map(|node| builder.addr(node)), [first_data.src, first_data.dst]);
    // A second way that is shorter, and loses the second data packet once.
    forth.impairments.push(ImpairmentConfig { kind, at: Position::Ingress });
    let direct = builder.link(ends[0], ends[1], "direct", forth, Seed::default().generator(""));
    let flow = builder.flow(spec(&builder, ends, 80, 3000));
    let mut sim = builder.build().unwrap();
    let mut series = SeriesRecorder::new();
    series.record(flow, Side::Client, Quantity::InFlight, None);
    series.record(flow, Side::Server, Quantity::Received, Some(MS(1)));
    let series = sim.attach(series);
    let mut packets = PacketRecorder::new();
    packets.record(flow, Side::Client);
    let packets = sim.attach(packets);
    assert!(sim.run_to_completion(Time::NEVER));

    let recorder = sim.observer(packets);
    let [lane] = recorder.lanes(flow) else { panic!("one way: {recorder:?}") };
    let sends = &lane.sends;
    assert_eq!(sends.offset, [0, 1000, 1000, 2000]);
    assert_eq!(sends.retransmission, [false, false, true, false]);
    assert_eq!(sends.time[2] - sends.time[1], RTO);
    assert_eq!(lane.receives.offset, [0, 1000, 2000]);
    assert_eq!((&lane.drops.offset[..], &lane.drops.len[..]), (&[1000][..], &[1000][..]));
    assert_eq!(lane.drops.time, [sends.time[1]]);
    // The SYN-ACK, then data; the last acknowledgment is still under way.
    assert_eq!(lane.acks.offset, [0, 1000, 2000]);
    let recorded = |side, what| sim.observer(series).series(flow, side, what, sim.now()).unwrap();
    assert_eq!(recorded(Side::Client, Quantity::InFlight).value, [1000.0]);
    let received = recorded(Side::Server, Quantity::Received);
    assert!([1000.0, 2000.0].iter().all(|octets| received.value.contains(octets)));
    assert!(received.time.windows(2).all(|pair| pair[1] - pair[0] == MS(1)));
    assert_eq!(sim.link_counters(direct).dropped_loss, 1);
    assert_eq!(sim.flow_result(flow).timeouts, 1);
}

#[test]
fn queue_lengths_are_recorded_at_every_change() {
    let mut builder = Builder::new();
    let ends = line(&mut builder, &config(), Seed::default());
    for port in 0..3 {
        builder.flow(spec(&builder, ends, port, 1000));
    }
    let mut sim = builder.build().unwrap();
    let mut recorder = QueueRecorder::new();
    recorder.record(LinkId(0), None);
    let recorder = sim.attach(recorder);
    let end = Time::ZERO + MS(1);
    sim.run_until(end);
    // Three SYNs of 40 octets at date 0: one on the line, two wait.
    let series = sim.observer(recorder).series(LinkId(0), end).unwrap();
    assert_eq!(series.time, [0, 40, 80].map(|us| Time::ZERO + Span::from_micros(us)));
    assert_eq!(series.value, [2.0, 1.0, 0.0]);
}

#[test]
fn captures_hold_what_hosts_and_links_saw() {
    let mut builder = Builder::new();
    let ends = line(&mut builder, &config(), Seed::default());
    builder.flow(spec(&builder, ends, 80, 1000));
    let mut sim = builder.build().unwrap();
    let mut capture = Capture::new(Vec::new(), AddressBook::new(), Snap::Whole).unwrap();
    capture.host(ends[0], "a").unwrap();
    capture.link(LinkId(0), "a-r").unwrap();
    let capture = sim.attach(capture);
    sim.run_until(Time::ZERO + Span::from_secs(5));
    let file = sim.observer_mut(capture).finish().unwrap().expect("ended once");
    // Enhanced packet blocks, with the octets in each: what the host sent and
    // received, and what crossed the first link.
    let (mut at, mut octets, mut packets) = (0, 0, [0_u64; 2]);
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
    while at < file.len() {
        if word(at) == 6 {
            packets[word(at + 8) as usize] += 1;
            octets += word(at + 24);
        }
        at += word(at + 4) as usize;
    }
    let crossed = sim.link_counters(LinkId(0)).delivered;
    let back = sim.link_counters(LinkId(3)).delivered;
    assert_eq!(packets, [crossed + back, crossed]);
    assert!(octets > 2 * 1040);
}

#[test]
fn an_endless_stream_stops_when_told() {
    let mut builder = Builder::new();
    let ends = line(&mut builder, &config(), Seed::default());
    let flow = builder.flow(FlowSpec {
        client_app: App::Bulk { bytes: None },
        stop: Some(Time::ZERO + Span::from_secs(1)),
        ..spec(&builder, ends, 80, 0)
    });
    let mut sim = builder.build().unwrap();
    sim.run_until(Time::ZERO + Span::from_secs(2));
    let result = sim.flow_result(flow);
    assert_eq!((result.finish, result.closed), (None, Some(CloseReason::Aborted)));
    assert!(result.bytes > 10_000);
}

/// RFC 9293 §3.4.1 and §3.5.2: a segment from another port of the peer's host is of no connection,
/// though one has the port that it goes to. A reset answers it, and nothing answers that.
#[test]
fn a_segment_of_nobody_is_refused_whoever_has_its_port() {
    let mut builder = Builder::new();
    let hosts = line(&mut builder, &config(), Seed::default());
    let mut spec = spec(&builder, hosts, 80, 1000);
    (spec.client_endpoint.exact, spec.server_endpoint.exact) = (true, true);
    let flow = builder.flow(spec);
    let mut sim = builder.build().unwrap();
    let mut heard = Vec::new();
    // The stray and the reset that answers it find nobody.
    for (port, refused) in [(80, 0), (81, 2)] {
        let stray = StopAndWait::new((Addr(0), port), (Addr(2), 80));
        sim.network.send(stray.segment(TcpFlags::PSH, 10), (flow, Side::Client));
        sim.run_until(sim.now() + Span::from_secs(5));
        assert_eq!(sim.node_drops().no_endpoint, refused, "from port {port}");
        heard.push(sim.flow_result(flow).bytes);
    }
    assert_eq!(heard[0], heard[1]);
    assert_eq!(sim.network.pool.live(), 0);
}

/// RFC 9653 §5.3: what came without a checksum, and is of nobody who has allowed that, counts as damaged,
/// and nobody answers it.
#[test]
fn a_checksum_of_zero_that_nobody_has_allowed_is_wrong() {
    use anabranch_wire::SctpPacket;
    use anabranch_wire::sctp::{Chunk, Chunks};
    for zero_checksum in [true, false] {
        let mut builder = Builder::new();
        let hosts = line(&mut builder, &config(), Seed::default());
        let spec = spec(&builder, hosts, 80, 1000);
        let flow = builder.flow(spec);
        let mut sim = builder.build().unwrap();
        let (udp, chunks) = (None, Chunks::from(Chunk::CookieAck));
        let sctp = SctpPacket { src_port: 7, dst_port: 7, tag: 1, udp, zero_checksum, chunks };
        let packet = Packet::new(Addr(0), Addr(2), Body::Sctp(Box::new(sctp)));
        sim.network.send(packet, (flow, Side::Client));
        sim.run_until(sim.now() + Span::from_secs(5));
        let drops = (sim.node_drops().checksum, sim.node_drops().no_endpoint);
        assert_eq!(drops, if zero_checksum { (1, 0) } else { (0, 1) });
        assert_eq!(sim.network.pool.live(), 0);
    }
}

#[test]
fn routers_take_from_the_ttl_and_hosts_do_not_forward() {
    let mut builder = Builder::new();
    let hosts = line(&mut builder, &config(), Seed::default());
    let flow = builder.flow(spec(&builder, hosts, 80, 1000));
    let mut sim = builder.build().unwrap();
    let (client, server) = ((Addr(0), 80), (Addr(2), 80));
    for (ttl, dst_port, expected) in [(1, 80, [1, 0, 0]), (2, 99, [1, 0, 1])] {
        let mut stray = StopAndWait::new(client, (server.0, dst_port)).segment(TcpFlags::ACK, 1);
        stray.ttl = ttl;
        sim.network.send(stray, (flow, Side::Client));
        sim.run_until(sim.now() + Span::from_secs(1));
        let drops = sim.node_drops();
        assert_eq!([drops.ttl, drops.no_route, drops.no_endpoint], expected);
    }
    let stray = StopAndWait::new(client, (Addr(77), 80)).segment(TcpFlags::ACK, 1);
    sim.network.send(stray, (flow, Side::Client));
    assert_eq!(sim.node_drops().no_route, 1);
    assert_eq!(sim.network.pool.live(), 0);
}

/// a and b with two interfaces each, joined pairwise; what goes over the first
/// pair towards b is lost after two packets.
#[test]
fn a_packet_for_any_interface_finds_the_hosts_endpoint() {
    let mut builder = Builder::new();
    let (a, b) = (builder.host("a.x"), builder.host("b.x"));
    let (ay, by) = (builder.interface(a, "a.y"), builder.interface(b, "b.y"));
    let seed = Seed::default();
    let lossy = LinkConfig {
        impairments: vec![ImpairmentConfig {
            kind: ImpairmentKind::Outage(OutageConfig {
                intervals: vec![(MS(25), MS(10_000))],
                period: None,
            }),
            at: Position::Ingress,
        }],
        ..config()
    };
    let links = [(a, b, lossy), (b, a, config()), (ay, by, config()), (by, ay, config())]
        .map(|(from, to, link)| builder.link(from, to, "l", link, seed.generator("l")));
    let mut spec = spec(&builder, [a, b], 80, 3_000);
    spec.client_endpoint.other = Some((builder.addr(ay), builder.addr(by)));
    let flow = builder.flow(spec);
    let mut sim = builder.build().unwrap();
    sim.attach(ConservationChecker::new());
    assert!(sim.run_to_completion(Time::ZERO + MS(10_000)));
    assert_eq!(sim.flow_result(flow).bytes, 3_000);
    // SYN and one packet of data, then two over the second pair; the three
    // answers before the end come to the client's first interface.
    let counts = links.map(|link| sim.link_counters(link).delivered);
    assert_eq!(counts, [2, 3, 2, 0]);
    assert_eq!(sim.node_drops(), NodeDrops::default());
}

#[test]
fn interfaces_do_not_forward_and_are_one_host() {
    // a - b.x, b.y - c: no way from a to c through b.
    let build = |server: fn(&[NodeId; 4]) -> NodeId| {
        let mut builder = Builder::new();
        let [a, b, c] = ["a", "b.x", "c"].map(|name| builder.host(name));
        let y = builder.interface(b, "b.y");
        for (from, to) in [(a, b), (b, a), (y, c), (c, y)] {
            builder.link(from, to, "l", config(), Seed::default().generator("l"));
        }
        let nodes = [a, b, y, c];
        let server = (server(&nodes), 81);
        builder.flow(FlowSpec { server, ..spec(&builder, [b, server.0], 80, 1) });
        builder.flow(spec(&builder, [y, c], 80, 1));
        builder.build().err().map(|error| error.to_string())
    };
    assert_eq!(build(|n| n[3]).unwrap(), "flow f: no path from b.x to c");
    assert_eq!(build(|n| n[2]).unwrap(), "flow f starts and ends at b.x");
    assert_eq!(build(|n| n[0]).unwrap(), "flow f: port 80 of b.y is in use");
}

#[test]
fn mistakes_are_named() {
    let build = |change: fn(&mut Builder, [NodeId; 2], FlowSpec<StopAndWait>)| {
        let mut builder = Builder::new();
        let ends = line(&mut builder, &config(), Seed::default());
        let spec = spec(&builder, ends, 80, 1);
        change(&mut builder, ends, spec);
        builder.build().err().expect("a mistake").to_string()
    };
    let unreachable = build(|builder, _, spec| {
        let c = builder.host("c");
        builder.flow(FlowSpec { server: (c, 80), ..spec });
    });
    assert_eq!(unreachable, "flow f: no path from a to c");
    let in_use = build(|builder, ends, spec| {
        let again = self::spec(builder, ends, 80, 1);
        builder.flow(spec);
        builder.flow(again);
    });
    assert_eq!(in_use, "flow f: port 80 of a is in use");
    let router = build(|builder, _, spec| {
        builder.flow(FlowSpec { server: (NodeId(1), 80), ..spec });
    });
    assert_eq!(router, "flow f: r is a router; flows start and end at hosts");
    let link = build(|builder, ends, _| {
        let small = LinkConfig { mtu: Bytes(1), ..config() };
        builder.link(ends[0], ends[1], "x", small, Seed::default().generator(""));
    });
    assert_eq!(link, "link x: mtu is 1 B; allowed: 68 B to 16777215 B");
}

#[test]
fn flows_cost_little() {
    let per_flow = 2 * size_of::<crate::app::AppState>()
        + size_of::<super::Flow>()
        + size_of::<super::Scheduled>()
        + 2 * 2 * size_of::<u32>(); // port table, timer's place
    assert!(per_flow <= 150, "{per_flow}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    /// Q7 over whole runs, with random links.
    #[test]
    fn any_network_conserves_packets(
        seed in any::<u64>(),
        rate in 1_u64..100,
        delay in 0_u64..30,
        limit in 0_u64..10,
        loss in 0.0..0.3,
        copies in 0.0..0.5,
        late in 0.0..0.5,
        flows in 1_u16..6,
    ) {
        let impairments = [
            ImpairmentKind::Bernoulli { rate: loss },
            ImpairmentKind::Duplicate { probability: copies },
            ImpairmentKind::Reorder { probability: late, extra: MS(7) },
        ];
        let at = |kind| ImpairmentConfig { kind, at: Position::Egress };
        let forth = LinkConfig {
            queue: QueueConfig::DropTail { limit: QueueLimit::Packets(limit) },
            impairments: impairments.map(at).to_vec(),
            ..LinkConfig::new(Rate::mbit(rate), MS(delay))
        };
        let mut builder = Builder::new();
        let ends = line(&mut builder, &forth, Seed { seed, replication: 0 });
        for port in 0..flows {
            builder.flow(FlowSpec { octets: port % 2 == 0, ..spec(&builder, ends, port, 5_000) });
        }
        let mut sim = builder.build().unwrap();
        sim.attach(ConservationChecker::new());
        prop_assert!(sim.run_to_completion(Time::ZERO + Span::from_secs(3600)));
        for flow in 0..flows {
            let result = sim.flow_result(FlowId(flow as u32));
            prop_assert_eq!((result.bytes, result.wrong_octets), (5_000, 0));
        }
    }
}
