//! The variation of round-trip times where every acknowledgment gives a sample.
//!
//! With the gain of RFC 6298 for each of many samples in a round trip the
//! variation forgets within a part of one (RFC 7323 Appendix G has the problem).
//! Here as Linux has it (`tcp_rtt_estimator` of `net/ipv4/tcp_input.c`): a mean
//! deviation follows each sample, RTTVAR rises to the largest of a round trip at
//! once, and falls a quarter of the way to it at its end.

use anabranch_units::Span;

/// The estimate of the variation, kept between samples.
#[derive(Clone, Debug)]
pub(super) struct Variation {
    /// Mean deviation of the samples (Linux's `mdev`).
    deviation: Span,
    /// The largest of this round trip, and no less than `floor`.
    largest: Span,
    floor: Span,
    /// The round trip is over when this offset is acknowledged.
    until: u64,
}

impl Variation {
    /// `floor`: what a round trip counts with at least.
    pub fn new(floor: Span) -> Variation {
        Variation { deviation: Span::ZERO, largest: floor, floor, until: 0 }
    }

    /// The first sample; RTTVAR is `rttvar`.
    pub fn begin(&mut self, rttvar: Span) {
        (self.deviation, self.largest) = (rttvar, rttvar.max(self.floor));
    }

    /// A sample, before SRTT follows it, with an acknowledgment up to `acked`
    /// while `sent` was the highest sent; what RTTVAR is with it.
    pub fn on_sample(
        &mut self,
        rttvar: Span,
        srtt: Span,
        rtt: Span,
        acked: u64,
        sent: u64,
    ) -> Span {
        let error = srtt.abs_diff(rtt);
        if error > self.deviation {
            // A round trip that became shorter is no reason to wait longer.
            let gain = if rtt < srtt { 32 } else { 4 };
            self.deviation += (error - self.deviation) / gain;
        } else {
            self.deviation -= (self.deviation - error) / 4;
        }
        self.largest = self.largest.max(self.deviation);
        let mut rttvar = rttvar.max(self.largest);
        if acked > self.until {
            rttvar -= (rttvar - self.largest) / 4;
            (self.until, self.largest) = (sent, self.floor);
        }
        rttvar
    }
}

#[cfg(test)]
mod tests {
    use super::super::{RtoBounds, RttEstimator};
    use super::*;

    const MS: fn(u64) -> Span = Span::from_millis;

    /// With the bounds of Linux, after a first sample of 100 ms.
    fn estimator() -> RttEstimator {
        let bounds = RtoBounds { min: MS(200), min_variation: MS(200), ..RtoBounds::default() };
        let mut e = RttEstimator::with_every_ack(bounds);
        e.on_sample(MS(100));
        e
    }

    /// Ten samples in a round trip of `rtt`, of which the first ends the one before.
    fn round(e: &mut RttEstimator, n: u64, rtt: Span) {
        (0..10).for_each(|k| e.on_sample_of(rtt, 10 * n + k + 1, 10 * n + k + 10));
    }

    #[test]
    fn rttvar_rises_at_once_and_falls_once_a_round_trip() {
        let mut e = estimator();
        assert_eq!((e.srtt(), e.rttvar()), (Some(MS(100)), Some(MS(50))));
        // A queue: the deviation goes a quarter of the way to each error.
        e.on_sample_of(MS(500), 1, 10);
        assert_eq!((e.srtt(), e.rttvar()), (Some(MS(150)), Some(Span::from_micros(137_500))));
        (2..10).for_each(|acked| e.on_sample_of(MS(500), acked, 10));
        let most = e.rttvar().unwrap();
        assert!(most > MS(200), "{most:?}");
        // The round trip is over, and the next, without any variation, lets it
        // fall by a quarter of what is above the floor, 200 ms / 4, at its end.
        for n in 1..10 {
            let before = e.rttvar().unwrap();
            let srtt = e.srtt().unwrap();
            round(&mut e, n, srtt);
            let fell = (before - e.rttvar().unwrap()).as_secs_f64();
            let expected = (before - MS(50)).as_secs_f64() / 4.0;
            assert!(n < 3 || (fell - expected).abs() < 1e-9, "{n}: {fell} {expected}");
        }
    }

    /// RFC 6298 alone would take the fall for variation: 4 RTTVAR of up to 150 ms.
    #[test]
    fn a_shorter_round_trip_is_little_variation() {
        let mut e = estimator();
        (0..20).for_each(|n| round(&mut e, n, MS(400)));
        let before = e.rto();
        round(&mut e, 20, MS(100));
        assert!(e.rto() <= before, "{:?} {before:?}", e.rto());
        assert!(e.srtt().unwrap() < MS(200));
    }

    /// Ten samples in each round trip pull SRTT ten times as often.
    #[test]
    fn srtt_follows_within_a_round_trip() {
        let mut e = estimator();
        round(&mut e, 0, MS(300));
        let left = 200.0 * 0.875_f64.powi(10);
        assert!((e.srtt().unwrap().as_secs_f64() * 1e3 - (300.0 - left)).abs() < 0.01);
    }
}
