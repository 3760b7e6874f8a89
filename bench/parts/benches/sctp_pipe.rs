//! Two associations in memory, 10 MB from one to the other: counted octets,
//! real octets, and real octets through the codec with its checksums.

#![expect(missing_docs, reason = "criterion_group! makes a public function")]

use anabranch_endpoint::{ByteStream, Observe};
use anabranch_endpoint::{Endpoint, Seed};
use anabranch_sctp::{Association, Config, Message, SendError};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, AddressBook, Packet, Payload};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::collections::VecDeque;

const OCTETS: u64 = 10_000_000;
/// As in the measurements of other implementations.
const MESSAGE: usize = 1200;

struct Pipe {
    ends: [Association; 2],
    packets: VecDeque<(usize, Packet)>,
    now: Time,
    book: AddressBook,
    wire: Vec<u8>,
}

impl Pipe {
    fn new() -> Pipe {
        let seed = Seed::default();
        let (a, b) = ([Addr(0)], [Addr(1)]);
        let config = Config::rfc9260();
        let mut client = Association::client(config.clone(), (&a, 1), (&b, 2), seed.generator("a"));
        client.connect(Time::ZERO);
        let server = Association::server(config, (&b, 2), (&a, 1), seed.generator("b"));
        Pipe {
            ends: [client, server],
            packets: VecDeque::new(),
            now: Time::ZERO,
            book: AddressBook::new(),
            wire: Vec::new(),
        }
    }

    /// Hands the next packet over, or waits for a timer.
    fn step(&mut self, codec: bool) {
        for who in 0..2 {
            while self.ends[who].poll_event().is_some() {}
            while let Some(packet) = self.ends[who].poll_transmit(self.now) {
                self.packets.push_back((1 - who, packet));
            }
        }
        match self.packets.pop_front() {
            Some((to, packet)) if codec => {
                self.wire.clear();
                packet.emit(&self.book, &mut self.wire).expect("it fits");
                let packet = Packet::parse(&self.wire, &self.book).expect("it was emitted");
                self.ends[to].handle_input(self.now, &packet);
            }
            Some((to, packet)) => self.ends[to].handle_input(self.now, &packet),
            None => {
                let due = self.ends.iter().map(Endpoint::poll_timeout).fold(Time::NEVER, Time::min);
                self.now = self.now.max(due);
                self.ends.iter_mut().for_each(|end| end.handle_timeout(self.now));
            }
        }
        self.now += Span::from_micros(1);
    }
}

fn counted() {
    let mut pipe = Pipe::new();
    pipe.ends[0].write(OCTETS);
    while pipe.ends[1].observe().bytes_received < OCTETS {
        pipe.step(false);
        pipe.ends[1].read(u64::MAX);
    }
}

fn messages(codec: bool) {
    let mut pipe = Pipe::new();
    let payload = Payload::of_octets([7; MESSAGE]);
    let mut given = 0;
    while pipe.ends[1].observe().bytes_received < OCTETS {
        while given < OCTETS {
            match pipe.ends[0].send(Message::new(0, payload.clone())) {
                Ok(()) => given += MESSAGE as u64,
                Err(SendError::Full) => break,
                Err(error) => panic!("{error}"),
            }
        }
        pipe.step(codec);
        while pipe.ends[1].receive().is_some() {}
    }
}

fn bench(c: &mut Criterion) {
    let mut g = c.benchmark_group("10 MB");
    g.throughput(Throughput::Bytes(OCTETS)).sample_size(10);
    g.bench_function("counted octets", |b| b.iter(counted));
    g.bench_function("messages of 1200 octets", |b| b.iter(|| messages(false)));
    g.bench_function("messages of 1200 octets, on the wire", |b| b.iter(|| messages(true)));
    g.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
