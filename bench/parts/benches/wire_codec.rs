//! A packet to octets and back: a data segment with timestamps, and an ACK
//! with three SACK blocks.

#![expect(missing_docs, reason = "criterion_group! makes a public function")]

use anabranch_units::Serial32;
use anabranch_wire::{
    Addr, AddressBook, Body, Packet, Payload, SackBlock, TcpFlags, TcpOptions, TcpSegment,
    Timestamps,
};
use criterion::{Criterion, criterion_group, criterion_main};
use std::hint::black_box;

fn packet(payload: u32, blocks: u32) -> Packet {
    let timestamps = Some(Timestamps { value: 1, echo: 2 });
    let mut options = TcpOptions { timestamps, ..TcpOptions::default() };
    for n in 0..blocks {
        let left = Serial32(10_000 * (n + 1));
        options.sack.push(SackBlock { left, right: left.add(1448) });
    }
    let segment = TcpSegment {
        src_port: 1000,
        dst_port: 2000,
        seq: Serial32(1),
        ack: Serial32(1),
        flags: TcpFlags::ACK,
        window: 65_535,
        urgent: 0,
        options,
        payload: Payload::virtual_of(payload),
    };
    Packet::new(Addr(0), Addr(1), Body::Tcp(segment))
}

fn bench(c: &mut Criterion) {
    let book = AddressBook::new();
    for (name, packet) in [("data 1448", packet(1448, 0)), ("ACK, 3 SACK blocks", packet(0, 3))] {
        let mut octets = Vec::new();
        packet.emit(&book, &mut octets).expect("the packet is sound");
        let mut g = c.benchmark_group(name);
        let mut out = Vec::with_capacity(2000);
        g.bench_function("emit", |b| {
            b.iter(|| {
                out.clear();
                black_box(&packet).emit(&book, &mut out)
            });
        });
        g.bench_function("parse", |b| b.iter(|| Packet::parse(black_box(&octets), &book)));
        g.bench_function("clone", |b| b.iter(|| black_box(&packet).clone()));
        g.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
