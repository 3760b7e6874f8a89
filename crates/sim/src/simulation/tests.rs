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

mod elision;
mod messages;
mod observers;
mod offload;
mod outside;
mod regulators;
mod standing;
mod stop_and_wait;

use stop_and_wait::{Flaw, RTO, StopAndWait};

const MS: fn(u64) -> Span = Span::from_millis;

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
