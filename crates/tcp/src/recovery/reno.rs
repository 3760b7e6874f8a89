//! Fast retransmit and fast recovery, RFC 5681 §3.2.
//!
//! The window is inflated by one segment per duplicate ACK; the first ACK of
//! new data ends recovery, whether or not it acknowledges everything, so that
//! a second loss in the window waits for three more duplicate ACKs or the
//! timeout. As RFC 6582 §3.2 (and ns-2's `bugFix_`) ask, no second fast
//! retransmit happens until more is acknowledged than was outstanding at the
//! first.

use super::{Next, Rto, Scheme, first_unacknowledged_lost, in_order, limited_transmit};
use crate::ack::Ack;
use crate::range_set::Range;
use crate::sender::Sender;
use anabranch_units::Time;

/// A `Reno` is the scheme at work.
#[derive(Debug)]
pub(crate) struct Reno {
    /// `exit_growth` is an option of the scheme.
    exit_growth: bool,
    /// `in_recovery` says that a loss is being repaired.
    in_recovery: bool,
    /// `pending` says that the first unacknowledged segment is to be sent again at once.
    pending: bool,
    /// `inflation` counts the octets by which duplicate ACKs inflate the window (§3.2 steps 3, 4).
    inflation: u64,
}

impl Reno {
    pub(crate) fn new(exit_growth: bool) -> Reno {
        Reno { exit_growth, in_recovery: false, pending: false, inflation: 0 }
    }

    fn leave(&mut self) {
        *self = Reno::new(self.exit_growth);
    }
}

impl Scheme for Reno {
    fn on_ack(&mut self, s: &mut Sender, ack: &Ack) -> Rto {
        if ack.acked > 0 {
            if self.in_recovery {
                // §3.2 step 6: deflate; cwnd is ssthresh since step 2.
                self.leave();
                if self.exit_growth {
                    s.grow(ack, ack.acked.min(s.mss));
                }
            } else {
                s.grow(ack, ack.acked);
            }
        } else if ack.duplicate {
            if self.in_recovery {
                self.inflation += s.mss; // step 4
            } else if s.dup_acks.are_just_enough() && s.recovery_point.is_passed(s.una) {
                s.enter_recovery(ack.now, ack.prior_in_flight); // step 2
                self.in_recovery = true;
                self.pending = true; // step 3
                self.inflation = s.dup_acks.thresh as u64 * s.mss;
            }
        }
        Rto::Restart
    }

    fn on_timeout(&mut self, _s: &mut Sender) {
        self.leave();
    }

    fn next(&self, s: &Sender) -> Next {
        if self.pending {
            return Next::Retransmit(s.segment_at(s.una));
        }
        let extra = if self.in_recovery { self.inflation } else { limited_transmit(s) };
        in_order(s, s.flight(), s.cwnd() + extra)
    }

    fn on_retransmit(&mut self, _s: &mut Sender, _range: Range, _now: Time) {
        self.pending = false;
    }

    fn in_flight(&self, s: &Sender) -> u64 {
        s.flight().saturating_sub(self.inflation)
    }

    fn in_recovery(&self) -> bool {
        self.in_recovery
    }
    fn newly_lost(&self, s: &mut Sender, was_in_recovery: bool, ack: &Ack) -> u64 {
        first_unacknowledged_lost(self.in_recovery, s, was_in_recovery, ack)
    }
}
