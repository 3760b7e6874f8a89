//! What losses do: the long-term bound that a probe has found, the short-term bounds of the time
//! between probes, the end of Startup by loss, and how all of it is undone ("Updating the Model Upon
//! Packet Loss").

use super::{Model, News, Recovery, State};
use crate::LostSegment;
use anabranch_units::Time;

/// `BBRStartupFullLossCnt`: ranges lost in a round that may end Startup.
const STARTUP_FULL_LOSS_COUNT: u32 = 6;

/// `LongTerm` is the part of the long-term model beside `max_bw`.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongTerm {
    /// `BBR.inflight_longterm`; infinite before a probe has lost too much.
    pub(super) inflight: f64,
}

impl LongTerm {
    pub(super) fn is_set(self) -> bool {
        self.inflight.is_finite()
    }
}

impl Default for LongTerm {
    fn default() -> LongTerm {
        LongTerm { inflight: f64::INFINITY }
    }
}

/// The short-term model, and what it is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortTerm {
    /// `BBR.bw_shortterm`: bound on the bandwidth, octets per second; infinite while there is none.
    pub(super) bw: f64,
    /// `BBR.inflight_shortterm`.
    pub(super) inflight: f64,
    /// `BBR.bw_latest`: largest delivery rate of this loss round, octets per second.
    bw_latest: f64,
    /// `BBR.inflight_latest`: most octets that a sample of this loss round saw delivered.
    inflight_latest: f64,
    /// `BBR.is_loss_in_round`.
    lost_in_round: bool,
    /// `BBR.loss_round_delivered`.
    round_delivered: u64,
    /// `BBR.loss_round_start`.
    round_start: bool,
    /// Ranges lost in the round that do not touch, and where the last of them ends.
    ranges: u32,
    last_end: u64,
    /// Octets delivered and marked in the packet-timed round.
    delivered: u64,
    marked: u64,
}

impl Default for ShortTerm {
    fn default() -> ShortTerm {
        ShortTerm {
            bw: f64::INFINITY,
            inflight: f64::INFINITY,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            lost_in_round: false,
            round_delivered: 0,
            round_start: false,
            ranges: 0,
            last_end: u64::MAX,
            delivered: 0,
            marked: 0,
        }
    }
}

impl ShortTerm {
    /// `ResetCongestionSignals()`.
    pub(super) fn reset_signals(&mut self) {
        self.lost_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0.0;
    }

    /// `ResetShortTermModel()`.
    pub(super) fn reset_bounds(&mut self) {
        self.bw = f64::INFINITY;
        self.inflight = f64::INFINITY;
    }
}

/// `Saved` is what a loss that turns out to be none gives back.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Saved {
    /// A loss saved something, and no undo has taken it back.
    valid: bool,
    /// `BBR.undo_state`: the state to return to; `None` where the loss changed none.
    state: Option<State>,
    /// `BBR.undo_bw_shortterm`.
    bw: f64,
    /// `BBR.undo_inflight_shortterm`.
    inflight: f64,
    /// `BBR.undo_inflight_longterm`.
    long_term: f64,
}

impl Model {
    /// `UpdateLatestDeliverySignals()`.
    pub(super) fn update_latest_delivery_signals(&mut self, news: &News) {
        let s = &mut self.short_term;
        s.bw_latest = s.bw_latest.max(news.delivery_rate);
        s.inflight_latest = s.inflight_latest.max(news.delivered as f64);
        s.round_start = news.prior_delivered.is_some_and(|prior| prior >= s.round_delivered);
        if s.round_start {
            s.round_delivered = self.delivered;
        }
    }

    /// `AdvanceLatestDeliverySignals()`.
    pub(super) fn advance_latest_delivery_signals(&mut self, news: &News) {
        let s = &mut self.short_term;
        if s.round_start {
            s.bw_latest = news.delivery_rate;
            s.inflight_latest = news.delivered as f64;
            s.ranges = 0;
        }
    }

    /// `UpdateCongestionSignals()`.
    pub(super) fn update_congestion_signals(&mut self, news: &News) {
        self.update_max_bw(news);
        self.hear_marks(news);
        if !self.short_term.round_start {
            return;
        }
        if self.short_term.lost_in_round && !self.state.is_probing() {
            self.adapt_lower_bounds();
        }
        self.short_term.lost_in_round = false;
    }

    /// `InitLowerBounds()` and `LossLowerBounds()`.
    fn adapt_lower_bounds(&mut self) {
        let (max_bw, cwnd, beta) = (self.max_bw(), self.cwnd as f64, self.options.beta);
        let s = &mut self.short_term;
        if s.bw.is_infinite() {
            s.bw = max_bw;
        }
        if s.inflight.is_infinite() {
            s.inflight = cwnd;
        }
        s.bw = s.bw_latest.max(beta * s.bw);
        s.inflight = s.inflight_latest.max(beta * s.inflight);
    }

    /// Counts what was marked as congestion, as if it had been lost ("ECN").
    fn hear_marks(&mut self, news: &News) {
        if self.rounds.start {
            (self.short_term.delivered, self.short_term.marked) = (0, 0);
        }
        self.short_term.delivered += news.newly_acked;
        self.short_term.marked += news.marked;
        if news.marked == 0 {
            return;
        }
        self.note_loss();
        let (marked, delivered) = (self.short_term.marked, self.short_term.delivered);
        if self.cycle.is_probe_sample && self.is_too_high(marked, delivered.max(news.tx_in_flight))
        {
            self.handle_inflight_too_high(news.tx_in_flight as f64, news.app_limited, news.now);
        }
    }

    /// `IsInflightTooHigh()`: whether more than `loss_thresh` of the octets in flight were lost.
    pub(super) fn is_too_high(&self, lost: u64, tx_in_flight: u64) -> bool {
        lost as f64 > tx_in_flight as f64 * self.options.loss_thresh
    }

    /// `NoteLoss()`: records that this round has a loss; the first one saves the state for an undo.
    fn note_loss(&mut self) {
        if !self.short_term.lost_in_round {
            self.short_term.round_delivered = self.delivered;
            self.save_state_upon_loss();
        }
        self.short_term.lost_in_round = true;
    }

    /// `HandleLostPacket()`: notes the loss and, during a bandwidth probe, judges whether the probe
    /// was too high.
    pub(super) fn handle_lost_packet(&mut self, now: Time, segment: &LostSegment) {
        self.note_loss();
        if segment.offset != self.short_term.last_end {
            self.short_term.ranges += 1;
        }
        self.short_term.last_end = segment.offset + segment.bytes;
        if self.cycle.is_probe_sample && self.is_too_high(segment.lost, segment.tx_in_flight) {
            let at_loss = self.inflight_at_loss(segment);
            self.handle_inflight_too_high(at_loss, segment.app_limited, now);
        }
    }

    /// `InflightAtLoss()`: at what volume in flight losses crossed the threshold.
    fn inflight_at_loss(&self, segment: &LostSegment) -> f64 {
        let size = segment.bytes as f64;
        let inflight_prev = segment.tx_in_flight as f64 - size;
        let lost_prev = segment.lost as f64 - size;
        let thresh = self.options.loss_thresh;
        inflight_prev + (thresh * inflight_prev - lost_prev) / (1.0 - thresh)
    }

    /// `HandleInflightTooHigh()`.
    fn handle_inflight_too_high(&mut self, tx_in_flight: f64, app_limited: bool, now: Time) {
        self.cycle.was_too_high = true;
        self.cycle.is_probe_sample = false; // react once per probe
        if !app_limited {
            self.long_term.inflight = tx_in_flight.max(self.target_inflight() * self.options.beta);
        }
        if self.state == State::ProbeBwUp {
            self.saved.state = Some(State::ProbeBwUp);
            self.start_down(now);
        }
    }

    /// `CheckStartupHighLoss()`, at the end of a round with losses.
    pub(super) fn check_startup_high_loss(&mut self, news: &News) {
        let Recovery::Fast { since } = self.recovery else { return };
        let repaired_a_round = self.rounds.count > since;
        if self.full_bw.reached
            || !self.short_term.round_start
            || !repaired_a_round
            || self.short_term.ranges < STARTUP_FULL_LOSS_COUNT
            || !self.is_too_high(news.lost, news.tx_in_flight)
        {
            return;
        }
        self.saved.state = Some(State::Startup);
        self.full_bw.now = true;
        self.full_bw.reached = true;
        self.long_term.inflight = self.bdp(self.bw, 1.0).max(self.short_term.inflight_latest);
    }

    /// `SaveStateUponLoss()`: keeps the window and the bounds, in case the loss proves spurious.
    pub(super) fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        self.saved = Saved {
            valid: true,
            state: None,
            bw: self.short_term.bw,
            inflight: self.short_term.inflight,
            long_term: self.long_term.inflight,
        };
    }

    /// `HandleSpuriousLossDetection()`.
    pub(super) fn handle_spurious_loss(&mut self) {
        if !std::mem::take(&mut self.saved.valid) {
            return;
        }
        self.recovery = Recovery::No;
        self.restore_cwnd();
        self.short_term.lost_in_round = false;
        self.full_bw.reset(0.0);
        self.short_term.bw = self.short_term.bw.max(self.saved.bw);
        self.short_term.inflight = self.short_term.inflight.max(self.saved.inflight);
        self.long_term.inflight = self.long_term.inflight.max(self.saved.long_term);
        match self.saved.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw.reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::ProbeBwUp) if !matches!(self.state, State::ProbeBwUp | State::ProbeRtt) => {
                self.start_refill();
            }
            _ => {}
        }
    }
}
