//! BBR version 3 (draft-ietf-ccwg-bbr): a model of the path from measured rates, round-trip times and
//! losses sets the rate and the window. Bandwidth and volume are bounded on two time scales: a
//! long-term bound from the last probe that lost too much, and a short-term one from losses since.
//!
//! This file has the states, the order of the steps at an acknowledgment, and the control parameters
//! ("Updating Control Parameters"); `startup` finds the plateau, `cycle` probes for bandwidth, `bounds` answers losses,
//! `probe_rtt` looks for the propagation time. Names are the draft's.
//!
//! Deviations, each with its reason in docs/algorithms/bbr3.md: `C.is_cwnd_limited` is read from what
//! was in flight before the acknowledgment; the random waits are hashed from the date and the octets
//! delivered; a connection is taken to have selective acknowledgments; the cycle of `max_bw_filter`
//! goes on only where the current one has a sample; CE marks count as losses.

mod bounds;
mod cycle;
mod news;
mod probe_rtt;
mod startup;

use crate::bbr::{Aggregation, hash};
use crate::{
    Acked, Cause, CongestionEvent, Controller, Feedback, LostSegment, OptionForm, Options, PathView,
};
use anabranch_units::{Rate, Span, Time};
use bounds::{LongTerm, Saved, ShortTerm};
use cycle::Cycle;
use news::News;
use probe_rtt::MinRtt;
use startup::FullBw;

/// `BBR.StartupPacingGain`, 4 ln 2: the least that doubles the rate each round.
const STARTUP_PACING_GAIN: f64 = 4.0 * std::f64::consts::LN_2;
/// `BBR.DefaultCwndGain`: the window in bandwidth-delay products, except in ProbeBW_UP and
/// ProbeRTT.
const DEFAULT_CWND_GAIN: f64 = 2.0;
/// `BBR.PacingMarginPercent`: the rate is 1 % below what the gain makes of the bandwidth.
const PACING_MARGIN: f64 = 0.99;
/// `BBR.MinPipeCwnd`, segments.
const MIN_PIPE_CWND: u64 = 4;
/// `Bbr3Options` are the settings of [`Bbr3`].
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bbr3Options {
    /// `loss_thresh` is `BBR.LossThresh`: the part of a round that a probe may lose; 0.02.
    pub loss_thresh: f64,
    /// `beta` is `BBR.Beta`: the part of the short-term bounds that a round with losses leaves at
    /// least; 0.7.
    pub beta: f64,
    /// `headroom` is `BBR.Headroom`: the part of the long-term bound left to others; 0.15.
    pub headroom: f64,
    /// `probe_rtt_interval` is `BBR.ProbeRTTInterval`: the time between two ProbeRTT; 5 s.
    pub probe_rtt_interval: Span,
    /// `min_rtt_filter` is `BBR.MinRTTFilterLen`: how long a smallest round-trip time is believed;
    /// 10 s.
    pub min_rtt_filter: Span,
    /// `probe_rtt` is `BBR.ProbeRTTDuration`: the time that a ProbeRTT takes; 200 ms.
    pub probe_rtt: Span,
}

impl Default for Bbr3Options {
    fn default() -> Bbr3Options {
        Bbr3Options {
            loss_thresh: 0.02,
            beta: 0.7,
            headroom: 0.15,
            probe_rtt_interval: Span::from_secs(5),
            min_rtt_filter: Span::from_secs(10),
            probe_rtt: Span::from_millis(200),
        }
    }
}

impl Options for Bbr3Options {
    fn own<F: OptionForm>(&mut self, form: &mut F) -> Result<(), F::Error> {
        form.says("part of a round that a probe may lose")
            .probability("loss_thresh", &mut self.loss_thresh)?;
        form.says("part of the short-term bounds that a round with losses leaves at least")
            .probability("beta", &mut self.beta)?;
        form.says("part of the long-term bound left to others")
            .probability("headroom", &mut self.headroom)?;
        form.says("time between two ProbeRTT")
            .span("probe_rtt_interval", &mut self.probe_rtt_interval)?;
        form.says("how long a smallest round-trip time is believed")
            .span("min_rtt_filter", &mut self.min_rtt_filter)?;
        form.says("length of a ProbeRTT").span("probe_rtt", &mut self.probe_rtt)
    }
}

/// `Bbr3` is a sender's rate and window by BBR version 3. The state is large and lives in a box.
#[derive(Clone, Debug)]
pub struct Bbr3(Box<Model>);

/// `State` is a state of the machine ("State Transition Diagram").
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// The rate doubles each round until it grows no more, or too much is lost.
    Startup,
    /// The queue that Startup has built drains, at half the bandwidth.
    Drain,
    /// Slower than the path delivers, until there is no queue and some headroom.
    ProbeBwDown,
    /// The rate follows what the path delivers, and the headroom stays free.
    ProbeBwCruise,
    /// The rate follows what the path delivers for one round, without the short-term bounds.
    ProbeBwRefill,
    /// The rate is above what the path delivers, until too much is lost or the pipe is full.
    ProbeBwUp,
    /// Half a bandwidth-delay product in flight, to see the propagation time.
    ProbeRtt,
}

impl State {
    /// `IsInAProbeBWState()`: whether this is one of the four states of ProbeBW.
    fn is_probe_bw(self) -> bool {
        use State::{ProbeBwCruise, ProbeBwDown, ProbeBwRefill, ProbeBwUp};
        matches!(self, ProbeBwDown | ProbeBwCruise | ProbeBwRefill | ProbeBwUp)
    }

    /// `IsProbingBW()`: whether this state looks for more bandwidth.
    fn is_probing(self) -> bool {
        matches!(self, State::Startup | State::ProbeBwRefill | State::ProbeBwUp)
    }

    /// `BBR.pacing_gain` ("Summary of Control Behavior in the State Machine").
    fn pacing_gain(self) -> f64 {
        match self {
            State::Startup => STARTUP_PACING_GAIN,
            State::Drain => 0.5,
            State::ProbeBwDown => 0.9,
            State::ProbeBwUp => 1.25,
            State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeRtt => 1.0,
        }
    }

    /// `BBR.cwnd_gain`, from the same table.
    fn cwnd_gain(self) -> f64 {
        match self {
            State::ProbeBwUp => 2.25,
            State::ProbeRtt => 0.5,
            _ => DEFAULT_CWND_GAIN,
        }
    }
}

/// `Recovery` is the kind of repair that the sender is in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Recovery {
    No,
    /// The scheme repairs a loss, since the round with this number.
    Fast {
        since: u64,
    },
    /// The timer has expired; the recovery lasts until so many octets are acknowledged.
    Timeout {
        until: u64,
    },
}

/// `Rounds` counts packet-timed round trips ("BBR.round_count").
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    /// `BBR.round_count`: rounds that have begun since the start.
    count: u64,
    /// `BBR.round_start`: the acknowledgment in hand begins a round.
    start: bool,
    /// `BBR.next_round_delivered`.
    next: u64,
}

/// The model and what follows from it. Rates are octets per second, volumes octets.
#[derive(Clone, Debug)]
struct Model {
    options: Bbr3Options,
    state: State,
    /// `C.pacing_rate`: set after each acknowledgment.
    pacing_rate: f64,
    /// `C.cwnd`: set after each acknowledgment; at least [`MIN_PIPE_CWND`] segments.
    cwnd: u64,
    /// `C.InitialCwnd`: the window of the first flight; stands for the bandwidth-delay product
    /// until there is a round-trip time.
    initial_cwnd: u64,
    /// `C.delivered`: octets known to have arrived since the start.
    delivered: u64,
    rounds: Rounds,
    full_bw: FullBw,
    /// `BBR.drain_start_round`.
    drain_start_round: u64,
    /// `BBR.max_bw_filter`: the largest rate of the previous cycle and of the current one.
    max_bw_filter: [f64; 2],
    /// `BBR.bw`: the bandwidth in use, [`Model::max_bw`] within its short-term bound.
    bw: f64,
    aggregation: Aggregation,
    min_rtt: MinRtt,
    cycle: Cycle,
    long_term: LongTerm,
    short_term: ShortTerm,
    recovery: Recovery,
    /// `BBR.prior_cwnd`: the window to return to after recovery or ProbeRTT.
    prior_cwnd: u64,
    saved: Saved,
    /// `BBR.idle_restart`: data has left after idleness and has not been acknowledged yet.
    idle_restart: bool,
}

impl Model {
    /// `BBR.max_bw`: the largest delivery rate of this cycle and of the one before.
    fn max_bw(&self) -> f64 {
        self.max_bw_filter[0].max(self.max_bw_filter[1])
    }

    /// `UpdateRound()`: begins a round when a segment sent since the last round began is
    /// acknowledged.
    fn update_round(&mut self, news: &News) {
        self.rounds.start = news.prior_delivered.is_some_and(|prior| prior >= self.rounds.next);
        if self.rounds.start {
            self.start_round();
            self.rounds.count += 1;
            self.cycle.rounds_since_probe_up += 1;
        }
    }

    /// `StartRound()`: the next round begins with the acknowledgment of what is sent from now on.
    fn start_round(&mut self) {
        self.rounds.next = self.delivered;
    }

    /// `UpdateMaxBw()`: takes the delivery rate into the maximum filter, unless the application
    /// limited it.
    fn update_max_bw(&mut self, news: &News) {
        self.update_round(news);
        let rate = news.delivery_rate;
        if rate > 0.0 && (rate >= self.max_bw() || !news.app_limited) {
            self.max_bw_filter[1] = self.max_bw_filter[1].max(rate);
        }
    }

    /// `AdvanceMaxBwFilter()`. A cycle without a sample does not count.
    fn advance_max_bw_filter(&mut self) {
        if self.max_bw_filter[1] > 0.0 {
            self.max_bw_filter = [self.max_bw_filter[1], 0.0];
        }
    }

    /// `UpdateACKAggregation()`; the excess of ten rounds counts, of one in Startup.
    fn update_aggregation(&mut self, news: &News) {
        let (acked, round) = (news.newly_acked, self.rounds.count);
        self.aggregation.on_ack(news.now, acked, self.bw, self.cwnd, round);
    }

    fn extra_acked(&self) -> f64 {
        match self.full_bw.reached {
            true => self.aggregation.extra_acked() as f64,
            false => self.aggregation.extra_acked_lately() as f64,
        }
    }

    /// `C.send_quantum` ("Send Quantum").
    fn send_quantum(&self, mss: u64) -> f64 {
        (self.pacing_rate * 1e-3).min(64.0 * 1024.0).max(2.0 * mss as f64)
    }

    /// `BDPMultiple(gain)` at the bandwidth `bw`.
    fn bdp(&self, bw: f64, gain: f64) -> f64 {
        match self.min_rtt.value {
            None => self.initial_cwnd as f64,
            Some(min_rtt) => gain * bw * min_rtt.as_secs_f64(),
        }
    }

    /// `QuantizationBudget()`, with the offload budget of TCP.
    fn quantized(&self, cap: f64, mss: u64) -> f64 {
        let least = (3.0 * self.send_quantum(mss)).max((MIN_PIPE_CWND * mss) as f64);
        let more = if self.state == State::ProbeBwUp { 2.0 * mss as f64 } else { 0.0 };
        cap.max(least) + more
    }

    /// `Inflight(gain)`: `gain` bandwidth-delay products, with room for offloading and for small
    /// windows.
    fn inflight(&self, gain: f64, news: &News) -> f64 {
        self.quantized(self.bdp(self.bw, gain), news.mss)
    }

    /// `TargetInflight()`: one bandwidth-delay product, within the window.
    fn target_inflight(&self) -> f64 {
        self.bdp(self.bw, 1.0).min(self.cwnd as f64)
    }

    /// `BoundBWForModel()`: applies the short-term bound to the bandwidth.
    fn bound_bw(&mut self) {
        self.bw = self.max_bw().min(self.short_term.bw);
    }

    /// `SetPacingRateWithGain()`.
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw * PACING_MARGIN;
        if rate > 0.0 && (self.full_bw.reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// `SetCwnd()`: opens the window by what was acknowledged, up to what the model allows.
    fn set_cwnd(&mut self, news: &News) {
        let gain = self.state.cwnd_gain();
        let cap = self.bdp(self.bw, gain) + self.extra_acked();
        let max_inflight = self.quantized(cap, news.mss) as u64;
        if self.full_bw.reached {
            self.cwnd = (self.cwnd + news.newly_acked).min(max_inflight);
        } else if self.cwnd < max_inflight || self.delivered < self.initial_cwnd {
            self.cwnd += news.newly_acked;
        }
        self.cwnd = self.cwnd.max(MIN_PIPE_CWND * news.mss);
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd(news.mss));
        }
        self.bound_cwnd(news.mss);
    }

    /// `BoundCwndForModel()`: applies the long-term and short-term bounds to the window.
    fn bound_cwnd(&mut self, mss: u64) {
        let long_term = match self.state {
            State::ProbeRtt | State::ProbeBwCruise => self.inflight_with_headroom(mss),
            state if state.is_probe_bw() => self.long_term.inflight,
            _ => f64::INFINITY,
        };
        let cap = long_term.min(self.short_term.inflight).max((MIN_PIPE_CWND * mss) as f64);
        self.cwnd = self.cwnd.min(cap as u64);
    }

    /// `SaveCwnd()`: keeps the window before a recovery or ProbeRTT changes it.
    fn save_cwnd(&mut self) {
        let modulated = self.recovery != Recovery::No || self.state == State::ProbeRtt;
        self.prior_cwnd = if modulated { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    /// `RestoreCwnd()`: returns to the window that [`Model::save_cwnd`] kept, if that is larger.
    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// The recovery ends with the acknowledgment that repairs all of it.
    fn update_recovery(&mut self, feedback: &Feedback, path: &PathView) {
        let over = match self.recovery {
            Recovery::No => false,
            Recovery::Fast { .. } => !feedback.in_recovery,
            Recovery::Timeout { until } => path.acked >= until,
        };
        if over {
            self.recovery = Recovery::No;
            self.restore_cwnd();
        }
    }
}

impl Bbr3 {
    /// Makes a window of `initial_window` octets; BBR has no slow-start threshold (`OnInit()`).
    pub fn new(options: &Bbr3Options, initial_window: u64, _initial_ssthresh: u64) -> Bbr3 {
        let initial_cwnd = initial_window.max(1);
        Bbr3(Box::new(Model {
            options: *options,
            state: State::Startup,
            // InitPacingRate(): a window per millisecond, until a round trip is measured.
            pacing_rate: STARTUP_PACING_GAIN * initial_cwnd as f64 / 1e-3,
            cwnd: initial_cwnd,
            initial_cwnd,
            delivered: 0,
            rounds: Rounds::default(),
            full_bw: FullBw::default(),
            drain_start_round: 0,
            max_bw_filter: [0.0; 2],
            bw: 0.0,
            aggregation: Aggregation::default(),
            min_rtt: MinRtt::default(),
            cycle: Cycle::default(),
            long_term: LongTerm::default(),
            short_term: ShortTerm::default(),
            recovery: Recovery::No,
            prior_cwnd: 0,
            saved: Saved::default(),
            idle_restart: false,
        }))
    }
}

impl Controller for Bbr3 {
    /// `HandleRestartFromIdle()`.
    fn on_sent(&mut self, now: Time, _bytes: u64, path: &PathView) {
        let m = &mut *self.0;
        if path.in_flight > 0 || !path.app_limited {
            return;
        }
        m.idle_restart = true;
        m.aggregation.restart(now);
        if m.state.is_probe_bw() {
            m.set_pacing_rate(1.0);
        } else if m.state == State::ProbeRtt {
            m.check_probe_rtt_done(now);
        }
    }

    /// The window follows the model: see `on_feedback`.
    fn on_ack(&mut self, _acked: &Acked, _path: &PathView) {}

    fn wants_feedback(&self) -> bool {
        true
    }

    fn wants_losses(&self) -> bool {
        true
    }

    fn owns_recovery(&self) -> bool {
        true
    }

    fn on_lost(&mut self, now: Time, segment: &LostSegment, _path: &PathView) {
        self.0.handle_lost_packet(now, segment);
    }

    /// `UpdateOnACK()`: updates the model with this acknowledgment, then the rate and the window.
    fn on_feedback(&mut self, feedback: &Feedback, path: &PathView) {
        let m = &mut *self.0;
        m.delivered =
            feedback.rate.map_or(m.delivered + feedback.delivered, |rate| rate.total_delivered);
        m.update_recovery(feedback, path);
        let news = m.news(feedback, path);
        // UpdateModelAndState().
        m.update_latest_delivery_signals(&news);
        m.update_congestion_signals(&news);
        m.update_aggregation(&news);
        m.check_full_bw_reached(&news);
        m.check_startup_done(&news);
        m.check_drain_done(&news);
        m.update_cycle_phase(&news);
        m.update_min_rtt(&news);
        m.check_probe_rtt(&news);
        m.advance_latest_delivery_signals(&news);
        m.bound_bw();
        // UpdateControlParameters().
        m.set_pacing_rate(m.state.pacing_gain());
        m.set_cwnd(&news);
    }

    fn on_congestion(&mut self, event: &CongestionEvent, path: &PathView) {
        let m = &mut *self.0;
        match event.cause {
            // OnEnterFastRecovery().
            Cause::Loss => {
                m.save_state_upon_loss();
                m.recovery = Recovery::Fast { since: m.rounds.count };
            }
            // OnEnterRTO().
            Cause::Timeout => {
                m.save_state_upon_loss();
                m.cwnd = path.mss;
                m.recovery = Recovery::Timeout { until: path.sent };
            }
            // Each acknowledgment tells of its marks.
            Cause::EcnMark => {}
        }
    }

    /// `HandleSpuriousLossDetection()`.
    fn on_undo(&mut self) {
        self.0.handle_spurious_loss();
    }

    /// Changes nothing: the window stays, pacing alone restarts a flow ("Restarting From Idle").
    fn on_idle(&mut self, _initial: u64) {}

    fn window(&self) -> u64 {
        self.0.cwnd
    }

    fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    fn pacing_rate(&self, _srtt: Option<Span>) -> Option<Rate> {
        Rate::from_bps(((self.0.pacing_rate * 8.0) as u64).max(1))
    }
}

#[cfg(test)]
mod tests;
