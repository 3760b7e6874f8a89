//! Westwood+: after a loss the window is what the path was measured to carry,
//! not half of what it was (Mascolo, Casetti, Gerla, Sanadidi and Wang,
//! MobiCom 2001; Grieco and Mascolo, CCR 34(2), 2004).
//!
//! Once per round trip a sample of the bandwidth, the octets delivered in the
//! round over its length, goes through a low-pass filter (2004, §2); a loss
//! sets `ssthresh` to that bandwidth times the smallest round-trip time.
//! Growth is Reno's. Samples per round, not per ACK as in 2001, are what the
//! "+" stands for: they do not count compressed ACKs as bandwidth.
//!
//! Before the first sample a reduction is Reno's.

use crate::ack_clocked::{AckClocked, Common, Law};
use crate::reno::one_segment_per_round;
use crate::round::Round;
use crate::{Acked, Cause, Feedback, PathView};
use anabranch_units::Time;

/// `WestwoodOptions` are the settings of [`Westwood`].
#[derive(Clone, PartialEq, Debug)]
pub struct WestwoodOptions {
    /// `filter` is the part of its value that the filter keeps at each sample; 0.9 (2004, §2).
    pub filter: f64,
    /// `common` has the options of all algorithms that ACKs drive.
    pub common: Common,
}

impl Default for WestwoodOptions {
    fn default() -> WestwoodOptions {
        WestwoodOptions { filter: 0.9, common: Common::default() }
    }
}

crate::options::ack_driven!(WestwoodOptions, |o, form| {
    form.says("what the bandwidth filter keeps at each sample, from 0 to 1")
        .probability("filter", &mut o.filter)?;
});

/// The controller of Westwood+: [`WestwoodLaw`] driven by ACKs.
pub type Westwood = AckClocked<WestwoodLaw>;

/// `WestwoodLaw` is Westwood+'s reduction, with the filtered estimate of the bandwidth.
#[derive(Clone, Copy, Debug)]
pub struct WestwoodLaw {
    filter: f64,
    /// `bandwidth` is the filtered bandwidth, in octets per second; 0 before the first sample.
    bandwidth: f64,
    round: Round,
    /// `since` is the start of the round; [`Time::NEVER`] before the first.
    since: Time,
    /// `delivered` is how many octets were delivered in the round so far.
    delivered: u64,
}

impl Law for WestwoodLaw {
    type Options = WestwoodOptions;

    fn new(options: &WestwoodOptions) -> WestwoodLaw {
        WestwoodLaw {
            filter: options.filter,
            bandwidth: 0.0,
            round: Round::default(),
            since: Time::NEVER,
            delivered: 0,
        }
    }

    fn common(options: &WestwoodOptions) -> &Common {
        &options.common
    }

    fn avoid(&mut self, cwnd: f64, acked: &Acked, path: &PathView) -> f64 {
        one_segment_per_round(cwnd, acked, path)
    }

    fn reduce(&mut self, _cwnd: f64, base: f64, _cause: Cause, path: &PathView) -> f64 {
        match path.min_rtt {
            Some(rtt) if self.bandwidth > 0.0 => self.bandwidth * rtt.as_secs_f64(),
            _ => base / 2.0,
        }
    }

    fn wants_feedback(&self) -> bool {
        true
    }

    fn on_feedback(&mut self, feedback: &Feedback, path: &PathView) {
        self.delivered += feedback.delivered;
        if !self.round.begins(path) {
            return;
        }
        let elapsed = feedback.now.saturating_since(self.since).as_secs_f64();
        if elapsed > 0.0 {
            let sample = self.delivered as f64 / elapsed;
            self.bandwidth = match self.bandwidth {
                0.0 => sample,
                before => self.filter * before + (1.0 - self.filter) * sample,
            };
        }
        self.since = feedback.now;
        self.delivered = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{MSS, event, feedback, path};
    use crate::{Controller, PathView};
    use anabranch_units::Span;

    /// Rounds of 100 ms in which each ACK delivers one of `segments` segments.
    fn rounds(c: &mut Westwood, from: u64, rounds: u64, segments: u64) {
        for round in from..from + rounds {
            for i in 1..=segments {
                let now = Time::ZERO
                    + Span::from_millis(100 * round)
                    + Span::from_micros(100_000 / segments * (i - 1));
                let acked = (round * 1000 + i) * MSS;
                let sent = (round * 1000 + 1000) * MSS;
                let view = PathView { sent, acked, ..path(segments) };
                c.on_feedback(&feedback(now, MSS), &view);
            }
        }
    }

    fn reduced(c: &mut Westwood) -> f64 {
        c.on_congestion(&event(Cause::Loss), &path(100));
        c.window() as f64 / MSS as f64
    }

    #[test]
    fn a_loss_leaves_what_the_path_carries_in_its_smallest_round_trip() {
        // 40 segments per 100 ms; the smallest round trip is 100 ms.
        let mut c = Westwood::new(&WestwoodOptions::default(), 100 * MSS, MSS);
        rounds(&mut c, 0, 30, 40);
        assert!((reduced(&mut c) - 40.0).abs() < 0.01);
    }

    #[test]
    fn samples_pass_a_filter() {
        // After n rounds at 80 the estimate is 80 - 40 * 0.9^n.
        let mut c = Westwood::new(&WestwoodOptions::default(), 100 * MSS, MSS);
        rounds(&mut c, 0, 30, 40);
        rounds(&mut c, 30, 8, 80);
        // The eighth round's sample comes with the first ACK of the ninth.
        let expected = 80.0 - 40.0 * 0.9_f64.powi(7);
        let left = reduced(&mut c);
        assert!((left - expected).abs() < 0.2, "{left}, expected {expected}");
    }

    #[test]
    fn without_a_sample_a_loss_halves() {
        let mut c = Westwood::new(&WestwoodOptions::default(), 100 * MSS, MSS);
        assert_eq!(reduced(&mut c), 50.0);
    }

    #[test]
    fn an_estimate_above_the_window_leaves_the_window() {
        let mut c = Westwood::new(&WestwoodOptions::default(), 20 * MSS, MSS);
        rounds(&mut c, 0, 30, 40);
        c.on_congestion(&event(Cause::Loss), &path(20));
        assert_eq!(c.window(), 20 * MSS);
        assert!(c.ssthresh().abs_diff(40 * MSS) < 20);
    }
}
