//! Copa: the window moves towards the rate `1 / (delta d_q)`, where `d_q` is the queueing delay (Arun and
//! Balakrishnan, "Copa: practical delay-based congestion control for the Internet", NSDI 2018).
//!
//! §2.1: at each ACK `d_q = RTTstanding - RTTmin`, the smallest round-trip time of the last half `srtt` over
//! that of the last ten seconds; while `cwnd / RTTstanding` is at most the target rate the window grows by
//! `v / (delta cwnd)` segments, else it shrinks by as much. §2.1.2: the velocity `v` doubles each round
//! trip once the direction has been the same for three, and is 1 else. Slow start doubles until the rate
//! exceeds the target. §2.2: where the queue has not been nearly empty (`d_q` below a tenth of
//! `RTTmax - RTTmin`, RTTmax the largest sample of four round trips) for five, buffer fillers compete:
//! `1 / delta` grows by 1 a round trip and is halved at a loss, as Reno's window; else delta is 0.5, and losses are not heard. The flow is
//! paced at `2 cwnd / RTTstanding`.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::round::Round;
use crate::window::Window;
use crate::{Acked, Cause, Pacing, PathView};
use anabranch_units::{Span, Time};
use std::collections::VecDeque;

/// `CopaOptions` are the settings of [`Copa`].
#[derive(Clone, PartialEq, Debug)]
pub struct CopaOptions {
    /// `delta` of the default mode: `1 / delta` packets wait on average; 0.5.
    pub delta: f64,
    /// `competitive` says that the flow switches to a mode that competes with buffer fillers.
    pub competitive: bool,
    /// Options shared with other algorithms; paced by default.
    pub common: Common,
}

impl Default for CopaOptions {
    fn default() -> CopaOptions {
        let pacing = Some(Pacing { slow_start: 200, avoidance: 200 });
        let common = Common { pacing, ..Common::default() };
        CopaOptions { delta: 0.5, competitive: true, common }
    }
}

crate::options::ack_driven!(CopaOptions, |o, form| {
    form.says("`1 / delta` segments wait on average").number(
        "delta",
        0.001..=1000.0,
        &mut o.delta,
    )?;
    form.says("compete where others fill the buffer").boolean("competitive", &mut o.competitive)?;
});

/// The smallest (or, of negated values, the largest) of what was seen in a time that slides.
#[derive(Clone, Debug, Default)]
struct Smallest {
    /// `seen` has dates and values, both rising.
    seen: VecDeque<(Time, Span)>,
}

impl Smallest {
    fn update(&mut self, now: Time, value: Span, length: Span) -> Span {
        while self.seen.back().is_some_and(|(_, last)| *last >= value) {
            self.seen.pop_back();
        }
        self.seen.push_back((now, value));
        while self.seen.len() > 1 && self.seen[0].0 + length < now {
            self.seen.pop_front();
        }
        self.seen[0].1
    }
}

/// `Model` is the state of Copa: delays, mode and velocity.
#[derive(Clone, Debug)]
struct Model {
    options: CopaOptions,
    /// `standing` is RTTstanding and `least` is RTTmin, each with its own sliding time.
    standing: Smallest,
    least: Smallest,
    /// `delta` is the weight of delay in force: the default, or smaller in competitive mode (§2.2).
    delta: f64,
    /// `v`, the direction (up), and for how many round trips it has been that.
    velocity: f64,
    up: bool,
    same: u32,
    /// `start` is the window at the start of the round trip, in octets.
    start: f64,
    round: Round,
    /// `largest` has the largest sample of each of the last four round trips, of the current one first.
    largest: [Span; 4],
    /// Round trips since the queue was nearly empty.
    full_rounds: u32,
}

/// `RTT_MIN_FILTER` is the time for which an RTTmin is believed (§2.1).
const RTT_MIN_FILTER: Span = Span::from_secs(10);

/// The controller of Copa: [`CopaLaw`] driven by ACKs.
pub type Copa = AckClocked<CopaLaw>;

/// `CopaLaw` is Copa's growth and reduction. Its state is large and lives in a box.
#[derive(Clone, Debug)]
pub struct CopaLaw(Box<Model>);

impl Model {
    /// Returns RTTstanding and RTTmin, with this sample.
    fn delays(&mut self, now: Time, rtt: Span, path: &PathView) -> (Span, Span) {
        let half = path.srtt.unwrap_or(rtt) / 2;
        let standing = self.standing.update(now, rtt, half);
        (standing, self.least.update(now, rtt, RTT_MIN_FILTER))
    }

    /// A round trip is over: velocity (§2.1.2) and mode (§2.2).
    fn on_round(&mut self, cwnd: f64) {
        let up = cwnd > self.start;
        self.start = cwnd;
        self.same = if up == self.up { self.same + 1 } else { 0 };
        if up != self.up {
            (self.velocity, self.up) = (1.0, up);
        } else if self.same >= 3 {
            self.velocity *= 2.0;
        }
        self.largest.rotate_right(1);
        self.largest[0] = Span::ZERO;
        self.full_rounds += 1;
        let competes = self.options.competitive && self.full_rounds >= 5;
        self.delta = match competes {
            true => 1.0 / (1.0 / self.delta + 1.0),
            false => self.options.delta,
        };
    }

    /// Notes this sample, and whether the queue is nearly empty: `queueing` is a tenth at most of what the
    /// largest sample of four round trips is above RTTmin.
    fn watch_queue(&mut self, rtt: Span, least: Span, queueing: Span) {
        self.largest[0] = self.largest[0].max(rtt);
        let most = self.largest.iter().copied().max().unwrap_or(rtt);
        if queueing * 10 <= most.saturating_sub(least) {
            self.full_rounds = 0;
        }
    }

    /// The direction turned within a round trip: the velocity begins anew.
    fn turn(&mut self, up: bool, cwnd: f64) {
        if up != self.up && self.velocity > 1.0 {
            (self.velocity, self.up, self.same, self.start) = (1.0, up, 0, cwnd);
        }
    }
}

impl Law for CopaLaw {
    type Options = CopaOptions;

    fn new(options: &CopaOptions) -> CopaLaw {
        CopaLaw(Box::new(Model {
            options: options.clone(),
            standing: Smallest::default(),
            least: Smallest::default(),
            delta: options.delta,
            velocity: 1.0,
            up: true,
            same: 0,
            start: 0.0,
            round: Round::default(),
            largest: [Span::ZERO; 4],
            full_rounds: 0,
        }))
    }

    fn common(options: &CopaOptions) -> &Common {
        &options.common
    }

    fn steer(&mut self, window: &mut Window, acked: &Acked, path: &PathView) -> bool {
        let m = &mut *self.0;
        let mss = path.mss as f64;
        let Some(rtt) = acked.rtt.filter(|rtt| *rtt > Span::ZERO) else { return true };
        let (standing, least) = m.delays(acked.now, rtt, path);
        let queueing = standing.saturating_sub(least);
        m.watch_queue(rtt, least, queueing);
        let w = window.cwnd / mss;
        // cwnd / RTTstanding <= 1 / (delta d_q)
        let below = w * m.delta * queueing.as_secs_f64() <= standing.as_secs_f64();
        if window.cwnd < window.ssthresh {
            if below {
                return false; // slow start
            }
            window.ssthresh = window.cwnd.max(2.0 * mss);
        }
        if m.round.begins(path) {
            m.on_round(window.cwnd);
        }
        m.turn(below, window.cwnd);
        let bytes = (acked.bytes as f64).min(window.cwnd);
        // No faster than slow start, however long the direction has lasted.
        let step = bytes * (m.velocity / (m.delta * w)).min(1.0);
        let step = step.min(window.cwnd / 2.0);
        let moved = if below { window.cwnd + step } else { window.cwnd - step };
        window.cwnd = moved.max(2.0 * mss).min(moved.max(window.cwnd));
        window.ssthresh = window.ssthresh.min(window.cwnd).max(2.0 * mss);
        true
    }

    fn avoid(&mut self, _cwnd: f64, _acked: &Acked, _path: &PathView) -> f64 {
        0.0 // steered
    }

    /// In the mode that competes `1 / delta` is halved; a loss alone leaves the window (§2.2).
    fn reduce(&mut self, cwnd: f64, base: f64, cause: Cause, _path: &PathView) -> f64 {
        let m = &mut *self.0;
        m.delta = (2.0 * m.delta).min(m.options.delta);
        match cause {
            Cause::Loss => cwnd,
            Cause::EcnMark | Cause::Timeout => base / 2.0,
        }
    }

    fn wants_feedback(&self) -> bool {
        true // for the samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::bottleneck::{Bottleneck, Network};
    use crate::testkit::{MSS, ack, event, path as view};
    use crate::{Algorithm, Controller};
    use anabranch_testkit::marks::record;
    use anabranch_units::Rate;

    /// §2.1 and §3: each flow has 1 / delta packets in the queue on average, a few more by the swings
    /// of the window, and flows share.
    #[test]
    fn flows_keep_a_few_packets_each_in_the_queue_and_share() {
        let (rate, rtt) = (Rate::mbit(10), Span::from_millis(40));
        let path = Bottleneck { rate, rtt, buffer: 1000, mark_above: None, loss: 0.0 };
        for flows in [1, 2, 4] {
            let copa = Algorithm::Copa(CopaOptions { competitive: false, ..Default::default() });
            let mut n = Network::new(path, &vec![copa; flows], Span::from_secs(1));
            n.run(Span::from_secs(20));
            n.queue.clear();
            let before: Vec<_> = n.flows.iter().map(|f| f.delivered).collect();
            assert!(n.utilisation(Span::from_secs(40)) > 0.95);
            let mean = n.queue.iter().map(|(_, q)| *q as f64).sum::<f64>() / n.queue.len() as f64;
            let quantity = format!("copa: packets that wait, {flows} flows");
            let law = 2 * flows;
            record("T8", &quantity, law, format!("{mean:.1}"), "half to 2.5 times");
            let law = law as f64;
            assert!((0.5 * law..2.5 * law + 1.0).contains(&mean), "{flows} flows: {mean}");
            let shares: Vec<_> = n.flows.iter().zip(before).map(|(f, b)| f.delivered - b).collect();
            let sum = shares.iter().sum::<u64>() as f64;
            for share in &shares {
                let share = *share as f64 / sum * flows as f64;
                assert!((0.7..1.3).contains(&share), "{shares:?}");
            }
        }
    }

    /// A window of 20 segments at RTTmin 100 ms and so much queueing delay; the change with an ACK.
    fn change(queueing_ms: u64) -> f64 {
        let mut c = Copa::new(&CopaOptions::default(), 20 * MSS, MSS);
        let sample = |c: &mut Copa, at, ms| {
            let now = Time::ZERO + Span::from_millis(at);
            let rtt = Some(Span::from_millis(ms));
            let srtt = Some(Span::from_millis(100));
            c.on_ack(&Acked { now, bytes: MSS, rtt }, &PathView { srtt, ..view(20) });
        };
        sample(&mut c, 0, 100);
        c.window.cwnd = 20.0 * MSS as f64;
        sample(&mut c, 1000, 100 + queueing_ms);
        c.window.cwnd / MSS as f64 - 20.0
    }

    /// v / (delta cwnd) = 1 / (0.5 20) = 0.1 segments, up while 20 / RTT <= 2 / d_q: d_q up to 11.1 ms.
    #[test]
    fn an_ack_moves_the_window_towards_the_target_rate() {
        for (queueing_ms, law) in [(0, 0.1), (11, 0.1), (12, -0.1), (50, -0.1)] {
            let found = change(queueing_ms);
            assert!((found - law).abs() < 1e-9, "{queueing_ms} ms: {found}");
        }
    }

    const RTT_MIN: Span = Span::from_millis(100);

    /// §2.2: after five round trips with a queue 1 / delta grows by 1 in each, and a loss halves it.
    #[test]
    fn a_queue_that_never_empties_turns_the_competitive_mode_on() {
        let mut c = Copa::new(&CopaOptions::default(), 20 * MSS, MSS);
        let m = &mut *c.law.0;
        for round in 0..9 {
            m.watch_queue(Span::from_millis(125), RTT_MIN, Span::from_millis(20));
            m.on_round(20.0);
            let law = if round < 4 { 2.0 } else { f64::from(round) - 1.0 };
            assert!((1.0 / m.delta - law).abs() < 1e-9, "round {round}: {}", 1.0 / m.delta);
        }
        c.on_congestion(&event(Cause::Loss), &view(20));
        assert!((1.0 / c.law.0.delta - 3.5).abs() < 1e-9);
        assert_eq!(c.window(), 20 * MSS);
        // A tenth of what the largest sample of four round trips, 125 ms, is above RTTmin.
        for (queueing, delta) in [(2600, 1.0 / 4.5), (2500, 0.5)] {
            c.law.0.watch_queue(Span::from_millis(104), RTT_MIN, Span::from_micros(queueing));
            c.law.0.on_round(20.0);
            assert!((c.law.0.delta - delta).abs() < 1e-9, "{queueing} us: {}", c.law.0.delta);
        }
        c.on_ack(&ack(MSS), &view(20));
    }
}
