//! A token bucket as a shaper (RFC 2697 §3's committed bucket; tbf): tokens
//! come at a rate up to a burst, and a packet waits until there are as many as
//! it has octets. A second bucket bounds the peak rate, as tbf's peakrate does.
//!
//! Tokens are kept as the date at which the bucket is full again, which is
//! exact to the rounding of one transmission time (the virtual scheduling of
//! ITU-T I.371).

use super::Line;
use crate::catalogue::{ConfigError, Info};
use anabranch_endpoint::Bounds;
use anabranch_units::{Bytes, Rate, Time};

pub(super) const INFO: Info = Info {
    name: "token-bucket",
    summary: "the line's rate, shaped to a rate with a burst, and a peak rate",
    reference: "RFC 2697 §3; ITU-T I.371 (virtual scheduling)",
};

/// `TokenBucketConfig` has the parameters of a token bucket.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TokenBucketConfig {
    /// `rate` is the rate at which tokens, an octet each, come.
    pub rate: Rate,
    /// `burst` is the most tokens, an octet each; the bucket is full at the start.
    pub burst: Bytes,
    /// `peak` is the peak rate, over a bucket of one MTU.
    pub peak: Option<Rate>,
}

impl TokenBucketConfig {
    /// What `burst` may be at most; a packet of the MTU is the least.
    pub const BURST: Bounds<Bytes> = Bounds::at_most(Bytes(1 << 40));

    pub(super) fn validate(&self, mtu: Bytes) -> Result<(), ConfigError> {
        Self::BURST.raised_to(mtu).because("the MTU at least").check("burst", self.burst)?;
        match self.peak {
            Some(peak) if peak < self.rate => {
                let allowed = format!("at least the rate of the bucket, {}", self.rate);
                Err(ConfigError::new("peak", peak, allowed))
            }
            _ => Ok(()),
        }
    }
}

/// A bucket of tokens, kept as the date at which it is full.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    rate: Rate,
    burst: u64,
    full: Time,
}

impl Bucket {
    pub(crate) fn new(rate: Rate, burst: Bytes) -> Bucket {
        Bucket { rate, burst: burst.0, full: Time::ZERO }
    }

    /// The bucket holds so many tokens when it is full.
    pub(crate) fn fits(&self, size: u32) -> bool {
        size as u64 <= self.burst
    }

    /// Returns when there are `size` tokens, for a packet that fits into the bucket.
    pub(crate) fn conforms_at(&self, size: u32) -> Time {
        let over = self.rate.time_for(Bytes(self.burst.saturating_sub(size as u64)));
        Time::from_picos(self.full.as_picos().saturating_sub(over.as_picos()))
    }

    /// Takes `size` tokens at `now`.
    pub(crate) fn take(&mut self, now: Time, size: u32) {
        let base = self.full.max(now);
        self.full = base.saturating_add(self.rate.time_for(Bytes(size as u64)));
    }
}

/// `TokenBucket` is a line behind a token bucket.
#[derive(Debug)]
pub(crate) struct TokenBucket {
    committed: Bucket,
    peak: Option<Rate>,
    peak_free: Time,
    line: Line,
}

impl TokenBucket {
    pub(crate) fn new(config: &TokenBucketConfig, line: Rate) -> TokenBucket {
        TokenBucket {
            committed: Bucket::new(config.rate, config.burst),
            peak: config.peak,
            peak_free: Time::ZERO,
            line: Line::new(line),
        }
    }

    /// Returns the rate at which tokens come.
    pub(crate) fn rate(&self) -> Rate {
        self.committed.rate
    }

    pub(crate) fn departure(&mut self, start: Time, size: u32) -> Time {
        let go = start.max(self.committed.conforms_at(size)).max(self.peak_free);
        self.committed.take(go, size);
        if let Some(peak) = self.peak {
            self.peak_free = go.saturating_add(peak.time_for(Bytes(size as u64)));
        }
        go.saturating_add(self.line.time_for(size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;
    use proptest::prelude::*;

    fn at_us(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    /// 12 Mbit/s with 4500 octets of burst, on a line of 120 Mbit/s.
    fn bucket(peak: Option<Rate>) -> TokenBucket {
        let config = TokenBucketConfig { rate: Rate::mbit(12), burst: Bytes(4500), peak };
        TokenBucket::new(&config, Rate::mbit(120))
    }

    fn departures(token_bucket: &mut TokenBucket, from: Time, n: usize) -> Vec<u64> {
        let mut free = from;
        let mut next = || {
            free = token_bucket.departure(free, 1500);
            (free.as_picos() + 500_000) / 1_000_000
        };
        (0..n).map(|_| next()).collect()
    }

    #[test]
    fn a_burst_goes_at_line_rate_and_the_rest_at_the_rate_of_the_tokens() {
        let mut bucket = bucket(None);
        // Three packets, 0.1 ms each; the fourth waits for the tokens that the
        // first took, back 1 ms after it started.
        assert_eq!(departures(&mut bucket, Time::ZERO, 6), [100, 200, 300, 1100, 2100, 3100]);
        // Half of the bucket is filled by 1.5 ms of silence.
        assert_eq!(departures(&mut bucket, at_us(4500), 3), [4600, 5100, 6100]);
    }

    #[test]
    fn the_peak_rate_spaces_the_burst() {
        let mut bucket = bucket(Some(Rate::mbit(24)));
        assert_eq!(departures(&mut bucket, Time::ZERO, 5), [100, 600, 1100, 1600, 2100]);
    }

    #[test]
    fn wrong_buckets_are_named() {
        let config = TokenBucketConfig { rate: Rate::mbit(1), burst: Bytes(1000), peak: None };
        assert_eq!(config.validate(Bytes(1500)).unwrap_err().field, "burst");
        let slow = TokenBucketConfig { burst: Bytes(1500), peak: Some(Rate::kbit(9)), ..config };
        assert_eq!(slow.validate(Bytes(1500)).unwrap_err().field, "peak");
    }

    proptest! {
        /// In any interval at most burst + rate · time starts (RFC 2697).
        #[test]
        fn the_curve_is_kept(offers in prop::collection::vec((0_u64..3000, 40_u32..=1500), 2..80)) {
            let mut line = bucket(None);
            let (mut now, mut free) = (0, Time::ZERO);
            let mut starts = Vec::new();
            for (gap, size) in offers {
                now += gap;
                free = line.departure(at_us(now).max(free), size);
                starts.push((free - Rate::mbit(120).time_for(Bytes(size as u64)), size as u64));
            }
            for i in 0..starts.len() {
                let mut octets = 0;
                for (start, size) in &starts[i..] {
                    octets += size;
                    let allowed = Rate::mbit(12).bytes_in(*start - starts[i].0).0 + 4500;
                    prop_assert!(octets <= allowed + 1, "{octets} of {allowed}");
                }
            }
        }
    }
}
