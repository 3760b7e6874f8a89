use super::*;
use crate::Controller;
use crate::testkit::{MSS, Path, ack, event, path};
use anabranch_units::Span;

const RTT: Span = Span::from_millis(100);

fn at(ms: u64, bytes: u64) -> Acked {
    Acked { now: Time::ZERO + Span::from_millis(ms), ..ack(bytes) }
}

/// In congestion avoidance with a window of `segments`.
fn cubic(options: &CubicOptions, segments: u64) -> Cubic {
    Cubic::new(options, segments * MSS, MSS)
}

/// After one loss at `segments`.
fn reduced(options: &CubicOptions, segments: u64) -> Cubic {
    let mut c = cubic(options, segments);
    c.on_congestion(&event(Cause::Loss), &path(segments));
    c
}

/// Windows of whole segments.
fn whole() -> CubicOptions {
    let common = Common { whole_segments: true, ..Common::default() };
    CubicOptions { common, ..plain() }
}

fn plain() -> CubicOptions {
    CubicOptions { fast_convergence: false, reno_friendly: false, ..CubicOptions::default() }
}

#[test]
fn a_loss_leaves_seven_tenths_and_the_curve_returns_to_the_plateau_after_k() {
    // §4.2: K = cbrt((100 - 70) / 0.4) = 4.217 s.
    let mut c = reduced(&plain(), 100);
    assert_eq!((c.window(), c.ssthresh()), (70 * MSS, 70 * MSS));
    let mut flow = Path::new(RTT);
    flow.ack(&mut c);
    assert!((c.law.now.plateau.k - 4.217).abs() < 0.001, "{}", c.law.now.plateau.k);
    let epoch = flow.now;
    for (seconds, window) in [(1.0, 86.7), (2.0, 95.6), (4.217, 100.0), (6.217, 103.2)] {
        // C (t - K)^3 + W_max, followed within the lead of one round trip.
        while (flow.now - epoch).as_secs_f64() < seconds {
            flow.ack(&mut c);
        }
        let measured = c.window() as f64 / MSS as f64;
        assert!((measured - window).abs() < 0.2, "{measured}, expected {window} at {seconds} s");
    }
}

#[test]
fn an_ack_moves_the_window_by_its_share_of_the_way_to_the_target() {
    // §4.4: (target - cwnd) / cwnd, target = W_cubic(t + RTT).
    let mut c = reduced(&plain(), 100);
    c.on_ack(&at(0, MSS), &path(70));
    let d = 0.1 - libm::cbrt(30.0 / 0.4);
    let target = 100.0 + 0.4 * d * d * d;
    let expected = 70.0 + (target - 70.0) / 70.0;
    assert_eq!(c.window(), (expected * MSS as f64) as u64);
}

#[test]
fn the_target_is_at_most_half_a_window_away_and_never_below() {
    // §4.2: long after the plateau the target is 1.5 cwnd.
    let mut c = reduced(&plain(), 100);
    c.on_ack(&at(0, MSS), &path(70));
    let before = c.window.cwnd;
    c.on_ack(&at(60_000, MSS), &path(70));
    assert!((c.window.cwnd - before - 0.5 * MSS as f64).abs() < 1e-6, "{}", c.window.cwnd - before);
    // A window above the curve waits for it.
    let mut c = reduced(&plain(), 100);
    c.on_ack(&at(0, MSS), &path(70));
    c.window.cwnd = 99.0 * MSS as f64;
    c.on_ack(&at(1, MSS), &path(99));
    assert_eq!(c.window(), 99 * MSS);
}

#[test]
fn an_ack_for_more_than_a_window_stops_at_the_target() {
    let mut c = reduced(&plain(), 100);
    c.on_ack(&at(0, MSS), &path(70));
    c.on_ack(&at(60_000, 500 * MSS), &path(70));
    assert!(c.window.cwnd <= 1.5 * 71.0 * MSS as f64);
}

#[test]
fn with_a_short_round_trip_the_window_is_reno_s() {
    // §4.3: W_est gains alpha_cubic = 0.529 a round until it is back at
    // cwnd_prior, then 1 a round.
    let options = CubicOptions { reno_friendly: true, ..plain() };
    let mut c = reduced(&options, 40);
    let mut flow = Path::new(Span::from_millis(5));
    let mut gains = [0.0; 2];
    for gain in &mut gains {
        let before = c.window.cwnd;
        for _ in 0..10 {
            flow.round(&mut c);
        }
        *gain = (c.window.cwnd - before) / MSS as f64 / 10.0;
        while c.window.cwnd < c.law.now.cwnd_prior {
            flow.round(&mut c);
        }
    }
    assert!((gains[0] - 0.529).abs() < 0.02, "{gains:?}");
    assert!((gains[1] - 1.0).abs() < 0.04, "{gains:?}");
}

#[test]
fn as_in_linux_the_reno_window_keeps_its_increase() {
    // RFC 8312 §4.2: W_est gains 0.529 a round, above cwnd_prior too.
    let options =
        CubicOptions { reno_friendly: true, reno_increase: RenoIncrease::Kept, ..plain() };
    let mut c = reduced(&options, 40);
    let mut flow = Path::new(Span::from_millis(5));
    while c.window.cwnd < 45.0 * MSS as f64 {
        flow.round(&mut c);
    }
    let before = c.window.cwnd;
    (0..10).for_each(|_| flow.round(&mut c));
    let gain = (c.window.cwnd - before) / MSS as f64 / 10.0;
    assert!((gain - 0.529).abs() < 0.02, "{gain}");
}

/// `bictcp_update`: the way to the Reno-friendly window is gone in a round trip,
/// as that to the curve is, and the faster of the two counts.
#[test]
fn as_in_linux_the_window_is_a_round_behind_that_of_reno() {
    let with = |reno_step| {
        let options = CubicOptions { reno_friendly: true, reno_step, ..plain() };
        let mut c = reduced(&options, 10);
        let mut flow = Path::new(Span::from_millis(5));
        (0..4).for_each(|_| flow.round(&mut c));
        c
    };
    let c = with(RenoStep::AtOnce);
    assert_eq!(c.window.cwnd, c.law.now.w_est);
    // A round's growth of W_est is what is missing.
    let c = with(RenoStep::InARound);
    let behind = (c.law.now.w_est - c.window.cwnd) / MSS as f64;
    assert!((0.45..0.6).contains(&behind), "{behind}");
}

#[test]
fn as_in_linux_a_window_without_a_plateau_grows_by_a_twentieth() {
    let options = CubicOptions { least_first_growth: 5, ..plain() };
    let gain = |c: &mut Cubic, flow: &mut Path| {
        let before = c.window.cwnd;
        flow.round(c);
        c.window.cwnd / before - 1.0
    };
    // Slow start was left without a loss; the curve alone would add 0.04 % in the second round.
    let mut c = cubic(&options, 100);
    c.window.ssthresh = 100.0 * MSS as f64;
    let mut flow = Path::new(RTT);
    for _ in 0..3 {
        let first = gain(&mut c, &mut flow);
        assert!((0.048..0.052).contains(&first), "{first}");
    }
    // A loss shows a plateau; a timeout forgets it; an undo brings back what was known.
    c.on_congestion(&event(Cause::Loss), &path(100));
    assert!(!(0.048..0.052).contains(&gain(&mut c, &mut flow)));
    c.on_congestion(&event(Cause::Timeout), &path(100));
    assert!(!c.law.is_known);
    c.on_undo();
    assert!(c.law.is_known);
}

#[test]
fn fast_convergence_lowers_the_plateau_of_a_flow_that_lost_before_reaching_it() {
    // §4.7: W_max = cwnd (1 + beta_cubic) / 2.
    for (fast_convergence, plateau) in [(false, 70.0), (true, 59.5)] {
        let mut c = reduced(&CubicOptions { fast_convergence, ..plain() }, 100);
        c.on_congestion(&event(Cause::Loss), &path(70));
        assert!(
            (c.law.now.plateau.w_max / MSS as f64 - plateau).abs() < 1e-9,
            "{}",
            c.law.now.plateau.w_max
        );
        assert_eq!(c.window(), 49 * MSS);
    }
}

#[test]
fn a_timeout_starts_a_stage_whose_plateau_is_where_it_begins() {
    // §4.8: ssthresh by beta_cubic, one segment, then K = 0.
    let mut c = cubic(&plain(), 100);
    c.on_congestion(&event(Cause::Timeout), &path(100));
    assert_eq!((c.window(), c.ssthresh()), (MSS, 70 * MSS));
    while c.window() < c.ssthresh() {
        c.on_ack(&at(1000, MSS), &path(1));
    }
    c.on_ack(&at(2000, MSS), &path(70));
    assert_eq!((c.law.now.plateau.k, c.law.now.plateau.w_max), (0.0, 70.0 * MSS as f64));
    assert_eq!(c.law.now.w_est, 70.0 * MSS as f64);
    assert_eq!(c.law.now.t_epoch, Time::ZERO + Span::from_secs(2));
}

#[test]
fn a_threshold_reached_without_loss_starts_a_stage_with_k_zero() {
    // §4.10; cwnd_prior is cwnd, so that W_est grows by 1 a round (§4.3).
    let mut c = cubic(&CubicOptions::default(), 10);
    c.on_ack(&at(0, MSS), &path(10));
    assert_eq!((c.law.now.plateau.k, c.law.now.plateau.w_max), (0.0, 10_000.0));
    assert_eq!(c.law.now.w_est, 10_100.0);
}

#[test]
fn reductions_stop_at_two_segments_and_at_one_for_marks() {
    // §4.6.
    for (cause, window) in [(Cause::Loss, 2), (Cause::EcnMark, 1), (Cause::Timeout, 1)] {
        let mut c = cubic(&plain(), 2);
        for _ in 0..3 {
            c.on_congestion(&event(cause), &path(1));
        }
        assert_eq!((c.window(), c.ssthresh()), (window * MSS, 2 * MSS), "{cause:?}");
    }
}

#[test]
fn a_second_timeout_of_a_segment_holds_ssthresh() {
    let mut c = cubic(&plain(), 100);
    c.on_congestion(&event(Cause::Timeout), &path(100));
    c.on_congestion(&event(Cause::Timeout), &path(1));
    assert_eq!((c.window(), c.ssthresh()), (MSS, 70 * MSS));
    c.on_undo();
    assert_eq!((c.window(), c.ssthresh()), (100 * MSS, MSS));
}

#[test]
fn an_undo_restores_the_curve() {
    // §4.9.2: cwnd, ssthresh, cwnd_prior, W_max, K, t_epoch, W_est.
    let mut c = reduced(&CubicOptions::default(), 100);
    c.on_ack(&at(100, MSS), &path(70));
    let before = (c.window, c.law.now);
    c.on_congestion(&event(Cause::Loss), &path(70));
    assert!(c.window() < 70 * MSS && c.law.now.t_epoch == Time::NEVER);
    c.on_undo();
    assert_eq!(format!("{:?}", (c.window, c.law.now)), format!("{before:?}"));
}

#[test]
fn an_undo_that_comes_late_changes_nothing() {
    // §4.9.2: the window has outgrown what it was.
    let mut c = reduced(&CubicOptions::default(), 100);
    let mut flow = Path::new(RTT);
    while c.window() <= 110 * MSS {
        flow.ack(&mut c);
    }
    let before = (c.window, c.law.now);
    c.on_undo();
    assert_eq!(format!("{:?}", (c.window, c.law.now)), format!("{before:?}"));
}

#[test]
fn time_in_which_the_window_was_not_the_limit_does_not_count() {
    // §5.8: ACKs of an application-limited period, and a silent period.
    let limited = PathView { app_limited: true, ..path(3) };
    let mut c = reduced(&plain(), 100);
    c.on_ack(&at(0, MSS), &path(70));
    for ms in [1000, 2000, 3000] {
        c.on_ack(&at(ms, MSS), &limited);
    }
    c.on_sent(Time::ZERO + Span::from_secs(10), MSS, &path(0));
    c.on_sent(Time::ZERO + Span::from_secs(10), MSS, &path(1));
    let mut straight = reduced(&plain(), 100);
    straight.on_ack(&at(0, MSS), &path(70));
    c.on_ack(&at(10_100, MSS), &path(70));
    straight.on_ack(&at(100, MSS), &path(70));
    assert_eq!(c.window.cwnd, straight.window.cwnd);
    assert!(c.window() < 72 * MSS);
}

/// `cubictcp_cong_avoid` returns, `epoch_start` stays; `cubictcp_cwnd_event` moves
/// it where nothing was in flight.
#[test]
fn as_in_linux_the_time_counts_while_acks_come() {
    let limited = PathView { app_limited: true, ..path(3) };
    let mut c = reduced(&CubicOptions { count_limited_time: true, ..plain() }, 100);
    c.on_ack(&at(0, MSS), &path(70));
    for ms in [1000, 2000] {
        c.on_ack(&at(ms, MSS), &limited);
    }
    c.on_sent(Time::ZERO + Span::from_secs(10), MSS, &path(0));
    let mut straight = reduced(&plain(), 100);
    straight.on_ack(&at(0, MSS), &path(70));
    c.on_ack(&at(10_100, MSS), &path(70));
    straight.on_ack(&at(2100, MSS), &path(70));
    assert_eq!(c.window.cwnd, straight.window.cwnd);
}

#[test]
fn idleness_begins_a_new_stage_towards_the_old_plateau() {
    let mut c = reduced(&plain(), 100);
    c.on_ack(&at(0, MSS), &path(70));
    c.on_idle(10 * MSS);
    assert_eq!((c.window(), c.ssthresh()), (10 * MSS, 70 * MSS));
    while c.window() < c.ssthresh() {
        c.on_ack(&at(5000, MSS), &path(10));
    }
    c.on_ack(&at(5000, MSS), &path(70));
    assert!((c.law.now.plateau.k - 4.217).abs() < 0.01, "{}", c.law.now.plateau.k);
}

/// The ACKs with which the window grows, and to how many segments, as `rounds`
/// of 5 ms pass.
fn steps(c: &mut Cubic, rounds: u32) -> Vec<(u64, u64)> {
    let mut flow = Path::new(Span::from_millis(5));
    let mut steps = Vec::new();
    for _ in 0..rounds {
        for _ in 0..c.window() / MSS {
            let before = c.window();
            flow.ack(c);
            if c.window() > before {
                steps.push((flow.segments, c.window() / MSS));
            }
        }
    }
    steps
}

/// `bictcp_update` and `tcp_cong_avoid_ai`, by hand. Reno's window gains one
/// when more than (6 * 15) >> 3 = 11 segments are acknowledged, then more than
/// 13 and 15 with what is left. For the window 6, 7 and 8 are then enough, and more
/// have been acknowledged: it grows at once.
#[test]
fn as_in_linux_the_window_grows_by_whole_segments() {
    let options = CubicOptions {
        reno_friendly: true,
        reno_step: RenoStep::InARound,
        reno_increase: RenoIncrease::Kept,
        ..whole()
    };
    let mut c = cubic(&options, 6);
    c.window.ssthresh = 6.0 * MSS as f64;
    assert_eq!(steps(&mut c, 6), [(12, 7), (25, 8), (40, 9)]);
    assert_eq!(c.window(), 9 * MSS);
}

/// Below the plateau a distance that is rounded down is a target rounded up: a
/// moment after the curve left 6 it is 9 - (410 offs^3 >> 40) = 7.
#[test]
fn as_in_linux_the_curve_is_rounded_towards_its_plateau() {
    let options = whole();
    let mut c = reduced(&options, 9);
    assert_eq!(c.window(), 6 * MSS); // 9 * 717 / 1024 = 6.3
    assert_eq!(steps(&mut c, 20), [(6, 7)]);
}

#[test]
fn as_in_linux_reductions_are_rounded_down() {
    let options = CubicOptions { fast_convergence: true, ..whole() };
    for (segments, left) in [(10, 7), (9, 6), (8, 5), (7, 4), (6, 4), (5, 3), (4, 2), (3, 2)] {
        assert_eq!(reduced(&options, segments).window(), left * MSS, "{segments}");
    }
    let mut c = reduced(&options, 10);
    c.on_congestion(&event(Cause::Loss), &path(7));
    // 7 * (1024 + 717) / 2048 = 5.95
    assert_eq!((c.window(), c.law.now.plateau.w_max), (4 * MSS, 5.0 * MSS as f64));
}

#[test]
fn as_in_linux_the_way_to_the_target_is_kept_while_the_window_is_the_same() {
    let options = CubicOptions { update_interval: Span::from_millis(32), ..plain() };
    let mut c = reduced(&options, 100);
    let mut gains = [0, 20, 31, 32, 60].map(|ms| {
        let before = c.window.cwnd;
        c.on_ack(&at(ms, 100), &path(70));
        (c.window.cwnd - before) * before
    });
    let first = gains[0];
    gains.iter_mut().for_each(|gain| *gain = (*gain / first * 1e6).round());
    assert_eq!((gains[1], gains[2]), (1e6, 1e6));
    assert!(gains[3] > 1.1e6 && gains[4] == gains[3], "{gains:?}");
    // Another whole segment ends it.
    c.window.cwnd = 71.0 * MSS as f64;
    let before = c.window.cwnd;
    c.on_ack(&at(61, 100), &path(71));
    assert!(((c.window.cwnd - before) * before / first * 1e6).round() != gains[4]);
}

#[test]
fn as_in_linux_the_curve_is_ahead_by_the_smallest_round_trip() {
    let queued = PathView { min_rtt: Some(Span::from_millis(20)), ..path(70) };
    for (lookahead, ahead) in [(Lookahead::Smoothed, 0.1), (Lookahead::Smallest, 0.02)] {
        let mut c = reduced(&CubicOptions { lookahead, ..plain() }, 100);
        c.on_ack(&at(0, MSS), &queued);
        let d = ahead - libm::cbrt(30.0 / 0.4);
        let expected = 70.0 + (100.0 + 0.4 * d * d * d - 70.0) / 70.0;
        assert_eq!(c.window(), (expected * MSS as f64) as u64);
    }
}
