//! Forward acknowledgment: Mathis and Mahdavi, SIGCOMM 1996, in the form of
//! ns-2's `Fack` (without its optional rampdown and overdamping).
//!
//! `awnd = snd_nxt − snd_fack + retran_data` (equation 2) is what is in the
//! network; recovery begins when `snd_fack − snd_una` exceeds three segments
//! (more, where reordering has raised the threshold of duplicate ACKs) or at the third duplicate ACK, and every hole below `snd_fack` is lost.
//!
//! As in ns-2, `awnd` governs sending during recovery only; before it, FACK
//! sends beyond the window on duplicate ACKs only where limited transmit is
//! switched on (the published figures have it off).

use super::prr::{self, Prr};
use super::{Next, Rto, Scheme, again, in_order, limited_transmit};
use crate::ack::Ack;
use crate::range_set::Range;
use crate::sender::Sender;
use anabranch_units::Time;

/// A `Fack` is the scheme at work.
#[derive(Debug)]
pub(crate) struct Fack {
    /// `repair` is the recovery under way.
    repair: Option<Repair>,
    /// `prr` is proportional rate reduction, where it is asked for; it begins anew with each
    /// recovery.
    prr: Option<Box<Prr>>,
}

/// A `Repair` is a recovery.
#[derive(Clone, Copy, Debug)]
struct Repair {
    /// `pending` says that the first retransmission is to leave, regardless of the window.
    pending: bool,
    /// `high_rxt` is the offset after the highest sent again in this recovery.
    high_rxt: u64,
}

impl Fack {
    pub(crate) fn new(prr: bool) -> Fack {
        Fack { repair: None, prr: prr.then(Box::default) }
    }

    /// An ACK of this recovery, the first included.
    fn count_for_prr(&mut self, s: &Sender, ack: &Ack) {
        let in_flight = self.in_flight(s);
        if let Some(prr) = &mut self.prr {
            let lost = prr.finds_losses(s, s.board.fack(s.una));
            prr.on_ack(s.mss, ack, in_flight, lost);
        }
    }
}

impl Scheme for Fack {
    fn on_ack(&mut self, s: &mut Sender, ack: &Ack) -> Rto {
        if self.repair.is_some() {
            if s.una >= s.recovery_point.at {
                s.board.forget_retransmissions();
                self.repair = None;
            } else {
                self.count_for_prr(s, ack);
            }
            return Rto::Restart;
        }
        if ack.acked > 0 {
            s.grow(ack, ack.acked);
        }
        let fack = s.board.fack(s.una);
        let span = s.dup_acks.thresh.max(3) as u64 * s.mss;
        let triggered = fack - s.una > span || s.dup_acks.are_enough();
        if triggered && s.recovery_point.is_reached(s.una) {
            s.enter_recovery(ack.now, ack.prior_in_flight);
            if let Some(prr) = &mut self.prr {
                **prr = Prr::enter(s, ack.delivered);
            }
            self.repair = Some(Repair { pending: true, high_rxt: s.una });
            self.count_for_prr(s, ack);
        }
        Rto::Restart
    }

    fn on_timeout(&mut self, _s: &mut Sender) {
        self.repair = None;
    }

    fn next(&self, s: &Sender) -> Next {
        let Some(repair) = &self.repair else {
            return in_order(s, s.flight(), s.cwnd() + limited_transmit(s));
        };
        if repair.pending {
            return Next::Retransmit(s.segment_at(s.una));
        }
        let (awnd, window) = (self.in_flight(s), self.window(s));
        match s.board.hole(repair.high_rxt.max(s.una), s.board.fack(s.una)) {
            Some(hole) => {
                let range = Range { start: hole.start, end: hole.end.min(hole.start + s.mss) };
                again(range, awnd, window)
            }
            None => in_order(s, awnd, window),
        }
    }

    fn on_retransmit(&mut self, s: &mut Sender, range: Range, _now: Time) {
        if let Some(repair) = &mut self.repair {
            *repair = Repair { pending: false, high_rxt: range.end };
        }
        if let Some(prr) = &mut self.prr {
            prr.on_sent(range.len());
        }
        s.board.on_retransmit(range);
    }

    fn on_in_order(&mut self, _s: &Sender, range: Range, _now: Time) {
        if let Some(prr) = &mut self.prr {
            prr.on_sent(range.len());
        }
    }

    fn window(&self, s: &Sender) -> u64 {
        prr::window(self.prr.as_deref().filter(|_| self.repair.is_some()), s)
    }

    fn in_flight(&self, s: &Sender) -> u64 {
        if self.repair.is_some() {
            s.nxt - s.board.fack(s.una).min(s.nxt) + s.board.retransmitted()
        } else {
            s.flight()
        }
    }

    fn in_recovery(&self) -> bool {
        self.repair.is_some()
    }

    fn newly_lost(&self, s: &mut Sender, _was_in_recovery: bool, _ack: &Ack) -> u64 {
        if self.repair.is_some() { s.lost_below(s.board.fack(s.una)) } else { 0 }
    }
}
