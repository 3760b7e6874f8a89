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
    /// `repair` is the recovery under way.
    repair: Option<Repair>,
}

/// A `Repair` is a recovery.
#[derive(Clone, Copy, Debug)]
struct Repair {
    /// `pending` says that the first unacknowledged segment is to be sent again at once (§3.2 step
    /// 3).
    pending: bool,
    /// `inflation` counts the octets by which duplicate ACKs inflate the window (§3.2 steps 3, 4).
    inflation: u64,
}

impl Reno {
    pub(crate) fn new(exit_growth: bool) -> Reno {
        Reno { exit_growth, repair: None }
    }
}

impl Scheme for Reno {
    fn on_ack(&mut self, s: &mut Sender, ack: &Ack) -> Rto {
        match &mut self.repair {
            None if ack.acked > 0 => s.grow(ack, ack.acked),
            Some(_) if ack.acked > 0 => {
                // §3.2 step 6: deflate; cwnd is ssthresh since step 2.
                self.repair = None;
                if self.exit_growth {
                    s.grow(ack, ack.acked.min(s.mss));
                }
            }
            _ if !ack.duplicate => {}
            Some(repair) => repair.inflation += s.mss, // step 4
            None if s.dup_acks.are_just_enough() && s.recovery_point.is_passed(s.una) => {
                s.enter_recovery(ack.now, ack.prior_in_flight); // step 2
                let inflation = s.dup_acks.thresh as u64 * s.mss;
                self.repair = Some(Repair { pending: true, inflation });
            }
            None => {}
        }
        Rto::Restart
    }

    fn on_timeout(&mut self, _s: &mut Sender) {
        self.repair = None;
    }

    fn next(&self, s: &Sender) -> Next {
        match &self.repair {
            Some(repair) if repair.pending => Next::Retransmit(s.segment_at(s.una)),
            Some(repair) => in_order(s, s.flight(), s.cwnd() + repair.inflation),
            None => in_order(s, s.flight(), s.cwnd() + limited_transmit(s)),
        }
    }

    fn on_retransmit(&mut self, _s: &mut Sender, _range: Range, _now: Time) {
        if let Some(repair) = &mut self.repair {
            repair.pending = false;
        }
    }

    fn in_flight(&self, s: &Sender) -> u64 {
        s.flight().saturating_sub(self.repair.map_or(0, |repair| repair.inflation))
    }

    fn in_recovery(&self) -> bool {
        self.repair.is_some()
    }

    fn newly_lost(&self, s: &mut Sender, was_in_recovery: bool, ack: &Ack) -> u64 {
        first_unacknowledged_lost(self.in_recovery(), s, was_in_recovery, ack)
    }
}
