//! One ACK at each window algorithm, in congestion avoidance.

#![expect(missing_docs, reason = "criterion_group! makes a public function")]

use anabranch_congestion::PathView;
use anabranch_congestion::{ALGORITHMS, Acked, Algorithm, Cause, CongestionEvent, Controller};
use anabranch_units::{Span, Time};
use criterion::{Criterion, criterion_group, criterion_main};

const MSS: u64 = 1448;
/// ACKs between two losses, as in a long transfer.
const BETWEEN_LOSSES: u32 = 100_000;

fn bench(c: &mut Criterion) {
    let mut g = c.benchmark_group("one ACK");
    for info in ALGORITHMS {
        let algorithm = Algorithm::from_name(info.name).expect("a name of the table");
        let mut controller = algorithm.build(1000 * MSS, 500 * MSS);
        let (mut now, mut acks) = (Time::ZERO, 0);
        let rtt = Some(Span::from_millis(24));
        g.bench_function(info.name, |b| {
            b.iter(|| {
                now += Span::from_micros(24);
                acks += 1;
                let in_flight = controller.window();
                let path = PathView {
                    in_flight,
                    mss: MSS,
                    srtt: rtt,
                    min_rtt: rtt,
                    app_limited: false,
                    sent: 0,
                    acked: 0,
                };
                controller.on_ack(&Acked { now, bytes: 2 * MSS, rtt }, &path);
                if acks % BETWEEN_LOSSES == 0 {
                    controller.on_congestion(&CongestionEvent { now, cause: Cause::Loss }, &path);
                }
                controller.window()
            });
        });
    }
    g.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
