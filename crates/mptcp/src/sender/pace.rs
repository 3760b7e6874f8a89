//! Estimates how fast the stream moves: at a high rate data sequence numbers need 64 bits (RFC
//! 8684 §3.3.1).

use anabranch_units::{Span, Time};

/// A segment may live for so long in the network (MSL, RFC 9293 §3.4.1).
const MAXIMUM_SEGMENT_LIFETIME: Span = Span::from_secs(120);
/// The rate is taken over a stretch of the numbers of 32 bits: one in so many.
const STRETCHES: u64 = 16;
/// A stretch has so many octets.
const STRETCH: u64 = (1 << 32) / STRETCHES;

/// The rate at which a stream is acknowledged, stretch by stretch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// The stretch began when this offset was acknowledged, at this date.
    from: (u64, Time),
}

impl Pace {
    /// Nothing has been acknowledged.
    pub const NEW: Pace = Pace { from: (1, Time::NEVER) };

    /// The offset at which the stretch is over.
    #[inline]
    pub fn next(&self) -> u64 {
        self.from.0 + STRETCH
    }

    /// Data leaves: the first stretch begins with the first.
    pub fn on_start(&mut self, now: Time) {
        if self.from.1 == Time::NEVER {
            self.from.1 = now;
        }
    }

    /// A stretch is over, with a DATA_ACK of everything before `una`. True where a number of 32 bits
    /// would come again within a segment's lifetime at this rate.
    pub fn on_stretch(&mut self, now: Time, una: u64) -> bool {
        let (start, began) = std::mem::replace(&mut self.from, (una, now));
        let took = now.saturating_since(began);
        let stretches = (una - start) / STRETCH;
        took.saturating_mul(STRETCHES) <= MAXIMUM_SEGMENT_LIFETIME.saturating_mul(stretches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8684 §3.3.1: 2^32 octets within two minutes are 286 Mbit/s.
    #[test]
    fn numbers_that_would_wrap_within_a_segments_life_are_too_short() {
        for (seconds, is_fast) in [(7, true), (8, false)] {
            let mut pace = Pace::NEW;
            let at = |s| Time::ZERO + Span::from_secs(s);
            pace.on_start(at(5));
            pace.on_start(at(6));
            assert_eq!(pace.next(), 1 + (1 << 28));
            assert_eq!(pace.on_stretch(at(5 + seconds), 1 + (1 << 28)), is_fast);
            assert_eq!(pace.next(), 1 + (2 << 28));
            assert!(pace.on_stretch(at(5 + 3 * seconds), 1 + (4 << 28)));
        }
    }
}
