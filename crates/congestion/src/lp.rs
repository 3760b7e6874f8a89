//! TCP-LP: a flow for the background that takes a rise of the delay for the arrival of others, and goes
//! (Kuzmanovic and Knightly, "TCP-LP: a distributed algorithm for low priority data transfer",
//! INFOCOM 2003; "TCP-LP: low-priority service via end-point congestion control", IEEE/ACM ToN 14(4),
//! 2006).
//!
//! Early congestion (§III-A): the smoothed delay, `1/8` of each sample, exceeds the smallest of the
//! connection by the part delta, 0.15, of the range between the smallest and the largest. Congestion
//! avoidance (§III-B): the first indication halves the window and begins the inference phase, in which the
//! window does not grow; another one within it takes the window to one segment, since others want the
//! capacity. After it the window grows as Reno's. A loss is answered as Reno does.
//!
//! The delay is the round-trip time, as in LEDBAT here, not the one-way delay from
//! timestamps of the paper and of Linux: a queue on the way back is taken for one on the way there.
//!
//! Choices: indications count once slow start is over, whose end is what gives the largest delay its
//! first value; Linux counts them from the first ACK on. Indications of the round trip in which the window
//! was reduced tell of the window before, and do not count. So that a receiver that delays its ACKs is not taken for a
//! queue, a delay is the smaller of two samples in a row, and that of a segment that was alone in flight does not
//! count; with a window of one segment the smoothed delay begins anew. The inference phase lasts three round
//! trips, as in Linux. Linux sets smallest and largest delay anew at each indication, which its comment
//! calls provisional; here they are those of the connection, as in the paper.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::reno::one_segment_per_round;
use crate::window::Window;
use crate::{Acked, Cause, PathView};
use anabranch_units::{Span, Time};

/// `LpOptions` are the settings of [`Lp`].
#[derive(Clone, PartialEq, Debug)]
pub struct LpOptions {
    /// `delta`: the part of the range of delays that counts as congestion; 0.15.
    pub delta: f64,
    /// Length of the inference phase, in smoothed round-trip times; 3.
    pub inference: u32,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for LpOptions {
    fn default() -> LpOptions {
        LpOptions { delta: 0.15, inference: 3, common: Common::default() }
    }
}

crate::options::ack_driven!(LpOptions, |o, form| {
    form.says("part of the range of delays that counts as congestion")
        .probability("delta", &mut o.delta)?;
    form.says("length of the inference phase, in smoothed round-trip times").integer(
        "inference",
        1..=1000,
        &mut o.inference,
    )?;
});

/// The controller of TCP-LP: [`LpLaw`] driven by ACKs.
pub type Lp = AckClocked<LpLaw>;

/// `LpLaw` is TCP-LP's reaction to delays; growth and answer to losses are Reno's.
#[derive(Clone, Copy, Debug)]
pub struct LpLaw {
    delta: f64,
    inference: u64,
    /// `d_min` and `d_max`: smallest and largest delay of the connection.
    smallest: Span,
    largest: Span,
    /// `sd`: the smoothed delay, in seconds; `None` before a sample.
    smoothed: Option<f64>,
    /// The last round-trip time.
    last: Span,
    /// The inference phase lasts until this date.
    inference_until: Time,
    /// Where the data ends that had been sent at the last reduction: what acknowledges less tells of
    /// the window before.
    reduced_at: u64,
}

impl LpLaw {
    /// Takes the smaller of two round-trip times in a row.
    fn on_sample(&mut self, rtt: Span) {
        let before = std::mem::replace(&mut self.last, rtt);
        let rtt = rtt.min(before);
        self.smallest = self.smallest.min(rtt);
        self.largest = self.largest.max(rtt);
        let sample = rtt.as_secs_f64();
        let smoothed = self.smoothed.map_or(sample, |before| before + (sample - before) / 8.0);
        self.smoothed = Some(smoothed);
    }

    /// Returns whether the delay indicates congestion.
    fn is_congested(&self) -> bool {
        let range = self.largest.saturating_sub(self.smallest).as_secs_f64();
        let most = self.smallest.as_secs_f64() + self.delta * range;
        self.smoothed.is_some_and(|smoothed| smoothed > most)
    }

    /// Halves the window, or leaves one segment of it within the inference phase.
    fn on_indication(&mut self, window: &mut Window, now: Time, path: &PathView) {
        let mss = path.mss as f64;
        let left = if now < self.inference_until { mss } else { window.cwnd / 2.0 };
        window.cwnd = left.max(mss).min(window.cwnd);
        if window.cwnd < 2.0 * mss {
            self.smoothed = None; // what the next samples say, not those of a large window
        }
        window.ssthresh = window.ssthresh.min(window.cwnd).max(2.0 * mss);
        let rtt = path.srtt.unwrap_or(self.smallest);
        self.inference_until = now.saturating_add(rtt.saturating_mul(self.inference));
        self.reduced_at = path.sent;
    }
}

impl Law for LpLaw {
    type Options = LpOptions;

    fn new(options: &LpOptions) -> LpLaw {
        LpLaw {
            delta: options.delta,
            inference: options.inference.into(),
            smallest: Span::MAX,
            largest: Span::ZERO,
            smoothed: None,
            last: Span::MAX,
            inference_until: Time::ZERO,
            reduced_at: 0,
        }
    }

    fn common(options: &LpOptions) -> &Common {
        &options.common
    }

    fn steer(&mut self, window: &mut Window, acked: &Acked, path: &PathView) -> bool {
        let was_alone = path.in_flight <= path.mss;
        if let Some(rtt) = acked.rtt.filter(|rtt| *rtt > Span::ZERO && !was_alone) {
            self.on_sample(rtt);
        }
        let infers = acked.now < self.inference_until;
        if window.cwnd < window.ssthresh && !infers {
            return false; // slow start
        }
        if path.acked > self.reduced_at && self.is_congested() {
            self.on_indication(window, acked.now, path);
            return true;
        }
        infers
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        one_segment_per_round(cwnd, acked, path)
    }

    fn reduce(&mut self, _cwnd: f64, base: f64, cause: Cause, path: &PathView) -> f64 {
        self.reduced_at = path.sent;
        if cause == Cause::Timeout {
            // What follows is slow start.
            (self.inference_until, self.smoothed) = (Time::ZERO, None);
        }
        base / 2.0
    }

    fn wants_feedback(&self) -> bool {
        true // for the samples
    }
}

#[cfg(test)]
mod tests;
