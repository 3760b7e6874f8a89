//! The propagation time, and the state that looks for it ("ProbeRTT Logic").

use super::{MIN_PIPE_CWND, Model, News, STARTUP_PACING_GAIN, State};
use anabranch_units::{Span, Time};

/// The estimate of the propagation time, and when it is due for a refresh.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt {
    /// `BBR.min_rtt`; `None` for infinity.
    pub(super) value: Option<Span>,
    /// `BBR.min_rtt_stamp`: when the sample that `value` holds was taken.
    stamp: Time,
    /// `BBR.probe_rtt_min_delay`.
    delay: Option<Span>,
    /// `BBR.probe_rtt_min_stamp`.
    delay_stamp: Time,
    /// `BBR.probe_rtt_expired`.
    expired: bool,
    /// `BBR.probe_rtt_done_stamp`; [`Time::NEVER`] for 0.
    pub(super) done_stamp: Time,
    /// `BBR.probe_rtt_round_done`.
    round_done: bool,
    /// `probing` is the range of ProbeRTT, by the octets that had been delivered at its start and
    /// end: segments that were sent within it count as limited by the application
    /// (`MarkConnectionAppLimited()`).
    probing: (u64, u64),
}

impl Default for MinRtt {
    fn default() -> MinRtt {
        MinRtt {
            value: None,
            stamp: Time::ZERO,
            delay: None,
            delay_stamp: Time::ZERO,
            expired: false,
            done_stamp: Time::NEVER,
            round_done: false,
            probing: (u64::MAX, 0),
        }
    }
}

impl MinRtt {
    /// Returns whether a segment was sent in ProbeRTT, when `prior_delivered` octets had been
    /// delivered.
    pub(super) fn was_probing_at(&self, prior_delivered: u64) -> bool {
        (self.probing.0..=self.probing.1).contains(&prior_delivered)
    }
}

impl Model {
    /// `UpdateMinRTT()`: takes the round-trip sample into both minima, each with its own expiry.
    pub(super) fn update_min_rtt(&mut self, news: &News) {
        let Model { options, min_rtt: m, .. } = self;
        let since = |stamp: Time, span: Span| news.now > stamp.saturating_add(span);
        m.expired = m.delay.is_some() && since(m.delay_stamp, options.probe_rtt_interval);
        if let Some(rtt) = news.rtt
            && (m.delay.is_none_or(|delay| rtt < delay) || m.expired)
        {
            m.delay = Some(rtt);
            m.delay_stamp = news.now;
        }
        let Some(delay) = m.delay else { return };
        let first = m.value.is_none();
        if m.value.is_none_or(|value| delay < value) || since(m.stamp, options.min_rtt_filter) {
            m.value = Some(delay);
            m.stamp = m.delay_stamp;
        }
        if first {
            // InitPacingRate(), with the first round trip.
            let nominal = self.initial_cwnd as f64 / delay.as_secs_f64();
            self.pacing_rate = STARTUP_PACING_GAIN * nominal;
        }
    }

    /// `CheckProbeRTT()`: enters ProbeRTT when the shorter-lived minimum has expired, and handles
    /// the state.
    pub(super) fn check_probe_rtt(&mut self, news: &News) {
        if self.state != State::ProbeRtt && self.min_rtt.expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.min_rtt.done_stamp = Time::NEVER;
            self.min_rtt.probing.0 = self.delivered;
            self.cycle.stop_probe();
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(news);
        }
        if news.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// `HandleProbeRTT()`: waits until little is in flight, then for the state's time and one
    /// round.
    fn handle_probe_rtt(&mut self, news: &News) {
        self.min_rtt.probing.1 = self.delivered + news.in_flight;
        if self.min_rtt.done_stamp != Time::NEVER {
            self.min_rtt.round_done |= self.rounds.start;
            if self.min_rtt.round_done {
                self.check_probe_rtt_done(news.now);
            }
        } else if news.in_flight <= self.probe_rtt_cwnd(news.mss) {
            self.min_rtt.done_stamp = news.now + self.options.probe_rtt;
            self.min_rtt.round_done = false;
            self.start_round();
        }
    }

    /// `CheckProbeRTTDone()`: restores the window and leaves ProbeRTT when its time is over.
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.min_rtt.done_stamp != Time::NEVER && now > self.min_rtt.done_stamp {
            self.min_rtt.delay_stamp = now;
            self.restore_cwnd();
            self.exit_probe_rtt(now);
        }
    }

    /// `ExitProbeRTT()`: returns to ProbeBW_CRUISE, or to Startup if the pipe was never full.
    fn exit_probe_rtt(&mut self, now: Time) {
        self.short_term.reset_bounds();
        if self.full_bw.reached {
            self.start_down(now);
            self.state = State::ProbeBwCruise;
        } else {
            self.state = State::Startup;
        }
    }

    /// `ProbeRTTCwnd()`: most octets in flight during ProbeRTT, never below four segments.
    pub(super) fn probe_rtt_cwnd(&self, mss: u64) -> u64 {
        (self.bdp(self.bw, State::ProbeRtt.cwnd_gain()) as u64).max(MIN_PIPE_CWND * mss)
    }
}
