//! What arrives in bursts beyond the bandwidth: ACK aggregation
//! (draft-ietf-ccwg-bbr, `BBRUpdateACKAggregation`; names are the draft's).
//!
//! A receiver, or a link such as Wi-Fi, that acknowledges in bursts leaves a
//! sender idle whose window is twice the bandwidth-delay product. The excess of a
//! burst over what the bandwidth would have delivered is room that the window
//! needs on top.

use super::filter::MaxFilter;
use anabranch_units::Time;

/// `Aggregation` is the excess of the last ten rounds (`BBR.ExtraAckedFilterLen`).
#[derive(Clone, Debug, Default)]
pub(crate) struct Aggregation {
    interval_start: Time,
    /// `delivered` is how many octets were acknowledged since `interval_start`.
    delivered: f64,
    filter: MaxFilter,
}

impl Aggregation {
    /// So many octets were newly acknowledged; `bandwidth` is in octets per
    /// second, `cwnd` in octets.
    pub(crate) fn on_ack(
        &mut self,
        now: Time,
        newly_acked: u64,
        bandwidth: f64,
        cwnd: u64,
        round: u64,
    ) {
        let interval = now.saturating_since(self.interval_start).as_secs_f64();
        let mut expected = bandwidth * interval;
        if self.delivered <= expected {
            // Slower than the bandwidth: the burst is over.
            self.delivered = 0.0;
            self.interval_start = now;
            expected = 0.0;
        }
        self.delivered += newly_acked as f64;
        let extra = (self.delivered - expected).min(cwnd as f64);
        self.filter.update(extra, round);
    }

    /// `BBR.extra_acked`, octets.
    pub(crate) fn extra_acked(&self) -> u64 {
        self.filter.max() as u64
    }

    /// Returns the excess of the last round trip, which began in the round before (in Startup).
    pub(crate) fn extra_acked_lately(&self) -> u64 {
        self.filter.lately() as u64
    }

    /// The sender was idle: bursts are measured from now on.
    pub(crate) fn restart(&mut self, now: Time) {
        self.interval_start = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;

    /// Segments of 1000 octets at 1 MB/s, acknowledged in bursts of `burst` as
    /// they come together; returns the allowance in segments.
    fn allowance(burst: u64, cwnd: u64) -> u64 {
        let mut aggregation = Aggregation::default();
        for n in 1..50 {
            let now = Time::ZERO + Span::from_millis(n * burst);
            for _ in 0..burst {
                aggregation.on_ack(now, 1000, 1e6, cwnd * 1000, n / 4);
            }
        }
        aggregation.extra_acked() / 1000
    }

    /// What a burst brings at once is its excess, at most a window.
    #[test]
    fn the_allowance_is_the_burst() {
        for burst in [1, 2, 10, 64] {
            assert_eq!(allowance(burst, 1000), burst);
        }
        assert_eq!(allowance(64, 40), 40);
    }

    /// Ten rounds without a burst, and it is forgotten.
    #[test]
    fn it_lasts_ten_rounds() {
        let mut aggregation = Aggregation::default();
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        for _ in 0..20 {
            aggregation.on_ack(at(100), 1000, 1e6, 1 << 20, 1);
        }
        assert_eq!(aggregation.extra_acked(), 20_000);
        for round in 2..=11 {
            aggregation.on_ack(at(100 + 50 * round), 1000, 1e6, 1 << 20, round);
            let extra = if round < 11 { 20_000 } else { 1000 };
            assert_eq!(aggregation.extra_acked(), extra, "round {round}");
        }
    }
}
