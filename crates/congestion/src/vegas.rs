//! Vegas: the window follows the queue, not losses (Brakmo and Peterson, "TCP
//! Vegas: end to end congestion avoidance on a global Internet", JSAC 13(8),
//! 1995).
//!
//! §IV-B: once per round trip the difference between the expected rate, the
//! window over the smallest round-trip time, and the actual one says how many
//! segments of the flow wait in queues; fewer than `alpha` open the window by
//! a segment, more than `beta` close it by one. §IV-C: in slow start the
//! window doubles in every other round, and stands still in the round between,
//! where the comparison is made; more than `gamma` segments end it.
//!
//! Choices that the paper leaves open, or where Linux is more robust: the
//! round-trip time of a round is the smallest of its samples; slow start is
//! left with the window that the smallest round-trip time would have needed,
//! and a segment more (Linux); a loss leaves `loss_beta` of the window.
//!
//! Left out: the earlier retransmission of §IV-A, which is recovery's.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::round::Round;
use crate::window::Window;
use crate::{Acked, Cause, PathView};
use anabranch_units::Span;

/// `VegasOptions` are the settings of [`Vegas`].
#[derive(Clone, PartialEq, Debug)]
pub struct VegasOptions {
    /// `alpha` is the fewest segments in queues, below which the window grows; 2.
    pub alpha: u32,
    /// `beta` is the most segments in queues, above which it shrinks; 4.
    pub beta: u32,
    /// `gamma` is how many segments in queues end slow start; 1.
    pub gamma: u32,
    /// `loss_beta` is the part of the window that a loss leaves; 0.75. A timeout halves the
    /// threshold.
    pub loss_beta: f64,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for VegasOptions {
    fn default() -> VegasOptions {
        VegasOptions { alpha: 2, beta: 4, gamma: 1, loss_beta: 0.75, common: Common::default() }
    }
}

crate::options::ack_driven!(VegasOptions, |o, form| {
    form.says("segments in queues, below which the window grows").integer(
        "alpha",
        0..=1_000_000,
        &mut o.alpha,
    )?;
    form.says("segments in queues, above which it shrinks").integer(
        "beta",
        0..=1_000_000,
        &mut o.beta,
    )?;
    form.says("segments in queues at which slow start ends").integer(
        "gamma",
        0..=1_000_000,
        &mut o.gamma,
    )?;
    form.says("part of the window that a loss leaves")
        .probability("loss_beta", &mut o.loss_beta)?;
    form.require(o.beta >= o.alpha, "beta", "at least `alpha`")?;
});

/// The controller of Vegas: [`VegasLaw`] driven by ACKs.
pub type Vegas = AckClocked<VegasLaw>;

/// `VegasLaw` is Vegas' growth and reduction, with the delays of the connection and of the round.
#[derive(Clone, Copy, Debug)]
pub struct VegasLaw {
    alpha: f64,
    beta: f64,
    gamma: f64,
    loss_beta: f64,
    /// `base_rtt` is BaseRTT, the smallest round-trip time of the connection.
    base_rtt: Span,
    /// `round_rtt` is the smallest round-trip time of this round.
    round_rtt: Span,
    round: Round,
    /// The window doubles in this round of slow start.
    doubling: bool,
}

impl VegasLaw {
    /// The round is over: one comparison of expected and actual rate.
    fn decide(&mut self, w: &mut Window, mss: f64) {
        let (base, rtt) = (self.base_rtt.as_secs_f64(), self.round_rtt.as_secs_f64());
        // (Expected - Actual) BaseRTT, in octets.
        let diff = w.cwnd * (1.0 - base / rtt);
        if w.cwnd >= w.ssthresh {
            if diff < self.alpha * mss {
                w.cwnd += mss;
            } else if diff > self.beta * mss {
                w.cwnd = w.cwnd.min((w.cwnd - mss).max(2.0 * mss));
                w.ssthresh = w.cwnd.max(2.0 * mss); // or slow start would follow
            }
            return;
        }
        if !self.doubling && diff > self.gamma * mss {
            let needed = w.cwnd * base / rtt;
            w.cwnd = w.cwnd.min((needed + mss).max(2.0 * mss));
            w.ssthresh = w.cwnd.max(2.0 * mss);
        }
        self.doubling = !self.doubling;
    }
}

impl Law for VegasLaw {
    type Options = VegasOptions;

    fn new(options: &VegasOptions) -> VegasLaw {
        VegasLaw {
            alpha: f64::from(options.alpha),
            beta: f64::from(options.beta),
            gamma: f64::from(options.gamma),
            loss_beta: options.loss_beta,
            base_rtt: Span::MAX,
            round_rtt: Span::MAX,
            round: Round::default(),
            doubling: true,
        }
    }

    fn common(options: &VegasOptions) -> &Common {
        &options.common
    }

    fn steer(&mut self, window: &mut Window, acked: &Acked, path: &PathView) -> bool {
        if self.round.begins(path) && self.round_rtt != Span::MAX {
            self.decide(window, path.mss as f64);
            self.round_rtt = Span::MAX;
        }
        // The handshake's, too: it often finds the path empty.
        self.base_rtt = self.base_rtt.min(path.min_rtt.unwrap_or(Span::MAX));
        if let Some(rtt) = acked.rtt.filter(|rtt| *rtt > Span::ZERO) {
            self.base_rtt = self.base_rtt.min(rtt);
            self.round_rtt = self.round_rtt.min(rtt);
        }
        // Only the rounds of slow start that double grow with each ACK.
        window.cwnd >= window.ssthresh || !self.doubling
    }

    fn wants_feedback(&self) -> bool {
        true // for the samples
    }

    fn avoid(&mut self, _cwnd: f64, _acked: &Acked, _path: &PathView) -> f64 {
        0.0 // decided once per round
    }

    fn reduce(&mut self, _cwnd: f64, base: f64, cause: Cause, _path: &PathView) -> f64 {
        base * if cause == Cause::Timeout { 0.5 } else { self.loss_beta }
    }
}

#[cfg(test)]
mod tests;
