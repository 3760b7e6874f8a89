use super::*;
use crate::reno::RenoOptions;
use crate::testkit::bottleneck::{Bottleneck, Network};
use crate::testkit::{MSS, event, path as view};
use crate::{Algorithm, Controller};
use anabranch_units::Rate;

/// A window in congestion avoidance over 100 to 200 ms, and what its sender counts in segments.
struct Flow {
    c: Lp,
    now: Time,
    acked: u64,
}

impl Flow {
    fn new(segments: u64) -> Flow {
        let c = Lp::new(&LpOptions::default(), segments * MSS, 2 * MSS);
        let mut flow = Flow { c, now: Time::ZERO + Span::from_secs(1), acked: 0 };
        // Smallest and largest; then smoothed to the smallest.
        flow.acks(1, 100);
        flow.acks(2, 200);
        flow.acks(100, 100);
        flow
    }

    /// ACKs of a segment each, with a round-trip time each, and the window that follows.
    fn acks(&mut self, segments: u64, rtt_ms: u64) -> f64 {
        for _ in 0..segments {
            self.acked += 1;
            self.now += Span::from_millis(1);
            let sent = (self.acked + self.c.window() / MSS) * MSS;
            let view = PathView { sent, acked: self.acked * MSS, ..view(self.c.window() / MSS) };
            let rtt = Some(Span::from_millis(rtt_ms));
            self.c.on_ack(&Acked { now: self.now, bytes: MSS, rtt }, &view);
        }
        self.c.window.cwnd / MSS as f64
    }
}

/// The threshold is 100 + 0.15 (200 - 100) = 115 ms. A smoothed delay goes to 115 at most, or beyond.
#[test]
fn a_delay_above_the_threshold_halves_the_window() {
    for (rtt_ms, halved) in [(114, false), (117, true), (150, true)] {
        let mut flow = Flow::new(40);
        let before = flow.c.window.cwnd / MSS as f64;
        let after = flow.acks(39, rtt_ms);
        match halved {
            true => assert!((after / before - 0.5).abs() < 0.02, "{rtt_ms}: {before} {after}"),
            false => assert!(after > before, "{rtt_ms}: {before} {after}"),
        }
    }
}

/// The first sample of 200 ms is not the smaller of two; one moves the smoothed delay by an eighth of 100 ms, 12.5, which is less than 15; the
/// second one makes it 23.4.
#[test]
fn the_delay_is_smoothed_by_an_eighth() {
    let mut flow = Flow::new(40);
    let before = flow.acks(2, 200);
    assert!(before > 40.0);
    assert!(flow.acks(1, 200) < 0.6 * before);
}

/// The inference phase: no growth for three round trips of 100 ms, then Reno's.
#[test]
fn the_window_stands_still_in_the_inference_phase() {
    let mut flow = Flow::new(40);
    let halved = flow.acks(3, 200);
    // An ACK a millisecond.
    assert_eq!(flow.acks(299, 100), halved);
    let grown = flow.acks(30, 100);
    assert!(grown > halved + 0.5 && grown < halved + 2.0, "{halved} {grown}");
}

/// A round trip later, still within the phase, the delay is as high as before: one segment is left. What
/// was acknowledged of the window before does not count.
#[test]
fn a_second_indication_leaves_one_segment() {
    let mut flow = Flow::new(40);
    let halved = flow.acks(3, 200);
    // Another 40 to 42 segments had been sent.
    assert_eq!(flow.acks(38, 200), halved);
    assert_eq!(flow.acks(10, 200), 1.0);
    // It grows when the phase is over, not by slow start.
    flow.acks(295, 100);
    // Slow start would have added one with each of the seven ACKs since.
    assert!((1.0..5.0).contains(&flow.acks(5, 100)));
}

#[test]
fn losses_are_answered_as_by_reno() {
    let mut flow = Flow::new(40);
    let before = flow.c.window.cwnd;
    let in_flight = view(before as u64 / MSS);
    flow.c.on_congestion(&event(Cause::Loss), &in_flight);
    assert_eq!(flow.c.window(), before as u64 / MSS * MSS / 2);
    flow.c.on_congestion(&event(Cause::Timeout), &in_flight);
    assert_eq!(flow.c.window(), MSS);
}

/// A delayed ACK among others, and those of a window of one segment, are no queue.
#[test]
fn delayed_acks_are_no_queue() {
    let mut flow = Flow::new(40);
    let before = flow.c.window.cwnd / MSS as f64;
    for _ in 0..20 {
        flow.acks(1, 300);
        flow.acks(2, 100);
    }
    assert!(flow.c.window.cwnd / MSS as f64 > before);
    let mut flow = Flow::new(40);
    flow.c.window.cwnd = MSS as f64;
    let smoothed = flow.c.law.smoothed;
    flow.acks(1, 300);
    assert_eq!(flow.c.law.smoothed, smoothed);
}

/// Slow start is not left by the delay.
#[test]
fn slow_start_gives_the_largest_delay() {
    let mut c = Lp::new(&LpOptions::default(), 10 * MSS, u64::MAX);
    for rtt_ms in [100, 120, 150, 200] {
        let rtt = Some(Span::from_millis(rtt_ms));
        let seen = PathView { acked: MSS, ..view(10) };
        c.on_ack(&Acked { now: Time::ZERO, bytes: MSS, rtt }, &seen);
    }
    assert_eq!(c.window(), 14 * MSS);
}

fn network(algorithms: &[Algorithm]) -> Network {
    let (rate, rtt) = (Rate::mbit(10), Span::from_millis(40));
    let path = Bottleneck { rate, rtt, buffer: 100, mark_above: None, loss: 0.0 };
    Network::new(path, algorithms, Span::ZERO)
}

/// Alone: the window grows until delta of the buffer is full, and is halved there.
#[test]
fn alone_it_halves_where_the_queue_is_delta_of_the_buffer() {
    for delta in [0.1, 0.15, 0.3, 0.6] {
        let mut n = network(&[Algorithm::Lp(LpOptions { delta, ..LpOptions::default() })]);
        n.run(Span::from_secs(20));
        let mut peaks = Vec::new();
        let mut last = 0.0;
        n.run_with(Span::from_secs(60), |n| {
            let window = n.flows[0].c.window() as f64 / MSS as f64;
            if window < 0.6 * last {
                peaks.push(last);
            }
            last = window;
        });
        // 50 packets in the pipe, and delta of the 100 of the buffer; smoothing is late by some.
        let law = 51.0 + delta * 100.0;
        assert!(peaks.len() > 10);
        let mean = peaks.iter().sum::<f64>() / peaks.len() as f64;
        assert!((0.95..1.1).contains(&(mean / law)), "delta {delta}: {mean} of {law}");
    }
}

/// The paper's claim: beside Reno it takes next to nothing, and Reno has what it has alone.
#[test]
fn beside_reno_it_takes_next_to_nothing() {
    let reno = || Algorithm::Reno(RenoOptions::default());
    let shares = |algorithms: &[Algorithm]| {
        let mut n = network(algorithms);
        n.run(Span::from_secs(20));
        let before: Vec<_> = n.flows.iter().map(|f| f.delivered).collect();
        n.run(Span::from_secs(200));
        let rate = |(f, b): (&crate::testkit::bottleneck::Flow, u64)| {
            (f.delivered - b) as f64 * 8.0 / 200.0 / 1e7
        };
        n.flows.iter().zip(before).map(rate).collect::<Vec<_>>()
    };
    let alone = shares(&[reno()])[0];
    let both = shares(&[reno(), Algorithm::Lp(LpOptions::default())]);
    let lp_alone = shares(&[Algorithm::Lp(LpOptions::default())])[0];
    assert!(both[0] > 0.98 * alone && both[1] < 0.02, "{alone} {both:?}");
    // A buffer of two BDP: the window goes from two thirds of the pipe to it and 0.3 of it more.
    assert!((0.85..0.95).contains(&lp_alone), "{lp_alone}");
}
