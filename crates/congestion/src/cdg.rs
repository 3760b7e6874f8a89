//! CDG: the gradient of the delay says when a queue grows; a reduction comes by chance, the likelier the
//! steeper it is (Hayes and Armitage, "Revisiting TCP congestion control using delay gradients",
//! Networking 2011).
//!
//! §3.1: per round trip, `g_min` and `g_max` are the changes of the smallest and the largest round-trip
//! time, each smoothed over eight rounds. §3.2: while `g_min > 0` the window is multiplied by beta, 0.7, with
//! the probability `1 - exp(-g_min / G)`, G = 3 ms; else it grows as Reno's. §3.4: five reductions
//! in a row that do not turn the gradient are ineffectual, and the next five do not take place: somebody else
//! fills the queue. §3.5: a shadow window remembers what reductions by delay gave up; a loss takes
//! half of the larger one. §3.3: with `loss_tolerance` a loss counts only where the queue is taken to be full:
//! `g_max` has stopped to rise while `g_min` rises.
//!
//! Choices: chance is a hash of the date and of the gradient, since controllers draw no random numbers;
//! `loss_tolerance` is off by default, as in Linux.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::bbr::hash;
use crate::reno::one_segment_per_round;
use crate::round::Round;
use crate::window::Window;
use crate::{Acked, Cause, PathView};
use anabranch_units::Span;

/// `CdgOptions` are the settings of [`Cdg`]: the parameters of §3.
#[derive(Clone, PartialEq, Debug)]
pub struct CdgOptions {
    /// `G`: the gradient at which the probability is 1 - 1/e; 3 ms a round trip.
    pub g: Span,
    /// `beta_delay`: what a reduction by the delay leaves; 0.7.
    pub beta: f64,
    /// Reductions in a row that count as ineffectual, and then do not take place; 5. 0 turns it off.
    pub ineffectual: u32,
    /// A loss reduces the window only where the queue is taken to be full.
    pub loss_tolerance: bool,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for CdgOptions {
    fn default() -> CdgOptions {
        CdgOptions {
            g: Span::from_millis(3),
            beta: 0.7,
            ineffectual: 5,
            loss_tolerance: false,
            common: Common::default(),
        }
    }
}

crate::options::ack_driven!(CdgOptions, |o, form| {
    form.says("scale of the delay gradient").span("g", &mut o.g)?;
    form.says("part that a reduction by delay leaves").probability("beta", &mut o.beta)?;
    form.says("reductions in a row that count as ineffectual; 0: never").integer(
        "ineffectual",
        0..=1000,
        &mut o.ineffectual,
    )?;
    form.says("losses count only where the queue is full")
        .boolean("loss_tolerance", &mut o.loss_tolerance)?;
    form.require(o.g > Span::ZERO, "g", "more than 0 s")?;
});

/// `SMOOTHED` is the number of rounds over which gradients are smoothed (`a`).
const SMOOTHED: usize = 8;

/// `Gradient` is a gradient, smoothed over the last rounds, in seconds a round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Gradient {
    last: Option<Span>,
    of_rounds: [f64; SMOOTHED],
    next: usize,
    smoothed: f64,
}

impl Gradient {
    /// Takes in the extreme round-trip time of a round.
    fn update(&mut self, rtt: Span) {
        if let Some(last) = self.last {
            let g = rtt.as_secs_f64() - last.as_secs_f64();
            let gone = std::mem::replace(&mut self.of_rounds[self.next], g);
            self.next = (self.next + 1) % SMOOTHED;
            self.smoothed += (g - gone) / SMOOTHED as f64;
        }
        self.last = Some(rtt);
    }
}

/// `Delay` is the state of CDG: both gradients, the backoffs and the shadow window.
#[derive(Clone, Debug)]
struct Delay {
    options: CdgOptions,
    min: Gradient,
    max: Gradient,
    round_min: Span,
    round_max: Span,
    round: Round,
    /// `backoffs` counts reductions by delay in a row since the gradient last fell; beyond the
    /// limit they do not take place.
    backoffs: u32,
    /// `shadow` is the shadow window `s`, in octets; 0 stands for none.
    shadow: f64,
    /// `full` says that the queue is taken to be full.
    full: bool,
}

/// The controller of CDG: [`CdgLaw`] driven by ACKs.
pub type Cdg = AckClocked<CdgLaw>;

/// `CdgLaw` is CDG's growth and reduction. Its state is large and lives in a box.
#[derive(Clone, Debug)]
pub struct CdgLaw(Box<Delay>);

impl Delay {
    /// Ends a round: updates both gradients and the judgement of the queue.
    fn update(&mut self) {
        self.min.update(self.round_min);
        self.max.update(self.round_max);
        (self.round_min, self.round_max) = (Span::MAX, Span::ZERO);
        let (rises, at_most) = (self.min.smoothed > 0.0, self.max.smoothed <= 0.0);
        if rises && at_most {
            self.full = true;
        } else if !rises {
            self.full = false;
            self.backoffs = 0;
            if self.min.smoothed < 0.0 && self.max.smoothed < 0.0 {
                self.shadow = 0.0; // the queue empties
            }
        }
    }

    /// The gradient lets the window shrink, given a number from 0 to 1.
    fn backs_off(&mut self, chance: f64) -> bool {
        let gradient = self.min.smoothed;
        if gradient <= 0.0 || chance >= 1.0 - libm::exp(-gradient / self.options.g.as_secs_f64()) {
            return false;
        }
        let limit = self.options.ineffectual;
        if limit == 0 {
            return true;
        }
        self.backoffs += 1;
        if self.backoffs >= 2 * limit {
            self.backoffs = 0;
        }
        // The first `limit` take place; the next do not.
        (1..=limit).contains(&self.backoffs)
    }
}

impl Law for CdgLaw {
    type Options = CdgOptions;

    fn new(options: &CdgOptions) -> CdgLaw {
        CdgLaw(Box::new(Delay {
            options: options.clone(),
            min: Gradient::default(),
            max: Gradient::default(),
            round_min: Span::MAX,
            round_max: Span::ZERO,
            round: Round::default(),
            backoffs: 0,
            shadow: 0.0,
            full: false,
        }))
    }

    fn common(options: &CdgOptions) -> &Common {
        &options.common
    }

    fn steer(&mut self, window: &mut Window, acked: &Acked, path: &PathView) -> bool {
        let d = &mut *self.0;
        let mss = path.mss as f64;
        let mut backed_off = false;
        if d.round.begins(path) && d.round_min != Span::MAX {
            d.update();
            let draw = hash(acked.now.as_picos() ^ d.min.smoothed.to_bits());
            let chance = (draw >> 11) as f64 / (1_u64 << 53) as f64;
            if d.backs_off(chance) {
                d.shadow = d.shadow.max(window.cwnd);
                window.cwnd = window.cwnd.min((window.cwnd * d.options.beta).max(2.0 * mss));
                window.ssthresh = window.cwnd.max(2.0 * mss);
                backed_off = true;
            } else if d.shadow > 0.0 {
                d.shadow += mss; // §3.5: it grows as the window would have
            }
        }
        if let Some(rtt) = acked.rtt.filter(|rtt| *rtt > Span::ZERO) {
            d.round_min = d.round_min.min(rtt);
            d.round_max = d.round_max.max(rtt);
        }
        backed_off
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        one_segment_per_round(cwnd, acked, path)
    }

    fn reduce(&mut self, cwnd: f64, base: f64, cause: Cause, _path: &PathView) -> f64 {
        let d = &mut *self.0;
        if cause == Cause::Loss && d.options.loss_tolerance && !d.full {
            return base;
        }
        let shadow = std::mem::take(&mut d.shadow);
        (base.max(shadow) / 2.0).min(cwnd)
    }

    fn wants_feedback(&self) -> bool {
        true // for the samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Controller;
    use crate::testkit::{MSS, Path, ack, event, path as view};
    use anabranch_testkit::marks::record;
    use anabranch_units::Time;

    /// Rounds whose round-trip times rise by `step_us` each; how many of `rounds` reduce the window.
    fn backoffs(step_us: u64, rounds: u64) -> u64 {
        let options = CdgOptions { ineffectual: 0, ..CdgOptions::default() };
        let mut c = Cdg::new(&options, 1000 * MSS, MSS);
        let mut count = 0;
        for round in 1..=rounds + 9 {
            let rtt = Some(Span::from_micros(100_000 + step_us * round));
            let now = Time::ZERO + Span::from_millis(100 * round);
            let view = PathView { acked: 2 * round, sent: 2 * round + 1, ..view(1000) };
            let before = c.window();
            c.window.cwnd = c.window.cwnd.max(1e6);
            let start = c.window();
            c.on_ack(&Acked { now, rtt, ..ack(0) }, &view);
            count += u64::from(round > 9 && c.window() < start);
            assert!(before > 0);
        }
        count
    }

    /// §3.2: P = 1 - exp(-g / 3 ms): 0.283 at 1 ms, 0.632 at 3 ms, 0.964 at 10 ms.
    #[test]
    fn the_chance_of_a_reduction_is_that_of_the_gradient() {
        for (step_us, law) in [(0, 0.0), (1000, 0.283), (3000, 0.632), (10_000, 0.964)] {
            let found = backoffs(step_us, 4000) as f64 / 4000.0;
            let quantity = format!("cdg: part of rounds that reduce, gradient {step_us} us");
            record("T8", &quantity, law, format!("{found:.3}"), "0.025");
            assert!((found - law).abs() < 0.025, "{step_us} us: {found} of {law}");
        }
    }

    /// §3.4: five take place, five do not, five do.
    #[test]
    fn ineffectual_reductions_stop_for_as_many() {
        let mut law = CdgLaw::new(&CdgOptions::default());
        law.0.min.smoothed = 1.0;
        let done: Vec<bool> = (0..14).map(|_| law.0.backs_off(0.0)).collect();
        assert_eq!(done.iter().filter(|done| **done).count(), 9, "{done:?}");
        assert!(done[..5].iter().all(|done| *done) && !done[5..10].iter().any(|done| *done));
    }

    /// §3.5: what delays gave up counts at a loss.
    #[test]
    fn a_loss_takes_half_of_the_shadow() {
        let mut c = Cdg::new(&CdgOptions::default(), 70 * MSS, MSS);
        c.law.0.shadow = 100.0 * MSS as f64;
        c.on_congestion(&event(Cause::Loss), &view(70));
        assert_eq!(c.window(), 50 * MSS);
        c.on_congestion(&event(Cause::Loss), &view(50));
        assert_eq!(c.window(), 25 * MSS);
        let options = CdgOptions { loss_tolerance: true, ..CdgOptions::default() };
        let mut c = Cdg::new(&options, 70 * MSS, MSS);
        c.on_congestion(&event(Cause::Loss), &view(70));
        assert_eq!(c.window(), 70 * MSS, "the queue is not full");
        c.law.0.full = true;
        c.on_congestion(&event(Cause::Loss), &view(70));
        assert_eq!(c.window(), 35 * MSS);
    }

    #[test]
    fn without_a_gradient_it_is_reno() {
        let mut c = Cdg::new(&CdgOptions::default(), 100 * MSS, MSS);
        let mut path = Path::new(Span::from_millis(100));
        (0..10).for_each(|_| path.round(&mut c));
        assert!((109 * MSS..=110 * MSS).contains(&c.window()), "{}", c.window());
    }
}
