//! One ACK at each window algorithm, in congestion avoidance.

#![expect(missing_docs, reason = "criterion_group! makes a public function")]

use anabranch_congestion::{
    ALGORITHMS, Acked, Algorithm, Cause, CongestionEvent, Controller, Feedback, PathView,
    RateSample,
};
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
        let (mut now, mut acks, mut acked) = (Time::ZERO, 0, 0);
        let rtt = Some(Span::from_millis(24));
        g.bench_function(info.name, |b| {
            b.iter(|| {
                now += Span::from_micros(24);
                acks += 1;
                let in_flight = controller.window();
                let sent = acked + in_flight;
                acked += 2 * MSS;
                let path = PathView {
                    in_flight,
                    mss: MSS,
                    srtt: rtt,
                    min_rtt: rtt,
                    app_limited: false,
                    sent: sent.max(acked),
                    acked,
                };
                controller.on_ack(&Acked { now, bytes: 2 * MSS, rtt }, &path);
                if controller.wants_feedback() {
                    controller.on_feedback(&told(now, acked), &path);
                }
                if acks % BETWEEN_LOSSES == 0 {
                    controller.on_congestion(&CongestionEvent { now, cause: Cause::Loss }, &path);
                }
                controller.window()
            });
        });
    }
    g.finish();
}

/// What an ACK for two segments tells, in a window of a thousand.
fn told(now: Time, acked: u64) -> Feedback {
    let rate = RateSample {
        delivered: 1000 * MSS,
        interval: Span::from_millis(24),
        prior_delivered: acked.saturating_sub(1000 * MSS),
        total_delivered: acked,
        app_limited: false,
        tx_in_flight: 1000 * MSS,
        lost: 0,
    };
    Feedback {
        now,
        acked: 2 * MSS,
        delivered: 2 * MSS,
        lost: 0,
        marked: 0,
        rtt: Some(Span::from_millis(24)),
        rate: Some(rate),
        in_recovery: false,
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
