//! The congestion window of one path: the rules of RFC 9260 §7.2 with the
//! switches by which the standards differ, or an algorithm shared with TCP.
//! Windows count DATA chunks with their headers, as "outstanding data" is
//! defined in RFC 9260 §2.3.

use crate::config::{Config, PartialAcked, Window as Kind, WindowUnit};
use anabranch_congestion::{Acked, Cause, Congestion, CongestionEvent, Controller, PathView};
use anabranch_units::{Span, Time};

/// What a SACK did for a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    pub now: Time,
    /// Octets newly acknowledged of what was last sent to the path.
    pub acked: u64,
    /// Octets outstanding on the path before the SACK.
    pub flight: u64,
    /// Nothing is outstanding on the path any more.
    pub idle: bool,
    /// The SACK advanced the cumulative TSN.
    pub advanced: bool,
    pub rtt: Option<Span>,
}

/// The window of a path.
#[derive(Debug)]
pub(crate) enum Window {
    Standard(Standard),
    /// With octets sent and acknowledged so far, for its rounds.
    Shared {
        congestion: Box<Congestion>,
        sent: u64,
        acked: u64,
    },
}

/// Slow start and congestion avoidance of RFC 9260 §7.2.
#[derive(Debug)]
pub(crate) struct Standard {
    cwnd: u64,
    ssthresh: u64,
    /// partial_bytes_acked.
    partial: u64,
    partial_acked: PartialAcked,
    mtu: u64,
    floor: u64,
    at_threshold: bool,
    /// Max.Burst's limit on what is outstanding, of the last event that released data.
    burst: u64,
    burst_keeps_window: bool,
}

impl Window {
    pub fn new(config: &Config) -> Window {
        let initial = config.initial_window();
        let ssthresh = config.initial_ssthresh.unwrap_or(u64::MAX);
        let mtu = match config.window_unit {
            WindowUnit::Chunk => config.max_chunk(),
            WindowUnit::Mtu => config.mtu,
        } as u64;
        match &config.window {
            Kind::Standard => Window::Standard(Standard {
                cwnd: initial,
                ssthresh,
                partial: 0,
                partial_acked: config.partial_acked,
                mtu,
                floor: config.ssthresh_floor as u64 * mtu,
                at_threshold: config.slow_start_at_threshold,
                burst: u64::MAX,
                burst_keeps_window: config.burst_keeps_window,
            }),
            Kind::Algorithm(algorithm) => Window::Shared {
                congestion: Box::new(algorithm.build(initial, ssthresh)),
                sent: 0,
                acked: 0,
            },
        }
    }

    /// The threshold before the first loss, where the configuration leaves it
    /// to the peer's receive window.
    pub fn set_initial_ssthresh(&mut self, rwnd: u64) {
        if let Window::Standard(standard) = self {
            standard.ssthresh = standard.ssthresh.min(rwnd.max(standard.floor));
        }
    }

    pub fn cwnd(&self) -> u64 {
        match self {
            Window::Standard(standard) => standard.cwnd,
            Window::Shared { congestion, .. } => congestion.window(),
        }
    }

    /// What may be outstanding when new data leaves: the window, less what is beyond a burst.
    pub fn limit(&self) -> u64 {
        match self {
            Window::Standard(standard) => standard.cwnd.min(standard.burst),
            Window::Shared { congestion, .. } => congestion.window(),
        }
    }

    pub fn ssthresh(&self) -> u64 {
        match self {
            Window::Standard(standard) => standard.ssthresh,
            Window::Shared { congestion, .. } => congestion.ssthresh(),
        }
    }

    pub fn on_sent(&mut self, now: Time, octets: u64, view: &View) {
        if let Window::Shared { congestion, sent, acked } = self {
            let path = view.path(*sent, *acked, false);
            congestion.on_sent(now, octets, &path);
            *sent += octets;
        }
    }

    /// New data was acknowledged outside fast recovery.
    pub fn on_progress(&mut self, progress: &Progress, view: &View) {
        match self {
            Window::Standard(standard) => standard.on_progress(progress),
            Window::Shared { congestion, sent, acked } => {
                *acked += progress.acked;
                if progress.advanced {
                    let limited = progress.flight < congestion.window();
                    let path = view.path(*sent, *acked, limited);
                    let acked =
                        Acked { now: progress.now, bytes: progress.acked, rtt: progress.rtt };
                    congestion.on_ack(&acked, &path);
                }
            }
        }
    }

    /// New data was acknowledged in fast recovery: the window stays (RFC 9260
    /// §7.2.1, §7.2.2).
    pub fn on_frozen(&mut self, progress: &Progress) {
        if let Window::Shared { acked, .. } = self {
            *acked += progress.acked;
        }
    }

    /// Loss was reported by SACKs (§7.2.3), or the timer expired.
    pub fn on_loss(&mut self, now: Time, timeout: bool, view: &View) {
        match self {
            Window::Standard(standard) => {
                standard.ssthresh = (standard.cwnd / 2).max(standard.floor);
                standard.cwnd = if timeout { standard.mtu } else { standard.ssthresh };
                standard.partial = 0;
            }
            Window::Shared { congestion, sent, acked } => {
                let cause = if timeout { Cause::Timeout } else { Cause::Loss };
                let path = view.path(*sent, *acked, false);
                congestion.on_congestion(&CongestionEvent { now, cause }, &path);
            }
        }
    }

    /// Nothing was sent for `rtos` retransmission timeouts (§7.2.1): the
    /// window halves with each, down to the floor.
    pub fn on_idle(&mut self, rtos: u64, initial: u64) {
        match self {
            Window::Standard(standard) => {
                for _ in 0..rtos.min(64) {
                    if standard.cwnd > standard.floor {
                        standard.cwnd = (standard.cwnd / 2).max(standard.floor);
                    }
                }
            }
            Window::Shared { congestion, .. } => congestion.on_idle(initial),
        }
    }

    /// Packets are smaller now: so is the unit of growth.
    pub fn limit_unit(&mut self, unit: u64) {
        if let Window::Standard(standard) = self {
            standard.mtu = standard.mtu.min(unit);
        }
    }

    /// Max.Burst (§6.1 rule D): new data leaves while no more than `burst` packets above what is
    /// outstanding now are.
    pub fn limit_burst(&mut self, flight: u64, burst: u64) {
        if let Window::Standard(standard) = self {
            standard.burst = flight + burst * standard.mtu;
            if !standard.burst_keeps_window {
                standard.cwnd = standard.cwnd.min(standard.burst);
            }
        }
    }
}

impl Standard {
    fn on_progress(&mut self, p: &Progress) {
        let in_slow_start = match self.at_threshold {
            true => self.cwnd <= self.ssthresh,
            false => self.cwnd < self.ssthresh,
        };
        let utilized = p.flight >= self.cwnd;
        if in_slow_start {
            // §7.2.1: the lesser of what was acknowledged and the PMTU.
            if p.advanced && utilized {
                self.cwnd += p.acked.min(self.mtu);
            }
        } else if p.advanced {
            // §7.2.2.
            self.partial += p.acked;
            if self.partial >= self.cwnd && utilized {
                self.partial -= self.cwnd;
                self.cwnd += self.mtu;
            } else if self.partial_acked == PartialAcked::Capped && !utilized {
                self.partial = self.partial.min(self.cwnd);
            }
        }
        if p.idle {
            self.partial = 0;
        }
    }
}

/// What a shared algorithm sees of a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub flight: u64,
    pub chunk: u64,
    pub srtt: Option<Span>,
    pub min_rtt: Option<Span>,
}

impl View {
    fn path(&self, sent: u64, acked: u64, app_limited: bool) -> PathView {
        PathView {
            in_flight: self.flight,
            mss: self.chunk,
            srtt: self.srtt,
            min_rtt: self.min_rtt,
            app_limited,
            sent,
            acked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: View = View { flight: 0, chunk: 1468, srtt: None, min_rtt: None };

    fn progress(acked: u64, flight: u64) -> Progress {
        let (now, rtt) = (Time::ZERO, None);
        Progress { now, acked, flight, idle: false, advanced: true, rtt }
    }

    fn window(config: &Config) -> Window {
        Window::new(&Config { initial_ssthresh: Some(6000), ..config.clone() })
    }

    /// RFC 2960 §7.2.1: by the octets acknowledged, at most one MTU a SACK, and
    /// only while the window is used up.
    #[test]
    fn slow_start_grows_by_octets_up_to_one_mtu() {
        let mut w = window(&Config::rfc2960());
        w.on_progress(&progress(1000, 3000), &VIEW);
        assert_eq!(w.cwnd(), 4000);
        w.on_progress(&progress(2936, 4404), &VIEW);
        assert_eq!(w.cwnd(), 5500);
        w.on_progress(&progress(2936, 5499), &VIEW);
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
            w.on_progress(&progress(1500, 6000), &VIEW);
            assert_eq!(w.cwnd(), expected);
        }
    }

    /// §7.2.2: one MTU for a window of octets; the rest is kept.
    #[test]
    fn congestion_avoidance_counts_partial_octets() {
        let config = Config { initial_window: crate::InitialWindow::Mtus(5), ..Config::rfc4960() };
        let mut w = window(&config); // 7500 > 6000
        for _ in 0..5 {
            w.on_progress(&progress(1468, 7500), &VIEW);
        }
        assert_eq!(w.cwnd(), 7500); // 7340
        w.on_progress(&progress(1468, 7500), &VIEW);
        assert_eq!(w.cwnd(), 9000); // 8808 − 7500 = 1308 remain
        for _ in 0..5 {
            w.on_progress(&progress(1468, 9000), &VIEW);
        }
        assert_eq!(w.cwnd(), 9000); // 8648
        w.on_progress(&Progress { idle: true, ..progress(0, 9000) }, &VIEW);
        w.on_progress(&progress(1468, 9000), &VIEW);
        assert_eq!(w.cwnd(), 9000, "the count starts anew when all is acknowledged");
    }

    /// RFC 2960 §7.2.3 and RFC 4960 §7.2.3.
    #[test]
    fn the_threshold_after_a_loss_has_a_floor_of_two_or_four() {
        for (config, floor) in [(Config::rfc2960(), 3000), (Config::rfc4960(), 6000)] {
            let mut w = window(&config);
            w.on_loss(Time::ZERO, false, &VIEW);
            assert_eq!((w.cwnd(), w.ssthresh()), (floor, floor));
            w.on_loss(Time::ZERO, true, &VIEW);
            assert_eq!((w.cwnd(), w.ssthresh()), (1500, floor));
        }
    }

    #[test]
    fn idleness_and_bursts_limit_the_window() {
        let config = Config { initial_window: crate::InitialWindow::Mtus(20), ..Config::rfc4960() };
        let mut w = window(&config);
        w.on_idle(1, 0);
        assert_eq!(w.cwnd(), 15_000);
        w.limit_burst(3000, 4);
        assert_eq!((w.cwnd(), w.limit()), (9000, 9000));
        w.on_idle(9, 0);
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
            window.on_loss(Time::ZERO, false, &view); // the floor, four chunks
            let Window::Standard(standard) = &mut window else { panic!("standard") };
            (standard.cwnd, standard.ssthresh) = (8 * 1468, 4 * 1468);
            let sack = |flight: u64, acked: u64| Progress {
                now: Time::ZERO,
                acked: acked * 1468,
                flight: flight * 1468,
                idle: false,
                advanced: true,
                rtt: None,
            };
            for _ in 0..15 {
                window.on_progress(&sack(2, 2), &view);
            }
            assert_eq!(window.cwnd(), 8 * 1468);
            for _ in 0..3 {
                window.on_progress(&sack(11, 1), &view);
            }
            // 30 chunks have been acknowledged, or 8 of them count: enough for windows of 8, 9 and 10
            // with the three more, or for one of 8.
            assert_eq!(window.cwnd(), (8 + chunks) * 1468);
        }
    }
}
