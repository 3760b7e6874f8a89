//! Interarrival jitter (RFC 3550 §6.4.1): J = J + (|D(i−1, i)| − J) / 16, where D is the difference
//! of the one-way delays of two datagrams that arrive one after the other.

use anabranch_units::{Span, Time};

/// The jitter of a sequence, in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct JitterSummary {
    /// Estimate after the last datagram: what a receiver report would say.
    pub last: f64,
    /// Mean over all datagrams but the first.
    pub mean: f64,
    /// The largest value of the estimate.
    pub max: f64,
}

/// The running estimate of RFC 3550 §6.4.1, and its sums.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Jitter {
    before: Option<Span>,
    estimate: f64,
    sum: f64,
    count: u64,
    max: f64,
}

impl Jitter {
    pub(crate) fn on_received(&mut self, now: Time, made: Time) {
        let delay = now.saturating_since(made);
        let Some(before) = self.before.replace(delay) else { return };
        let difference = delay.abs_diff(before).as_secs_f64();
        self.estimate += (difference - self.estimate) / 16.0;
        self.sum += self.estimate;
        self.count += 1;
        self.max = self.max.max(self.estimate);
    }

    /// `None` before there were two datagrams.
    pub(crate) fn summary(&self) -> Option<JitterSummary> {
        let (last, max) = (self.estimate, self.max);
        (self.count > 0).then(|| JitterSummary { last, mean: self.sum / self.count as f64, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Delays of 10, 26, 26 and 10 ms: differences of 16, 0 and 16 ms.
    #[test]
    fn the_estimate_moves_by_a_sixteenth() {
        let mut jitter = Jitter::default();
        for (made, delay) in [(0, 10), (20, 26), (40, 26), (60, 10)] {
            let made = Time::ZERO + Span::from_millis(made);
            jitter.on_received(made + Span::from_millis(delay), made);
        }
        let of = jitter.summary().expect("there were two");
        let last = 0.0009375 + (0.016 - 0.0009375) / 16.0;
        assert!((of.last - last).abs() < 1e-12 && of.max == of.last, "{of:?}");
        assert!((of.mean - (0.001 + 0.0009375 + last) / 3.0).abs() < 1e-12, "{of:?}");
        assert_eq!(Jitter::default().summary(), None);
    }
}
