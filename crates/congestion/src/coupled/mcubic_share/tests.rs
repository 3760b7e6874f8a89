//! The law by hand, and the equilibria that it is made for.

use super::super::mcubic::{MCubic, MCubicOptions};
use super::{MCubicShare, MCubicShareOptions};
use crate::testkit::{MSS, Path, event, path};
use crate::{Acked, Cause, Controller, Shared, Sibling};
use anabranch_testkit::marks::record;
use anabranch_units::{Span, Time};

const RTT: Span = Span::from_millis(100);

fn sibling(window: u64) -> Sibling {
    let rtt = Some(RTT);
    let state = Shared::default();
    Sibling { window, slow_start: false, mss: MSS, srtt: rtt, min_rtt: rtt, state }
}

/// A window of 100 segments after a loss; K = cbrt(30 / 0.4) s.
fn reduced() -> (MCubicShare, f64) {
    let mut c = MCubicShare::new(&MCubicShareOptions::default(), 100 * MSS, 1);
    c.on_congestion(&event(Cause::Loss), &path(100));
    assert_eq!(c.window(), 70 * MSS);
    (c, libm::cbrt(75.0))
}

/// Windows in segments at each of `seconds`, ten ACKs per round trip, beside siblings
/// whose windows are `others` times its own.
fn at(c: &mut impl Controller, seconds: &[f64], others: &[f64]) -> Vec<f64> {
    let mut found = Vec::new();
    for i in 0.. {
        let now = Span::from_millis(10 * i);
        if now.as_secs_f64() >= seconds[found.len()] {
            found.push(c.window() as f64 / MSS as f64);
            if found.len() == seconds.len() {
                break;
            }
        }
        let window = c.window();
        let siblings: Vec<_> =
            others.iter().map(|part| sibling((part * window as f64) as u64)).collect();
        c.on_siblings(&siblings);
        let acked = Acked { now: Time::ZERO + now, bytes: window / 10, rtt: Some(RTT) };
        c.on_ack(&acked, &path(window / MSS));
    }
    found
}

/// A share of 1: the clock is true.
#[test]
fn alone_it_is_mcubic_alone() {
    let dates = [1.0, 3.0, 4.0, 6.0, 9.0];
    let (mut c, _) = reduced();
    let mut other = MCubic::new(&MCubicOptions::default(), 100 * MSS, 1);
    other.on_congestion(&event(Cause::Loss), &path(100));
    for (ours, theirs) in at(&mut c, &dates, &[]).into_iter().zip(at(&mut other, &dates, &[])) {
        assert!((ours - theirs).abs() < 0.01, "{ours} {theirs}");
    }
}

/// C (tau - K)^3 + Wmax with tau = t s^(4/3): it starts at the reduced window, is back
/// at Wmax after K / s^(4/3), and beyond it the clock is the same.
#[test]
fn the_clock_runs_by_the_share() {
    for others in [&[1.0][..], &[1.0, 1.0], &[0.5], &[3.0]] {
        let share = 1.0 / (1.0 + others.iter().sum::<f64>());
        let (mut c, k) = reduced();
        let pace = share.powf(4.0 / 3.0);
        let dates = [0.2, 0.5, 1.0, 1.3].map(|part| part * k / pace);
        for (window, t) in at(&mut c, &dates, others).into_iter().zip(dates) {
            let expected = 0.4 * (t * pace - k).powi(3) + 100.0;
            assert!((window - expected).abs() < 0.6, "{share}, {t}: {window}, by hand {expected}");
        }
    }
}

/// What claim C6 asks for: the time to the plateau falls when a sibling is congested.
#[test]
fn it_speeds_up_when_a_sibling_is_congested() {
    let window = |other: f64| at(&mut reduced().0, &[4.0], &[other])[0];
    assert!(window(0.5) > window(1.0) + 3.0, "{} {}", window(0.5), window(1.0));
}

/// Beside a sibling of a hundred times its rate it counts with a tenth.
#[test]
fn a_path_is_always_probed() {
    let (tenth, hundredth) =
        (at(&mut reduced().0, &[40.0], &[9.0])[0], at(&mut reduced().0, &[40.0], &[99.0])[0]);
    assert!((tenth - hundredth).abs() < 1e-9, "{tenth} {hundredth}");
    assert!(hundredth > 80.0, "{hundredth}");
}

/// Mean windows, in segments, of paths with periodic losses of rates `p`, over the last
/// half of `epochs` losses on the first. All have the same round-trip time.
fn means(p: &[f64], first: &[u64], epochs: f64) -> Vec<f64> {
    let options = MCubicShareOptions::default();
    let mut paths: Vec<_> = first
        .iter()
        .map(|w| (MCubicShare::new(&options, w * MSS, MSS), Path::new(RTT), 0.0_f64))
        .collect();
    let mut marks = vec![(0, Time::ZERO); p.len()];
    let end = epochs / p[0];
    let mut settled = false;
    // The path that is behind in time is next, so that they live at the same time.
    while (paths[0].1.segments as f64) < end {
        if !settled && paths[0].1.segments as f64 > end / 2.0 {
            marks = paths.iter().map(|(_, path, _)| (path.segments, path.now)).collect();
            settled = true;
        }
        let i = (0..paths.len()).min_by_key(|i| paths[*i].1.now).unwrap();
        let siblings: Vec<_> =
            (0..paths.len()).filter(|j| *j != i).map(|j| sibling(paths[j].0.window())).collect();
        let (c, path, lost) = &mut paths[i];
        c.on_siblings(&siblings);
        path.ack(c);
        *lost += p[i];
        if *lost >= 1.0 {
            *lost -= 1.0;
            path.signal(c, Cause::Loss);
        }
    }
    let rounds = |path: &Path, since: Time| (path.now - since).as_secs_f64() / RTT.as_secs_f64();
    paths
        .iter()
        .zip(&marks)
        .map(|((_, path, _), (segments, since))| {
            (path.segments - segments) as f64 / rounds(path, *since)
        })
        .collect()
}

/// Equal losses: however the windows began, together they are one CUBIC's.
#[test]
fn together_they_are_one_cubic() {
    let p = 5e-4;
    let single = means(&[p], &[100], 40.0)[0];
    for first in [&[50, 50][..], &[75, 25], &[30, 30, 30]] {
        let rates = vec![p; first.len()];
        let total: f64 = means(&rates, first, 80.0).iter().sum();
        let ratio = total / single;
        let what = format!("mcubic-share: all / CUBIC, windows of {first:?} at first");
        record("coupled", &what, 1.0, format!("{ratio:.3}"), "0.1");
        assert!((ratio - 1.0).abs() < 0.1, "{first:?}: {total:.1} / {single:.1} = {ratio:.3}");
    }
}

/// Unequal losses: together they carry what a CUBIC would on the better path, and the
/// worse keeps what its least share gives.
#[test]
fn the_worse_path_is_left() {
    let (better, worse) = (5e-4, 4e-3);
    let alone = means(&[better], &[100], 40.0)[0];
    let found = means(&[better, worse], &[50, 50], 80.0);
    let ratio = found.iter().sum::<f64>() / alone;
    assert!((ratio - 1.0).abs() < 0.1, "{found:.1?} / {alone:.1} = {ratio:.3}");
    assert!(found[1] < 0.1 * found[0], "{found:.1?}");
}
