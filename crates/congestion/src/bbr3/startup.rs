//! Startup's end on a plateau of the rate, and Drain's ("Exiting Acceleration Based on Bandwidth Plateau",
//! "Drain"). Its end by loss is in [`bounds`](super::bounds).

use super::{Model, News, State};

/// Growth of the rate in a round below which the pipe may be full, and rounds of it that say so.
const FULL_BW_GROWTH: f64 = 1.25;
const FULL_BW_COUNT: u32 = 3;
/// Rounds after which Drain ends whatever is in flight.
const DRAIN_ROUNDS: u64 = 3;

/// `FullBw` is the search for a plateau of the rate ("Exiting Acceleration Based on Bandwidth
/// Plateau").
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullBw {
    /// `BBR.full_bw_reached`: Startup has found the full bandwidth.
    pub(super) reached: bool,
    /// `BBR.full_bw_now`: the current search has found a plateau; each new search clears it.
    pub(super) now: bool,
    /// `BBR.full_bw`, octets per second.
    pub(super) baseline: f64,
    /// `BBR.full_bw_count`: rounds in a row without enough growth of the rate.
    pub(super) count: u32,
}

impl FullBw {
    /// `ResetFullBW()`, from this rate on.
    pub(super) fn reset(&mut self, baseline: f64) {
        *self = FullBw { reached: self.reached, baseline, ..FullBw::default() };
    }
}

impl Model {
    /// `CheckFullBWReached()`.
    pub(super) fn check_full_bw_reached(&mut self, news: &News) {
        if self.full_bw.now || !self.rounds.start || news.app_limited {
            return;
        }
        if news.delivery_rate >= self.full_bw.baseline * FULL_BW_GROWTH {
            self.full_bw.reset(news.delivery_rate);
            return;
        }
        self.full_bw.count += 1;
        self.full_bw.now = self.full_bw.count >= FULL_BW_COUNT;
        self.full_bw.reached |= self.full_bw.now;
    }

    /// `CheckStartupDone()`: enters Drain when the rate has reached a plateau or too much was lost.
    pub(super) fn check_startup_done(&mut self, news: &News) {
        self.check_startup_high_loss(news);
        if self.state == State::Startup && self.full_bw.reached {
            self.state = State::Drain;
            self.drain_start_round = self.rounds.count;
        }
    }

    /// `CheckDrainDone()`: enters ProbeBW when the queue is gone, or [`DRAIN_ROUNDS`] rounds have
    /// passed.
    pub(super) fn check_drain_done(&mut self, news: &News) {
        let late = self.rounds.count > self.drain_start_round + DRAIN_ROUNDS;
        if self.state == State::Drain && (news.in_flight as f64 <= self.inflight(1.0, news) || late)
        {
            self.start_down(news.now);
        }
    }
}
