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
    /// `repair` is the recovery under way.
    repair: Option<Repair>,
}

/// A `Repair` is a recovery.
#[derive(Clone, Copy, Debug)]
struct Repair {
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
        NewReno { impatient, exit_growth, repair: None }
    }
}

impl Repair {
    /// Partial acknowledgment: the first unacknowledged segment is sent again, the window is
    /// deflated by what was acknowledged, and one segment is added back.
    fn on_partial_ack(&mut self, acked: u64, mss: u64) {
        self.pending = true;
        self.partial_acks += 1;
        self.inflation -= acked as i64;
        if acked >= mss {
            self.inflation += mss as i64;
        }
    }
}

impl Scheme for NewReno {
    fn on_ack(&mut self, s: &mut Sender, ack: &Ack) -> Rto {
        match &mut self.repair {
            None if ack.acked > 0 => s.grow(ack, ack.acked),
            Some(_) if ack.acked > 0 && s.una >= s.recovery_point.at => {
                self.repair = None; // full acknowledgment
                if self.exit_growth {
                    s.grow(ack, ack.acked.min(s.mss));
                }
            }
            Some(repair) if ack.acked > 0 => {
                repair.on_partial_ack(ack.acked, s.mss);
                if self.impatient && repair.partial_acks > 1 {
                    return Rto::Keep;
                }
            }
            _ if !ack.duplicate => {}
            Some(repair) => repair.inflation += s.mss as i64,
            None if s.dup_acks.are_just_enough() && s.recovery_point.is_passed(s.una) => {
                s.enter_recovery(ack.now, ack.prior_in_flight);
                let inflation = s.dup_acks.thresh as i64 * s.mss as i64;
                self.repair = Some(Repair { pending: true, partial_acks: 0, inflation });
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
            Some(repair) => {
                let window = s.cwnd().saturating_add_signed(repair.inflation).max(s.mss);
                in_order(s, s.flight(), window)
            }
            None => in_order(s, s.flight(), s.cwnd() + limited_transmit(s)),
        }
    }

    fn on_retransmit(&mut self, _s: &mut Sender, _range: Range, _now: Time) {
        if let Some(repair) = &mut self.repair {
            repair.pending = false;
        }
    }

    fn in_flight(&self, s: &Sender) -> u64 {
        let inflation = self.repair.map_or(0, |repair| repair.inflation);
        s.flight().saturating_add_signed(-inflation)
    }

    fn in_recovery(&self) -> bool {
        self.repair.is_some()
    }

    fn newly_lost(&self, s: &mut Sender, was_in_recovery: bool, ack: &Ack) -> u64 {
        first_unacknowledged_lost(self.in_recovery(), s, was_in_recovery, ack)
    }
}
