//! Slow start and congestion avoidance of RFC 9260 §7.2 are here, with the switches by which the
//! standards differ.

use super::Progress;
use crate::config::{Config, PartialAcked};

/// A `Standard` is the window of a path by RFC 9260 §7.2.
#[derive(Debug)]
pub(crate) struct Standard {
    pub cwnd: u64,
    pub ssthresh: u64,
    /// `partial` is partial_bytes_acked, in octets.
    partial: u64,
    partial_acked: PartialAcked,
    /// `unit` is the unit of growth, and what a timeout leaves, in octets.
    unit: u64,
    /// `floor_units` is the least threshold after a loss, in units.
    floor_units: u64,
    at_threshold: bool,
    /// `burst` is Max.Burst's limit on what is outstanding, in octets, of the last event that
    /// released data.
    burst: u64,
    burst_keeps_window: bool,
    /// `round` is how many octets must be acknowledged before the window grows again in congestion
    /// avoidance: at first what was outstanding when it grew last.
    round: u64,
    rest_sets_ssthresh: bool,
    /// `rested` says that the window has decayed since data left last.
    rested: bool,
    /// `before` holds cwnd and ssthresh before the last reduction. Timeouts that follow one another
    /// without growth between count as one.
    before: Option<(u64, u64)>,
}

impl Standard {
    pub fn new(config: &Config) -> Standard {
        let unit = config.window_unit_of(config.first_mtu()) as u64;
        Standard {
            cwnd: config.initial_window(),
            ssthresh: config.initial_ssthresh.unwrap_or(u64::MAX),
            partial: 0,
            partial_acked: config.partial_acked,
            unit,
            floor_units: config.ssthresh_floor as u64,
            at_threshold: config.slow_start_at_threshold,
            burst: u64::MAX,
            burst_keeps_window: config.burst_keeps_window,
            round: 0,
            rest_sets_ssthresh: config.rest_sets_ssthresh,
            rested: false,
            before: None,
        }
    }

    /// Returns the window as it begins where packets to the address have at most `mtu` octets.
    pub fn with_mtu(self, config: &Config, mtu: u32) -> Standard {
        let unit = config.window_unit_of(mtu) as u64;
        Standard { cwnd: config.initial_window_of(mtu), unit, ..self }
    }

    /// Sets the threshold before the first loss to the peer's receive window, in octets.
    pub fn set_initial_ssthresh(&mut self, rwnd: u64) {
        self.ssthresh = self.ssthresh.min(rwnd.max(self.floor()));
    }

    /// Returns how many octets may be outstanding when new data leaves: the window, less what is
    /// beyond a burst.
    #[inline]
    pub fn limit(&self) -> u64 {
        self.cwnd.min(self.burst)
    }

    /// Notes that data leaves.
    #[inline]
    pub fn on_sent(&mut self) {
        self.rested = false;
    }

    /// Lets the window grow, as something was acknowledged outside fast recovery.
    #[inline]
    pub fn on_progress(&mut self, p: &Progress) {
        self.round = self.round.saturating_sub(p.acked);
        let in_slow_start = match self.at_threshold {
            true => self.cwnd <= self.ssthresh,
            false => self.cwnd < self.ssthresh,
        };
        let utilized = p.flight >= self.cwnd;
        if in_slow_start {
            // §7.2.1: the lesser of what was acknowledged and the PMTU.
            if p.may_grow && utilized {
                self.cwnd += p.acked.min(self.unit);
            }
        } else if p.may_grow {
            self.avoid(p, utilized);
        }
        if p.idle {
            self.partial = 0;
        }
    }

    /// Grows in congestion avoidance (§7.2.2): an acknowledged window of octets opens the window by
    /// a unit.
    #[inline]
    fn avoid(&mut self, p: &Progress, utilized: bool) {
        self.partial += p.acked;
        let capped = self.partial_acked == PartialAcked::Capped;
        if capped {
            self.partial += p.duplicated;
        }
        if self.partial >= self.cwnd && utilized && !(capped && self.round > 0) {
            self.partial -= self.cwnd;
            self.cwnd += self.unit;
            self.round = p.flight.saturating_sub(p.acked);
        } else if capped && !utilized {
            self.partial = self.partial.min(self.cwnd);
        }
    }

    /// Reduces the window, as SACKs or a mark reported a loss (§7.2.3), or the timer expired.
    pub fn on_congestion(&mut self, timeout: bool) {
        if !timeout || self.cwnd > self.unit {
            self.before = Some((self.cwnd, self.ssthresh));
        }
        self.ssthresh = (self.cwnd / 2).max(self.floor());
        self.cwnd = if timeout { self.unit } else { self.ssthresh };
        self.partial = 0;
    }

    /// Takes the last reduction back, which was spurious: the window is what it was, unless it has
    /// outgrown that.
    pub fn on_undo(&mut self) {
        if let Some((cwnd, ssthresh)) = self.before.take()
            && self.cwnd <= cwnd
        {
            (self.cwnd, self.ssthresh) = (cwnd, ssthresh);
        }
    }

    /// Halves the window for each of `rtos` retransmission timeouts in which nothing was sent
    /// (§7.2.1), down to the floor. A window below the floor stays, where the formula would raise
    /// it.
    pub fn on_idle(&mut self, rtos: u64) {
        if rtos > 0 && self.cwnd > self.floor() && !self.rested && self.rest_sets_ssthresh {
            self.ssthresh = self.cwnd;
        }
        self.rested = true;
        for _ in 0..rtos.min(64) {
            if self.cwnd > self.floor() {
                self.cwnd = (self.cwnd / 2).max(self.floor());
            }
        }
    }

    /// Changes the unit of growth, as packets have another size now. cwnd and ssthresh stay.
    pub fn set_unit(&mut self, unit: u32) {
        self.unit = u64::from(unit);
    }

    /// Returns the least threshold after a loss, in octets.
    fn floor(&self) -> u64 {
        self.floor_units * self.unit
    }

    /// Limits a burst (Max.Burst, §6.1 rule D): new data leaves while no more than `burst` packets
    /// above what is outstanding now are.
    #[inline]
    pub fn limit_burst(&mut self, flight: u64, burst: u64) {
        self.burst = flight + burst * self.unit;
        if !self.burst_keeps_window {
            self.cwnd = self.cwnd.min(self.burst);
        }
    }
}
