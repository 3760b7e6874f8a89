//! LEDBAT++: LEDBAT with a gain that falls with the base delay, a multiplicative decrease beyond the
//! target, and periodic slowdowns in which the queue drains and the base delay is seen again
//! (draft-irtf-iccrg-ledbat-plus-plus, §4).
//!
//! §4.2: `GAIN = 1 / min(16, ceil(2 TARGET / base))`. §4.3, per round trip: below the target `W += GAIN`;
//! above it `W += max(GAIN - Constant W (delay / TARGET - 1), -W / 2)`, `Constant = 1`, at least two
//! segments. §4.1: slow start too is multiplied by the gain, and the first one ends where the delay is
//! three quarters of the target. §4.4: two round trips after that the window is two segments for two round
//! trips, then slow start leads back to where it was; the next slowdown comes nine times as long
//! after.
//!
//! The delay is that of the round trip, as the draft has it. A loss halves.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::ledbat::Delays;
use crate::round::Round;
use crate::window::Window;
use crate::{Acked, Cause, PathView};
use anabranch_units::{Span, Time};

/// `LedbatPlusPlusOptions` are the settings of [`LedbatPlusPlus`].
#[derive(Clone, PartialEq, Debug)]
pub struct LedbatPlusPlusOptions {
    /// `TARGET`: the queueing delay to keep; 60 ms.
    pub target: Span,
    /// `Constant`: the part of the window given up for each target of delay beyond the target; 1.
    pub constant: f64,
    /// `slowdowns` turns the periodic slowdowns on (§4.4).
    pub slowdowns: bool,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for LedbatPlusPlusOptions {
    fn default() -> LedbatPlusPlusOptions {
        LedbatPlusPlusOptions {
            target: Span::from_millis(60),
            constant: 1.0,
            slowdowns: true,
            common: Common::default(),
        }
    }
}

crate::options::ack_driven!(LedbatPlusPlusOptions, |o, form| {
    form.says("queueing delay to keep").span("target", &mut o.target)?;
    form.says("part given up for each target beyond it").number(
        "constant",
        0.0..=1000.0,
        &mut o.constant,
    )?;
    form.says("periodic slowdowns").boolean("slowdowns", &mut o.slowdowns)?;
    form.require(o.target > Span::ZERO, "target", "more than 0 s")?;
});

/// `SLOWDOWN_ROUNDS` is the number of round trips between the end of slow start and the first
/// slowdown, and with two segments in a slowdown.
const SLOWDOWN_ROUNDS: u32 = 2;
/// `FEWEST` is the window of a slowdown, and the smallest of all, in segments.
const FEWEST: f64 = 2.0;
/// `SLOWDOWN_FACTOR` is the time to the next slowdown, in lengths of the last one (§4.4).
const SLOWDOWN_FACTOR: u64 = 9;

/// `Slowdown` is the state of the periodic slowdowns (§4.4).
#[derive(Clone, Copy, PartialEq, Debug)]
enum Slowdown {
    /// Slow start has not ended yet, and there was no slowdown.
    Never,
    /// The first slowdown comes after so many round trips.
    In(u32),
    /// The next slowdown comes at that time.
    At(Time),
    /// Two segments are in flight, for so many round trips; since then; back to this window.
    Frozen { rounds: u32, since: Time, back: f64 },
    /// Slow start leads back to this window, which the slowdown has left.
    Rising { since: Time, back: f64 },
}

/// The controller of LEDBAT++: [`LedbatPlusPlusLaw`] driven by ACKs.
pub type LedbatPlusPlus = AckClocked<LedbatPlusPlusLaw>;

/// `LedbatPlusPlusLaw` is LEDBAT++'s growth, reduction and slowdowns.
#[derive(Clone, Debug)]
pub struct LedbatPlusPlusLaw {
    target: Span,
    constant: f64,
    slowdowns: bool,
    delays: Box<Delays>,
    slowdown: Box<Slowdown>,
    round: Round,
}

impl LedbatPlusPlusLaw {
    /// Computes `GAIN` from the base delay (§4.2); 1/16 to 1.
    fn gain(&self) -> f64 {
        let base = self.delays.base().as_secs_f64().max(1e-9);
        1.0 / (2.0 * self.target.as_secs_f64() / base).ceil().clamp(1.0, 16.0)
    }

    /// A round trip has passed: the slowdown goes on, and above the target the window shrinks.
    fn on_round(&mut self, window: &mut Window, now: Time, delay: f64, mss: f64) {
        if self.slowdowns {
            self.advance_slowdown(window, now, mss);
        }
        if delay > 1.0 && window.cwnd >= window.ssthresh && !self.is_frozen() {
            let w = window.cwnd / mss;
            let change = (self.gain() - self.constant * w * (delay - 1.0)).max(-w / 2.0);
            let left = (w + change).max(FEWEST) * mss;
            window.cwnd = left.min(window.cwnd.max(FEWEST * mss));
            window.ssthresh = window.cwnd;
        }
    }

    fn is_frozen(&self) -> bool {
        matches!(*self.slowdown, Slowdown::Frozen { .. })
    }

    fn advance_slowdown(&mut self, window: &mut Window, now: Time, mss: f64) {
        *self.slowdown = match *self.slowdown {
            Slowdown::Never if window.cwnd >= window.ssthresh => Slowdown::In(SLOWDOWN_ROUNDS),
            Slowdown::In(rounds) if rounds > 0 => Slowdown::In(rounds - 1),
            Slowdown::At(date) if now < date => Slowdown::At(date),
            Slowdown::In(_) | Slowdown::At(_) => {
                let back = window.cwnd;
                window.cwnd = window.cwnd.min(FEWEST * mss);
                window.ssthresh = back.max(FEWEST * mss);
                Slowdown::Frozen { rounds: SLOWDOWN_ROUNDS, since: now, back }
            }
            Slowdown::Frozen { rounds, since, back } if rounds > 0 => {
                Slowdown::Frozen { rounds: rounds - 1, since, back }
            }
            Slowdown::Frozen { since, back, .. } => Slowdown::Rising { since, back },
            Slowdown::Rising { since, .. } if window.cwnd >= window.ssthresh => {
                Slowdown::At(now + (now - since) * SLOWDOWN_FACTOR)
            }
            other => other,
        };
    }
}

impl Law for LedbatPlusPlusLaw {
    type Options = LedbatPlusPlusOptions;

    fn new(options: &LedbatPlusPlusOptions) -> LedbatPlusPlusLaw {
        LedbatPlusPlusLaw {
            target: options.target,
            constant: options.constant,
            slowdowns: options.slowdowns,
            delays: Box::default(),
            slowdown: Box::new(Slowdown::Never),
            round: Round::default(),
        }
    }

    fn common(options: &LedbatPlusPlusOptions) -> &Common {
        &options.common
    }

    fn steer(&mut self, window: &mut Window, acked: &Acked, path: &PathView) -> bool {
        let mss = path.mss as f64;
        if let Some(rtt) = acked.rtt.filter(|rtt| *rtt > Span::ZERO) {
            self.delays.on_sample(acked.now, rtt);
        }
        let Some(queueing) = self.delays.queueing() else { return false };
        // In targets.
        let delay = queueing.as_secs_f64() / self.target.as_secs_f64();
        let first = *self.slowdown == Slowdown::Never;
        if first && window.cwnd < window.ssthresh && delay > 0.75 {
            window.ssthresh = window.cwnd.max(FEWEST * mss); // §4.1
        }
        if self.round.begins(path) {
            self.on_round(window, acked.now, delay, mss);
        }
        if self.is_frozen() {
            return true;
        }
        let bytes = (acked.bytes as f64).min(window.cwnd);
        if window.cwnd < window.ssthresh {
            let room = (window.ssthresh - window.cwnd).max(0.0);
            window.cwnd += (self.gain() * bytes.min(2.0 * mss)).min(room);
        } else if delay <= 1.0 {
            window.cwnd += self.gain() * mss * bytes / window.cwnd;
        }
        true
    }

    fn avoid(&mut self, _cwnd: f64, _acked: &Acked, _path: &PathView) -> f64 {
        0.0 // steered
    }

    fn reduce(&mut self, _cwnd: f64, base: f64, _cause: Cause, _path: &PathView) -> f64 {
        base / 2.0
    }

    fn wants_feedback(&self) -> bool {
        true // for the samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::bottleneck::{Bottleneck, Network};
    use crate::testkit::{MSS, Path, ack, path as view};
    use crate::{Algorithm, Congestion, Controller};
    use anabranch_units::Rate;

    fn ledbat(segments: u64, slowdowns: bool) -> LedbatPlusPlus {
        let options = LedbatPlusPlusOptions { slowdowns, ..LedbatPlusPlusOptions::default() };
        LedbatPlusPlus::new(&options, segments * MSS, MSS)
    }

    /// §4.2: 1/16 up to 7.5 ms, 1/12 at 10 ms, 1/2 at 100 ms, 1 from 120 ms on.
    #[test]
    fn the_gain_falls_with_the_base_delay() {
        for (base_ms, divisor) in
            [(1, 16.0), (7, 16.0), (10, 12.0), (50, 3.0), (100, 2.0), (120, 1.0), (800, 1.0)]
        {
            let mut c = ledbat(10, false);
            c.law.delays.on_sample(Time::ZERO, Span::from_millis(base_ms));
            assert!((c.law.gain() - 1.0 / divisor).abs() < 1e-12, "{base_ms} ms");
        }
    }

    /// §4.3, once a round trip: W - W (delay / TARGET - 1) + GAIN, half at most; base 100 ms, GAIN 1/2.
    #[test]
    fn beyond_the_target_the_window_shrinks_in_proportion() {
        for (rtt_ms, law) in [(160, 100.0), (172, 80.5), (190, 50.5), (400, 50.0)] {
            let mut c = ledbat(100, false);
            let sample = |c: &mut LedbatPlusPlus, ms, acked| {
                let rtt = Some(Span::from_millis(ms));
                let view = PathView { acked, sent: 1000, ..view(100) };
                c.on_ack(&Acked { rtt, ..ack(0) }, &view);
            };
            sample(&mut c, 100, 1);
            (0..4).for_each(|_| sample(&mut c, rtt_ms, 2));
            sample(&mut c, rtt_ms, 1001);
            let found = c.window.cwnd / MSS as f64;
            assert!((found - law).abs() < 1e-6, "{rtt_ms} ms: {found}");
        }
    }

    /// Without a queue a round trip of 100 ms adds half a segment.
    #[test]
    fn without_a_queue_a_round_adds_the_gain() {
        let mut c = ledbat(100, false);
        let mut path = Path::new(Span::from_millis(100));
        (0..10).for_each(|_| path.round(&mut c));
        assert!((c.window() as f64 / MSS as f64 - 105.0).abs() < 0.1, "{}", c.window());
    }

    /// §4.4: slowdowns last until the window is back, and come nine times as long after.
    #[test]
    fn slowdowns_take_a_tenth_of_the_time() {
        let (rate, rtt) = (Rate::mbit(10), Span::from_millis(100));
        let path = Bottleneck { rate, rtt, buffer: 1000, mark_above: None, loss: 0.0 };
        let algorithm = Algorithm::LedbatPlusPlus(LedbatPlusPlusOptions::default());
        let mut n = Network::new(path, &[algorithm], Span::ZERO);
        let mut down: Vec<(Time, Time)> = Vec::new();
        n.run_with(Span::from_secs(100), |n| {
            let Congestion::LedbatPlusPlus(c) = &n.flows[0].c else { panic!("of LEDBAT++") };
            let slow = matches!(*c.law.slowdown, Slowdown::Frozen { .. } | Slowdown::Rising { .. });
            match down.last_mut() {
                Some((_, end)) if slow && n.now - *end < Span::from_millis(500) => *end = n.now,
                _ if slow => down.push((n.now, n.now)),
                _ => {}
            }
        });
        assert!(down.len() >= 5, "{down:?}");
        for pair in down.windows(2) {
            let lasted = (pair[0].1 - pair[0].0).as_secs_f64();
            let apart = (pair[1].0 - pair[0].1).as_secs_f64();
            assert!((8.0..11.0).contains(&(apart / lasted)), "{apart} after {lasted}");
        }
    }
}
