//! BBR version 1: the rate follows the measured bandwidth, the window the
//! bandwidth-delay product, and neither follows loss
//! (draft-cardwell-iccrg-bbr-congestion-control-00).
//!
//! §4.1 the model (bottleneck bandwidth, round-trip propagation time, rounds),
//! §4.2 pacing rate, send quantum and window, §4.3 the states. Names are the
//! draft's. It needs delivery-rate samples ([`Feedback::rate`]), and a sender
//! that paces.
//!
//! Version 3 is [`bbr3`](crate::bbr3). [`coupled_bbr`](crate::coupled::coupled_bbr) divides the bandwidth of this
//! model among the paths of a connection.
//!
//! Deviation: with the first round-trip sample the pacing rate is computed
//! anew from the initial window, as Linux does. The draft keeps the rate of
//! initial window per millisecond until the pipe is full.
//!
//! Deviation: the phase of the gain cycle at which ProbeBW begins is hashed
//! from the date and the octets delivered instead of drawn at random, since a
//! controller draws no random numbers; flows still begin at different phases.

mod aggregation;
mod filter;

pub(crate) use aggregation::Aggregation;

use crate::{Acked, Cause, CongestionEvent, Controller, Feedback, PathView, RateSample};
use anabranch_units::{Rate, Span, Time};
use filter::MaxFilter;

/// `BBRHighGain`, 2 / ln 2: the smallest gain that doubles the rate each round.
const HIGH_GAIN: f64 = 2.0 / std::f64::consts::LN_2;
/// `CYCLE` has the gains of ProbeBW, a phase each (§4.3.4.2).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// `cwnd_gain` of ProbeBW.
const PROBE_BW_CWND_GAIN: f64 = 2.0;
/// `FULL_BW_THRESH` is the growth in a round below which the pipe may be full, and `FULL_BW_COUNT`
/// the rounds of it that say so (§4.3.2.2).
const FULL_BW_THRESH: f64 = 1.25;
const FULL_BW_COUNT: u32 = 3;
/// `BBRMinPipeCwnd`, segments.
const MIN_PIPE_CWND: u64 = 4;

/// `BbrOptions` are the settings of [`Bbr`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BbrOptions {
    /// `rtprop_filter` is `RTpropFilterLen`: how long a smallest round-trip time is believed, and
    /// so the time between two ProbeRTT; 10 s.
    pub rtprop_filter: Span,
    /// `probe_rtt` is `ProbeRTTDuration`; 200 ms.
    pub probe_rtt: Span,
    /// `ack_aggregation` says that the window allows for ACKs that come in bursts: of later drafts,
    /// and of Linux; not in the draft of version 1.
    pub ack_aggregation: bool,
}

impl Default for BbrOptions {
    fn default() -> BbrOptions {
        BbrOptions {
            rtprop_filter: Span::from_secs(10),
            probe_rtt: Span::from_millis(200),
            ack_aggregation: false,
        }
    }
}

impl crate::Options for BbrOptions {
    fn own<F: crate::OptionForm>(&mut self, form: &mut F) -> Result<(), F::Error> {
        form.says("time between two ProbeRTT").span("rtprop_filter", &mut self.rtprop_filter)?;
        form.says("length of a ProbeRTT").span("probe_rtt", &mut self.probe_rtt)?;
        form.says("the window allows for ACKs that come in bursts")
            .boolean("ack_aggregation", &mut self.ack_aggregation)
    }
}

/// `Bbr` is a BBR sender's rate and window. The state is large and lives in a box.
#[derive(Clone, Debug)]
pub struct Bbr(Box<Model>);

/// `State` is a state of the machine of §3.4.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// The rate doubles each round until the bandwidth grows no more.
    Startup,
    /// The queue that Startup has built drains, at a rate below the bandwidth.
    Drain,
    /// The gain of the rate goes through a cycle around 1, a phase each `RTprop`.
    ProbeBw,
    /// Few segments in flight, to see the propagation time.
    ProbeRtt,
}

/// `Recovery` is the reason why the window is not the model's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Recovery {
    No,
    /// The scheme repairs a loss; `conserving` in its first round.
    Fast {
        conserving: bool,
    },
    /// The timer expired; until so many octets are acknowledged.
    Timeout {
        until: u64,
    },
}

#[derive(Clone, Debug)]
struct Model {
    options: BbrOptions,
    state: State,
    pacing_gain: f64,
    cwnd_gain: f64,
    /// The part of the bandwidth that rate and window follow: 1, but in a coupled flow.
    part: f64,
    /// `BBR.pacing_rate`, in octets per second; set by every ACK (§4.2.1).
    pacing_rate: f64,
    /// The congestion window in octets, as §4.2.3 sets it.
    cwnd: u64,
    initial_cwnd: u64,
    /// `BBR.BtlBwFilter`: octets per second over the last ten rounds.
    btl_bw: MaxFilter,
    /// `BBR.RTprop`, and when it was measured.
    rtprop: Option<Span>,
    rtprop_stamp: Time,
    rtprop_expired: bool,
    /// `round_count` counts rounds by delivery since the start (§4.1.1.3).
    round_count: u64,
    next_round_delivered: u64,
    round_start: bool,
    /// `filled_pipe`, `full_bw` and `full_bw_count` are Startup's estimate of a full pipe
    /// (§4.3.2.2).
    filled_pipe: bool,
    full_bw: f64,
    full_bw_count: u32,
    /// The estimate of ACK aggregation, where the window allows for bursts of ACKs.
    aggregation: Option<Box<Aggregation>>,
    /// `cycle_index` is the position in the eight phases of ProbeBW's gain cycle, and `cycle_stamp`
    /// the time at which that phase began (§4.3.4).
    cycle_index: usize,
    cycle_stamp: Time,
    /// `probe_rtt_done_stamp` is the time at which ProbeRTT is over; `NEVER` before few enough are
    /// in flight.
    probe_rtt_done_stamp: Time,
    probe_rtt_round_done: bool,
    /// The samples of what was sent when so much had been delivered are of
    /// ProbeRTT's own making (§4.3.5 marks them as limited by the application).
    probe_rtt_sent: (u64, u64),
    /// `BBR.prior_cwnd`: the window in octets to return to after recovery or ProbeRTT.
    prior_cwnd: u64,
    idle_restart: bool,
    recovery: Recovery,
    /// `round_count` when the recovery began.
    recovery_round: u64,
    /// Octets delivered since the start, to which samples refer.
    delivered: u64,
}

impl Bbr {
    /// Makes a window of `initial_window` octets; BBR has no slow-start threshold.
    pub fn new(options: &BbrOptions, initial_window: u64, _initial_ssthresh: u64) -> Bbr {
        let initial_cwnd = initial_window.max(1);
        Bbr(Box::new(Model {
            options: *options,
            state: State::Startup,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            part: 1.0,
            // BBRInitPacingRate: a window per millisecond.
            pacing_rate: HIGH_GAIN * initial_cwnd as f64 / 1e-3,
            cwnd: initial_cwnd,
            initial_cwnd,
            btl_bw: MaxFilter::default(),
            rtprop: None,
            rtprop_stamp: Time::ZERO,
            rtprop_expired: false,
            round_count: 0,
            next_round_delivered: 0,
            round_start: false,
            filled_pipe: false,
            full_bw: 0.0,
            full_bw_count: 0,
            aggregation: options.ack_aggregation.then(Box::default),
            cycle_index: 0,
            cycle_stamp: Time::ZERO,
            probe_rtt_done_stamp: Time::NEVER,
            probe_rtt_round_done: false,
            probe_rtt_sent: (u64::MAX, 0),
            prior_cwnd: 0,
            idle_restart: false,
            recovery: Recovery::No,
            recovery_round: 0,
            delivered: 0,
        }))
    }
}

/// `News` has the facts of one acknowledgment, as the procedures need them.
struct News<'a> {
    now: Time,
    feedback: &'a Feedback,
    in_flight: u64,
    /// `in_flight` before the acknowledgment.
    prior_in_flight: u64,
    mss: u64,
    /// The sample counts as limited by the application.
    app_limited: bool,
}

impl Model {
    /// Lets the newest sample move the bandwidth, unless the application limited it and it is lower
    /// (§4.1.2).
    fn update_btl_bw(&mut self, news: &News<'_>) {
        self.round_start = false;
        let Some(rate) = &news.feedback.rate else { return };
        if rate.prior_delivered >= self.next_round_delivered {
            self.next_round_delivered = rate.total_delivered;
            self.round_count += 1;
            self.round_start = true;
        }
        let seconds = rate.interval.as_secs_f64();
        if seconds <= 0.0 {
            return;
        }
        let bandwidth = rate.delivered as f64 / seconds;
        if bandwidth >= self.btl_bw.max() || !news.app_limited {
            self.btl_bw.update(bandwidth, self.round_count);
        }
    }

    /// Returns whether the sample is limited by the application, or by ProbeRTT.
    fn is_app_limited(&self, rate: &RateSample) -> bool {
        let (from, to) = self.probe_rtt_sent;
        rate.app_limited || (from..=to).contains(&rate.prior_delivered)
    }

    /// Takes the round-trip sample into `RTprop`, the smallest within the filter's length (§4.1.3).
    fn update_rtprop(&mut self, news: &News<'_>) {
        let date = self.rtprop_stamp.saturating_add(self.options.rtprop_filter);
        self.rtprop_expired = self.rtprop.is_some() && news.now > date;
        let Some(rtt) = news.feedback.rtt.filter(|rtt| *rtt > Span::ZERO) else { return };
        if self.rtprop.is_none() {
            let nominal = self.initial_cwnd as f64 / rtt.as_secs_f64();
            self.pacing_rate = self.pacing_gain * nominal;
        }
        if self.rtprop.is_none_or(|rtprop| rtt <= rtprop) || self.rtprop_expired {
            self.rtprop = Some(rtt);
            self.rtprop_stamp = news.now;
        }
    }

    /// `BBRInflight(gain)`: the window that the gain asks for (§4.2.3.2).
    fn inflight(&self, gain: f64, mss: u64) -> u64 {
        let Some(rtprop) = self.rtprop else { return self.initial_cwnd };
        let bdp = self.btl_bw.max() * rtprop.as_secs_f64();
        ((gain * bdp) as u64).saturating_add(3 * self.send_quantum(mss))
    }

    /// Returns how many octets may leave at once (§4.2.2).
    fn send_quantum(&self, mss: u64) -> u64 {
        let bits = self.pacing_rate * 8.0;
        if bits < 1.2e6 {
            mss
        } else if bits < 24e6 {
            2 * mss
        } else {
            ((self.pacing_rate * 1e-3) as u64).min(64 * 1024)
        }
    }

    /// Looks once per round of Startup whether the bandwidth has ceased to grow (§4.3.2.2).
    fn check_full_pipe(&mut self, news: &News<'_>) {
        if self.filled_pipe || !self.round_start || news.app_limited {
            return;
        }
        let bandwidth = self.btl_bw.max();
        if bandwidth >= self.full_bw * FULL_BW_THRESH {
            self.full_bw = bandwidth;
            self.full_bw_count = 0;
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= FULL_BW_COUNT;
    }

    fn enter_startup(&mut self) {
        self.state = State::Startup;
        self.pacing_gain = HIGH_GAIN;
        self.cwnd_gain = HIGH_GAIN;
    }

    /// Enters Drain when the pipe is full, and leaves it for ProbeBW when the queue is gone
    /// (§4.3.3).
    fn check_drain(&mut self, news: &News<'_>) {
        if self.state == State::Startup && self.filled_pipe {
            self.state = State::Drain;
            self.pacing_gain = 1.0 / HIGH_GAIN;
            self.cwnd_gain = HIGH_GAIN;
        }
        if self.state == State::Drain && news.in_flight <= self.inflight(1.0, news.mss) {
            self.enter_probe_bw(news.now);
        }
    }

    /// Begins ProbeBW at any phase but the one that drains (§4.3.4.3).
    fn enter_probe_bw(&mut self, now: Time) {
        self.state = State::ProbeBw;
        self.cwnd_gain = PROBE_BW_CWND_GAIN;
        let phase = hash(now.as_picos() ^ self.delivered.rotate_left(32)) % 7;
        self.cycle_index = CYCLE.len() - 1 - phase as usize;
        self.advance_cycle(now);
    }

    fn advance_cycle(&mut self, now: Time) {
        self.cycle_stamp = now;
        self.cycle_index = (self.cycle_index + 1) % CYCLE.len();
        self.pacing_gain = CYCLE[self.cycle_index];
    }

    /// Ends a phase, which lasts RTprop: probing until the pipe is that full or loses, draining no
    /// longer than needed (§4.3.4.3).
    fn check_cycle_phase(&mut self, news: &News<'_>) {
        if self.state != State::ProbeBw {
            return;
        }
        let elapsed = news.now.saturating_since(self.cycle_stamp);
        let full = self.rtprop.is_some_and(|rtprop| elapsed > rtprop);
        let next = if self.pacing_gain == 1.0 {
            full
        } else if self.pacing_gain > 1.0 {
            let reached = news.prior_in_flight >= self.inflight(self.pacing_gain, news.mss);
            full && (news.feedback.lost > 0 || reached)
        } else {
            full || news.prior_in_flight <= self.inflight(1.0, news.mss)
        };
        if next {
            self.advance_cycle(news.now);
        }
    }

    /// Enters ProbeRTT when `RTprop` has not been renewed for its filter's length, and handles the
    /// state (§4.3.5).
    fn check_probe_rtt(&mut self, news: &News<'_>) {
        if self.state != State::ProbeRtt && self.rtprop_expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.pacing_gain = 1.0;
            self.cwnd_gain = 1.0;
            self.probe_rtt_done_stamp = Time::NEVER;
            self.probe_rtt_sent.0 = self.delivered;
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(news);
        }
        self.idle_restart = false;
    }

    fn handle_probe_rtt(&mut self, news: &News<'_>) {
        self.probe_rtt_sent.1 = self.delivered + news.in_flight;
        if self.probe_rtt_done_stamp == Time::NEVER {
            if news.in_flight <= MIN_PIPE_CWND * news.mss {
                self.probe_rtt_done_stamp = news.now + self.options.probe_rtt;
                self.probe_rtt_round_done = false;
                self.next_round_delivered = self.delivered;
            }
            return;
        }
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done && news.now > self.probe_rtt_done_stamp {
            self.rtprop_stamp = news.now;
            self.restore_cwnd();
            if self.filled_pipe {
                self.enter_probe_bw(news.now);
            } else {
                self.enter_startup();
            }
        }
    }

    /// Sets the pacing rate, which only rises until the pipe is full (§4.2.1).
    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.part * self.btl_bw.max();
        if rate > 0.0 && (self.filled_pipe || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// Bursts of ACKs, once the pipe is full: before, the window has room.
    fn update_aggregation(&mut self, news: &News<'_>) {
        let bandwidth = self.btl_bw.max();
        if let Some(aggregation) = self.aggregation.as_mut().filter(|_| self.filled_pipe) {
            let delivered = news.feedback.delivered;
            aggregation.on_ack(news.now, delivered, bandwidth, self.cwnd, self.round_count);
        }
    }

    /// Moves the window towards its target by what this ACK delivered (§4.2.3).
    fn set_cwnd(&mut self, news: &News<'_>) {
        let delivered = news.feedback.delivered;
        let extra = self.aggregation.as_ref().map_or(0, |aggregation| aggregation.extra_acked());
        let gain = self.cwnd_gain * self.part;
        let target = self.inflight(gain, news.mss).saturating_add(extra);
        let mut conserving = false;
        if self.recovery != Recovery::No {
            // §4.2.3.4: what was lost left the network.
            self.cwnd = self.cwnd.saturating_sub(news.feedback.lost).max(news.mss);
            conserving = self.recovery == Recovery::Fast { conserving: true };
            if conserving {
                self.cwnd = self.cwnd.max(news.in_flight + delivered);
            }
        }
        if !conserving {
            if self.filled_pipe {
                self.cwnd = (self.cwnd + delivered).min(target);
            } else if self.cwnd < target || self.delivered < self.initial_cwnd {
                self.cwnd += delivered;
            }
            self.cwnd = self.cwnd.max(MIN_PIPE_CWND * news.mss);
        }
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_PIPE_CWND * news.mss);
        }
    }

    /// Saves the window that a recovery or ProbeRTT will reduce (`BBRSaveCwnd`, §4.2.3.4).
    fn save_cwnd(&mut self) {
        let reduced = self.recovery != Recovery::No || self.state == State::ProbeRtt;
        self.prior_cwnd = if reduced { self.prior_cwnd.max(self.cwnd) } else { self.cwnd };
    }

    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// Follows a recovery, whose first round conserves packets; at its end the window is what it
    /// was.
    fn update_recovery(&mut self, feedback: &Feedback, path: &PathView) {
        match &mut self.recovery {
            Recovery::Fast { conserving } if feedback.in_recovery => {
                *conserving &= self.round_count == self.recovery_round;
                return;
            }
            Recovery::Timeout { until } if path.acked < *until => return,
            Recovery::No => return,
            _ => {}
        }
        self.recovery = Recovery::No;
        self.restore_cwnd();
    }

    /// `BBRUpdateModelAndState`: what an acknowledgment tells of the path.
    #[inline]
    fn update_model<'a>(&mut self, feedback: &'a Feedback, path: &PathView) -> News<'a> {
        self.delivered =
            feedback.rate.map_or(self.delivered + feedback.delivered, |rate| rate.total_delivered);
        let news = News {
            now: feedback.now,
            feedback,
            in_flight: path.in_flight,
            prior_in_flight: path.in_flight + feedback.delivered + feedback.lost,
            mss: path.mss,
            app_limited: feedback.rate.is_none_or(|rate| self.is_app_limited(&rate)),
        };
        self.update_btl_bw(&news);
        self.update_recovery(feedback, path);
        self.check_cycle_phase(&news);
        self.check_full_pipe(&news);
        self.update_aggregation(&news);
        self.check_drain(&news);
        self.update_rtprop(&news);
        self.check_probe_rtt(&news);
        news
    }

    /// `BBRUpdateControlParameters`: rate and window by the model.
    #[inline]
    fn update_control(&mut self, news: &News<'_>) {
        self.set_pacing_rate(self.pacing_gain);
        self.set_cwnd(news);
    }
}

impl Bbr {
    /// Takes an acknowledgment as [`Controller::on_feedback`] does, for a flow that follows a part of the bandwidth:
    /// `part` says which, given the bandwidth in octets per second and the phase of ProbeBW's cycle, 0 to 7, or
    /// `None` in other states.
    pub(crate) fn on_shared_feedback(
        &mut self,
        feedback: &Feedback,
        path: &PathView,
        part: impl FnOnce(f64, Option<usize>) -> f64,
    ) {
        let m = &mut *self.0;
        let news = m.update_model(feedback, path);
        let phase = (m.state == State::ProbeBw).then_some(m.cycle_index);
        m.part = part(m.btl_bw.max(), phase);
        m.update_control(&news);
    }

    /// Returns `BBR.BtlBw`, in octets per second; 0 before the first sample.
    pub(crate) fn bandwidth(&self) -> f64 {
        self.0.btl_bw.max()
    }
}

impl Controller for Bbr {
    fn on_sent(&mut self, _now: Time, _bytes: u64, path: &PathView) {
        let m = &mut *self.0;
        if path.in_flight == 0 && path.app_limited {
            // §4.3.4.4, BBRHandleRestartFromIdle.
            m.idle_restart = true;
            if m.state == State::ProbeBw {
                m.set_pacing_rate(1.0);
            }
        }
    }

    /// The window follows the model: see `on_feedback`.
    fn on_ack(&mut self, _acked: &Acked, _path: &PathView) {}

    fn wants_feedback(&self) -> bool {
        true
    }

    /// Returns true: packets are conserved for a round, then the window follows the model
    /// (§4.2.3.4). What PRR, or a reduction at each further loss, would make of it is a window of a
    /// few segments for as long as losses keep a recovery open.
    fn owns_recovery(&self) -> bool {
        true
    }

    fn on_feedback(&mut self, feedback: &Feedback, path: &PathView) {
        let m = &mut *self.0;
        let news = m.update_model(feedback, path);
        m.update_control(&news);
    }

    fn on_congestion(&mut self, event: &CongestionEvent, path: &PathView) {
        let m = &mut *self.0;
        match event.cause {
            Cause::Loss => {
                m.save_cwnd();
                // Packets that are in flight, and one more; never more than before.
                m.cwnd = m.cwnd.min(path.in_flight.max(path.mss)).max(path.mss);
                m.recovery = Recovery::Fast { conserving: true };
                m.recovery_round = m.round_count;
                m.next_round_delivered = m.delivered;
            }
            Cause::Timeout => {
                m.save_cwnd();
                m.cwnd = path.mss;
                m.recovery = Recovery::Timeout { until: path.sent };
            }
            // Version 1 does not hear marks.
            Cause::EcnMark => {}
        }
    }

    fn on_undo(&mut self) {
        let m = &mut *self.0;
        if m.recovery != Recovery::No {
            m.recovery = Recovery::No;
            m.restore_cwnd();
        }
    }

    /// Changes nothing: pacing alone restarts a flow, at the rate that was measured (§4.3.4.4).
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

/// Spreads dates that are close to each other: the finalizer of SplitMix64.
pub(crate) fn hash(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests;
