//! The rules of RFC 9260 §7.2, window by window.

use super::*;
use crate::config::PartialAcked;

const VIEW: View = View { flight: 0, chunk: 1468, srtt: None, min_rtt: None };

fn progress(acked: u64, flight: u64) -> Progress {
    let (now, rtt) = (Time::ZERO, None);
    Progress { now, acked, duplicated: 0, flight, idle: false, may_grow: true, rtt }
}

fn window(config: &Config) -> Window {
    Window::new(&Config { initial_ssthresh: Some(6000), ..config.clone() })
}

/// RFC 2960 §7.2.1: by the octets acknowledged, at most one MTU a SACK, and
/// only while the window is used up.
#[test]
fn slow_start_grows_by_octets_up_to_one_mtu() {
    let mut w = window(&Config::rfc2960());
    w.on_progress(&progress(1000, 3000), false, &VIEW);
    assert_eq!(w.cwnd(), 4000);
    w.on_progress(&progress(2936, 4404), false, &VIEW);
    assert_eq!(w.cwnd(), 5500);
    w.on_progress(&progress(2936, 5499), false, &VIEW);
    assert_eq!(w.cwnd(), 5500, "the window was not used up");
}

#[test]
fn a_window_at_the_threshold_is_in_slow_start_or_not() {
    for (at_threshold, expected) in [(true, 7500), (false, 6000)] {
        let config = Config {
            slow_start_at_threshold: at_threshold,
            initial_window: crate::InitialWindow::Mtus(4),
            ..Config::rfc2960()
        };
        let mut w = window(&config);
        w.on_progress(&progress(1500, 6000), false, &VIEW);
        assert_eq!(w.cwnd(), expected);
    }
}

/// §7.2.2: one MTU for a window of octets; the rest is kept.
#[test]
fn congestion_avoidance_counts_partial_octets() {
    let config = Config { initial_window: crate::InitialWindow::Mtus(5), ..Config::rfc4960() };
    let mut w = window(&config); // 7500 > 6000
    for _ in 0..5 {
        w.on_progress(&progress(1468, 7500), false, &VIEW);
    }
    assert_eq!(w.cwnd(), 7500); // 7340
    w.on_progress(&progress(1468, 7500), false, &VIEW);
    assert_eq!(w.cwnd(), 9000); // 8808 − 7500 = 1308 remain
    for _ in 0..5 {
        w.on_progress(&progress(1468, 9000), false, &VIEW);
    }
    assert_eq!(w.cwnd(), 9000); // 8648
    w.on_progress(&Progress { idle: true, ..progress(0, 9000) }, false, &VIEW);
    w.on_progress(&progress(1468, 9000), false, &VIEW);
    assert_eq!(w.cwnd(), 9000, "the count starts anew when all is acknowledged");
}

/// RFC 2960 §7.2.3 and RFC 4960 §7.2.3.
#[test]
fn the_threshold_after_a_loss_has_a_floor_of_two_or_four() {
    for (config, floor) in [(Config::rfc2960(), 3000), (Config::rfc4960(), 6000)] {
        let mut w = window(&config);
        w.on_congestion(Time::ZERO, Cause::Loss, &VIEW);
        assert_eq!((w.cwnd(), w.ssthresh()), (floor, floor));
        w.on_congestion(Time::ZERO, Cause::Timeout, &VIEW);
        assert_eq!((w.cwnd(), w.ssthresh()), (1500, floor));
    }
}

#[test]
fn idleness_and_bursts_limit_the_window() {
    let config = Config { initial_window: crate::InitialWindow::Mtus(20), ..Config::rfc4960() };
    let mut w = window(&config);
    w.on_idle(1, 0, 0);
    assert_eq!(w.cwnd(), 15_000);
    w.limit_burst(3000, 4);
    assert_eq!((w.cwnd(), w.limit()), (9000, 9000));
    w.on_idle(9, 0, 0);
    assert_eq!(w.cwnd(), 6000);
    let mut kept = window(&Config { burst_keeps_window: true, ..config });
    kept.limit_burst(3000, 4);
    assert_eq!((kept.cwnd(), kept.limit()), (30_000, 9000));
    kept.limit_burst(28_500, 4);
    assert_eq!((kept.cwnd(), kept.limit()), (30_000, 30_000));
}

/// RFC 9260 §7.2.2: while less than the window is outstanding partial_bytes_acked stops at the
/// window, so that what then fills it opens it by one chunk; by RFC 4960 it has gone on, and
/// three SACKs in a row open it.
#[test]
fn octets_acknowledged_while_the_window_is_not_full_count_up_to_a_window() {
    for (partial_acked, chunks) in [(PartialAcked::All, 3), (PartialAcked::Capped, 1)] {
        let config = Config { partial_acked, ..Config::rfc9260() };
        let mut window = Window::new(&config);
        let view = View { flight: 0, chunk: 1468, srtt: None, min_rtt: None };
        window.on_congestion(Time::ZERO, Cause::Loss, &view); // the floor, four chunks
        let Window::Standard(standard) = &mut window else { panic!("standard") };
        (standard.cwnd, standard.ssthresh) = (8 * 1468, 4 * 1468);
        let sack = |flight: u64, acked: u64| Progress {
            now: Time::ZERO,
            acked: acked * 1468,
            duplicated: 0,
            flight: flight * 1468,
            idle: false,
            may_grow: true,
            rtt: None,
        };
        for _ in 0..15 {
            window.on_progress(&sack(2, 2), false, &view);
        }
        assert_eq!(window.cwnd(), 8 * 1468);
        for _ in 0..3 {
            window.on_progress(&sack(11, 1), false, &view);
        }
        // 30 chunks have been acknowledged, or 8 of them count: enough for windows of 8, 9 and 10
        // with the three more, or for one of 8.
        assert_eq!(window.cwnd(), (8 + chunks) * 1468);
    }
}

/// §7.2.2: chunks that the peer reports as duplicates count, by RFC 9260.
#[test]
fn duplicates_count_in_congestion_avoidance() {
    for (partial_acked, expected) in [(PartialAcked::All, 7500), (PartialAcked::Capped, 9000)] {
        let config = Config {
            partial_acked,
            initial_window: crate::InitialWindow::Mtus(5),
            ..Config::rfc4960()
        };
        let mut w = window(&config);
        for _ in 0..4 {
            w.on_progress(&progress(1468, 7500), false, &VIEW); // 5872
        }
        w.on_progress(&Progress { duplicated: 1468, ..progress(1468, 7500) }, false, &VIEW);
        assert_eq!(w.cwnd(), expected, "{partial_acked:?}");
    }
}

/// §7.2.2: not more than one PMDCS a round trip, also where more than a window is outstanding after a
/// mark has reduced it.
#[test]
fn the_window_grows_once_a_round_trip() {
    for (partial_acked, expected) in [(PartialAcked::All, 10_500), (PartialAcked::Capped, 9000)] {
        let config = Config {
            partial_acked,
            initial_window: crate::InitialWindow::Mtus(5),
            ..Config::rfc4960()
        };
        let mut w = window(&config);
        w.on_progress(&progress(7500, 20_000), false, &VIEW);
        assert_eq!(w.cwnd(), 9000);
        // 12,500 octets of the same flight are left: a window of them is no round trip more.
        w.on_progress(&progress(9000, 12_500), false, &VIEW);
        assert_eq!(w.cwnd(), expected, "{partial_acked:?}");
    }
}

/// §7.2.1: the threshold becomes the window before the first decay, and stays with the next.
#[test]
fn the_threshold_remembers_the_window_before_it_rested() {
    let config = Config { initial_window: crate::InitialWindow::Mtus(20), ..Config::rfc9260() };
    let mut w = window(&config);
    w.on_idle(1, 0, 0);
    assert_eq!((w.cwnd(), w.ssthresh()), (15_000, 30_000));
    w.on_idle(1, 0, 0);
    assert_eq!((w.cwnd(), w.ssthresh()), (7500, 30_000), "nothing has left since");
    w.on_sent(Time::ZERO, 1468, true, &VIEW);
    w.on_idle(1, 0, 0);
    assert_eq!((w.cwnd(), w.ssthresh()), (4 * 1468, 7500));
}
