//! Pacing: data leaves at a rate instead of when ACKs come.
//!
//! The rate is the window algorithm's, where it has one (BBR, or an option of
//! those that ACKs drive). Up to a burst of segments leaves together; then the
//! pacer waits for the time that they take at the rate. Time that passes
//! without anything to send is not saved up, and the first segments after it
//! leave at once.
//!
//! Retransmissions are paced too. SYNs, ACKs, resets and window probes are not.

use super::Connection;
use super::extras::ExtraDue;
use anabranch_units::{Bytes, Rate, Time};
use anabranch_wire::Packet;

/// A `Pacer` says when the next data may leave.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pacer {
    /// `next` is the date at which what has left will be paid for.
    next: Time,
    /// `left` counts the octets that may still leave in this burst.
    left: u64,
}

impl Pacer {
    fn may_send(&self, now: Time) -> bool {
        self.left > 0 || now >= self.next
    }

    /// `payload` octets left in a packet of `size`.
    fn on_sent(&mut self, now: Time, payload: u64, size: Bytes, rate: Rate, burst: u64) {
        if now >= self.next {
            self.next = now;
            self.left = burst;
        }
        self.left = self.left.saturating_sub(payload);
        self.next = self.next.saturating_add(rate.time_for(size));
    }
}

impl Connection {
    /// Asked when the connection is established and with each round-trip
    /// sample, not for each packet: once there is a rate, there is one.
    pub(super) fn note_pacing(&mut self) {
        if self.pacer.is_none() && self.sender.pacing_rate().is_some() {
            self.pacer = Some(Box::default());
        }
    }

    /// The pacer makes data wait; its timer is set.
    #[inline]
    pub(super) fn waits_for_pacer(&mut self, now: Time) -> bool {
        let Some(pacer) = self.pacer.as_ref().filter(|pacer| !pacer.may_send(now)) else {
            return false;
        };
        self.extras.get().timers[ExtraDue::Pacing as usize].set(pacer.next);
        true
    }

    /// Data left.
    #[inline]
    pub(super) fn on_paced(&mut self, now: Time, packet: &Packet) {
        if let Some(pacer) = &mut self.pacer
            && let Some(rate) = self.sender.pacing_rate()
        {
            let burst = self.config.pacing_burst as u64 * self.sender.mss;
            pacer.on_sent(now, packet.payload_len() as u64, packet.wire_len(), rate, burst);
        }
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
