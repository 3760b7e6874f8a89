//! The two queues of events, each moving its first event on, and forwarding:
//! packets over chains of links from endpoints that only send.

#![expect(missing_docs, reason = "criterion_group! makes a public function")]

use anabranch_endpoint::{
    ByteStream, Demultiplex, Endpoint, Event, HalfClose, MessageOriented, Observation, Observe,
    Progress, Seed, TemporalSharing, TimeWait,
};
use anabranch_network::{LinkConfig, QueueConfig, QueueLimit};
use anabranch_sim::{App, EventQueue, FlowSpec, Simulation, SimulationBuilder, Tournament};
use anabranch_units::{Bytes, Rate, Serial32, Span, Time};
use anabranch_wire::{Body, FlowKey, Packet, Payload, TcpFlags, TcpOptions, TcpSegment};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Sends a segment every `interval` once connected; hears nothing.
struct Source {
    key: FlowKey,
    interval: Span,
    next: Time,
    sent: u64,
    received: u64,
}

impl Endpoint for Source {
    fn handle_input(&mut self, _now: Time, packet: &Packet) {
        self.received += packet.payload_len() as u64;
    }
    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        if now < self.next {
            return None;
        }
        self.next += self.interval;
        self.sent += 1;
        let segment = TcpSegment {
            src_port: self.key.src_port,
            dst_port: self.key.dst_port,
            seq: Serial32(self.sent as u32),
            ack: Serial32(0),
            flags: TcpFlags::ACK,
            window: 0,
            urgent: 0,
            options: TcpOptions::default(),
            payload: Payload::virtual_of(1460),
        };
        Some(Packet::new(self.key.src, self.key.dst, Body::Tcp(segment)))
    }
    fn poll_event(&mut self) -> Option<Event> {
        None
    }
    fn poll_timeout(&self) -> Time {
        self.next
    }
}

impl ByteStream for Source {
    fn connect(&mut self, now: Time) {
        self.next = now;
    }
    fn write(&mut self, len: u64) -> u64 {
        len
    }
    fn write_octets(&mut self, octets: &[u8]) -> usize {
        octets.len()
    }
    fn read(&mut self, _max: u64) -> u64 {
        0
    }
    fn read_octets(&mut self, _buf: &mut [u8]) -> usize {
        0
    }
    fn close(&mut self) {}

    fn abort(&mut self) {}
}

impl HalfClose for Source {}

impl MessageOriented for Source {}

impl Observe for Source {
    fn observe(&self) -> Observation {
        Observation { packets_sent: self.sent, ..Observation::default() }
    }
}

impl Demultiplex for Source {
    fn flow_key(&self) -> FlowKey {
        self.key
    }
}

impl TemporalSharing for Source {}

impl TimeWait for Source {}

impl Progress for Source {}

/// `chains` rows of `hops` links each at 1 Gbit/s and 1 ms, with one flow
/// each at 97 % of the rate.
fn build(chains: u32, hops: u32) -> Simulation<Source> {
    let seed = Seed { seed: 1, replication: 0 };
    let mut builder = SimulationBuilder::new();
    let config = LinkConfig {
        queue: QueueConfig::DropTail { limit: QueueLimit::Packets(100) },
        ..LinkConfig::new(Rate::gbit(1), Span::from_millis(1))
    };
    for chain in 0..chains {
        let first = builder.host("a");
        let mut node = first;
        for hop in 0..hops {
            let next = if hop + 1 == hops { builder.host("b") } else { builder.router("r") };
            let name = format!("{chain}.{hop}");
            builder.link(node, next, &name, config.clone(), seed.generator(&name));
            // The way back, unused, so that the hosts reach each other.
            builder.link(next, node, &name, config.clone(), seed.generator(&name));
            node = next;
        }
        let (src, dst) = (builder.addr(first), builder.addr(node));
        let key = FlowKey { src, dst, protocol: 6, src_port: 1, dst_port: 1 };
        let gap = Rate::mbit(970).time_for(Bytes(1500));
        let source =
            |key, interval| Source { key, interval, next: Time::NEVER, sent: 0, received: 0 };
        builder.flow(FlowSpec {
            name: "cbr".to_owned(),
            client: (first, 1),
            server: (node, 1),
            client_endpoint: source(key, gap),
            server_endpoint: source(key.reversed(), gap),
            client_app: App::Bulk { bytes: None },
            server_app: App::Sink,
            start: Time::ZERO + gap * chain as u64 / chains as u64,
            stop: None,
            octets: false,
        });
    }
    builder.build().expect("the chains are sound")
}

/// Moves the first event on by a varying step.
fn queues(c: &mut Criterion) {
    let mut g = c.benchmark_group("first event moves on");
    for sources in [8_u32, 512] {
        let mut heap = EventQueue::new(sources as usize);
        let mut tree = Tournament::new(sources as usize);
        for source in 0..sources {
            let at = Time::ZERO + Span::from_nanos(1 + source as u64);
            heap.set(source, at);
            tree.set(source, at);
        }
        let mut step = 1_u64;
        let mut next = move || {
            step = step.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            Span::from_nanos(step >> 52)
        };
        g.bench_function(format!("heap of {sources}"), |b| {
            b.iter(|| {
                let (at, source) = heap.peek().expect("never empty");
                heap.set(source, at + next());
            });
        });
        g.bench_function(format!("tournament of {sources}"), |b| {
            b.iter(|| {
                let (at, source) = tree.peek();
                tree.set(source, at + next());
            });
        });
    }
    g.finish();
}

/// About 1000 packet-hops, in the steady state.
fn forwarding(c: &mut Criterion) {
    let mut g = c.benchmark_group("1000 packet-hops");
    g.throughput(Throughput::Elements(1000));
    for (chains, hops) in [(1, 6), (100, 4)] {
        let mut sim = build(chains, hops);
        let mut until = Time::ZERO + Span::from_millis(20);
        sim.run_until(until);
        let gap = Rate::mbit(970).time_for(Bytes(1500));
        let slice = gap * 1000 / (chains * hops) as u64;
        g.bench_function(format!("{} links", chains * hops), |b| {
            b.iter(|| {
                until += slice;
                sim.run_until(until);
            });
        });
    }
    g.finish();
}

criterion_group!(benches, queues, forwarding);
criterion_main!(benches);
