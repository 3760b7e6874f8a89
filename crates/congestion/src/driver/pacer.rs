//! Decides when paced data may leave.
//!
//! Up to a burst leaves together; then the pacer waits for the time that it takes at the rate. Time
//! that passes without anything to send is not saved up, and what leaves first after it leaves at
//! once.

use anabranch_units::{Bytes, Rate, Time};

/// A `Pacer` says when the next data may leave.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    /// `next` is the date at which what has left will be paid for.
    pub next: Time,
    /// `left` is what may still leave in this burst.
    left: u64,
}

impl Pacer {
    pub fn may_send(&self, now: Time) -> bool {
        self.left > 0 || now >= self.next
    }

    /// A packet of `size` left, which is `share` of what a `burst` may be.
    pub fn on_sent(&mut self, now: Time, share: u64, size: Bytes, rate: Rate, burst: u64) {
        if now >= self.next {
            self.next = now;
            self.left = burst;
        }
        self.left = self.left.saturating_sub(share);
        self.next = self.next.saturating_add(rate.time_for(size));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_units::Span;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// 1000 octets at 1 Mbit/s take 8 ms.
    #[test]
    fn bursts_are_spaced_by_their_length_at_the_rate() {
        let mut pacer = Pacer::default();
        let mut send = |ms| {
            let may = pacer.may_send(at(ms));
            if may {
                pacer.on_sent(at(ms), 1000, Bytes(1000), Rate::mbit(1), 2000);
            }
            may
        };
        assert!(send(100) && send(100) && !send(100)); // after idle time: at once
        assert!(!send(115) && send(116) && send(116) && !send(116));
        assert!(send(132)); // one of two; the application pauses
        assert!(send(200) && send(200) && !send(200)); // a new burst of two, not three
    }
}
