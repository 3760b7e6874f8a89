//! One ACK at a sender with 1000 segments outstanding, and the segments that
//! it releases: in order, and after a loss, for each recovery scheme.

#![expect(missing_docs, reason = "criterion_group! makes a public function")]

use anabranch_congestion::Algorithm;
use anabranch_endpoint::{ByteStream, Endpoint, Seed};
use anabranch_tcp::recovery::{Recovery, SCHEMES};
use anabranch_tcp::{Config, Connection, DelayedAck, InitialWindow};
use anabranch_testkit::{Fate, Pair, Side};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, Body, Packet, SackBlock, TcpFlags, TcpOptions};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

const MSS: u32 = 1000;
const ACKS: u32 = 100;

/// A sender that has just sent its window, the time, and the ACKs that come.
fn outstanding(recovery: Recovery, loss: bool) -> (Connection, Time, Vec<Packet>) {
    let config = Config {
        mss: MSS,
        initial_window: InitialWindow::Segments(1000),
        timestamps: false,
        receive_buffer: 64 << 20,
        delayed_ack: DelayedAck { count: 1, delay: Span::ZERO },
        recovery: recovery.clone(),
        window: Algorithm::from_name("reno").expect("a name of the table"),
        ..Config::default()
    };
    let seed = Seed::default();
    let (a, b) = ((Addr(0), 1000), (Addr(1), 2000));
    let client = Connection::client(config.clone(), a, b, seed.generator("client"));
    let server = Connection::server(config, b, a, seed.generator("server"));
    let mut pair = Pair::new(client, server, Span::from_millis(10), |_, _| Fate::Deliver);
    pair.client.connect(Time::ZERO);
    pair.drive(Time::ZERO + Span::from_millis(100));
    let syn_ack = pair.log.iter().find(|line| line.from == Side::Server).expect("an answer");
    let answer = syn_ack.packet.clone();
    let (mut client, now) = (pair.client, pair.now);
    client.write(1 << 30);
    while client.poll_transmit(now).is_some() {}
    let acks = (1..=ACKS).map(|n| ack(answer.clone(), n, loss, recovery.clone())).collect();
    (client, now + Span::from_millis(20), acks)
}

/// The n-th ACK: cumulative, or a duplicate because the first segment is lost.
fn ack(answer: Packet, n: u32, loss: bool, recovery: Recovery) -> Packet {
    let mut packet = answer;
    let Body::Tcp(segment) = &mut packet.body else { panic!("not TCP: {packet:?}") };
    segment.flags = TcpFlags::ACK;
    segment.seq = segment.seq.add(1);
    segment.options = TcpOptions::default();
    if !loss {
        segment.ack = segment.ack.add(n * MSS);
    } else if recovery.needs_sack() {
        let block = SackBlock { left: segment.ack.add(MSS), right: segment.ack.add((n + 1) * MSS) };
        segment.options.sack.push(block);
    }
    packet
}

fn bench(c: &mut Criterion) {
    for (case, loss) in [("in order", false), ("duplicate", true)] {
        let mut g = c.benchmark_group(format!("100 ACKs {case}"));
        g.throughput(Throughput::Elements(ACKS.into()));
        for scheme in SCHEMES {
            let recovery = Recovery::from_name(scheme.name).expect("a name of the table");
            g.bench_function(scheme.name, |b| {
                b.iter_batched_ref(
                    || outstanding(recovery.clone(), loss),
                    |(client, now, acks)| {
                        let mut sent = 0;
                        for packet in acks {
                            client.handle_input(*now, packet);
                            while client.poll_transmit(*now).is_some() {
                                sent += 1;
                            }
                        }
                        sent
                    },
                    BatchSize::SmallInput,
                );
            });
        }
        g.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
