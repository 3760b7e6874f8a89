//! PCC Vivace: the rate climbs the gradient of a utility that is measured (Dong, Meng, Zarchy, Arslan, Gilad,
//! Godfrey and Schapira, "PCC Vivace: online-learning congestion control", NSDI 2018).
//!
//! The flow sends in monitor intervals, each at a rate of its own. The utility of one with the rate x, in
//! Mbit/s, is (§3)
//!
//! ```text
//! u = x^0.9 - 900 x d(RTT)/dT - 11.35 x L
//! ```
//!
//! where d(RTT)/dT is the slope of its round-trip times (a linear regression over the dates of sending;
//! less than 0.01 counts as none) and L the part of its octets that was lost. From the start the rate
//! doubles until the utility falls (§4.1). Then pairs of intervals at r (1 + 0.05) and r (1 - 0.05), in an
//! order by chance, give a gradient, and the rate moves by m gamma, in Mbit/s (§4.2):
//! m, the confidence amplifier, is the number of moves in this direction, and twice that less 3 from the
//! fourth on; a move is at most the part 0.05 + 0.1 k of the rate, where k counts the moves that
//! reached this bound, and begins anew with the direction (the dynamic change boundary).
//!
//! Choices, where the paper is silent: an interval lasts a smoothed round-trip time and ten packets, as in
//! the authors' implementation. Until results are there, a round trip later, the flow sends at r. An interval that
//! sent less than 0.9 of its rate, for want of data or of window, is tried again. The rate begins with the
//! initial window over the first round-trip time, and is at least two segments a round trip. The window is what
//! the rate sends in two round trips, so that the rate is the limit. A timeout halves the rate and leaves one
//! segment until something arrives. What leaves and what is not in flight any more are counted in the order of sending, so
//! that where packets overtake each other an interval is judged by some of another's.
//! Chance is a hash of the date.

use crate::bbr::hash;
use crate::{Acked, Cause, CongestionEvent, Controller, Feedback, PathView};
use anabranch_units::{Rate, Span, Time};
use std::collections::VecDeque;

/// `VivaceOptions` are the settings of [`Vivace`]: the parameters of the utility (§3) and of the
/// search (§4).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct VivaceOptions {
    /// `t`: exponent of the rate in the utility; 0.9.
    pub exponent: f64,
    /// `b`: weight of the slope of the round-trip time; 900. 0 is the paper's Vivace-loss.
    pub latency: f64,
    /// `c`: weight of losses; 11.35.
    pub loss: f64,
    /// `epsilon`: part by which the rates of a pair differ from r; 0.05.
    pub epsilon: f64,
    /// `theta_0`: Mbit/s by which the rate moves for a gradient of 1; 1.
    pub step: f64,
    /// `omega_0`: bound of a move, in parts of the rate; 0.05.
    pub bound: f64,
    /// `delta`: what each move that reaches the bound adds to it, in parts of the rate; 0.1.
    pub bound_step: f64,
}

impl Default for VivaceOptions {
    fn default() -> VivaceOptions {
        VivaceOptions {
            exponent: 0.9,
            latency: 900.0,
            loss: 11.35,
            epsilon: 0.05,
            step: 1.0,
            bound: 0.05,
            bound_step: 0.1,
        }
    }
}

impl crate::Options for VivaceOptions {
    fn own<F: crate::OptionForm>(&mut self, form: &mut F) -> Result<(), F::Error> {
        form.says("exponent of the rate in the utility")
            .probability("exponent", &mut self.exponent)?;
        form.says("weight of the slope of the round-trip time; 0 hears losses alone").number(
            "latency",
            0.0..=1e6,
            &mut self.latency,
        )?;
        form.says("weight of losses").number("loss", 0.0..=1e6, &mut self.loss)?;
        form.says("part by which the rates of a pair differ from the rate").number(
            "epsilon",
            0.001..=0.5,
            &mut self.epsilon,
        )?;
        form.says("Mbit/s by which the rate moves for a gradient of 1").number(
            "step",
            0.001..=1000.0,
            &mut self.step,
        )?;
        form.says("bound of a move, in parts of the rate").number(
            "bound",
            0.001..=1.0,
            &mut self.bound,
        )?;
        form.says("what a move that reaches the bound adds to it").number(
            "bound_step",
            0.0..=1.0,
            &mut self.bound_step,
        )
    }
}

/// Packets that an interval has at least.
const FEWEST: u32 = 10;
/// A slope of the round-trip time, in seconds a second, that counts as none (§5).
const FLAT: f64 = 0.01;
/// Part of its rate that an interval must have sent to be judged.
const ENOUGH: f64 = 0.9;
/// Octets a second in a Mbit/s.
const MBIT: f64 = 125_000.0;
/// Largest rate, in octets a second: what doubles without an end ends here.
const FASTEST: f64 = 1e15;

/// What an interval is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Purpose {
    /// The rate of the start is tried.
    Start,
    /// The higher, or the lower, rate of a pair.
    Probe { up: bool },
    /// Results are waited for.
    Wait,
}

/// A sum over points that gives the slope of their regression line.
#[derive(Clone, Copy, Debug, Default)]
struct Slope {
    first: Option<(f64, f64)>,
    n: f64,
    t: f64,
    rtt: f64,
    tt: f64,
    t_rtt: f64,
}

impl Slope {
    fn add(&mut self, t: f64, rtt: f64) {
        // Relative to the first point, for the sake of precision.
        let (t0, rtt0) = *self.first.get_or_insert((t, rtt));
        let (t, rtt) = (t - t0, rtt - rtt0);
        self.n += 1.0;
        self.t += t;
        self.rtt += rtt;
        self.tt += t * t;
        self.t_rtt += t * rtt;
    }

    /// 0 where there are no two dates.
    fn slope(&self) -> f64 {
        let spread = self.n * self.tt - self.t * self.t;
        if spread <= 0.0 { 0.0 } else { (self.n * self.t_rtt - self.t * self.rtt) / spread }
    }
}

/// A monitor interval.
#[derive(Clone, Copy, Debug)]
struct Interval {
    purpose: Purpose,
    /// Rate that it is sent at, in octets a second.
    rate: f64,
    started: Time,
    packets: u32,
    octets: u64,
    /// When it ended, and how many octets had been sent then since the start of the flow; `None`
    /// while it is sent.
    ended: Option<(Time, u64)>,
    /// Octets of it that arrived and that were lost.
    delivered: u64,
    lost: u64,
    slope: Slope,
}

impl Interval {
    /// Returns whether it sent what its rate asks for.
    fn is_full(&self) -> bool {
        let Some((ended, _)) = self.ended else { return false };
        let seconds = (ended - self.started).as_secs_f64();
        self.octets as f64 >= ENOUGH * self.rate * seconds
    }

    /// Returns the utility `u` of the interval, of its rate in Mbit/s, its delay's slope and its losses (§3).
    fn utility(&self, options: &VivaceOptions) -> f64 {
        let x = self.rate / MBIT;
        let slope = self.slope.slope();
        let slope = if slope.abs() < FLAT { 0.0 } else { slope };
        let all = (self.delivered + self.lost).max(1) as f64;
        let lost = self.lost as f64 / all;
        libm::pow(x, options.exponent) - options.latency * x * slope - options.loss * x * lost
    }
}

/// `Vivace` is a Vivace sender's rate. The state is large and lives in a box.
#[derive(Clone, Debug)]
pub struct Vivace(Box<State>);

#[derive(Clone, Debug)]
struct State {
    options: VivaceOptions,
    /// `r`, in octets a second.
    rate: f64,
    /// The congestion window, in octets.
    window: u64,
    initial_window: u64,
    /// A round-trip time was measured.
    measured: bool,
    srtt: Span,
    /// Rate and utility of the last interval of the start; `None` before the first result.
    last: Option<(f64, f64)>,
    /// Octets of a round trip with which the start ends at last (`initial_ssthresh`).
    threshold: u64,
    /// Intervals to be sent next.
    plan: VecDeque<Purpose>,
    /// Those that are sent or whose results are awaited, in order; the last one is being sent.
    intervals: VecDeque<Interval>,
    /// Utilities of the pair, once they are known: of the higher rate and of the lower.
    pair: [Option<f64>; 2],
    /// Octets sent since the start, each time that they were.
    sent: u64,
    /// Moves in this direction (tau), and whether it is up.
    moves: u32,
    up: bool,
    /// `k`, by which the bound of a move widens: it grows with each move that reaches the bound, and is 0 after a turn.
    k: u32,
}

impl State {
    /// The rate of an interval of this purpose.
    fn rate_of(&self, purpose: Purpose) -> f64 {
        match purpose {
            Purpose::Start | Purpose::Wait => self.rate,
            Purpose::Probe { up: true } => self.rate * (1.0 + self.options.epsilon),
            Purpose::Probe { up: false } => self.rate * (1.0 - self.options.epsilon),
        }
    }

    /// Ends the interval that is sent, if it is time, and begins the next.
    fn turn(&mut self, now: Time) {
        let turns = self.intervals.back().is_none_or(|interval| {
            let long = interval.packets >= FEWEST && now >= interval.started + self.srtt;
            let waits = interval.purpose == Purpose::Wait && !self.plan.is_empty();
            long || waits
        });
        if !turns || !self.measured {
            return;
        }
        let sent = self.sent;
        if let Some(interval) = self.intervals.back_mut() {
            interval.ended = Some((now, sent));
        }
        let purpose = self.plan.pop_front().unwrap_or(Purpose::Wait);
        let rate = self.rate_of(purpose);
        self.intervals.push_back(Interval {
            purpose,
            rate,
            started: now,
            packets: 0,
            octets: 0,
            ended: None,
            delivered: 0,
            lost: 0,
            slope: Slope::default(),
        });
    }

    /// Plans a pair, in an order by chance.
    fn plan_pair(&mut self, now: Time) {
        let up = hash(now.as_picos() ^ self.sent) & 1 == 0;
        self.plan = [Purpose::Probe { up }, Purpose::Probe { up: !up }].into();
        self.pair = [None; 2];
    }

    /// Forgets what is under way, and begins with a pair at the rate.
    fn restart(&mut self, now: Time) {
        // What is awaited was of another rate.
        self.intervals.iter_mut().for_each(|interval| interval.purpose = Purpose::Wait);
        self.plan_pair(now);
    }

    /// The results of an interval are complete.
    fn on_result(&mut self, interval: &Interval, now: Time) {
        let utility = interval.utility(&self.options);
        match interval.purpose {
            Purpose::Wait => {}
            Purpose::Start if !interval.is_full() => self.plan = [Purpose::Start].into(),
            Purpose::Start => match self.last {
                Some((rate, before)) if utility < before => {
                    self.rate = rate;
                    self.restart(now);
                }
                _ if self.rate * self.srtt.as_secs_f64() >= self.threshold as f64 => {
                    self.restart(now)
                }
                _ => {
                    self.last = Some((interval.rate, utility));
                    self.rate = (self.rate * 2.0).min(FASTEST);
                    self.plan = [Purpose::Start].into();
                }
            },
            Purpose::Probe { .. } if !interval.is_full() => self.restart(now),
            Purpose::Probe { up } => {
                self.pair[usize::from(!up)] = Some(utility);
                if let [Some(higher), Some(lower)] = self.pair {
                    let rate = self.rate / MBIT;
                    let gradient = (higher - lower) / (2.0 * self.options.epsilon * rate);
                    self.climb(gradient);
                    self.plan_pair(now);
                }
            }
        }
    }

    /// Moves the rate along the gradient (§4.2, §4.3).
    fn climb(&mut self, gradient: f64) {
        let up = gradient > 0.0;
        if up != self.up || self.moves == 0 {
            (self.moves, self.up, self.k) = (0, up, 0);
        }
        self.moves = self.moves.saturating_add(1);
        let tau = f64::from(self.moves);
        let amplifier = if tau <= 3.0 { tau } else { 2.0 * tau - 3.0 };
        let part = (amplifier * self.options.step * gradient * MBIT / self.rate).abs();
        let bound = self.options.bound + f64::from(self.k) * self.options.bound_step;
        let part = if part > bound {
            self.k = self.k.saturating_add(1);
            bound
        } else {
            // The smallest k whose bound the move keeps.
            let k = ((part - self.options.bound) / self.options.bound_step).ceil();
            self.k = if k.is_finite() { (k.max(0.0) as u32).min(self.k) } else { 0 };
            part
        };
        self.rate *= if up { 1.0 + part } else { (1.0 - part).max(0.1) };
    }

    /// At least two segments a round trip; the window is two round trips.
    fn bound(&mut self, mss: u64) {
        let seconds = self.srtt.as_secs_f64();
        self.rate = self.rate.clamp(2.0 * mss as f64 / seconds, FASTEST);
        let window = 2.0 * self.rate * (1.0 + self.options.epsilon) * seconds;
        self.window = (window as u64).max(self.initial_window.min(4 * mss)).max(mss);
    }
}

impl Vivace {
    /// Makes a window of `initial_window` octets; the start ends where the rate sends
    /// `initial_ssthresh` octets in a round trip, if not before.
    pub fn new(options: &VivaceOptions, initial_window: u64, initial_ssthresh: u64) -> Vivace {
        let window = initial_window.max(1);
        Vivace(Box::new(State {
            options: *options,
            // A window in a millisecond, until there is a round-trip time.
            rate: window as f64 * 1e3,
            window,
            initial_window: window,
            measured: false,
            srtt: Span::ZERO,
            last: None,
            threshold: initial_ssthresh,
            plan: [Purpose::Start].into(),
            intervals: VecDeque::new(),
            pair: [None; 2],
            sent: 0,
            moves: 0,
            up: true,
            k: 0,
        }))
    }
}

impl Controller for Vivace {
    fn on_sent(&mut self, now: Time, bytes: u64, _path: &PathView) {
        let state = &mut *self.0;
        state.turn(now);
        state.sent += bytes;
        if let Some(interval) = state.intervals.back_mut() {
            interval.packets += 1;
            interval.octets += bytes;
        }
    }

    fn on_ack(&mut self, _acked: &Acked, _path: &PathView) {}

    fn wants_feedback(&self) -> bool {
        true
    }

    fn owns_recovery(&self) -> bool {
        true
    }

    fn on_feedback(&mut self, feedback: &Feedback, path: &PathView) {
        let state = &mut *self.0;
        let now = feedback.now;
        if let Some(rtt) = feedback.rtt.filter(|rtt| *rtt > Span::ZERO) {
            state.srtt = path.srtt.filter(|srtt| *srtt > Span::ZERO).unwrap_or(rtt);
            if !std::mem::replace(&mut state.measured, true) {
                state.rate = state.initial_window as f64 / rtt.as_secs_f64();
            }
            if let Some(interval) = state.intervals.front_mut() {
                let sent = now.as_secs_f64() - rtt.as_secs_f64();
                interval.slope.add(sent, rtt.as_secs_f64());
            }
        }
        if !state.measured {
            return;
        }
        if let Some(interval) = state.intervals.front_mut() {
            interval.delivered += feedback.delivered;
            interval.lost += feedback.lost;
        }
        let settled = state.sent.saturating_sub(path.in_flight);
        while let Some((_, end)) = state.intervals.front().and_then(|interval| interval.ended) {
            if settled < end {
                break;
            }
            if let Some(interval) = state.intervals.pop_front() {
                state.on_result(&interval, now);
            }
        }
        state.bound(path.mss);
    }

    fn on_congestion(&mut self, event: &CongestionEvent, path: &PathView) {
        if event.cause == Cause::Timeout {
            let state = &mut *self.0;
            state.rate /= 2.0;
            state.restart(event.now);
            state.window = path.mss;
        }
    }

    fn on_idle(&mut self, _initial: u64) {}

    fn on_penalty(&mut self, mss: u64) {
        let state = &mut *self.0;
        state.rate /= 2.0;
        state.window = (state.window / 2).max(mss);
    }

    fn window(&self) -> u64 {
        self.0.window
    }

    fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    fn pacing_rate(&self, _srtt: Option<Span>) -> Option<Rate> {
        let rate = self.0.intervals.back().map_or(self.0.rate, |interval| interval.rate);
        Rate::from_bps(((rate * 8.0) as u64).max(1))
    }
}

#[cfg(test)]
mod tests;
