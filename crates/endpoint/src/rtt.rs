//! Round-trip estimation and the retransmission timeout (RFC 6298).

mod variation;

use crate::{Bounds, ConfigError};
use anabranch_units::Span;
use variation::Variation;

/// Bounds of the retransmission timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RtoBounds {
    /// The timeout before the first sample (RFC 6298 §2.1: 1 s; RFC 2988: 3 s).
    pub initial: Span,
    /// Lower bound (RFC 6298 §2.4: 1 s).
    pub min: Span,
    /// Lower bound of what is added to SRTT (4 RTTVAR); Linux has its 200 ms
    /// here, so that its timeout is never less than SRTT and 200 ms.
    pub min_variation: Span,
    /// Added to the timeout when its back-off has been counted in, unless nothing was measured and
    /// nothing timed out. FreeBSD has 200 ms for hosts that delay their ACKs
    /// (`net.inet.tcp.rexmit_slop`).
    pub slop: Span,
    /// Upper bound (RFC 6298 §2.5: at least 60 s).
    pub max: Span,
    /// Clock granularity G (RFC 6298 §2).
    pub granularity: Span,
}

impl Default for RtoBounds {
    fn default() -> Self {
        RtoBounds {
            initial: Span::from_secs(1),
            min: Span::from_secs(1),
            min_variation: Span::ZERO,
            slop: Span::ZERO,
            max: Span::from_secs(60),
            granularity: Span::from_millis(1),
        }
    }
}

impl RtoBounds {
    /// What the timeout before the first sample and the lower bound may be.
    pub const SOME_TIME: Bounds<Span> = Bounds::more_than(Span::ZERO);

    /// Refuses bounds that no timeout can have; fields are told with `rto.` before them.
    ///
    /// # Errors
    /// The first field that is wrong.
    pub fn validate(&self) -> Result<(), ConfigError> {
        Self::SOME_TIME.check("rto.min", self.min)?;
        Self::SOME_TIME.check("rto.initial", self.initial)?;
        Bounds::at_least(self.min).because("rto.min").check("rto.max", self.max)
    }
}

/// SRTT, RTTVAR and RTO with exponential back-off.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    bounds: RtoBounds,
    /// SRTT; meaningful once `sampled`.
    srtt: Span,
    /// RTTVAR; meaningful once `sampled`.
    rttvar: Span,
    latest: Span,
    min_rtt: Span,
    sampled: bool,
    /// Number of doublings in force (RFC 6298 §5.5).
    backoff: u8,
    /// The rule by which RTTVAR follows where every acknowledgment gives a sample.
    variation: Option<Box<Variation>>,
}

impl RttEstimator {
    /// An estimator without samples.
    pub fn new(bounds: RtoBounds) -> RttEstimator {
        RttEstimator {
            bounds,
            srtt: Span::ZERO,
            rttvar: Span::ZERO,
            latest: Span::ZERO,
            min_rtt: Span::MAX,
            sampled: false,
            backoff: 0,
            variation: None,
        }
    }

    /// An estimator for samples with every acknowledgment ([`RttEstimator::on_sample_of`]):
    /// RTTVAR falls once a round trip, as in Linux.
    pub fn with_every_ack(bounds: RtoBounds) -> RttEstimator {
        let variation = Box::new(Variation::new(bounds.min_variation / 4));
        RttEstimator { variation: Some(variation), ..RttEstimator::new(bounds) }
    }

    /// A new measurement R', taken from a segment that was not retransmitted
    /// or by timestamps (Karn's algorithm is the caller's; RFC 6298 §3). Ends
    /// the back-off (§5.7).
    pub fn on_sample(&mut self, rtt: Span) {
        self.follow(rtt, None);
    }

    /// `round`: what [`RttEstimator::on_sample_of`] is told.
    fn follow(&mut self, rtt: Span, round: Option<(u64, u64)>) {
        self.latest = rtt;
        self.min_rtt = self.min_rtt.min(rtt);
        self.backoff = 0;
        if !self.sampled {
            // RFC 6298 §2.2
            self.srtt = rtt;
            self.rttvar = rtt / 2;
            self.sampled = true;
            if let Some(variation) = &mut self.variation {
                variation.begin(self.rttvar);
            }
        } else {
            // RFC 6298 §2.3: beta = 1/4, alpha = 1/8; RTTVAR first.
            self.rttvar = match (&mut self.variation, round) {
                (Some(variation), Some((acked, sent))) => {
                    variation.on_sample(self.rttvar, self.srtt, rtt, acked, sent)
                }
                _ => (self.rttvar * 3 + self.srtt.abs_diff(rtt)) / 4,
            };
            self.srtt = (self.srtt * 7 + rtt) / 8;
        }
    }

    /// Takes a sample as [`RttEstimator::on_sample`] does, from an acknowledgment up to the offset
    /// `acked` while `sent` was the highest sent; the two offsets tell round trips apart.
    pub fn on_sample_of(&mut self, rtt: Span, acked: u64, sent: u64) {
        self.follow(rtt, Some((acked, sent)));
    }

    /// A timeout was spurious, and `rtt` is the first sample since: the
    /// estimate is at least what it would be from this sample alone (RFC 4015
    /// §3.2 step 8).
    pub fn lift(&mut self, rtt: Span) {
        self.srtt = self.srtt.max(rtt);
        self.rttvar = self.rttvar.max(rtt / 2);
    }

    /// The timer expired: doubles the timeout (RFC 6298 §5.5).
    pub fn on_timeout(&mut self) {
        self.backoff = self.backoff.saturating_add(1);
    }

    /// The SYN or its answer was lost, and the handshake gave no sample: the
    /// timeout is 3 s at least until one is taken (RFC 6298 §5.7).
    pub fn on_syn_lost(&mut self) {
        self.bounds.initial = self.bounds.initial.max(Span::from_secs(3));
        self.backoff = 0;
    }

    /// New data was acknowledged without a usable sample: some stacks end the
    /// back-off here; RFC 6298 §5.7 keeps it until a sample is taken.
    pub fn reset_backoff(&mut self) {
        self.backoff = 0;
    }

    /// Other bounds from now on.
    pub fn set_bounds(&mut self, bounds: RtoBounds) {
        self.bounds = bounds;
    }

    /// The timeout with back-off, within the bounds.
    pub fn rto(&self) -> Span {
        self.rto_doubled(0)
    }

    /// The timeout doubled so many times more, within the bounds.
    pub fn rto_doubled(&self, times: u32) -> Span {
        let backoff = self.backoff as u32 + times;
        let base = if self.sampled {
            let least = self.bounds.granularity.max(self.bounds.min_variation);
            let variation = (self.rttvar * 4).max(least);
            (self.srtt + variation).max(self.bounds.min)
        } else {
            self.bounds.initial
        };
        let doubled = base.saturating_mul(1_u64.checked_shl(backoff).unwrap_or(u64::MAX));
        let slop = if self.sampled || backoff > 0 { self.bounds.slop } else { Span::ZERO };
        (doubled + slop).min(self.bounds.max)
    }

    /// Smoothed round-trip time, once sampled.
    pub fn srtt(&self) -> Option<Span> {
        self.sampled.then_some(self.srtt)
    }
    /// Round-trip variation, once sampled.
    pub fn rttvar(&self) -> Option<Span> {
        self.sampled.then_some(self.rttvar)
    }
    /// Returns the last round-trip sample; `None` before the first.
    pub fn latest(&self) -> Option<Span> {
        self.sampled.then_some(self.latest)
    }
    /// The smallest sample so far.
    pub fn min_rtt(&self) -> Option<Span> {
        self.sampled.then_some(self.min_rtt)
    }
    /// Returns how often the timeout has been doubled since the last valid sample (RFC 6298 §5.5).
    pub fn backoff(&self) -> u32 {
        self.backoff as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_testkit::marks::record;

    const MS: fn(u64) -> Span = Span::from_millis;

    fn estimator() -> RttEstimator {
        RttEstimator::new(RtoBounds { min: MS(200), ..RtoBounds::default() })
    }

    /// FreeBSD's `TCPT_RANGESET`: 1 s for the first SYN, 2.2 s and 4.2 s for the next; 230 ms where
    /// the round trip is short.
    #[test]
    fn a_slop_is_added_to_what_was_measured_or_backed_off() {
        let bounds = RtoBounds { min: MS(30), slop: MS(200), ..RtoBounds::default() };
        let mut rtt = RttEstimator::new(bounds);
        let mut timeouts = vec![rtt.rto()];
        for _ in 0..7 {
            rtt.on_timeout();
            timeouts.push(rtt.rto());
        }
        let seconds: Vec<f64> = timeouts.iter().map(|timeout| timeout.as_secs_f64()).collect();
        assert_eq!(seconds, [1.0, 2.2, 4.2, 8.2, 16.2, 32.2, 60.0, 60.0]);
        rtt.on_sample(MS(1));
        assert_eq!(rtt.rto(), MS(230));
    }

    /// What Linux does with its 200 ms: SRTT and 200 ms at least, three times
    /// the first sample.
    #[test]
    fn the_variation_may_have_a_bound_of_its_own() {
        let bounds = RtoBounds { min: MS(200), min_variation: MS(200), ..RtoBounds::default() };
        let mut e = RttEstimator::new(bounds);
        e.on_sample(MS(100));
        assert_eq!(e.rto(), MS(300));
        for _ in 0..50 {
            e.on_sample(MS(100));
        }
        assert_eq!(e.rto(), MS(300));
        let mut long = RttEstimator::new(bounds);
        long.on_sample(MS(400));
        assert_eq!(long.rto(), MS(1200));
    }

    #[test]
    fn follows_rfc_6298_section_2_by_hand() {
        let mut e = estimator();
        assert_eq!(e.rto(), MS(1000)); // 2.1
        e.on_sample(MS(100)); // 2.2: SRTT 100, RTTVAR 50
        assert_eq!((e.srtt(), e.rttvar(), e.rto()), (Some(MS(100)), Some(MS(50)), MS(300)));
        e.on_sample(MS(180)); // 2.3: RTTVAR 3/4·50 + 1/4·80 = 57.5, SRTT 110
        assert_eq!(e.rttvar(), Some(Span::from_micros(57_500)));
        assert_eq!((e.srtt(), e.rto()), (Some(MS(110)), MS(340)));
        record("T14", "RTO after samples of 100 and 180 ms", MS(340), e.rto(), "exact");
    }

    #[test]
    fn respects_the_bounds() {
        let mut e = estimator();
        for _ in 0..100 {
            e.on_sample(MS(10));
        }
        assert_eq!(e.rto(), MS(200)); // 2.4
        record("T14", "least RTO, as Linux has it", MS(200), e.rto(), "exact");
        for _ in 0..200 {
            e.on_timeout(); // also: the count of doublings saturates
        }
        assert_eq!(e.rto(), Span::from_secs(60)); // 2.5
        record("T14", "RTO after 200 doublings", MS(60_000), e.rto(), "exact");
        let mut standard = RttEstimator::new(RtoBounds::default());
        standard.on_sample(MS(10));
        record("T14", "least RTO", MS(1000), standard.rto(), "exact");
        assert_eq!(standard.rto(), MS(1000)); // 2.4
    }

    #[test]
    fn granularity_is_the_least_variation() {
        let bounds = RtoBounds { min: MS(1), granularity: MS(10), ..RtoBounds::default() };
        let mut e = RttEstimator::new(bounds);
        for _ in 0..100 {
            e.on_sample(MS(50));
        }
        assert_eq!(e.rto(), MS(60));
    }

    /// RFC 6298 §5.7.
    #[test]
    fn a_lost_syn_makes_the_first_timeout_three_seconds() {
        let mut e = estimator();
        e.on_timeout();
        e.on_syn_lost();
        assert_eq!(e.rto(), MS(3000));
        e.on_sample(MS(100));
        assert_eq!(e.rto(), MS(300));
    }

    #[test]
    fn a_spurious_timeout_lifts_the_estimate() {
        let mut e = estimator();
        for _ in 0..100 {
            e.on_sample(MS(100));
        }
        e.on_sample(MS(500));
        e.lift(MS(500));
        // RFC 4015 §3.2 step 8: SRTT = 500, RTTVAR = 250.
        assert_eq!((e.srtt(), e.rto()), (Some(MS(500)), MS(1500)));
    }

    #[test]
    fn doubles_until_a_sample() {
        let mut e = estimator();
        e.on_sample(MS(100));
        for (n, expected) in [(1, 600), (2, 1200), (3, 2400)] {
            e.on_timeout();
            assert_eq!(e.rto(), MS(expected)); // 5.5
            record(
                "T14",
                &format!("RTO of 300 ms after {n} expiries"),
                MS(expected),
                e.rto(),
                "exact",
            );
        }
        e.on_sample(MS(100)); // 5.7: RTTVAR 37.5
        assert_eq!(e.rto(), MS(250));
    }
}
