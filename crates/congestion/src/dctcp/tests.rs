use super::*;
use crate::testkit::bottleneck::{Bottleneck, Network};
use crate::testkit::{MSS, event, feedback, path};
use crate::{Algorithm, Controller};
use anabranch_testkit::marks::record;
use anabranch_units::{Rate, Span, Time};

/// Windows of ten segments, the first `marked` of each marked.
fn windows(c: &mut Dctcp, from: u64, n: u64, marked: u64) {
    for window in from..from + n {
        for i in 1..=10 {
            let acked = (window * 10 + i) * MSS;
            let view = PathView { sent: (window * 10 + 9 + i) * MSS, acked, ..path(10) };
            // The ACK that ends a window is counted to it (§3.3).
            let marked = if (2..marked + 2).contains(&i) { MSS } else { 0 };
            c.on_feedback(&Feedback { marked, ..feedback(Time::ZERO, MSS) }, &view);
        }
    }
}

#[test]
fn alpha_follows_the_marked_fraction() {
    // §3.3: alpha = alpha (1 - g) + g M. The very first ACK ends a window of
    // its own, unmarked.
    let mut c = Dctcp::new(&DctcpOptions::default(), 10 * MSS, MSS);
    windows(&mut c, 0, 4, 3);
    let mut alpha = 1.0 - 1.0 / 16.0;
    for _ in 0..3 {
        alpha = alpha * 15.0 / 16.0 + 0.3 / 16.0;
    }
    assert!((c.law.alpha - alpha).abs() < 1e-12, "{}, expected {alpha}", c.law.alpha);
    windows(&mut c, 4, 400, 3);
    assert!((c.law.alpha - 0.3).abs() < 1e-9, "{}", c.law.alpha);
}

#[test]
fn a_mark_takes_half_of_alpha_and_a_loss_half() {
    let mut c = Dctcp::new(&DctcpOptions::default(), 100 * MSS, MSS);
    windows(&mut c, 0, 400, 2);
    c.on_congestion(&event(Cause::EcnMark), &path(100));
    assert!(c.window().abs_diff(90 * MSS) <= 1, "{}", c.window());
    c.on_congestion(&event(Cause::Loss), &path(90));
    assert_eq!(c.window(), 45 * MSS);
}

#[test]
fn the_first_mark_halves() {
    // §4.2: alpha is 1 at first. ABE has no part in it.
    let common = Common { ecn_beta: Some(0.8), ..Common::default() };
    let options = DctcpOptions { common, ..DctcpOptions::default() };
    let mut c = Dctcp::new(&options, 100 * MSS, u64::MAX);
    c.on_congestion(&event(Cause::EcnMark), &path(100));
    assert_eq!(c.window(), 50 * MSS);
}

/// What N long flows that start together do to a queue with the threshold `k`
/// at 10 Gbit/s and 100 us: (least, most, oscillations, utilisation) in 100 ms.
fn queue_of(n: usize, k: usize) -> (f64, f64, f64, f64) {
    let path = Bottleneck {
        rate: Rate::gbit(10),
        rtt: Span::from_micros(100),
        buffer: 10_000,
        mark_above: Some(k),
        loss: 0.0,
    };
    let dctcp = Algorithm::Dctcp(DctcpOptions::default());
    let mut network = Network::new(path, &vec![dctcp; n], Span::ZERO);
    network.run(Span::from_millis(100));
    network.queue.clear();
    let utilisation = network.utilisation(Span::from_millis(100));
    let packets = || network.queue.iter().map(|(_, packets)| *packets);
    // From below the threshold to above it.
    let (mut low, mut oscillations) = (false, 0.0);
    for packets in packets() {
        if low && packets > k {
            oscillations += 1.0;
        }
        low = if packets > k { false } else { low || packets + n / 2 < k };
    }
    let (least, most) = (packets().min().unwrap(), packets().max().unwrap());
    (least as f64, most as f64, oscillations, utilisation)
}

#[test]
fn the_queue_of_long_flows_is_that_of_the_analysis() {
    // Alizadeh et al., "Data Center TCP", SIGCOMM 2010, §3.3, for N flows in
    // step: most K + N; amplitude 1/2 sqrt(2 N (C R + K)); a period of
    // 1/2 sqrt(2 (C R + K) / N) round trips. C R = 125 packets here. The
    // analysis holds for large windows, alpha = sqrt(2 / W): W is 82 to 95
    // for two flows, 16 to 19 for ten, 4 for forty, where it is far off.
    for (n, k, of_amplitude, of_period) in [
        (2, 40, 0.15, 0.06),
        (2, 65, 0.07, 0.04),
        (5, 40, 0.10, 0.30),
        (10, 40, 0.23, 0.61),
        (10, 65, 0.21, 0.56),
        (40, 40, 0.40, 1.72),
    ] {
        let (least, most, oscillations, utilisation) = queue_of(n, k);
        let (n, k) = (n as f64, k as f64);
        let name = |what| format!("{what}, N = {n}, K = {k}, 10 Gbit/s, 100 us");
        record("T10", &name("largest queue"), k + n, most, "exact");
        assert_eq!(most, k + n, "N = {n}, K = {k}");
        let amplitude = 0.5 * (2.0 * n * (125.0 + k)).sqrt();
        let mark = format!("{:.0} %", of_amplitude * 100.0);
        record("T10", &name("amplitude"), format!("{amplitude:.1}"), most - least, &mark);
        let error = (most - least) / amplitude - 1.0;
        assert!(error.abs() < of_amplitude, "N = {n}, K = {k}: amplitude {error:+.2}");
        let rtt = 100e-6 + (most + least) / 2.0 * 0.8e-6;
        let period = 0.5 * (2.0 * (125.0 + k) / n).sqrt() * rtt;
        let measured = 0.1 / oscillations;
        let (in_us, mark) = (|s: f64| format!("{:.0} us", s * 1e6), of_period * 100.0);
        let mark = format!("{mark:.0} %");
        record("T10", &name("period"), in_us(period), in_us(measured), &mark);
        let error = measured / period - 1.0;
        assert!(error.abs() < of_period, "N = {n}, K = {k}: period {error:+.2}");
        assert!(utilisation > 0.998, "K > C R / 7 = 18: {utilisation}");
    }
}
