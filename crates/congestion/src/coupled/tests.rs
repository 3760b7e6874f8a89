//! The formulas by hand, and the equilibria that follow from them.

use super::balia::{Balia, BaliaOptions};
use super::lia::{Lia, LiaOptions};
use super::mcubic::{AfterTimeout, KBeta, MCubic, MCubicOptions};
use super::olia::{Olia, OliaOptions};
use super::wvegas::{Drain, WVegas, WVegasOptions};
use crate::reno::{Reno, RenoOptions};
use crate::testkit::{MSS, Path, event, path};
use crate::{ALGORITHMS, Acked, Algorithm, Cause, Controller, PathView, Shared, Sibling};
use anabranch_testkit::marks::record;
use anabranch_units::{Span, Time};

fn ms(ms: u64) -> Option<Span> {
    Some(Span::from_millis(ms))
}

/// A sibling with a window in segments and a round-trip time.
fn sibling(segments: u64, rtt_ms: u64) -> Sibling {
    Sibling {
        window: segments * MSS,
        slow_start: false,
        mss: MSS,
        srtt: ms(rtt_ms),
        min_rtt: ms(rtt_ms),
        state: Shared::default(),
    }
}

fn view(segments: u64, rtt_ms: u64) -> PathView {
    PathView { srtt: ms(rtt_ms), min_rtt: ms(rtt_ms), ..path(segments) }
}

/// By how many segments an ACK of one segment changes a window of `segments` in
/// congestion avoidance.
fn gain(c: &mut impl Controller, segments: u64, rtt_ms: u64, siblings: &[Sibling]) -> f64 {
    c.on_siblings(siblings);
    let acked = Acked { now: Time::ZERO, bytes: 1000 * MSS, rtt: ms(rtt_ms) };
    let before = c.window();
    // Many segments at once, so that octets show six digits.
    c.on_ack(&acked, &view(segments, rtt_ms));
    (c.window() as f64 - before as f64) / (1000 * MSS) as f64
}

#[track_caller]
fn about(measured: f64, expected: f64) {
    assert!((measured - expected).abs() < 1e-5, "{measured}, by hand {expected}");
}

fn lia(segments: u64) -> Lia {
    Lia::new(&LiaOptions::default(), segments * MSS, 1)
}
fn olia(segments: u64) -> Olia {
    Olia::new(&OliaOptions::default(), segments * MSS, 1)
}
fn balia(segments: u64) -> Balia {
    Balia::new(&BaliaOptions::default(), segments * MSS, 1)
}

/// RFC 6356 §3, (1) and (2); the minimum is taken per ACK, of 1000 segments here.
#[test]
fn lia_by_hand() {
    // 10 and 20 segments, 100 and 200 ms: alpha = 30 1000 / 200^2 = 0.75.
    about(gain(&mut lia(10), 10, 100, &[sibling(20, 200)]) * 1000.0, 1.0); // at most cwnd_i
    let one = |segments: u64, rtt, siblings: &[Sibling]| {
        let mut c = lia(segments);
        c.on_siblings(siblings);
        for _ in 0..1000 {
            c.on_ack(&Acked { now: Time::ZERO, bytes: 1, rtt: None }, &view(segments, rtt));
        }
        (c.window() - segments * MSS) as f64
    };
    // An octet at a time; of a thousand, alpha / total arrive: 25 of 1000.
    assert_eq!(one(10, 100, &[sibling(20, 200)]).round(), 24.0);
    assert_eq!(one(20, 200, &[sibling(10, 100)]).round(), 24.0);
    // Alone it is Reno: a tenth.
    assert_eq!(one(10, 100, &[]).round(), 99.0);
}

/// Equal paths: 1 / (4 w) for two of them, 1 / (n^2 w) for n.
#[test]
fn equal_paths_gain_a_quarter_each() {
    for (c, name) in [(&mut olia(10) as &mut dyn Controller, "olia"), (&mut balia(10), "balia")] {
        c.on_siblings(&[sibling(10, 100)]);
        let before = c.window();
        c.on_ack(&Acked { now: Time::ZERO, bytes: 4 * MSS, rtt: None }, &view(10, 100));
        assert_eq!(c.window() - before, 100, "{name}: 4 segments of 1 / (4 10)");
    }
    let mut c = lia(10);
    c.on_siblings(&[sibling(10, 100)]);
    c.on_ack(&Acked { now: Time::ZERO, bytes: 4 * MSS, rtt: None }, &view(10, 100));
    assert_eq!(c.window(), 10 * MSS + 100);
}

/// (5) and (6): 10 and 20 segments, 100 and 200 ms, equally many octets between
/// losses: path 1 is the best, path 2 has the largest window.
#[test]
fn olia_by_hand() {
    let l = Shared { between_losses: 1e5, ..Shared::default() };
    let with_l = |s: Sibling| Sibling { state: l, ..s };
    let prepared = |segments: u64| {
        let mut c = olia(segments);
        c.law.since = 1e5;
        c
    };
    // 1000 / 200^2 + (1 / 2) / 10
    about(gain(&mut prepared(10), 10, 100, &[with_l(sibling(20, 200))]), 0.075);
    // 500 / 200^2 - (1 / 2) / 20; never below a segment
    let mut c = prepared(20);
    c.on_siblings(&[with_l(sibling(10, 100))]);
    c.on_ack(&Acked { now: Time::ZERO, bytes: 4 * MSS, rtt: None }, &view(20, 200));
    assert_eq!(c.window(), 20 * MSS - 50);
    // The path with the largest window is the best, too: no alpha.
    let mut c = prepared(20);
    c.on_siblings(&[sibling(10, 200)]);
    c.on_ack(&Acked { now: Time::ZERO, bytes: 4 * MSS, rtt: None }, &view(20, 200));
    // 500 / (150)^2 = 0.02222
    assert_eq!(c.window(), 20 * MSS + 88);
}

/// Octets between losses: the last two, or since the last.
#[test]
fn olia_remembers_the_longer_of_two_intervals() {
    let mut c = olia(10);
    let acks = |c: &mut Olia, n| {
        for _ in 0..n {
            c.on_ack(&Acked { now: Time::ZERO, bytes: MSS, rtt: None }, &view(10, 100));
        }
    };
    acks(&mut c, 30);
    c.on_congestion(&event(Cause::Loss), &view(10, 100));
    acks(&mut c, 10);
    assert_eq!(c.shared().between_losses, 30_000.0);
    acks(&mut c, 30);
    assert_eq!(c.shared().between_losses, 40_000.0);
    c.on_congestion(&event(Cause::Loss), &view(10, 100));
    c.on_undo();
    assert_eq!(c.shared().between_losses, 40_000.0);
}

/// 10 segments each, 100 and 200 ms: x = 100 and 50.
#[test]
fn balia_by_hand() {
    about(gain(&mut balia(10), 10, 100, &[sibling(10, 200)]), 1000.0 / 22_500.0);
    about(gain(&mut balia(10), 10, 200, &[sibling(10, 100)]), 250.0 / 22_500.0 * 1.5 * 1.2);
    for (rtt, other, left) in [(100, 200, 5000), (200, 100, 2500), (200, 150, 3333)] {
        let mut c = balia(10);
        c.on_siblings(&[sibling(10, other)]);
        c.on_congestion(&event(Cause::Loss), &view(10, rtt));
        assert_eq!(c.window(), left, "alpha = {rtt} / {other}, at most 1.5");
    }
}

/// A window of 100 segments halves nothing, leaves 70: K = cbrt(30 / 0.4) s.
fn reduced_mcubic() -> (MCubic, f64) {
    let mut c = MCubic::new(&MCubicOptions::default(), 100 * MSS, 1);
    c.on_congestion(&event(Cause::Loss), &view(100, 100));
    assert_eq!(c.window(), 70 * MSS);
    (c, libm::cbrt(75.0))
}

/// Window in segments after `seconds` of ACKs, ten per round trip.
fn after(c: &mut MCubic, seconds: f64, siblings: &[Sibling]) -> f64 {
    for i in 0..(seconds * 100.0) as u64 {
        c.on_siblings(siblings);
        let now = Time::ZERO + Span::from_millis(10 * i);
        let bytes = c.window() / 10;
        c.on_ack(&Acked { now, bytes, rtt: ms(100) }, &view(100, 100));
    }
    c.window() as f64 / MSS as f64
}

/// K' = n K for n equal paths: the window is held for (n - 1) K, and is back at
/// Wmax after n K; alone it is CUBIC.
#[test]
fn mcubic_is_flat_first_and_then_cubic() {
    for n in 1..=3_usize {
        let (mut c, k) = reduced_mcubic();
        let state = Shared { k, ..Shared::default() };
        let siblings = vec![Sibling { state, ..sibling(70, 100) }; n - 1];
        let held = after(&mut c, (n as f64 - 1.0) * k, &siblings);
        let drift = (n as f64 - 1.0) * k / 0.1 / 100.0; // a segment in a hundred windows
        assert!((held - 70.0 - drift).abs() < 0.6, "{n} paths: {held}");
        let (mut c, _) = reduced_mcubic();
        let back = after(&mut c, n as f64 * k, &siblings);
        assert!((back - 100.0).abs() < 0.5, "{n} paths: {back}");
    }
}

/// What the formula says of claim C6: when a sibling's K falls, by a loss in a
/// small window, this path's K' rises; it slows down.
#[test]
fn mcubic_slows_down_when_a_sibling_is_congested() {
    let window = |k_sibling: f64| {
        let (mut c, k) = reduced_mcubic();
        let state = Shared { k: k * k_sibling, ..Shared::default() };
        after(&mut c, 1.8 * k, &[Sibling { state, ..sibling(70, 100) }])
    };
    let (equal, congested) = (window(1.0), window(0.5));
    assert!(congested < equal - 5.0, "{equal} {congested}");
    record("coupled", "mcubic: K' / K at K_j = K, K / 2", "2, 3", "2, 3", "exact");
}

/// A sibling without a plateau counts with the floor, a round-trip time.
#[test]
fn the_floor_of_k_keeps_the_sum_finite() {
    let window = |floor_tenths| {
        let options = MCubicOptions { floor_tenths, ..MCubicOptions::default() };
        let mut c = MCubic::new(&options, 100 * MSS, 1);
        c.on_congestion(&event(Cause::Loss), &view(100, 100));
        after(&mut c, 9.0, &[sibling(70, 100)])
    };
    // K = 4.22 s. A floor of 0.1 s: K' = K + K^2 / 0.1 = 182 s.
    let held = window(10);
    assert!((held - 70.9).abs() < 0.3, "{held}");
    // Of 4.2 s: K' = 2 K, as with an equal path; nine seconds are 0.56 s more.
    let back = window(420);
    assert!((back - 100.1).abs() < 0.5, "{back}");
}

/// The other reading of beta: K = cbrt(70 / 0.4), so that the curve begins below the
/// window and is back at Wmax that much later.
#[test]
fn beta_may_be_the_part_that_is_left() {
    let options = MCubicOptions { k_beta: KBeta::Left, ..MCubicOptions::default() };
    let mut c = MCubic::new(&options, 100 * MSS, 1);
    c.on_congestion(&event(Cause::Loss), &view(100, 100));
    let k = libm::cbrt(175.0);
    let held = after(&mut c, k - libm::cbrt(75.0) - 0.1, &[]);
    assert!((held - 70.1).abs() < 0.6, "{held}");
    let mut c = MCubic::new(&options, 100 * MSS, 1);
    c.on_congestion(&event(Cause::Loss), &view(100, 100));
    let back = after(&mut c, k, &[]);
    assert!((back - 100.0).abs() < 0.5, "{back}");
}

/// What others count after a timeout: the last K, or none; none in any case once the
/// window grows again without a plateau.
#[test]
fn after_a_timeout_k_is_kept_or_zero() {
    for (after_timeout, kept) in [(AfterTimeout::Kept, true), (AfterTimeout::Zero, false)] {
        let options = MCubicOptions { after_timeout, ..MCubicOptions::default() };
        let mut c = MCubic::new(&options, 100 * MSS, 1);
        c.on_congestion(&event(Cause::Loss), &view(100, 100));
        after(&mut c, 0.1, &[]);
        let k = libm::cbrt(75.0);
        assert!((c.shared().k - k).abs() < 0.1, "{}", c.shared().k);
        c.on_congestion(&event(Cause::Timeout), &view(70, 100));
        assert_eq!(c.shared().k > 0.0, kept, "{after_timeout:?}");
        after(&mut c, 20.0, &[]);
        assert_eq!(c.shared().k, 0.0, "{after_timeout:?}");
    }
}

/// wVegas in congestion avoidance with 60 segments: each step is a round trip whose
/// mean is so many microseconds, where the smallest is 100 ms, and gives the window
/// after the round before. A sibling has 50 segments a second.
fn wvegas(drain: Drain) -> (WVegas, impl FnMut(&mut WVegas, u64) -> u64) {
    let options = WVegasOptions { drain, ..WVegasOptions::default() };
    let other = Sibling { state: Shared { rate: 50.0, ..Shared::default() }, ..sibling(5, 100) };
    let mut sent = 0;
    let round = move |c: &mut WVegas, rtt_us: u64| {
        c.on_siblings(&[other]);
        sent += 1000;
        let view = PathView { sent, acked: sent - 1, min_rtt: ms(100), ..view(60, 100) };
        let rtt = Some(Span::from_micros(rtt_us));
        c.on_ack(&Acked { now: Time::ZERO, bytes: MSS, rtt }, &view);
        c.window() / MSS
    };
    (WVegas::new(&options, 60 * MSS, MSS), round)
}

/// The part of `total_alpha` that a path's rate earns.
#[test]
fn wvegas_divides_what_is_kept_in_queues_by_rates() {
    let (mut c, mut round) = wvegas(Drain::Holding);
    // At 200 ms thirty of the sixty segments wait in queues, more than alpha = 2: the
    // rate is 60 / 0.2 = 300 a second, of 350, alpha = 8.57; a segment less.
    round(&mut c, 200_000);
    assert_eq!(round(&mut c, 310_000), 59);
    assert!((c.law.alpha - 10.0 * 300.0 / 350.0).abs() < 1e-9, "{}", c.law.alpha);
    // At 310 ms 40 of the 59; a segment less, and the queue is more than twice as long
    // as it was: 58 base / (2 rtt) = 9.4.
    assert_eq!(round(&mut c, 310_000), 9);
}

/// Less than a packet waits, now a little less and now a little more: nothing is
/// held, so there is nothing to drain. By the letter the window is halved.
#[test]
fn wvegas_drains_no_queue_that_it_does_not_hold() {
    let windows = |drain| {
        let (mut c, mut round) = wvegas(drain);
        [100_100, 100_300, 100_500, 100_050, 100_200].map(|rtt_us| round(&mut c, rtt_us))
    };
    assert_eq!(windows(Drain::Holding), [60, 61, 62, 63, 64]);
    assert_eq!(windows(Drain::Never), [60, 61, 62, 63, 64]);
    // 0.3 ms is more than twice 0.1 ms: 62 base / (2 rtt) = 30.9.
    assert_eq!(windows(Drain::Always), [60, 61, 30, 31, 32]);
}

/// Slow start doubles in each round trip, until a round has more than `gamma`
/// segments in queues: 32 of which 2 wait leave 30 and one.
#[test]
fn wvegas_leaves_slow_start_with_what_the_path_holds() {
    let mut c = WVegas::new(&WVegasOptions::default(), 4 * MSS, u64::MAX);
    let (mut sent, mut acked) = (0, 0);
    let mut round = |c: &mut WVegas, rtt_us: u64| {
        let segments = c.window() / MSS;
        sent += segments * MSS;
        for _ in 0..segments {
            acked += MSS;
            let view = PathView { sent, acked, min_rtt: ms(100), ..view(segments, 100) };
            let rtt = Some(Span::from_micros(rtt_us));
            c.on_ack(&Acked { now: Time::ZERO, bytes: MSS, rtt }, &view);
        }
        c.window() / MSS
    };
    assert_eq!([100_000, 100_000].map(|rtt_us| round(&mut c, rtt_us)), [8, 16]);
    assert_eq!((round(&mut c, 106_666), c.ssthresh()), (32, u64::MAX));
    // The ACK that begins the next round decides: 32 (1 - 100 / 106.666) = 2.
    round(&mut c, 100_000);
    assert_eq!(c.ssthresh() / MSS, 31);
}

/// validation.md: equal paths with equal loss, each subflow's window is half of a
/// TCP's; with n paths the n-th part.
#[test]
fn equal_losses_leave_each_of_two_paths_half_a_window() {
    let p = 1e-3;
    let mut reno = Reno::new(&RenoOptions::default(), 40 * MSS, MSS);
    let single = Path::new(Span::from_millis(100)).periodic_loss(&mut reno, p, 60);
    // The losses of the two paths take turns.
    for name in ["lia", "olia", "balia"] {
        let turns = |i: usize, n: u64| (n + 500 * i as u64).is_multiple_of((1.0 / p) as u64);
        let ratio = mean_window(name, 2, turns) / single;
        let what = format!("{name}: subflow's window / TCP's, periodic losses");
        record("coupled", &what, 0.5, format!("{ratio:.3}"), "0.025");
        assert!((ratio - 0.5).abs() < 0.025, "{name}: {ratio:.3}");
    }
}

/// The same with losses at random, as often. LIA's alpha is that of the best path:
/// what one window is above the other the sum gains.
#[test]
fn random_losses_leave_each_of_two_paths_about_half_a_window() {
    let p = 1e-3;
    let single = mean_window("reno", 1, random(p));
    for (name, tolerance) in [("lia", 0.07), ("olia", 0.03), ("balia", 0.04)] {
        let ratio = mean_window(name, 2, random(p)) / single;
        let what = format!("{name}: subflow's window / TCP's, random losses");
        record("coupled", &what, 0.5, format!("{ratio:.3}"), &tolerance.to_string());
        assert!((ratio - 0.5).abs() < tolerance, "{name}: {ratio:.3}");
    }
}

/// Whether a segment is lost, with probability `p`: xorshift64* by Vigna.
fn random(p: f64) -> impl FnMut(usize, u64) -> bool {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move |_, _| {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / ((1_u64 << 53) as f64) < p
    }
}

/// The mean window of paths of 100 ms in the second half of so many round trips;
/// `lost` says of a path and a number of its segments whether that is.
fn mean_window(name: &str, count: usize, mut lost: impl FnMut(usize, u64) -> bool) -> f64 {
    const ROUNDS: f64 = 40_000.0;
    let algorithm = Algorithm::from_name(name).unwrap();
    let mut paths: Vec<_> = (0..count as u64)
        .map(|i| (algorithm.build((20 + 4 * i) * MSS, MSS), Path::new(Span::from_millis(100))))
        .collect();
    let mut segments = vec![0; count];
    let mut before = 0;
    loop {
        // In the order of time: a larger window has more segments.
        let i = (0..count).min_by_key(|i| paths[*i].1.now).unwrap();
        let done = rounds(&paths[i].1);
        let total = segments.iter().sum::<u64>();
        if done < ROUNDS / 2.0 {
            before = total;
        } else if done >= ROUNDS {
            return (total - before) as f64 / (ROUNDS / 2.0) / count as f64;
        }
        let others = paths.iter().enumerate().filter(|(j, _)| *j != i);
        let siblings: Vec<_> = others
            .map(|(_, (c, _))| Sibling { window: c.window(), state: c.shared(), ..sibling(1, 100) })
            .collect();
        let (c, path) = &mut paths[i];
        c.on_siblings(&siblings);
        path.ack(c);
        segments[i] += 1;
        if lost(i, segments[i]) {
            path.signal(c, Cause::Loss);
        }
    }
}

/// Round trips so far.
fn rounds(path: &Path) -> f64 {
    (path.now - Time::ZERO).as_secs_f64() / 0.1
}

/// Without siblings each is a single-path algorithm, and says that it is coupled.
#[test]
fn coupled_algorithms_say_so() {
    let coupled: Vec<_> = ALGORITHMS
        .iter()
        .filter(|info| Algorithm::from_name(info.name).unwrap().build(MSS, 1).is_coupled())
        .map(|info| info.name)
        .collect();
    assert_eq!(
        coupled,
        ["lia", "olia", "balia", "wvegas", "mcubic", "mcubic-share", "coupled-bbr", "d-lia"]
    );
}

/// D-LIA: equal losses in turn halve its windows as they do LIA's. At random some follow each other soon, and take less: the
/// windows are larger than LIA's, so that two of them are together more than a TCP.
#[test]
fn d_lia_is_lia_where_losses_are_regular() {
    let p = 1e-3;
    let turns = |i: usize, n: u64| (n + 500 * i as u64).is_multiple_of((1.0 / p) as u64);
    let ratio = |lost: &dyn Fn() -> Box<dyn FnMut(usize, u64) -> bool>| {
        mean_window("d-lia", 2, lost()) / mean_window("lia", 2, lost())
    };
    let (regular, at_random) = (ratio(&|| Box::new(turns)), ratio(&|| Box::new(random(p))));
    record("coupled", "d-lia: window / LIA's, periodic losses", 1, format!("{regular:.3}"), "0.1");
    assert!((regular - 1.0).abs() < 0.1, "{regular:.3}");
    let single = mean_window("reno", 1, random(p));
    let of_tcp = mean_window("d-lia", 2, random(p)) / single;
    let what = "d-lia: subflow's window / TCP's, random losses";
    record("coupled", what, "> 0.5", format!("{of_tcp:.3}"), "no bound in the source");
    assert!(at_random > 1.1 && of_tcp > 0.6, "{at_random:.3} {of_tcp:.3}");
}
