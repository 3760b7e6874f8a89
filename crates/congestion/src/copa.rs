//! Copa: the window moves towards the rate `1 / (delta d_q)`, where `d_q` is the queueing delay (Arun and
//! Balakrishnan, "Copa: practical delay-based congestion control for the Internet", NSDI 2018).
//!
//! §2.1: at each ACK `d_q = RTTstanding - RTTmin`, the smallest round-trip time of the last half `srtt` over
//! that of the last ten seconds; while `cwnd / RTTstanding` is at most the target rate the window grows by
//! `v / (delta cwnd)` segments, else it shrinks by as much. §2.1.2: the velocity `v` doubles each round
//! trip once the direction has been the same for three, and is 1 else. Slow start doubles until the rate
//! exceeds the target. §2.2: where the queue has not been nearly empty (`d_q` below a tenth of
//! `RTTmax - RTTmin`, RTTmax the largest sample of four times `srtt`) for five times `srtt`, buffer fillers compete:
//! `1 / delta` grows by 1 a round trip and is halved at a loss, as Reno's window; else delta is 0.5, and losses are not heard. The flow is
//! paced at `2 cwnd / RTTstanding`.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::round::Round;
use crate::window::Window;
use crate::{Acked, Cause, Pacing, PathView};
use anabranch_units::{Span, Time};
use std::cmp::Reverse;
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

/// The smallest of what was seen in a time that slides; of reversed values the largest.
#[derive(Clone, Debug)]
struct Smallest<T = Span> {
    /// `seen` has dates and values, both rising.
    seen: VecDeque<(Time, T)>,
}

impl<T: Copy + Ord> Smallest<T> {
    const fn new() -> Smallest<T> {
        Smallest { seen: VecDeque::new() }
    }

    fn update(&mut self, now: Time, value: T, length: Span) -> T {
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
    /// `largest` is RTTmax, the largest sample of the last four round trips.
    largest: Smallest<Reverse<Span>>,
    /// `emptied` is when the queue was last nearly empty, or the first sample came.
    emptied: Option<Time>,
    /// `competes` says that the queue has not been nearly empty for five round trips.
    competes: bool,
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

    /// A round trip is over: velocity (§2.1.2), and in the mode that competes 1 / delta (§2.2).
    fn on_round(&mut self, cwnd: f64) {
        let up = cwnd > self.start;
        self.start = cwnd;
        self.same = if up == self.up { self.same + 1 } else { 0 };
        if up != self.up {
            (self.velocity, self.up) = (1.0, up);
        } else if self.same >= 3 {
            self.velocity *= 2.0;
        }
        if self.competes {
            self.delta = 1.0 / (1.0 / self.delta + 1.0);
        }
    }

    /// Notes this sample, and which mode it leads to. The queue is nearly empty where `queueing` is a tenth
    /// at most of what the largest sample of four round trips is above RTTmin; a flow competes where that
    /// has not been so for more than five.
    fn watch_queue(&mut self, now: Time, rtt: Span, least: Span, queueing: Span, srtt: Span) {
        let Reverse(most) = self.largest.update(now, Reverse(rtt), srtt * 4);
        if queueing * 10 <= most.saturating_sub(least) {
            self.emptied = Some(now);
        }
        let since = *self.emptied.get_or_insert(now);
        self.competes = self.options.competitive && now.saturating_since(since) > srtt * 5;
        if !self.competes {
            self.delta = self.options.delta;
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
            standing: Smallest::new(),
            least: Smallest::new(),
            delta: options.delta,
            velocity: 1.0,
            up: true,
            same: 0,
            start: 0.0,
            round: Round::default(),
            largest: Smallest::new(),
            emptied: None,
            competes: false,
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
        m.watch_queue(acked.now, rtt, least, queueing, path.srtt.unwrap_or(rtt));
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

    /// A model that has seen an empty queue once, at 0; `srtt` is 100 ms.
    fn watched() -> Model {
        let c = Copa::new(&CopaOptions::default(), 20 * MSS, MSS);
        let mut m = *c.law.0;
        m.watch_queue(Time::ZERO, RTT_MIN, RTT_MIN, Span::ZERO, RTT_MIN);
        m
    }

    /// The sample at this date, and a round trip that ends with it, where the queueing delay is so long.
    fn look(m: &mut Model, ms: u64, rtt_ms: u64, queueing: Span) -> f64 {
        let rtt = Span::from_millis(rtt_ms);
        m.watch_queue(Time::ZERO + Span::from_millis(ms), rtt, RTT_MIN, queueing, RTT_MIN);
        m.on_round(20.0);
        1.0 / m.delta
    }

    /// §2.2: after five round trips with a queue 1 / delta grows by 1 in each.
    #[test]
    fn a_queue_that_never_empties_turns_the_competitive_mode_on() {
        let mut m = watched();
        for round in 1..=9 {
            let found = look(&mut m, 100 * round, 125, Span::from_millis(20));
            let law = if round <= 5 { 2.0 } else { round as f64 - 3.0 };
            assert!((found - law).abs() < 1e-9, "round {round}: {found}");
        }
        // A tenth of what the largest sample of four round trips, 125 ms, is above RTTmin.
        for (queueing, law) in [(2600, 7.0), (2500, 2.0)] {
            let found = look(&mut m, 1000, 104, Span::from_micros(queueing));
            assert!((found - law).abs() < 1e-9, "{queueing} us: {found}");
        }
    }

    /// §3: flows of Copa alone empty the queue once in five round trips, which may end anywhere in a
    /// round trip as it is counted by packets.
    #[test]
    fn a_queue_that_empties_once_in_five_round_trips_is_copas_own() {
        let mut m = watched();
        for n in 1..200 {
            let ms = 50 * n;
            let queueing = if ms % 500 == 50 { Span::ZERO } else { Span::from_millis(20) };
            let rtt = Span::from_millis(125);
            m.watch_queue(Time::ZERO + Span::from_millis(ms), rtt, RTT_MIN, queueing, RTT_MIN);
            if ms % 100 == 0 {
                m.on_round(20.0);
            }
            assert!((1.0 / m.delta - 2.0).abs() < 1e-9, "{ms} ms: {}", 1.0 / m.delta);
        }
    }

    /// §2.2: a loss halves 1 / delta, and leaves the window.
    #[test]
    fn a_loss_halves_what_a_competing_flow_keeps_in_the_queue() {
        let mut c = Copa::new(&CopaOptions::default(), 20 * MSS, MSS);
        c.law.0.delta = 1.0 / 7.0;
        c.on_congestion(&event(Cause::Loss), &view(20));
        assert!((1.0 / c.law.0.delta - 3.5).abs() < 1e-9);
        assert_eq!(c.window(), 20 * MSS);
        c.on_ack(&ack(MSS), &view(20));
    }

    /// §3: one flow and two, which start as they like, stay in the default mode.
    #[test]
    fn flows_of_copa_alone_do_not_compete_with_each_other() {
        let (rate, rtt) = (Rate::mbit(20), Span::from_millis(40));
        let path = Bottleneck { rate, rtt, buffer: 10_000, mark_above: None, loss: 0.0 };
        for flows in [1, 2] {
            let copa = Algorithm::Copa(CopaOptions::default());
            let mut n = Network::new(path, &vec![copa; flows], Span::ZERO);
            n.run(Span::from_secs(60));
            n.queue.clear();
            assert!(n.utilisation(Span::from_secs(60)) > 0.95);
            let mean = n.queue.iter().map(|(_, q)| *q as f64).sum::<f64>() / n.queue.len() as f64;
            let quantity = format!("copa: packets that wait, {flows} flows, the mode chosen");
            record("T8", &quantity, 2 * flows, format!("{mean:.1}"), "half to 2.5 times");
            let law = 2.0 * flows as f64;
            assert!((0.5 * law..2.5 * law + 1.0).contains(&mean), "{flows} flows: {mean}");
        }
    }
}
