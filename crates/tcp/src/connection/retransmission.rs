//! The retransmission timer (RFC 6298 §5) and the segment that is being timed (§3).

use anabranch_endpoint::Timer;
use anabranch_units::{Span, Time};

/// A `Retransmission` has the timer, of the SYN too, and what happened since something new was
/// acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Retransmission {
    /// `timer` runs while something is outstanding that is to be acknowledged.
    pub timer: Timer,
    /// `timed` is the segment being timed: the offset of its end and when it left. It is `None`
    /// while there is none, or once something was sent again (Karn).
    timed: Option<(u64, Time)>,
    /// `retries` counts the timeouts since something new was acknowledged.
    pub retries: u32,
    /// `syns_again` counts the SYNs and SYN-ACKs that were sent again.
    pub syns_again: u32,
}

/// A `Timing` is what an ACK says of the segment being timed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Timing {
    /// The segment was acknowledged, so long after it left.
    Took(Span),
    /// The segment is not acknowledged yet.
    Goes,
    /// No segment is being timed.
    None,
}

impl Retransmission {
    /// A SYN left; only the `first` is timed.
    pub fn on_syn_sent(&mut self, now: Time, first: bool, rto: Span) {
        self.timed = first.then_some((1, now));
        self.syns_again += !first as u32;
        self.timer.set(now + rto);
    }

    /// A segment that ends at `end` left, or did so `again`.
    #[inline]
    pub fn on_sent(&mut self, now: Time, end: u64, again: bool, rto: impl FnOnce() -> Span) {
        if again {
            // Karn: what is timed may now be acknowledged by either copy.
            self.timed = None;
        } else if self.timed.is_none() {
            self.timed = Some((end, now));
        }
        if !self.timer.is_armed() {
            self.timer.set(now + rto()); // §5.1
        }
    }

    /// The timer starts anew, for `rto`.
    #[inline]
    pub fn restart(&mut self, now: Time, rto: Span) {
        self.timer.set(now + rto);
    }

    /// Something up to `ack` was acknowledged: the timed segment, perhaps.
    pub fn timing(&mut self, now: Time, ack: u64) -> Timing {
        match self.timed {
            None => Timing::None,
            Some((end, _)) if ack < end => Timing::Goes,
            Some((_, sent)) => {
                self.timed = None;
                Timing::Took(now - sent)
            }
        }
    }

    /// What is outstanding says nothing of the round-trip time any more.
    pub fn forget_timed(&mut self) {
        self.timed = None;
    }

    /// The timer has expired: counts the attempt, and times no segment (RFC 6298 §3, Karn's
    /// algorithm).
    pub fn on_expiry(&mut self) {
        self.retries += 1;
        self.timed = None;
    }

    /// The expiry was no timeout: a probe leaves in its place.
    pub fn take_back_expiry(&mut self) {
        self.retries -= 1;
    }

    /// Something new was acknowledged.
    #[inline]
    pub fn on_progress(&mut self) {
        self.retries = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTO: Span = Span::from_secs(1);

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// RFC 6298 §5.1: what leaves while the timer runs does not restart it.
    #[test]
    fn the_first_segment_starts_the_timer_and_is_timed() {
        let mut retransmission = Retransmission::default();
        retransmission.on_sent(ms(10), 1001, false, || RTO);
        retransmission.on_sent(ms(20), 2001, false, || RTO);
        assert_eq!(retransmission.timer.deadline(), ms(1010));
        assert_eq!(retransmission.timing(ms(60), 501), Timing::Goes);
        assert_eq!(retransmission.timing(ms(70), 2001), Timing::Took(Span::from_millis(60)));
        assert_eq!(retransmission.timing(ms(80), 2001), Timing::None);
    }

    /// RFC 6298 §3: what was sent again gives no sample.
    #[test]
    fn a_retransmission_ends_the_timing() {
        let mut retransmission = Retransmission::default();
        retransmission.on_sent(ms(10), 1001, false, || RTO);
        retransmission.on_sent(ms(500), 1001, true, || RTO);
        assert_eq!(retransmission.timing(ms(520), 1001), Timing::None);
    }
}
