//! The cycle of ProbeBW: when to probe for bandwidth, for how long, and what the acknowledgments of a
//! probe say about the long-term bound ("ProbeBW Algorithm Details").

use super::{MIN_PIPE_CWND, Model, News, State, hash};
use anabranch_units::{Span, Time};

/// `BBR.ack_phase`: what the acknowledgments that come now tell of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum AckPhase {
    /// They tell nothing of a probe for bandwidth.
    #[default]
    Init,
    /// They acknowledge what was sent in ProbeBW_REFILL, at the estimated bandwidth.
    Refilling,
    /// ProbeBW_UP has begun, but they acknowledge what was sent before it.
    ProbeStarting,
    /// They acknowledge what was sent in ProbeBW_UP.
    ProbeFeedback,
    /// ProbeBW_UP is over, and they still acknowledge what was sent in it.
    ProbeStopping,
}

/// `Cycle` is the position in the cycle of ProbeBW, and the state of its probe for bandwidth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    ack_phase: AckPhase,
    /// `BBR.is_bw_probe_sample`.
    pub(super) is_probe_sample: bool,
    /// `BBR.cycle_stamp`: when the current phase of the cycle began.
    stamp: Time,
    /// `BBR.bw_probe_wait`: time between two bandwidth probes, drawn anew in each cycle.
    wait: Span,
    /// `BBR.rounds_since_probe_up`.
    pub(super) rounds_since_probe_up: u64,
    /// `BBR.bw_probe_up_rounds`.
    up_rounds: u32,
    /// `BBR.bw_probe_up_acked`, octets.
    up_acked: f64,
    /// `BBR.probe_up_acked_per_inc`, octets.
    acked_per_increase: f64,
    /// `BBR.prev_probe_too_high`.
    pub(super) was_too_high: bool,
    /// `BBR.prev_probe_precautionary`.
    was_precautionary: bool,
}

impl Default for Cycle {
    fn default() -> Cycle {
        Cycle {
            ack_phase: AckPhase::Init,
            is_probe_sample: false,
            stamp: Time::ZERO,
            wait: Span::ZERO,
            rounds_since_probe_up: 0,
            up_rounds: 0,
            up_acked: 0.0,
            acked_per_increase: f64::INFINITY,
            was_too_high: false,
            was_precautionary: false,
        }
    }
}

impl Cycle {
    /// The acknowledgments of the probe end with the round.
    pub(super) fn stop_probe(&mut self) {
        self.ack_phase = AckPhase::ProbeStopping;
    }
}

impl Model {
    /// `StartProbeBW_DOWN()`: enters ProbeBW_DOWN and draws when the next probe is due.
    pub(super) fn start_down(&mut self, now: Time) {
        self.short_term.reset_signals();
        self.cycle.acked_per_increase = f64::INFINITY;
        self.pick_probe_wait(now);
        self.cycle.stamp = now;
        self.cycle.stop_probe();
        self.start_round();
        self.state = State::ProbeBwDown;
    }

    /// `StartProbeBW_REFILL()`.
    pub(super) fn start_refill(&mut self) {
        self.short_term.reset_bounds();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked = 0.0;
        self.cycle.was_precautionary = false;
        self.cycle.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::ProbeBwRefill;
    }

    /// `StartProbeBW_UP()`: enters ProbeBW_UP and starts a search for a plateau of the rate.
    fn start_up(&mut self, news: &News) {
        self.cycle.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.full_bw.reset(news.delivery_rate);
        self.state = State::ProbeBwUp;
        self.raise_slope(news.mss);
    }

    /// `PickProbeWait()`: 0 or 1 round that counts as past, and 2 to 3 s, by a hash of the date and of
    /// what was delivered.
    fn pick_probe_wait(&mut self, now: Time) {
        let random = hash(now.as_picos() ^ self.delivered.rotate_left(32));
        self.cycle.rounds_since_probe_up = random & 1;
        self.cycle.wait = Span::from_secs(2) + Span::from_micros((random >> 1) % 1_000_000);
    }

    /// `UpdateProbeBWCyclePhase()`.
    pub(super) fn update_cycle_phase(&mut self, news: &News) {
        if !self.full_bw.reached || self.adapt_long_term_model(news) {
            return;
        }
        let is_up_over = self.state == State::ProbeBwUp && self.is_time_to_go_down(news);
        match self.state {
            State::ProbeBwDown | State::ProbeBwCruise if self.is_time_to_probe(news) => {
                self.start_refill();
            }
            State::ProbeBwDown if self.is_time_to_cruise(news) => {
                self.state = State::ProbeBwCruise;
            }
            State::ProbeBwRefill if self.rounds.start => {
                self.cycle.is_probe_sample = true;
                self.start_up(news);
            }
            State::ProbeBwUp if is_up_over => {
                self.cycle.was_too_high = false; // no high loss yet
                self.start_down(news.now);
            }
            _ => {}
        }
    }

    /// `IsTimeToProbeBW()`, with `IsRenoCoexistenceProbeTime()`: Reno's rounds from half a window.
    fn is_time_to_probe(&self, news: &News) -> bool {
        let waited = news.now > self.cycle.stamp + self.cycle.wait;
        let reno_rounds = (self.target_inflight() / news.mss as f64) as u64;
        waited || self.cycle.rounds_since_probe_up >= reno_rounds.min(63)
    }

    /// `IsTimeToCruise()`: whether the queue is drained and the headroom is free.
    fn is_time_to_cruise(&self, news: &News) -> bool {
        let in_flight = news.in_flight as f64;
        let bdp = self.quantized(self.bdp(self.max_bw(), 1.0), news.mss);
        in_flight <= self.inflight_with_headroom(news.mss) && in_flight <= bdp
    }

    /// `IsTimeToGoDown()`: whether the probe met the long-term bound or a plateau of the rate.
    fn is_time_to_go_down(&mut self, news: &News) -> bool {
        if self.cycle.was_too_high && news.in_flight as f64 >= self.long_term.inflight {
            self.cycle.was_precautionary = true;
            return true;
        }
        if self.is_held_by_long_term(news) {
            self.full_bw.reset(news.delivery_rate);
            return false;
        }
        self.full_bw.now
    }

    /// The window is in use, and is the long-term bound.
    fn is_held_by_long_term(&self, news: &News) -> bool {
        news.cwnd_limited && self.cwnd as f64 >= self.long_term.inflight.floor()
    }

    /// `InflightWithHeadroom()`.
    pub(super) fn inflight_with_headroom(&self, mss: u64) -> f64 {
        let bound = self.long_term.inflight;
        if bound.is_infinite() {
            return bound;
        }
        let headroom = (self.options.headroom * bound).max(mss as f64);
        (bound - headroom).max((MIN_PIPE_CWND * mss) as f64)
    }

    /// `RaiseInflightLongtermSlope()`.
    fn raise_slope(&mut self, mss: u64) {
        let growth = (1_u64 << self.cycle.up_rounds) as f64;
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(30);
        self.cycle.acked_per_increase = (self.cwnd as f64 / growth).max(mss as f64);
    }

    /// `ProbeInflightLongtermUpward()`.
    fn probe_upward(&mut self, news: &News) {
        if !self.is_held_by_long_term(news) {
            return;
        }
        self.cycle.up_acked += news.newly_acked as f64;
        let increases = (self.cycle.up_acked / self.cycle.acked_per_increase).floor();
        if increases >= 1.0 {
            self.cycle.up_acked -= increases * self.cycle.acked_per_increase;
            self.long_term.inflight += increases * news.mss as f64;
        }
        if self.rounds.start {
            self.raise_slope(news.mss);
        }
    }

    /// `AdaptLongTermModel()`: true when it has decided a transition.
    fn adapt_long_term_model(&mut self, news: &News) -> bool {
        if self.cycle.ack_phase == AckPhase::ProbeStarting && self.rounds.start {
            self.cycle.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.cycle.ack_phase == AckPhase::ProbeStopping && self.rounds.start {
            self.cycle.is_probe_sample = false;
            self.cycle.ack_phase = AckPhase::Init;
            if self.state.is_probe_bw() {
                if !news.app_limited {
                    self.advance_max_bw_filter();
                }
                // Precautionary Bandwidth Probing: Acceleration.
                if self.cycle.was_precautionary && !self.cycle.was_too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        if !self.is_too_high(news.lost, news.tx_in_flight) && self.long_term.is_set() {
            self.long_term.inflight = self.long_term.inflight.max(news.tx_in_flight as f64);
            if self.state == State::ProbeBwUp {
                self.probe_upward(news);
            }
        }
        false
    }
}
