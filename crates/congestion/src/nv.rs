//! TCP-NV: Vegas for data centers, by the rate of the best segment of a round trip (Brakmo, "TCP-NV:
//! Congestion Avoidance for Data Centers", 2010; as Linux documents it, `net/ipv4/tcp_nv.c`).
//!
//! Each acknowledgment gives a rate: what was in flight when the newest segment left, over the
//! round-trip time, averaged by halves. The largest rate since the last decision, times the smallest round-trip
//! time, is the window that the rate needs; the window may exceed it by `pad` segments, 10. Once in a round
//! trip:
//!
//! | window | what happens |
//! |---|---|
//! | above that | it loses 0.3 of what is too much, and does not grow |
//! | at least two segments below | it may grow, as Reno's |
//! | between | nothing |
//!
//! A decision needs some acknowledgments, so that one delayed segment decides nothing: 60 to shrink, 30 to leave
//! slow start, 20 to grow; and two round trips. The smallest round-trip time is that of the last period of
//! about five seconds and of the present one. A loss leaves 0.8 of the window. After timeouts growth is slower by half
//! each time, eight times at most, and recovers a step after eight decisions to grow.
//!
//! Choices: what was in flight is what was delivered during the flight of the segment, as a rate sample
//! has it. The length of a period varies by a quarter with a hash of the date, in place of a random number. Bounds
//! of the round-trip time that a host may set (`base_rtt`) are left out, and so is what keeps a window open whose round
//! trip has a single acknowledgment.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::bbr::hash;
use crate::round::Round;
use crate::window::Window;
use crate::{Acked, Cause, Feedback, PathView};
use anabranch_units::{Span, Time};

/// `NvOptions` are the settings of [`Nv`]; the defaults are Linux's.
#[derive(Clone, PartialEq, Debug)]
pub struct NvOptions {
    /// `nv_pad`: segments that may wait in the network; 10.
    pub pad: u32,
    /// `nv_pad_buffer`: segments below that from which the window does not grow; 2.
    pub pad_buffer: u32,
    /// `nv_reset_period`: for about how long a smallest round-trip time is believed, twice; 5 s.
    pub reset_period: Span,
    /// `nv_cong_dec_mult`: part of what is too much that a round trip takes; 0.3.
    pub decrease: f64,
    /// `nv_loss_dec_factor`: part of the window that a loss leaves; 0.8.
    pub loss_beta: f64,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for NvOptions {
    fn default() -> NvOptions {
        NvOptions {
            pad: 10,
            pad_buffer: 2,
            reset_period: Span::from_secs(5),
            decrease: 0.3,
            loss_beta: 0.8,
            common: Common::default(),
        }
    }
}

crate::options::ack_driven!(NvOptions, |o, form| {
    form.says("segments that may wait in the network").integer("pad", 1..=10_000, &mut o.pad)?;
    form.says("segments below that from which the window does not grow").integer(
        "pad_buffer",
        0..=10_000,
        &mut o.pad_buffer,
    )?;
    form.says("for about how long a smallest round-trip time is believed, twice")
        .span("reset_period", &mut o.reset_period)?;
    form.says("part of what is too much that a round trip takes")
        .probability("decrease", &mut o.decrease)?;
    form.says("part of the window that a loss leaves")
        .probability("loss_beta", &mut o.loss_beta)?;
    form.require(o.pad_buffer < o.pad, "pad_buffer", "less than `pad`")?;
    form.require(o.reset_period > Span::ZERO, "reset_period", "more than 0 s")?;
});

/// `nv_dec_eval_min_calls`: acknowledgments that a decision to shrink needs.
const TO_SHRINK: u32 = 60;
/// `nv_inc_eval_min_calls`: acknowledgments that a decision to grow needs.
const TO_GROW: u32 = 20;
/// `nv_ssthresh_eval_min_calls`: acknowledgments that a decision to leave slow start needs.
const TO_LEAVE: u32 = 30;
/// `nv_rtt_min_cnt`: round trips that a decision to shrink needs.
const ROUNDS_TO_SHRINK: u32 = 2;
/// `nv_stop_rtt_cnt`: after so many round trips without a decision a window that is too large stops to grow.
const ROUNDS_TO_STOP: u32 = 10;
/// `nv_cwnd_growth_rate_neg`: decisions to grow after which slow growth is twice as fast.
const GROWN_TO_RECOVER: u32 = 8;
/// Growth is slower than Reno's by two to this power at most.
const SLOWEST: u32 = 8;

/// The controller of TCP-NV: [`NvLaw`] driven by ACKs.
pub type Nv = AckClocked<NvLaw>;

/// `NvLaw` is TCP-NV's growth and reduction, with what it measures in a box.
#[derive(Clone, Debug)]
pub struct NvLaw(Box<State>);

#[derive(Clone, Debug)]
struct State {
    options: NvOptions,
    /// `nv_last_rtt`: the averaged round-trip time, in seconds; `None` before a sample.
    rtt: Option<f64>,
    /// `nv_min_rtt` and `nv_min_rtt_new`: the smallest averaged one since the period before the present
    /// one began, and since that did; in seconds.
    min_rtt: f64,
    min_rtt_new: f64,
    /// `nv_min_rtt_reset_jiffies`: the present period ends.
    period_ends: Time,
    /// `nv_rtt_max_rate`: the largest rate since the last decision, in octets a second.
    max_rate: f64,
    /// `nv_eval_call_cnt` and `nv_rtt_cnt`: acknowledgments and round trips since the last decision.
    calls: u32,
    rounds: u32,
    round: Round,
    /// A round trip has begun: the next acknowledgment decides.
    decides: bool,
    /// `nv_allow_cwnd_growth`: the window may grow.
    grows: bool,
    /// `cwnd_growth_factor`, below 0: growth is slower by two to this power.
    slower: u32,
    /// `nv_no_cong_cnt`: decisions to grow in a row.
    grown: u32,
    /// A loss was found: when it is repaired counting begins anew.
    lost: bool,
}

impl State {
    /// Counts begin anew after a decision.
    fn decided(&mut self) {
        (self.calls, self.rounds, self.max_rate) = (0, 0, 0.0);
    }

    /// Takes a round-trip time and what was delivered in the flight of its segment.
    fn on_sample(&mut self, now: Time, rtt: Span, delivered: u64) {
        let sample = rtt.as_secs_f64();
        let rtt = self.rtt.map_or(sample, |before| (before + sample) / 2.0);
        if self.rtt.is_none() {
            // What was smallest before a loss is forgotten, too.
            self.min_rtt = rtt;
            self.period_ends = self.period_ends.min(now + Span::from_secs(2));
        }
        self.rtt = Some(rtt);
        self.max_rate = self.max_rate.max(delivered as f64 / rtt);
        self.calls = self.calls.saturating_add(1);
        self.min_rtt = self.min_rtt.min(rtt);
        self.min_rtt_new = self.min_rtt_new.min(rtt);
        if now >= self.period_ends {
            self.min_rtt = self.min_rtt_new;
            self.min_rtt_new = f64::INFINITY;
            // Three to five quarters of the period.
            let random = hash(now.as_picos()) & 255;
            self.period_ends = now + self.options.reset_period.saturating_mul(384 + random) / 512;
        }
    }

    /// Once in a round trip: is the window too large for the rate?
    fn decide(&mut self, window: &mut Window, mss: f64) {
        self.rounds = self.rounds.saturating_add(1);
        let most = self.max_rate * self.min_rtt + f64::from(self.options.pad) * mss;
        if !most.is_finite() {
            return;
        }
        if window.cwnd > most {
            let needed = if window.ssthresh.is_infinite() { TO_LEAVE } else { TO_SHRINK };
            if self.rounds < ROUNDS_TO_SHRINK {
                return;
            }
            if self.calls < needed {
                let waits = window.ssthresh.is_infinite() || self.rounds <= ROUNDS_TO_STOP;
                self.grows &= waits;
                return;
            }
            self.grows = false;
            window.ssthresh = most.max(2.0 * mss);
            let excess = window.cwnd - most;
            let left = match excess > 2.0 * mss {
                true => window.cwnd - (excess * self.options.decrease).max(2.0 * mss),
                false => most,
            };
            window.cwnd = left.max(2.0 * mss).min(window.cwnd);
            self.grown = 0;
            self.decided();
        } else if window.cwnd <= most - f64::from(self.options.pad_buffer) * mss {
            if self.calls < TO_GROW {
                return;
            }
            self.grows = true;
            self.grown += 1;
            if self.slower > 0 && self.grown > GROWN_TO_RECOVER {
                self.slower -= 1;
                self.grown = 0;
            }
            self.decided();
        }
    }
}

impl Law for NvLaw {
    type Options = NvOptions;

    fn new(options: &NvOptions) -> NvLaw {
        NvLaw(Box::new(State {
            options: options.clone(),
            rtt: None,
            min_rtt: f64::INFINITY,
            min_rtt_new: f64::INFINITY,
            period_ends: Time::NEVER,
            max_rate: 0.0,
            calls: 0,
            rounds: 0,
            round: Round::default(),
            decides: false,
            grows: true,
            slower: 0,
            grown: 0,
            lost: false,
        }))
    }

    fn common(options: &NvOptions) -> &Common {
        &options.common
    }

    fn steer(&mut self, window: &mut Window, _acked: &Acked, path: &PathView) -> bool {
        if std::mem::take(&mut self.0.decides) {
            self.0.decide(window, path.mss as f64);
        }
        !self.0.grows
    }

    /// A segment a round trip, a quarter of one an ACK at most; slower after timeouts.
    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        let mss = path.mss as f64;
        let part = (acked.bytes as f64 / cwnd.max(4.0 * mss)).min(1.0);
        mss * part / f64::from(1_u32 << self.0.slower)
    }

    fn reduce(&mut self, _cwnd: f64, base: f64, cause: Cause, _path: &PathView) -> f64 {
        let state = &mut *self.0;
        (state.lost, state.grows) = (true, false);
        if cause == Cause::Timeout {
            state.slower = (state.slower + 1).min(SLOWEST);
        }
        base * state.options.loss_beta
    }

    fn wants_feedback(&self) -> bool {
        true
    }

    fn on_feedback(&mut self, feedback: &Feedback, path: &PathView) {
        let state = &mut *self.0;
        if feedback.in_recovery {
            return;
        }
        if std::mem::take(&mut state.lost) {
            state.decided();
            (state.rtt, state.grown) = (None, 0);
        }
        let Some(rtt) = feedback.rtt.filter(|rtt| *rtt > Span::ZERO) else { return };
        let Some(rate) = feedback.rate else { return };
        state.on_sample(feedback.now, rtt, rate.delivered);
        state.decides |= state.round.begins(path);
    }
}

#[cfg(test)]
mod tests;
