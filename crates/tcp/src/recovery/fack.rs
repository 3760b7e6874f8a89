//! Forward acknowledgment: Mathis and Mahdavi, SIGCOMM 1996, in the form of
//! ns-2's `Fack` (without its optional rampdown and overdamping).
//!
//! `awnd = snd_nxt − snd_fack + retran_data` (equation 2) is what is in the
//! network; recovery begins when `snd_fack − snd_una` exceeds three segments
//! or at the third duplicate ACK, and every hole below `snd_fack` is lost.
//!
//! As in ns-2, `awnd` governs sending during recovery only; before it, FACK
//! sends beyond the window on duplicate ACKs only where limited transmit is
//! switched on (the published figures have it off).

use super::{Next, Rto, Scheme, again, in_order, limited_transmit};
use crate::range_set::Range;
use crate::sender::{Ack, Sender};

#[derive(Debug, Default)]
pub(crate) struct Fack {
    in_recovery: bool,
    /// The first retransmission leaves regardless of the window.
    pending: bool,
    /// The offset after the highest sent again in this recovery.
    high_rxt: u64,
}

impl Scheme for Fack {
    fn on_ack(&mut self, s: &mut Sender, ack: &Ack) -> Rto {
        if self.in_recovery {
            if s.una >= s.recover {
                s.board.forget_retransmissions();
                *self = Fack::default();
            }
            return Rto::Restart;
        }
        if ack.acked > 0 {
            s.grow(ack, ack.acked);
        }
        let fack = s.board.fack(s.una);
        let triggered = fack - s.una > 3 * s.mss || s.dupacks >= s.dup_thresh;
        if triggered && s.may_enter_recovery() {
            s.enter_recovery(ack);
            *self = Fack { in_recovery: true, pending: true, high_rxt: s.una };
        }
        Rto::Restart
    }

    fn on_timeout(&mut self, _s: &mut Sender) {
        *self = Fack::default();
    }

    fn next(&self, s: &Sender) -> Next {
        if self.pending {
            return Next::Retransmit(s.segment_at(s.una));
        }
        if !self.in_recovery {
            return in_order(s, s.flight(), s.cwnd() + limited_transmit(s));
        }
        let awnd = self.in_flight(s);
        match s.board.hole(self.high_rxt.max(s.una), s.board.fack(s.una)) {
            Some(hole) => {
                let range = Range { start: hole.start, end: hole.end.min(hole.start + s.mss) };
                again(range, awnd, s.cwnd())
            }
            None => in_order(s, awnd, s.cwnd()),
        }
    }

    fn on_retransmit(&mut self, s: &mut Sender, range: Range) {
        self.pending = false;
        self.high_rxt = range.end;
        s.board.on_retransmit(range);
    }

    fn in_flight(&self, s: &Sender) -> u64 {
        if self.in_recovery {
            s.nxt - s.board.fack(s.una).min(s.nxt) + s.board.retransmitted().total()
        } else {
            s.flight()
        }
    }

    fn in_recovery(&self) -> bool {
        self.in_recovery
    }
}
