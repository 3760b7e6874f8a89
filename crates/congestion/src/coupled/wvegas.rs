//! wVegas: weighted Vegas (Cao, Xu and Fu, "Delay-based Congestion Control for
//! Multipath TCP", ICNP 2012; draft-xu-mptcp-congestion-control-05, section 2).
//!
//! Each path is a Vegas that keeps `alpha_r` segments in queues; the connection
//! keeps `total_alpha` (10) in all, divided by the rates that the paths had when
//! their queues were last that long:
//!
//! ```text
//! once a round trip:
//!   diff_r = (w_r / base_r - w_r / rtt_r) base_r
//!   where diff_r >= alpha_r:  rate_r = w_r / rtt_r
//!     alpha_r = max(2, total_alpha rate_r / SUM_k rate_k)
//!   w_r += 1 where diff_r < alpha_r,  w_r -= 1 where diff_r > alpha_r
//! ```
//!
//! Slow start is TCP's and ends with more than `gamma` segments in queues.
//!
//! Then the queue is drained now and then, so that `base_r` can be seen: `q_r` is
//! the smallest `rtt_r - base_r` since the last time; where `rtt_r - base_r` is
//! twice as much, `w_r = w_r base_r / (2 rtt_r)`. To the letter ([`Drain::Always`])
//! that is a matter of chance where the path holds nothing: `q_r` is then a part of
//! a packet's transmission time, is exceeded twofold in the next rounds, and the
//! window is halved again and again on an empty link. [`Drain::Holding`] counts
//! the rounds alone in which the path holds its `alpha_r`: what is twice as long
//! as the path's own queue is others', or an old one that `base_r` contains.
//!
//! Choices where the draft is silent: the first `alpha_r` is 2, and it is never
//! less (the implementation of its authors); slow start is left with the window
//! that `base_r` would have needed, and a segment more (the same; the draft sets
//! the threshold alone); a loss is a reduction after which `q_r` is measured anew;
//! a sibling that has no rate yet counts with its window over its round-trip time.

use super::{Others, term_of};
use crate::ack_clocked::{AckClocked, Common, Law};
use crate::round::Round;
use crate::window::Window;
use crate::{Acked, Cause, PathView, Shared, Sibling};
use anabranch_units::Span;

/// `WVegasOptions` are the settings of [`WVegas`].
#[derive(Clone, PartialEq, Debug)]
pub struct WVegasOptions {
    /// Segments that the connection keeps in queues; 10.
    pub total_alpha: u32,
    /// `gamma` is how many segments in queues end slow start; 1.
    pub gamma: u32,
    /// `drain` says in which rounds a path may drain the queue.
    pub drain: Drain,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for WVegasOptions {
    fn default() -> WVegasOptions {
        let drain = Drain::Holding;
        WVegasOptions { total_alpha: 10, gamma: 1, drain, common: Common::default() }
    }
}

/// The rounds in which the queueing delay is compared with the smallest since the last reduction,
/// and the queue drained where it is twice as long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Drain {
    /// Rounds in which the path holds its `alpha` segments in queues.
    Holding,
    /// All rounds, which is the draft to the letter.
    Always,
    /// No round: queues are never drained.
    Never,
}

crate::options::ack_driven!(WVegasOptions, |o, form| {
    form.says("segments in queues of all paths together").integer(
        "total_alpha",
        2..=1_000_000,
        &mut o.total_alpha,
    )?;
    form.says("segments in queues at the end of slow start").integer(
        "gamma",
        0..=1_000_000,
        &mut o.gamma,
    )?;
    let drains = [("holding", Drain::Holding), ("always", Drain::Always), ("never", Drain::Never)];
    form.says(
        "rounds that may drain the queue: those in which the path holds its share of \
         `total_alpha`; `\"always\"`, all, is the draft's rule; `\"never\"`",
    )
    .choice("drain", &drains, &mut o.drain)?;
});

/// The controller of one path under wVegas: [`WVegasLaw`] driven by ACKs.
pub type WVegas = AckClocked<WVegasLaw>;

/// The least `alpha_r`, and what it is at first.
const LEAST_ALPHA: f64 = 2.0;

/// `WVegasLaw` is wVegas' growth and reduction of one path, with its view of the other paths.
#[derive(Clone, Debug)]
pub struct WVegasLaw {
    others: Others,
    total_alpha: u32,
    gamma: u32,
    drain: Drain,
    /// `base` is the smallest round-trip time, in seconds; infinite at first.
    base: f64,
    /// `sum` is the sum of the round's samples, in seconds, and `samples` is their number.
    sum: f64,
    samples: u32,
    round: Round,
    pub(super) alpha: f64,
    /// `rate` is the rate in segments per second when `diff` last reached `alpha`; 0 before.
    rate: f64,
    /// `queue` is the smallest queueing delay since the last reduction, in seconds.
    queue: f64,
}

impl WVegasLaw {
    /// Ends a round: moves the window towards the path's share of segments in queues, and may drain
    /// the queue.
    fn decide(&mut self, w: &mut Window, mss: f64, rtt: f64) {
        let segments = w.cwnd / mss;
        let diff = segments * (1.0 - self.base / rtt);
        if w.cwnd < w.ssthresh {
            if diff > f64::from(self.gamma) {
                let needed = w.cwnd * self.base / rtt;
                w.cwnd = w.cwnd.min((needed + mss).max(2.0 * mss));
                w.ssthresh = w.cwnd.max(2.0 * mss);
            }
            return;
        }
        if diff >= self.alpha {
            self.rate = segments / rtt;
            self.alpha = (f64::from(self.total_alpha) * self.weight()).max(LEAST_ALPHA);
        }
        if diff < self.alpha {
            w.cwnd += mss;
        } else if diff > self.alpha {
            w.cwnd = (w.cwnd - mss).max(2.0 * mss);
        }
        let compare = match self.drain {
            Drain::Holding => diff >= self.alpha,
            Drain::Always => true,
            Drain::Never => false,
        };
        if compare {
            self.drain(w, mss, rtt);
        }
        w.ssthresh = w.ssthresh.min(w.cwnd).max(2.0 * mss); // or slow start would follow
    }

    /// Returns this path's part of the rates of all paths, each at the queue that it should have.
    fn weight(&self) -> f64 {
        let others = self.others.iter().filter_map(|other| match other.state.rate {
            0.0 => Some(term_of(other)?.x()),
            rate => Some(rate),
        });
        let all: f64 = others.chain([self.rate]).sum();
        self.rate / all
    }

    /// Compares the queueing delay of a round with the smallest since the last reduction, and
    /// drains the queue where it is twice that.
    fn drain(&mut self, w: &mut Window, mss: f64, rtt: f64) {
        let q = rtt - self.base;
        self.queue = self.queue.min(q);
        if q > 0.0 && q >= 2.0 * self.queue {
            w.cwnd = (w.cwnd * self.base / (2.0 * rtt)).max(2.0 * mss);
            self.queue = f64::INFINITY;
        }
    }
}

impl Law for WVegasLaw {
    type Options = WVegasOptions;
    const COUPLED: bool = true;

    fn new(options: &WVegasOptions) -> WVegasLaw {
        WVegasLaw {
            others: Others::default(),
            total_alpha: options.total_alpha,
            gamma: options.gamma,
            drain: options.drain,
            base: f64::INFINITY,
            sum: 0.0,
            samples: 0,
            round: Round::default(),
            alpha: LEAST_ALPHA,
            rate: 0.0,
            queue: f64::INFINITY,
        }
    }

    fn common(options: &WVegasOptions) -> &Common {
        &options.common
    }

    fn on_siblings(&mut self, siblings: &[Sibling]) {
        self.others.set(siblings);
    }

    fn steer(&mut self, window: &mut Window, acked: &Acked, path: &PathView) -> bool {
        if self.round.begins(path) && self.samples > 0 {
            let rtt = self.sum / f64::from(self.samples);
            self.decide(window, path.mss as f64, rtt);
            (self.sum, self.samples) = (0.0, 0);
        }
        let sample = |rtt: Option<Span>| rtt.map_or(f64::INFINITY, |rtt| rtt.as_secs_f64());
        self.base = self.base.min(sample(path.min_rtt));
        if let Some(rtt) = acked.rtt.filter(|rtt| *rtt > Span::ZERO) {
            let rtt = rtt.as_secs_f64();
            self.base = self.base.min(rtt);
            self.sum += rtt;
            self.samples += 1;
        }
        window.cwnd >= window.ssthresh
    }

    fn wants_feedback(&self) -> bool {
        true // for the samples
    }

    fn avoid(&mut self, _cwnd: f64, _acked: &Acked, _path: &PathView) -> f64 {
        0.0 // decided once per round
    }

    fn reduce(&mut self, _cwnd: f64, base: f64, _cause: Cause, _path: &PathView) -> f64 {
        self.queue = f64::INFINITY;
        base / 2.0
    }

    fn shared(&self, _cwnd: f64) -> Shared {
        Shared { rate: self.rate, ..Shared::default() }
    }

    /// `alpha_r`: segments that the path is to keep in queues.
    fn coupling(&self, _path: &Sibling) -> Option<f64> {
        Some(self.alpha)
    }
}
