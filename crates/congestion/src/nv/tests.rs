use super::*;
use crate::testkit::bottleneck::{Bottleneck, Network};
use crate::testkit::{MSS, event, feedback, path as view};
use crate::{Algorithm, Controller, RateSample};
use anabranch_units::Rate;

/// A window over a round trip of 100 ms, and what its sender counts in segments.
struct Flow {
    c: Nv,
    now: Time,
    acked: u64,
}

impl Flow {
    fn new(segments: u64, ssthresh: u64) -> Flow {
        let c = Nv::new(&NvOptions::default(), segments * MSS, ssthresh);
        Flow { c, now: Time::ZERO + Span::from_secs(1), acked: 0 }
    }

    /// ACKs of a segment each, in the flights of which so many segments were delivered, and
    /// the window after them, in segments.
    fn acks(&mut self, segments: u64, delivered: u64, rtt_ms: u64) -> f64 {
        for _ in 0..segments {
            self.acked += 1;
            self.now += Span::from_millis(1);
            let window = self.c.window() / MSS;
            let sent = (self.acked + window) * MSS;
            let view = PathView { sent, acked: self.acked * MSS, ..view(window) };
            let rtt = Some(Span::from_millis(rtt_ms));
            self.c.on_ack(&Acked { now: self.now, bytes: MSS, rtt }, &view);
            let rate = Some(RateSample {
                delivered: delivered * MSS,
                interval: Span::from_millis(rtt_ms),
                prior_delivered: 0,
                total_delivered: 0,
                app_limited: false,
                tx_in_flight: 0,
                lost: 0,
            });
            self.c.on_feedback(&crate::Feedback { rtt, rate, ..feedback(self.now, MSS) }, &view);
        }
        self.c.window.cwnd / MSS as f64
    }
}

/// 100 segments in a flight of 100 ms, the smallest: the window needed is 100, and 110 are allowed. Of 200
/// there are 90 too many, of which a decision takes 0.3: 27.
#[test]
fn a_part_of_what_is_too_much_goes() {
    let mut flow = Flow::new(200, 2 * MSS);
    flow.c.law.0.grows = false;
    // The first ACK begins a round trip, of 200 segments; the third round trip is the second whole one.
    assert_eq!(flow.acks(201, 100, 100), 200.0);
    let window = flow.acks(200, 100, 100);
    assert!((window - 173.0).abs() < 1e-9, "{window}");
    assert!((flow.c.ssthresh() as f64 / MSS as f64 - 110.0).abs() < 0.01);
    // Two or fewer too many go at once.
    flow.c.window.cwnd = 111.5 * MSS as f64;
    let window = flow.acks(400, 100, 100);
    assert!((window - 110.0).abs() < 1e-9, "{window}");
}

/// 60 ACKs in congestion avoidance and 30 in slow start have to be there, and two round trips.
#[test]
fn a_decision_needs_enough_acknowledgments() {
    for (ssthresh, segments, shrinks) in [(2 * MSS, 59, false), (2 * MSS, 61, true)] {
        let mut flow = Flow::new(40, ssthresh);
        flow.c.law.0.grows = false;
        flow.c.law.0.decides = false;
        flow.acks(segments, 5, 100);
        // Two round trips are over.
        flow.c.law.0.decides = true;
        flow.c.law.0.rounds = 1;
        let window = flow.acks(1, 5, 100);
        assert_eq!(window < 40.0, shrinks, "{segments}");
    }
    let mut flow = Flow::new(40, u64::MAX);
    flow.c.law.0.grows = false;
    flow.acks(90, 5, 100);
    assert!(flow.c.window() < 40 * MSS && flow.c.ssthresh() == 15 * MSS);
}

/// From 108 on, two below 110, the window stands still; below it grows by a segment a round trip.
#[test]
fn near_the_pad_the_window_stands_still() {
    let mut flow = Flow::new(100, 2 * MSS);
    let mut windows = Vec::new();
    for _ in 0..30 {
        windows.push(flow.acks(100, 100, 100));
    }
    let last = windows[29];
    // Growth stops only where a decision finds too much, or nothing decides: between it goes on.
    assert!((108.0..112.0).contains(&last), "{windows:?}");
    let grown = windows[3] - windows[2];
    assert!((0.9..=1.0).contains(&grown), "{windows:?}");
}

#[test]
fn a_loss_leaves_four_fifths_and_stops_growth() {
    let mut flow = Flow::new(100, 2 * MSS);
    flow.acks(100, 100, 100);
    let in_flight = view(100);
    flow.c.on_congestion(&event(Cause::Loss), &in_flight);
    assert_eq!(flow.c.window(), 80 * MSS);
    assert_eq!(flow.acks(20, 80, 100), 80.0);
    // 20 ACKs and a round trip later it may grow again.
    assert!(flow.acks(120, 80, 100) > 80.0);
}

/// Each timeout halves growth; after eight decisions to grow it doubles.
#[test]
fn timeouts_slow_growth_down() {
    let mut flow = Flow::new(100, 2 * MSS);
    for slower in 1..=10_u32 {
        flow.c.on_congestion(&event(Cause::Timeout), &view(100));
        assert_eq!(flow.c.law.0.slower, slower.min(8));
        flow.acks(1, 1, 100);
    }
    flow.c.law.0.slower = 1;
    let mut law = flow.c.law.clone();
    let acked = Acked { now: flow.now, bytes: MSS, rtt: None };
    assert_eq!(law.avoid(100.0 * MSS as f64, &acked, &view(100)), MSS as f64 / 200.0);
    let mut window = Window { cwnd: 20.0 * MSS as f64, ssthresh: 0.0 };
    for decision in 1..=9 {
        law.0.calls = 20;
        (law.0.max_rate, law.0.min_rtt) = (1000.0 * MSS as f64, 0.1);
        law.0.decide(&mut window, MSS as f64);
        assert_eq!(law.0.slower, u32::from(decision < 9), "{decision}");
    }
    assert_eq!(law.avoid(2.0 * MSS as f64, &acked, &view(2)), MSS as f64 / 4.0);
}

/// Up to ten segments of a flow wait as long as its smallest round-trip time is that of the empty path. As
/// nothing empties the queue it is forgotten, and ten more wait.
#[test]
fn a_flow_keeps_its_pad_until_it_forgets_the_empty_path() {
    let (rate, rtt) = (Rate::mbit(100), Span::from_millis(2));
    let path = Bottleneck { rate, rtt, buffer: 10_000, mark_above: None, loss: 0.0 };
    let mut n = Network::new(path, &[Algorithm::Nv(NvOptions::default())], Span::ZERO);
    n.run(Span::from_millis(300));
    let mut mean = |span| {
        n.queue.clear();
        assert!(n.utilisation(span) > 0.98);
        n.queue.iter().map(|(_, q)| *q as f64).sum::<f64>() / n.queue.len() as f64
    };
    let first = mean(Span::from_secs(1));
    mean(Span::from_secs(30));
    let later = mean(Span::from_secs(10));
    println!(
        "nv: packets that wait {first:.1}, after 31 s {later:.1}, bdp {}",
        rate.bytes_in(rtt).0 / MSS
    );
    assert!((7.0..=11.0).contains(&first), "{first}");
    assert!(later > 2.0 * first, "{later}");
}
