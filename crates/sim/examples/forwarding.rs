//! How fast the kernel forwards: packet-hops per second of one core, with
//! endpoints that only send packets at a constant rate.
//!
//! `cargo run --release -p anabranch-sim --example forwarding`

use anabranch_endpoint::{ByteStream, Endpoint, Event, Observation, Seed};
use anabranch_network::{LinkConfig, QueueConfig, QueueLimit};
use anabranch_sim::{App, FlowSpec, Simulation, SimulationBuilder};
use anabranch_units::{Bytes, Rate, Serial32, Span, Time};
use anabranch_wire::{Body, FlowKey, Packet, Payload, TcpFlags, TcpOptions, TcpSegment};

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
    fn observe(&self) -> Observation {
        Observation { packets_sent: self.sent, ..Observation::default() }
    }
    fn flow_key(&self) -> FlowKey {
        self.key
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

fn main() {
    for (chains, hops) in [(1, 6), (10, 4), (100, 4)] {
        let mut sim = build(chains, hops);
        let seconds = 200.0 / chains as f64;
        #[expect(clippy::disallowed_methods, reason = "a benchmark measures wall time")]
        let start = std::time::Instant::now();
        sim.run_until(Time::ZERO + Span::from_secs_f64(seconds).expect("a few seconds"));
        let wall = start.elapsed().as_secs_f64();
        let hops_done = sim.packet_hops();
        println!(
            "{:4} links: {:6.1} M hops, {:5.2} s, {:5.1} M hops/s",
            chains * hops,
            hops_done as f64 / 1e6,
            wall,
            hops_done as f64 / wall / 1e6
        );
    }
}
