//! Cost of one ACK against the window, 10 to 100,000 segments: SACKs as they
//! come after a loss at the front, and when every tenth segment is lost; and
//! the cumulative ACKs of the repair. What a scheme does per ACK must not grow
//! with the window.

#![expect(missing_docs, reason = "criterion_group! makes a public function")]

use anabranch_congestion::Algorithm;
use anabranch_endpoint::{ByteStream, Endpoint, RtoBounds, Seed};
use anabranch_tcp::recovery::Recovery;
use anabranch_tcp::{Config, Connection, DelayedAck, InitialWindow};
use anabranch_testkit::{Fate, Pair, Side};
use anabranch_units::{Span, Time};
use anabranch_wire::{Addr, Body, Packet, SackBlock, TcpFlags, TcpOptions};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use std::time::{Duration, Instant};

const MSS: u32 = 1000;
const WINDOWS: [u32; 5] = [10, 100, 1000, 10_000, 100_000];
const SCHEMES: [&str; 4] = ["sack", "fack", "decoupled", "rack"];

/// What the path does to the window.
#[derive(Clone, Copy)]
enum Losses {
    /// The first segment is lost.
    First,
    /// Every tenth is lost, the first included.
    Tenth,
}

/// A sender that has just sent `window` segments, the time, and a packet of the
/// peer's to write ACKs on.
fn outstanding(scheme: &str, window: u32) -> (Connection, Time, Packet) {
    let config = Config {
        mss: MSS,
        initial_window: InitialWindow::Segments(window),
        timestamps: false,
        receive_buffer: 512 << 20,
        delayed_ack: DelayedAck { count: 1, delay: Span::ZERO },
        // The clock of this bench hardly moves.
        rto: RtoBounds { min: Span::from_secs(1), ..RtoBounds::default() },
        recovery: Recovery::from_name(scheme).expect("a name of the table"),
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
    let line = pair.log.iter().find(|line| line.from == Side::Server).expect("an answer");
    let mut answer = line.packet.clone();
    let Body::Tcp(segment) = &mut answer.body else { panic!("not TCP: {answer:?}") };
    segment.flags = TcpFlags::ACK;
    segment.seq = segment.seq.add(1);
    segment.options = TcpOptions::default();
    segment.window = u16::MAX;
    let (mut client, now) = (pair.client, pair.now);
    client.handle_input(now, &answer); // the window of the SYN is not scaled
    client.write(1 << 30);
    let sent = std::iter::from_fn(|| client.poll_transmit(now)).count();
    assert_eq!(sent, window as usize);
    (client, now, answer)
}

/// The ACKs of the first round trip, then those of the retransmissions: each
/// raises the cumulative ACK to the next hole.
fn acks(answer: &Packet, window: u32, losses: Losses) -> Vec<Packet> {
    let with = |ack: u32, block: Option<(u32, u32)>| {
        let mut packet = answer.clone();
        let Body::Tcp(segment) = &mut packet.body else { panic!("not TCP") };
        let at = |n: u32| segment.ack.add(n * MSS);
        if let Some((from, to)) = block {
            let block = SackBlock { left: at(from), right: at(to) };
            segment.options.sack.push(block);
        }
        segment.ack = at(ack);
        packet
    };
    let lost = |n: u32| match losses {
        Losses::First => n == 0,
        Losses::Tenth => n.is_multiple_of(10),
    };
    let mut list = Vec::new();
    let mut start = 0;
    for n in 0..window {
        if lost(n) {
            start = n + 1;
        } else {
            list.push(with(0, Some((start, n + 1))));
        }
    }
    let holes = (1..window).filter(|n| lost(*n)).chain([window]);
    list.extend(holes.map(|next| with(next, None)));
    list
}

fn bench(c: &mut Criterion) {
    for (name, losses) in [("first lost", Losses::First), ("every tenth lost", Losses::Tenth)] {
        let mut g = c.benchmark_group(format!("per ACK, {name}"));
        g.sample_size(10).warm_up_time(Duration::from_millis(100));
        g.measurement_time(Duration::from_millis(500));
        for scheme in SCHEMES {
            for window in WINDOWS {
                let (_, _, answer) = outstanding(scheme, window);
                let acks = acks(&answer, window, losses);
                g.throughput(Throughput::Elements(1));
                g.bench_function(BenchmarkId::new(scheme, window), |b| {
                    // One run of a whole recovery tells the time of as many ACKs.
                    b.iter_custom(|iterations| {
                        let mut spent = Duration::ZERO;
                        let mut done = 0;
                        while done < iterations.max(2000) {
                            spent += recovery(scheme, window, &acks);
                            done += acks.len() as u64;
                        }
                        spent.mul_f64(iterations as f64 / done as f64)
                    });
                });
            }
        }
        g.finish();
    }
}

#[expect(clippy::disallowed_methods, reason = "a bench reads the clock")]
fn recovery(scheme: &str, window: u32, acks: &[Packet]) -> Duration {
    let (mut client, mut now, _) = outstanding(scheme, window);
    now += Span::from_millis(20);
    let start = Instant::now();
    for packet in acks {
        now += Span::from_nanos(100);
        client.handle_input(now, packet);
        while client.poll_transmit(now).is_some() {}
    }
    start.elapsed()
}

criterion_group!(benches, bench);
criterion_main!(benches);
