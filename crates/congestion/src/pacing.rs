//! Pacing of windows that are driven by ACKs: some more than a window per
//! round trip, so that the window and not the pacing limits the sender.
//!
//! The rule and its factors are Linux's (`tcp_pacing_ss_ratio`,
//! `tcp_pacing_ca_ratio`): twice `cwnd / srtt` while the window is below half
//! the threshold, so that pacing never delays its doubling, 1.2 times after.

use crate::window::Window;
use anabranch_units::{Rate, Span};

/// `Pacing` is the pacing rate, in percent of a window per round trip.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pacing {
    /// `slow_start` is the percentage while the window is below half the threshold.
    pub slow_start: u16,
    /// `avoidance` is the percentage from half the threshold on.
    pub avoidance: u16,
}

impl Default for Pacing {
    fn default() -> Pacing {
        Pacing { slow_start: 200, avoidance: 120 }
    }
}

impl Pacing {
    /// `None` until a round trip has been measured.
    pub(crate) fn rate(&self, window: &Window, srtt: Option<Span>) -> Option<Rate> {
        let seconds = srtt.filter(|srtt| *srtt > Span::ZERO)?.as_secs_f64();
        let slow = window.cwnd < window.ssthresh / 2.0;
        let percent = if slow { self.slow_start } else { self.avoidance };
        let bps = window.cwnd * 8.0 / seconds * f64::from(percent) / 100.0;
        Rate::from_bps((bps as u64).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::MSS;

    fn rate(cwnd: f64, ssthresh: f64) -> Option<u64> {
        let mss = MSS as f64;
        let window = Window { cwnd: cwnd * mss, ssthresh: ssthresh * mss };
        let srtt = Some(Span::from_millis(100));
        Pacing::default().rate(&window, srtt).map(Rate::as_bps)
    }

    #[test]
    fn a_window_per_round_trip_times_the_factor() {
        // 10 segments of 1000 octets in 100 ms: 800 kbit/s.
        assert_eq!(rate(10.0, f64::INFINITY), Some(1_600_000));
        assert_eq!(rate(10.0, 21.0), Some(1_600_000));
        assert_eq!(rate(10.0, 20.0), Some(960_000));
        assert_eq!(rate(10.0, 5.0), Some(960_000));
    }

    #[test]
    fn without_a_round_trip_time_nothing_is_paced() {
        let window = Window { cwnd: 1e4, ssthresh: f64::INFINITY };
        assert_eq!(Pacing::default().rate(&window, None), None);
    }
}
