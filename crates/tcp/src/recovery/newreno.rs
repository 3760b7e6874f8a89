//! NewReno, RFC 6582: partial ACKs keep recovery going, and each repairs one
//! more loss.
//!
//! The window on leaving recovery is ssthresh (§3.2 step 3, option 2), as in
//! ns-2. The retransmission timer is restarted at each partial ACK
//! ("Slow-but-Steady") or at the first only ("Impatient", §4).

use super::{Next, Rto, Scheme, first_unacknowledged_lost, in_order, limited_transmit};
use crate::ack::Ack;
use crate::range_set::Range;
use crate::sender::Sender;
use anabranch_units::Time;

/// A `NewReno` is the scheme at work.
#[derive(Debug)]
pub(crate) struct NewReno {
    /// `impatient` is an option of the scheme.
    impatient: bool,
    /// `exit_growth` is an option of the scheme.
    exit_growth: bool,
    /// `in_recovery` says that losses are being repaired.
    in_recovery: bool,
    /// `pending` says that the first unacknowledged segment is to be sent again at once.
    pending: bool,
    /// `partial_acks` counts those of this recovery.
    partial_acks: u32,
    /// `inflation` is what is added to cwnd, in octets: it grows with duplicate ACKs, shrinks with
    /// partial ACKs, and may be negative after them (§3.2 step 3, "deflate").
    inflation: i64,
}

impl NewReno {
    pub(crate) fn new(impatient: bool, exit_growth: bool) -> NewReno {
        NewReno {
            impatient,
            exit_growth,
            in_recovery: false,
            pending: false,
            partial_acks: 0,
            inflation: 0,
        }
    }

    fn leave(&mut self) {
        *self = NewReno::new(self.impatient, self.exit_growth);
    }
}

impl Scheme for NewReno {
    fn on_ack(&mut self, s: &mut Sender, ack: &Ack) -> Rto {
        if ack.acked > 0 && !self.in_recovery {
            s.grow(ack, ack.acked);
        } else if ack.acked > 0 && s.una >= s.recovery_point.at {
            self.leave(); // full acknowledgment
            if self.exit_growth {
                s.grow(ack, ack.acked.min(s.mss));
            }
        } else if ack.acked > 0 {
            // Partial acknowledgment: resend the first unacknowledged segment,
            // deflate by what was acknowledged, add one segment back.
            self.pending = true;
            self.partial_acks += 1;
            self.inflation -= ack.acked as i64;
            if ack.acked >= s.mss {
                self.inflation += s.mss as i64;
            }
            if self.impatient && self.partial_acks > 1 {
                return Rto::Keep;
            }
        } else if ack.duplicate {
            if self.in_recovery {
                self.inflation += s.mss as i64;
            } else if s.dup_acks.are_just_enough() && s.recovery_point.is_passed(s.una) {
                s.enter_recovery(ack.now, ack.prior_in_flight);
                self.in_recovery = true;
                self.pending = true;
                self.inflation = s.dup_acks.thresh as i64 * s.mss as i64;
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
        if self.in_recovery {
            let window = s.cwnd().saturating_add_signed(self.inflation).max(s.mss);
            return in_order(s, s.flight(), window);
        }
        in_order(s, s.flight(), s.cwnd() + limited_transmit(s))
    }

    fn on_retransmit(&mut self, _s: &mut Sender, _range: Range, _now: Time) {
        self.pending = false;
    }

    fn in_flight(&self, s: &Sender) -> u64 {
        s.flight().saturating_add_signed(-self.inflation)
    }

    fn in_recovery(&self) -> bool {
        self.in_recovery
    }
    fn newly_lost(&self, s: &mut Sender, was_in_recovery: bool, ack: &Ack) -> u64 {
        first_unacknowledged_lost(self.in_recovery, s, was_in_recovery, ack)
    }
}
