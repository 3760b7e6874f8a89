//! YeAH: Scalable TCP's growth while the queue is short, Reno's when it is not, and the queue is drained
//! where nobody else fills it (Baiocchi, Castellani and Vacirca, "YeAH-TCP: yet another highspeed TCP",
//! PFLDnet 2007).
//!
//! §2: once a round, `RTT_queue = RTT_min - RTT_base` of the round, `Q = RTT_queue W / RTT_min`, `L =
//! RTT_queue / RTT_base`. *Fast* while `Q < Q_max` and `L < 1 / phi`, else *slow*. In slow mode the
//! window gives up `Q` when that is more than `Q_max` (precautionary decongestion), unless the flow
//! competes with greedy ones: it has been slow for more than `rho` rounds. `cwnd_reno` is the window
//! that Reno would have, below which it does not fall. A loss takes `max(W / 8, Q)`, half at most;
//! half where it competes.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::reno::one_segment_per_round;
use crate::round::Round;
use crate::window::Window;
use crate::{Acked, Cause, PathView};
use anabranch_units::Span;

/// `YeahOptions` are the settings of [`Yeah`]: the parameters of §2.
#[derive(Clone, PartialEq, Debug)]
pub struct YeahOptions {
    /// `Q_max`: segments in the queue; 80.
    pub q_max: u32,
    /// `phi`: the queueing delay may be one `phi`-th of the round trip; 8.
    pub phi: f64,
    /// `rho` is how many rounds of slow mode make the flow compete with greedy ones; 16.
    pub rho: u32,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for YeahOptions {
    fn default() -> YeahOptions {
        YeahOptions { q_max: 80, phi: 8.0, rho: 16, common: Common::default() }
    }
}

crate::options::ack_driven!(YeahOptions, |o, form| {
    form.says("segments in the queue that end fast mode").integer(
        "q_max",
        1..=1_000_000,
        &mut o.q_max,
    )?;
    form.says("queueing delay that ends fast mode, as the round trip over this number").number(
        "phi",
        1.0..=1e6,
        &mut o.phi,
    )?;
    form.says("rounds of slow mode after which it competes").integer(
        "rho",
        1..=1_000_000,
        &mut o.rho,
    )?;
});

/// Segments that a segment acknowledged adds in fast mode, as Scalable TCP (Kelly 2003).
const SCALABLE_A: f64 = 0.01;

/// The controller of YeAH: [`YeahLaw`] driven by ACKs.
pub type Yeah = AckClocked<YeahLaw>;

/// `YeahLaw` is YeAH's growth and reduction, with the mode and the estimate of segments in the
/// queue.
#[derive(Clone, Copy, Debug)]
pub struct YeahLaw {
    q_max: f64,
    phi: f64,
    rho: u32,
    /// The window grows as Scalable TCP's (fast mode), not as Reno's (slow mode).
    fast: bool,
    /// `Q` of the last round, segments.
    queued: f64,
    /// `count_reno`: rounds of slow mode in a row.
    slow_rounds: u32,
    /// `count_fast`: rounds of fast mode in a row.
    fast_rounds: u32,
    /// `cwnd_reno`, segments; 0 before the first loss.
    reno: f64,
    base_rtt: Span,
    round_rtt: Span,
    round: Round,
}

impl YeahLaw {
    /// A round is over, at the end of which the window is `w`.
    fn decide(&mut self, window: &mut Window, mss: f64) {
        let (base, rtt) = (self.base_rtt.as_secs_f64(), self.round_rtt.as_secs_f64());
        let waits = rtt - base;
        let w = window.cwnd / mss;
        self.queued = waits / rtt * w;
        self.fast = self.queued < self.q_max && waits / base < 1.0 / self.phi;
        if self.fast {
            self.slow_rounds = 0;
            self.fast_rounds += 1;
            // Nobody fills the queue: what Reno would have had is forgotten.
            if self.fast_rounds > self.rho {
                self.reno = 2.0;
            }
        } else {
            self.fast_rounds = 0;
            self.slow_rounds += 1;
            let competes = self.slow_rounds > self.rho;
            if self.queued > self.q_max && !competes {
                // Precautionary decongestion.
                let left = (w - self.queued).max(self.reno).max(w / 2.0);
                window.cwnd = window.cwnd.min((left * mss).max(2.0 * mss));
                window.ssthresh = window.ssthresh.min(window.cwnd);
            }
        }
        self.reno = (self.reno + 1.0).min(window.cwnd / mss);
    }
}

impl Law for YeahLaw {
    type Options = YeahOptions;

    fn new(options: &YeahOptions) -> YeahLaw {
        YeahLaw {
            q_max: f64::from(options.q_max),
            phi: options.phi,
            rho: options.rho,
            fast: true,
            queued: 0.0,
            slow_rounds: 0,
            fast_rounds: 0,
            reno: 2.0,
            base_rtt: Span::MAX,
            round_rtt: Span::MAX,
            round: Round::default(),
        }
    }

    fn common(options: &YeahOptions) -> &Common {
        &options.common
    }

    fn steer(&mut self, window: &mut Window, acked: &Acked, path: &PathView) -> bool {
        if self.round.begins(path) && self.round_rtt != Span::MAX {
            if window.cwnd >= window.ssthresh {
                self.decide(window, path.mss as f64);
            }
            self.round_rtt = Span::MAX;
        }
        self.base_rtt = self.base_rtt.min(path.min_rtt.unwrap_or(Span::MAX));
        if let Some(rtt) = acked.rtt.filter(|rtt| *rtt > Span::ZERO) {
            self.base_rtt = self.base_rtt.min(rtt);
            self.round_rtt = self.round_rtt.min(rtt);
        }
        false
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        let reno = one_segment_per_round(cwnd, acked, path);
        match self.fast {
            true => reno.max(SCALABLE_A * (acked.bytes as f64).min(cwnd)),
            false => reno,
        }
    }

    fn reduce(&mut self, _cwnd: f64, base: f64, cause: Cause, path: &PathView) -> f64 {
        let mss = path.mss as f64;
        let w = base / mss;
        let given_up = match cause {
            Cause::Timeout => w / 2.0,
            _ if self.slow_rounds > self.rho => w / 2.0,
            _ => (w / 8.0).max(self.queued).min(w / 2.0),
        };
        self.fast_rounds = 0;
        self.reno = (self.reno / 2.0).max(2.0);
        (w - given_up) * mss
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

    /// Two rounds of `segments` at these round-trip times, RTT_base 100 ms.
    fn after(segments: u64, rtts_ms: &[u64]) -> Yeah {
        let mut c = Yeah::new(&YeahOptions::default(), segments * MSS, MSS);
        for (round, rtt_ms) in (1..).zip(rtts_ms.iter().chain([&100])) {
            let view = PathView { acked: round * 2, sent: round * 2 + 1, ..view(segments) };
            let rtt = Some(Span::from_millis(*rtt_ms));
            c.on_ack(&Acked { rtt, ..ack(0) }, &view);
        }
        c
    }

    /// Fast up to 80 segments and an eighth of the round trip.
    #[test]
    fn the_mode_follows_the_queue() {
        for (segments, rtt_ms, fast) in [
            (100, 100, true),
            (100, 112, true),
            (100, 113, false),
            (2000, 103, true),
            (2000, 105, false),
        ] {
            assert_eq!(after(segments, &[rtt_ms]).law.fast, fast, "{segments}, {rtt_ms}");
        }
    }

    /// Q = 2000 (1 - 100 / 105) = 95.2 segments are given up; after 16 slow rounds no more.
    #[test]
    fn a_queue_of_its_own_is_drained() {
        let c = after(2000, &[105]);
        assert!((c.window() as f64 / MSS as f64 - 1904.8).abs() < 0.1, "{}", c.window());
        let mut c = after(2000, &[100]);
        c.law.slow_rounds = 16;
        let view = PathView { acked: 100, sent: 101, ..view(2000) };
        c.law.round_rtt = Span::from_millis(105);
        c.on_ack(&ack(0), &view);
        assert_eq!(c.window(), 2000 * MSS);
    }

    /// An eighth, or the queue, half at most; half where it competes.
    #[test]
    fn a_loss_takes_an_eighth_or_the_queue() {
        for (rtts, slow_rounds, left) in
            [(100, 0, 70.0), (112, 0, 70.0), (130, 0, 61.54), (300, 0, 40.0), (100, 17, 40.0)]
        {
            let mut c = after(80, &[rtts]);
            c.law.slow_rounds = slow_rounds;
            c.on_congestion(&event(Cause::Loss), &view(80));
            let found = c.window() as f64 / MSS as f64;
            assert!((found - left).abs() < 0.01, "{rtts} ms: {found}");
        }
    }

    /// In fast mode a window of 1000 grows by e^0.01 a round, as Scalable TCP's.
    #[test]
    fn without_a_queue_it_grows_as_scalable_tcp() {
        let mut c = Yeah::new(&YeahOptions::default(), 1000 * MSS, MSS);
        let mut path = Path::new(Span::from_millis(100));
        (0..10).for_each(|_| path.round(&mut c));
        let grown = c.window() as f64 / MSS as f64 / 1000.0;
        assert!((grown / 0.1_f64.exp() - 1.0).abs() < 0.005, "{grown}");
    }
}
