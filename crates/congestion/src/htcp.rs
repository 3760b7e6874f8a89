//! H-TCP: the step grows with the time since the last loss, and what a loss leaves follows the queue
//! (Leith and Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004;
//! draft-leith-tcp-htcp-06).
//!
//! Growth: draft §2, `alpha(Delta) = 1` up to `Delta_L`, then `1 + 10 (Delta - Delta_L) + ((Delta -
//! Delta_L) / 2)^2`, times `2 (1 - beta)`. Reduction: `RTT_min / RTT_max`, from 0.5 to 0.8; 0.5 where
//! the throughput before the loss differs by more than a fifth from that before the last.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::round::Round;
use crate::{Acked, Cause, Feedback, PathView};
use anabranch_units::{Span, Time};

/// `HtcpOptions` are the settings of [`Htcp`].
#[derive(Clone, PartialEq, Debug)]
pub struct HtcpOptions {
    /// `Delta_L`: how long after a loss it is Reno; 1 s.
    pub delta_l: Span,
    /// The reduction follows the queue; else a loss halves.
    pub adaptive_backoff: bool,
    /// The step is scaled by the round-trip time over 100 ms, within 0.5 and 10 (draft §3.3).
    pub rtt_scaling: bool,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for HtcpOptions {
    fn default() -> HtcpOptions {
        HtcpOptions {
            delta_l: Span::from_secs(1),
            adaptive_backoff: true,
            rtt_scaling: false,
            common: Common::default(),
        }
    }
}

crate::options::ack_driven!(HtcpOptions, |o, form| {
    form.says("time after a loss in which it is Reno").span("delta_l", &mut o.delta_l)?;
    form.says("reductions by the queue").boolean("adaptive_backoff", &mut o.adaptive_backoff)?;
    form.says("steps scaled by the round-trip time over 100 ms")
        .boolean("rtt_scaling", &mut o.rtt_scaling)?;
});

/// The controller of H-TCP: [`HtcpLaw`] driven by ACKs.
pub type Htcp = AckClocked<HtcpLaw>;

/// `HtcpLaw` is H-TCP's growth and adaptive backoff, with the throughputs and delays that they
/// need.
#[derive(Clone, Copy, Debug)]
pub struct HtcpLaw {
    delta_l: Span,
    adaptive_backoff: bool,
    rtt_scaling: bool,
    /// `last_loss` is the time of the last loss; before it, of the first data.
    last_loss: Time,
    /// `now` is the time of the last ACK.
    now: Time,
    beta: f64,
    /// `RTT_max` since the last loss.
    rtt_max: Span,
    /// `throughput` is that of the last round, in octets per second; `before_loss` is that before
    /// the last loss.
    throughput: f64,
    before_loss: f64,
    round: Round,
    round_start: Time,
    delivered: u64,
}

impl HtcpLaw {
    /// `alpha(Delta)`, in segments a round trip, `delta` seconds after the loss; before `2 (1 - beta)`.
    fn alpha(&self, delta: f64) -> f64 {
        let beyond = (delta - self.delta_l.as_secs_f64()).max(0.0);
        1.0 + 10.0 * beyond + (beyond / 2.0) * (beyond / 2.0)
    }

    /// Computes `beta(k + 1)`: RTT_min / RTT_max within 0.5 and 0.8, or 0.5 when the throughput has
    /// changed by more than a fifth.
    fn backoff(&self, path: &PathView) -> f64 {
        let before = self.before_loss;
        let changed = (self.throughput - before).abs() > 0.2 * before;
        match path.min_rtt {
            Some(min) if self.adaptive_backoff && !changed && self.rtt_max > Span::ZERO => {
                (min.as_secs_f64() / self.rtt_max.as_secs_f64()).clamp(0.5, 0.8)
            }
            _ => 0.5,
        }
    }
}

impl Law for HtcpLaw {
    type Options = HtcpOptions;

    fn new(options: &HtcpOptions) -> HtcpLaw {
        HtcpLaw {
            delta_l: options.delta_l,
            adaptive_backoff: options.adaptive_backoff,
            rtt_scaling: options.rtt_scaling,
            last_loss: Time::NEVER,
            now: Time::ZERO,
            beta: 0.5,
            rtt_max: Span::ZERO,
            throughput: 0.0,
            before_loss: 0.0,
            round: Round::default(),
            round_start: Time::NEVER,
            delivered: 0,
        }
    }

    fn common(options: &HtcpOptions) -> &Common {
        &options.common
    }

    fn on_ack(&mut self, now: Time, _limited: bool) {
        self.now = now;
        self.last_loss = self.last_loss.min(now);
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        let delta = acked.now.saturating_since(self.last_loss).as_secs_f64();
        let mut alpha = 2.0 * (1.0 - self.beta) * self.alpha(delta);
        if self.rtt_scaling
            && let Some(rtt) = path.srtt
        {
            alpha *= (rtt.as_secs_f64() / 0.1).clamp(0.5, 10.0);
        }
        // `alpha` has no bound; an ACK adds no more than it acknowledged.
        let acked = (acked.bytes as f64).min(cwnd);
        (alpha * path.mss as f64 / cwnd).min(1.0) * acked
    }

    fn reduce(&mut self, _cwnd: f64, base: f64, _cause: Cause, path: &PathView) -> f64 {
        self.beta = self.backoff(path);
        self.before_loss = self.throughput;
        self.last_loss = self.now;
        self.rtt_max = Span::ZERO;
        self.beta * base
    }

    fn wants_feedback(&self) -> bool {
        true
    }

    fn on_feedback(&mut self, feedback: &Feedback, path: &PathView) {
        self.rtt_max = self.rtt_max.max(feedback.rtt.unwrap_or(Span::ZERO));
        self.delivered += feedback.delivered;
        if !self.round.begins(path) {
            return;
        }
        let elapsed = feedback.now.saturating_since(self.round_start).as_secs_f64();
        if elapsed > 0.0 {
            self.throughput = self.delivered as f64 / elapsed;
        }
        self.round_start = feedback.now;
        self.delivered = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Controller;
    use crate::testkit::{MSS, Path, path as view};
    use anabranch_testkit::marks::record;

    /// The growth function at 1, 2, 5 and 10 s after a loss, RTT 100 ms, beta 0.5: the integral of
    /// alpha over the time, a round each 0.1 s: t, then t + 5 (t - 1)^2 + (t - 1)^3 / 12, times 10.
    #[test]
    fn the_window_grows_by_the_integral_of_alpha() {
        let options = HtcpOptions { adaptive_backoff: false, ..HtcpOptions::default() };
        let mut c = Htcp::new(&options, 400 * MSS, MSS);
        let mut path = Path::new(Span::from_millis(100));
        path.ack(&mut c);
        path.signal(&mut c, Cause::Loss);
        let (start, from) = (path.now, c.window() as f64);
        for t in [1.0_f64, 2.0, 5.0, 10.0] {
            while (path.now - start).as_secs_f64() < t {
                path.ack(&mut c);
            }
            let beyond = (t - 1.0).max(0.0);
            let law = 10.0 * (t + 5.0 * beyond.powi(2) + beyond.powi(3) / 12.0);
            let gained = (c.window() as f64 - from) / MSS as f64;
            let quantity = format!("htcp: segments gained {t} s after a loss");
            record("T7", &quantity, format!("{law:.0}"), format!("{gained:.0}"), "2 %");
            assert!((gained / law - 1.0).abs() < 0.02, "{t} s: {gained} of {law}");
        }
    }

    /// beta = RTT_min / RTT_max within 0.5 and 0.8, where the throughput is as before the last loss.
    #[test]
    fn a_loss_leaves_what_the_path_holds_without_its_queue() {
        for (rtt_max_ms, changed, beta) in
            [(100, false, 0.8), (150, false, 0.667), (300, false, 0.5), (150, true, 0.5)]
        {
            let mut law = HtcpLaw::new(&HtcpOptions::default());
            law.rtt_max = Span::from_millis(rtt_max_ms);
            law.before_loss = 100.0;
            law.throughput = if changed { 130.0 } else { 110.0 };
            let left = law.reduce(1e5, 1e5, Cause::Loss, &view(100));
            assert!((left / 1e5 - beta).abs() < 0.001, "{rtt_max_ms}: {left}");
            assert_eq!(law.before_loss, law.throughput);
        }
    }
}
