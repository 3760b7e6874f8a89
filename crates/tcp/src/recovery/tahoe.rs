//! Tahoe: fast retransmit, then slow start (Jacobson 1988; Fall and Floyd, "Simulation-based
//! Comparisons of Tahoe, Reno, and SACK TCP", CCR 26(3), 1996, §2).
//!
//! What the third duplicate ACK tells is answered as a timeout is, without waiting for the timer:
//! half of the flight is the threshold, the window is one segment, and the sender goes back to
//! SND.UNA and sends in order, in slow start. There is no fast recovery: further duplicate ACKs
//! neither inflate the window nor let anything leave, and what has arrived behind the hole is sent
//! again unless its acknowledgment comes first.
//!
//! Choices: SND.NXT goes back, as in ns-2, whose Tahoe the paper compares; 4.3BSD sends the one
//! segment and puts SND.NXT forward again, so that a second loss waits for the timer. No second
//! fast retransmit unless the ACK is beyond what was outstanding at the first (ns-2's `bugfix_`; RFC
//! 6582 §3.2 step 1): what was sent again in vain comes back as duplicate ACKs, and each would go
//! back once more. The timeout is not backed off.

use super::{Next, Rto, Scheme, in_order, limited_transmit};
use crate::ack::Ack;
use crate::range_set::Range;
use crate::sender::Sender;
use anabranch_units::Time;

/// A `Tahoe` is the scheme at work.
#[derive(Debug, Default)]
pub(crate) struct Tahoe {
    /// `repairing` holds from the detection until all that was outstanding then is acknowledged, or
    /// the timer expires.
    repairing: bool,
}

impl Scheme for Tahoe {
    fn on_ack(&mut self, s: &mut Sender, ack: &Ack) -> Rto {
        if ack.acked > 0 {
            s.grow(ack, ack.acked);
            self.repairing &= s.una < s.recovery_point.at;
        } else if ack.duplicate
            && s.dup_acks.are_just_enough()
            && s.recovery_point.is_reached(s.una)
            && s.una > s.recovery_point.at
        {
            s.go_back_at_loss(ack.now);
            self.repairing = true;
        }
        Rto::Restart
    }

    fn on_timeout(&mut self, _s: &mut Sender) {
        self.repairing = false;
    }

    fn next(&self, s: &Sender) -> Next {
        in_order(s, s.flight(), s.cwnd() + limited_transmit(s))
    }

    fn on_retransmit(&mut self, _s: &mut Sender, _range: Range, _now: Time) {}

    fn in_flight(&self, s: &Sender) -> u64 {
        s.flight()
    }

    fn in_recovery(&self) -> bool {
        self.repairing
    }

    fn newly_lost(&self, s: &mut Sender, was_in_recovery: bool, _ack: &Ack) -> u64 {
        // The segment at SND.UNA.
        if self.repairing && !was_in_recovery { s.mss } else { 0 }
    }
}
