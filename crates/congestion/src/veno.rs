//! Veno: Vegas' estimate of the segments in the queue tells losses of congestion from random ones (Fu
//! and Liew, "TCP Veno: TCP enhancement for transmission over wireless access networks", JSAC 21(2),
//! 2003).
//!
//! §III: `N = (Expected - Actual) BaseRTT`. While `N < beta`, 3, the window grows as Reno's and a loss
//! takes a fifth; else it grows with every other ACK, and a loss halves. A timeout halves.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::reno::one_segment_per_round;
use crate::round::Round;
use crate::{Acked, Cause, PathView};
use anabranch_units::Span;

/// `VenoOptions` are the settings of [`Veno`].
#[derive(Clone, PartialEq, Debug)]
pub struct VenoOptions {
    /// `beta`: segments in the queue from which a loss is one of congestion; 3.
    pub beta: f64,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for VenoOptions {
    fn default() -> VenoOptions {
        VenoOptions { beta: 3.0, common: Common::default() }
    }
}

crate::options::ack_driven!(VenoOptions, |o, form| {
    form.says("segments in the queue from which a loss is one of congestion").number(
        "beta",
        0.0..=1e6,
        &mut o.beta,
    )?;
});

/// The controller of Veno: [`VenoLaw`] driven by ACKs.
pub type Veno = AckClocked<VenoLaw>;

/// `VenoLaw` is Veno's growth and reduction, with the estimate of segments in the queue.
#[derive(Clone, Copy, Debug)]
pub struct VenoLaw {
    beta: f64,
    /// `N`, segments, of the last round.
    queued: f64,
    /// `base_rtt` is BaseRTT, the smallest round-trip time of the connection.
    base_rtt: Span,
    /// `round_rtt` is the smallest round-trip time of this round.
    round_rtt: Span,
    round: Round,
}

impl Law for VenoLaw {
    type Options = VenoOptions;

    fn new(options: &VenoOptions) -> VenoLaw {
        VenoLaw {
            beta: options.beta,
            queued: 0.0,
            base_rtt: Span::MAX,
            round_rtt: Span::MAX,
            round: Round::default(),
        }
    }

    fn common(options: &VenoOptions) -> &Common {
        &options.common
    }

    fn steer(&mut self, window: &mut crate::Window, acked: &Acked, path: &PathView) -> bool {
        if self.round.begins(path) && self.round_rtt != Span::MAX {
            let (base, rtt) = (self.base_rtt.as_secs_f64(), self.round_rtt.as_secs_f64());
            self.queued = window.cwnd / path.mss as f64 * (1.0 - base / rtt);
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
        let step = one_segment_per_round(cwnd, acked, path);
        if self.queued < self.beta { step } else { step / 2.0 }
    }

    fn reduce(&mut self, _cwnd: f64, base: f64, cause: Cause, _path: &PathView) -> f64 {
        let random = cause == Cause::Loss && self.queued < self.beta;
        base * if random { 0.8 } else { 0.5 }
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

    /// A round of 100 segments at BaseRTT 100 ms and this RTT: N = 100 (1 - 100 / RTT).
    fn after(rtt_ms: u64) -> Veno {
        let mut c = Veno::new(&VenoOptions::default(), 100 * MSS, MSS);
        for round in 1..3 {
            let view = PathView { acked: round * 2, sent: round * 2 + 1, ..view(100) };
            let rtt = Some(Span::from_millis(rtt_ms));
            c.on_ack(&Acked { rtt, ..ack(0) }, &view);
        }
        c
    }

    #[test]
    fn a_loss_takes_a_fifth_below_three_segments_in_the_queue() {
        for (rtt_ms, queued, left) in [(100, 0.0, 80), (103, 2.91, 80), (104, 3.85, 50)] {
            let mut c = after(rtt_ms);
            assert!((c.law.queued - queued).abs() < 0.01, "{}", c.law.queued);
            c.on_congestion(&event(Cause::Loss), &view(100));
            assert_eq!(c.window(), left * MSS, "{rtt_ms} ms");
            let mut c = after(rtt_ms);
            c.on_congestion(&event(Cause::Timeout), &view(100));
            assert_eq!(c.ssthresh(), 50 * MSS);
        }
    }

    #[test]
    fn from_three_segments_on_every_other_ack_opens_the_window() {
        for (rtt_ms, grows) in [(100, MSS / 100), (104, MSS / 200)] {
            let mut c = after(rtt_ms);
            c.on_ack(&ack(MSS), &view(100));
            assert_eq!(c.window(), 100 * MSS + grows, "{rtt_ms} ms");
        }
    }

    #[test]
    fn without_a_queue_it_grows_as_reno() {
        let mut c = Veno::new(&VenoOptions::default(), 100 * MSS, MSS);
        let mut path = Path::new(Span::from_millis(100));
        (0..10).for_each(|_| path.round(&mut c));
        assert!((109 * MSS..=110 * MSS).contains(&c.window()), "{}", c.window());
    }
}
