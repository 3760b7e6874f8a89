//! The ACK bucket: P. Narváez and K.-Y. Siu, "An acknowledgment bucket scheme
//! for regulating TCP flow over ATM", Globecom 1997. ACKs wait in a bucket at
//! the edge and leave it as the explicit rate of the forward channel grants, so
//! that what would have waited as data in the forward buffer waits as ACKs.
//!
//! Our reading. An ACK is a credit: for the data that will come to the forward
//! link because of it. How many octets that is (window growth, delayed ACKs,
//! headers and all) is not asked of the transport but measured: octets that
//! came to the forward link for each ACK that was let go, as a moving average
//!
//! ```text
//! credit += (octets since the last ACK went - credit) / 8
//! ```
//!
//! Each ACK that goes sends 16/17 of its credit over a *shadow* of the forward
//! line, with the same rate, granted rate, schedule, trace or bucket; the next one goes when
//! the shadow is free, but not while more than `depth` waits in the forward
//! queue. The shadow runs 1/16 faster than the line, so that measuring too much
//! leaves no gap on it; what this lets in beyond the rate, `depth` holds back.
//!
//! Not here: the paper reads acknowledgment numbers and keeps state for each
//! connection. An ACK of many segments (after a hole was repaired) goes as one
//! and brings a burst in either case.

use super::level::{Level, Mark};
use crate::catalogue::{ConfigError, Info};
use crate::config::LinkConfig;
use crate::link::Link;
use crate::transmitter::Transmitter;
use anabranch_units::{Span, Time};

pub(super) const INFO: Info = Info {
    name: "ack-bucket",
    summary: "lets ACKs go as the forward link's rate grants, each a credit for the data that it brings",
    reference: "Narváez and Siu, Globecom 1997",
};

/// `AckBucketConfig` has the parameters of the ACK bucket.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AckBucketConfig {
    /// No ACK goes while more than this waits in the forward queue.
    pub depth: Level,
}

impl Default for AckBucketConfig {
    /// Returns a bucket with a depth of two packets.
    fn default() -> Self {
        AckBucketConfig { depth: Level::Packets(2) }
    }
}

impl AckBucketConfig {
    pub(super) fn validate(&self, forward: &LinkConfig) -> Result<(), ConfigError> {
        self.depth.of("depth", forward.queue.limit()).map(|_| ())
    }
}

/// `AckBucket` is the bucket, with the state of its shadow transmitter.
#[derive(Debug)]
pub(super) struct AckBucket {
    depth: Mark,
    shadow: Transmitter,
    /// Time at which the shadow transmitter is free.
    free_at: Time,
    /// `credit` is eight times the octets that an ACK brings.
    credit: u64,
    /// Octets that had come to the forward link when the last ACK went.
    seen: u64,
}

impl AckBucket {
    pub(super) fn new(config: &AckBucketConfig, forward: &LinkConfig) -> AckBucket {
        let depth = config.depth.of("depth", forward.queue.limit());
        AckBucket {
            depth: depth.expect("the configuration is valid"),
            shadow: forward.transmitter.build(forward.rate),
            free_at: Time::ZERO,
            credit: 0,
            seen: 0,
        }
    }

    /// Returns when the next ACK may go.
    pub(super) fn due(&mut self, now: Time, forward: &mut Link) -> Time {
        if self.free_at > now {
            return self.free_at;
        }
        let waiting = forward.waiting(now);
        let measured = self.depth.measure(waiting);
        if measured <= self.depth.milli {
            return now;
        }
        // Until the excess has gone to the line, at the rate of now.
        let share = (measured - self.depth.milli) as u128 * waiting.octets as u128;
        let octets = u64::try_from(share / measured as u128).unwrap_or(u64::MAX);
        forward.drains_at(now, octets).max(now + Span::from_picos(1))
    }

    /// Counts an ACK that goes, and keeps the shadow busy for the data that it will bring.
    pub(super) fn on_release(&mut self, now: Time, forward: &Link) {
        let octets = forward.octets_received();
        self.credit = self.credit - self.credit / 8 + (octets - self.seen);
        self.seen = octets;
        let size = self.credit / 8 * 16 / 17;
        // What a channel grants is known to the link.
        if let (Transmitter::Explicit(shadow), Some(rate)) =
            (&mut self.shadow, forward.rate_at(now))
        {
            shadow.grant(now, rate);
        }
        let start = self.shadow.ready(self.free_at.max(now));
        self.free_at = self.shadow.departure(start, u32::try_from(size).unwrap_or(u32::MAX));
    }
}
