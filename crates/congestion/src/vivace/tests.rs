use super::*;
use crate::Algorithm;
use crate::testkit::MSS;
use crate::testkit::bottleneck::{Bottleneck, Network};

fn interval(mbit: f64, slope: f64, lost: u64) -> Interval {
    let mut line = Slope::default();
    for i in 0..20 {
        let t = 5.0 + f64::from(i) * 0.01;
        line.add(t, 0.1 + slope * t);
    }
    Interval {
        purpose: Purpose::Start,
        rate: mbit * MBIT,
        started: Time::ZERO,
        packets: 100,
        octets: 100 * MSS,
        ended: None,
        delivered: (100 - lost) * MSS,
        lost: lost * MSS,
        slope: line,
    }
}

/// §3: u = x^0.9 - 900 x d(RTT)/dT - 11.35 x L; less than 0.01 of a slope is none.
#[test]
fn the_utility_is_that_of_the_paper() {
    let options = VivaceOptions::default();
    for (mbit, slope, lost, law) in [
        (1.0, 0.0, 0, 1.0),
        (100.0, 0.0, 0, 63.0957),
        (100.0, 0.009, 0, 63.0957),
        (100.0, 0.02, 0, 63.0957 - 1800.0),
        (100.0, -0.02, 0, 63.0957 + 1800.0),
        (100.0, 0.0, 5, 63.0957 - 56.75),
        (10.0, 0.1, 10, 7.9433 - 900.0 - 11.35),
    ] {
        let found = interval(mbit, slope, lost).utility(&options);
        assert!((found - law).abs() < 1e-3, "{mbit} {slope} {lost}: {found} of {law}");
    }
}

fn state(mbit: f64) -> State {
    let mut state = *Vivace::new(&VivaceOptions::default(), 10 * MSS, u64::MAX).0;
    state.rate = mbit * MBIT;
    state
}

/// §4.2: moves by gamma, 2 gamma, 3 gamma, 5 gamma, 7 gamma Mbit/s; a turn begins with gamma.
#[test]
fn the_confidence_amplifier_counts_moves_in_a_direction() {
    let mut state = state(1000.0);
    let mut rate = 1000.0;
    for amplifier in [1.0, 2.0, 3.0, 5.0, 7.0] {
        state.climb(0.5);
        rate += amplifier * 0.5;
        assert!((state.rate / MBIT - rate).abs() < 1e-6, "{amplifier}: {}", state.rate / MBIT);
    }
    state.climb(-0.5);
    assert!((state.rate / MBIT - (rate - 0.5)).abs() < 1e-6);
}

/// §4.3: at most 0.05, then 0.15, 0.25 of the rate; a smaller move and a turn bring the bound back.
#[test]
fn the_boundary_grows_while_it_is_reached() {
    let mut state = state(10.0);
    let mut part = |gradient: f64| {
        let before = state.rate;
        state.climb(gradient);
        ((state.rate / before - 1.0) * 1e6).round() / 1e6
    };
    assert_eq!([part(100.0), part(100.0), part(100.0)], [0.05, 0.15, 0.25]);
    // m = 5 of 13.9 Mbit/s: 0.1 of the rate is a move of k = 1.
    let rate = 10.0 * 1.05 * 1.15 * 1.25;
    assert!((part(0.1 * rate / 5.0) - 0.1).abs() < 1e-6);
    assert_eq!(part(100.0), 0.15);
    assert_eq!([part(-100.0), part(-100.0)], [-0.05, -0.15]);
}

/// The slope of points on a line, and of one point.
#[test]
fn the_slope_is_that_of_a_regression() {
    let mut line = Slope::default();
    line.add(1000.0, 0.1);
    assert_eq!(line.slope(), 0.0);
    for (t, rtt) in [(1000.1, 0.12), (1000.2, 0.11), (1000.3, 0.13)] {
        line.add(t, rtt);
    }
    // Means 0.15 and 0.015; sum of products 0.004, of squares 0.05.
    assert!((line.slope() - 0.08).abs() < 1e-9, "{}", line.slope());
}

/// A link of its own: the rate it settles at, the mean of packets found in the queue, and losses a
/// second.
fn alone(
    mbit: u64,
    rtt_ms: u64,
    buffer: usize,
    loss: f64,
    options: VivaceOptions,
) -> (f64, f64, u64) {
    let path = Bottleneck {
        rate: Rate::mbit(mbit),
        rtt: Span::from_millis(rtt_ms),
        buffer,
        mark_above: None,
        loss,
    };
    let mut n = Network::new(path, &[Algorithm::Vivace(options)], Span::ZERO);
    n.run(Span::from_secs(30));
    n.queue.clear();
    let before = n.dropped;
    let used = n.utilisation(Span::from_secs(60));
    let queue = n.queue.iter().map(|(_, q)| *q as f64).sum::<f64>() / n.queue.len() as f64;
    (used, queue, (n.dropped - before) / 60)
}

/// §6.1: the link is used and the queue short, whatever the buffer is; nearly so where a move of a Mbit/s is
/// a tenth of the rate.
#[test]
fn alone_it_fills_the_link_and_keeps_the_queue_short() {
    for (mbit, rtt_ms, least) in
        [(1, 10, 0.9), (10, 40, 0.85), (10, 100, 0.85), (100, 10, 0.92), (100, 100, 0.92)]
    {
        let bdp = (mbit * rtt_ms * 125 / MSS) as usize;
        for buffer in [bdp.max(20), 5 * bdp.max(20)] {
            let (used, queue, _) = alone(mbit, rtt_ms, buffer, 0.0, VivaceOptions::default());
            let what = format!("{mbit} Mbit/s, {rtt_ms} ms, {buffer}: {used} {queue}");
            assert!((least..=1.0).contains(&used), "{what}");
            assert!(queue < bdp.max(3) as f64, "{what}");
        }
    }
}

/// Vivace-loss (§3): without the term of delay nothing holds the rate before the buffer is full.
#[test]
fn without_the_term_of_delay_the_buffer_is_full() {
    let options = VivaceOptions { latency: 0.0, ..VivaceOptions::default() };
    for (mbit, most) in [(10, 400), (100, 4000)] {
        let buffer = (mbit * 40 * 125 / MSS) as usize;
        let (used, queue, lost) = alone(mbit, 40, buffer, 0.0, options);
        assert!(used > 0.95 && queue > 0.5 * buffer as f64, "{mbit}: {used} {queue}");
        // Of 1250 or 12500 packets a second.
        assert!(lost < most, "{mbit}: {lost}");
    }
}

/// §6.1.2: losses by chance, which halve the rate of a Reno flow again and again, cost a part.
#[test]
fn losses_by_chance_cost_a_part() {
    for (loss, least) in [(0.01, 0.7), (0.03, 0.6)] {
        let (used, ..) = alone(10, 40, 100, loss, VivaceOptions::default());
        assert!(used > least, "{loss}: {used}");
    }
    let (none, ..) = alone(10, 40, 100, 0.2, VivaceOptions::default());
    assert!(none < 0.3, "a loss of 0.2 is more than the utility bears: {none}");
}

/// §4.4: flows converge to equal shares.
#[test]
fn flows_share() {
    let (rate, rtt) = (Rate::mbit(20), Span::from_millis(40));
    let path = Bottleneck { rate, rtt, buffer: 200, mark_above: None, loss: 0.0 };
    for flows in [2, 4] {
        let algorithm = Algorithm::Vivace(VivaceOptions::default());
        let mut n = Network::new(path, &vec![algorithm; flows], Span::from_secs(10));
        n.run(Span::from_secs(60));
        let before: Vec<_> = n.flows.iter().map(|f| f.delivered).collect();
        n.run(Span::from_secs(200));
        let share = |(f, b): (&crate::testkit::bottleneck::Flow, u64)| {
            (f.delivered - b) as f64 * 8.0 / 200.0 / 20e6 * flows as f64
        };
        let shares: Vec<_> = n.flows.iter().zip(before).map(share).collect();
        assert!(shares.iter().all(|share| (0.75..1.15).contains(share)), "{shares:?}");
    }
}

/// What is due to the sender: a rate from the start, a window of two round trips, a segment after
/// a timeout.
#[test]
fn the_window_is_no_limit_but_after_a_timeout() {
    use crate::testkit::{event, feedback, path};
    let mut c = Vivace::new(&VivaceOptions::default(), 10 * MSS, u64::MAX);
    assert_eq!(c.pacing_rate(None).map(Rate::as_bps), Some(10 * 8000 * 1000));
    c.on_sent(Time::ZERO, MSS, &path(0));
    c.on_feedback(&feedback(Time::ZERO + Span::from_millis(100), MSS), &path(9));
    // Ten segments in 100 ms.
    assert_eq!(c.pacing_rate(None).map(Rate::as_bps), Some(800_000));
    assert_eq!(c.window(), 21 * MSS);
    c.on_congestion(&event(Cause::Loss), &path(9));
    assert_eq!(c.window(), 21 * MSS);
    c.on_congestion(&event(Cause::Timeout), &path(9));
    assert_eq!((c.window(), c.pacing_rate(None).map(Rate::as_bps)), (MSS, Some(400_000)));
}
