//! SACK-based recovery, RFC 6675, and the two pipe rules of ns-2's `Sack1`,
//! which the literature of its time used.
//!
//! - [`Pipe::Rfc6675`]: the pipe is computed from the scoreboard; lost octets
//!   are not in it.
//! - [`Pipe::Ns2`]: the pipe is a count that starts as what is outstanding
//!   less the duplicate ACKs, so that lost packets stay in it; minus one per
//!   ACK, minus two per partial ACK, plus one per packet sent.
//! - [`Pipe::Ns2Old`] (`oldCode_`): the same, but starts as cwnd (before the
//!   reduction) less the duplicate ACKs.
//!
//! With proportional rate reduction (RFC 9937) what the pipe may hold follows
//! what arrives, instead of waiting until half the pipe has drained; it needs a
//! pipe that lost octets have left, RFC 6675's.

use super::catalogue::Pipe;
use super::prr::{self, Prr};
use super::{Next, Rto, Scheme, again, in_order, limited_transmit};
use crate::ack::Ack;
use crate::range_set::Range;
use crate::sender::Sender;
use anabranch_units::Time;

/// A `Sack` is the scheme at work.
#[derive(Debug)]
pub(crate) struct Sack {
    /// `rule` says how the pipe is counted.
    rule: Pipe,
    /// `repair` is the recovery under way.
    repair: Option<Repair>,
    /// `prr` is proportional rate reduction, where it is asked for; it begins anew with each
    /// recovery.
    prr: Option<Box<Prr>>,
}

/// A `Repair` is a recovery.
#[derive(Clone, Copy, Debug)]
struct Repair {
    /// `pending` says that the first retransmission is to leave, regardless of the pipe (§5 step
    /// 4.3).
    pending: bool,
    /// `high_rxt` is HighRxt, the offset after the highest sent again in this recovery.
    high_rxt: u64,
    /// `rescue_rxt` is RescueRxt (§2): the end of the first retransmission, then the recovery point;
    /// it is `None` before the first retransmission leaves.
    rescue_rxt: Option<u64>,
    /// `count` is the pipe of the ns-2 rules, in octets.
    count: i64,
}

impl Sack {
    pub(crate) fn new(rule: Pipe, prr: bool) -> Sack {
        Sack { rule, repair: None, prr: prr.then(Box::default) }
    }

    /// An ACK of this recovery, the first included.
    #[inline(never)]
    fn count_for_prr(&mut self, s: &Sender, ack: &Ack) {
        let in_flight = self.pipe(s);
        if let Some(prr) = &mut self.prr {
            let edge = s.board.loss_edge(s.dup_acks.thresh, s.mss).map_or(s.una, |e| e.at);
            let lost = prr.finds_losses(s, edge);
            prr.on_ack(s.mss, ack, in_flight, lost);
        }
    }

    fn pipe(&self, s: &Sender) -> u64 {
        match self.rule {
            Pipe::Rfc6675 => s.board.pipe(s.una, s.max, s.dup_acks.thresh, s.mss),
            Pipe::Ns2 | Pipe::Ns2Old => self.repair.map_or(0, |repair| repair.count.max(0) as u64),
        }
    }

    fn enter(&mut self, s: &mut Sender, ack: &Ack) {
        let dupacks = s.dup_acks.count as i64 * s.mss as i64;
        let count = match self.rule {
            Pipe::Ns2Old => (s.cwnd() / s.mss * s.mss) as i64 - dupacks,
            _ => s.flight() as i64 - dupacks,
        };
        s.enter_recovery(ack.now, ack.prior_in_flight);
        self.repair = Some(Repair { pending: true, high_rxt: s.una, rescue_rxt: None, count });
        if let Some(prr) = &mut self.prr {
            **prr = Prr::enter(s, ack.delivered);
            self.count_for_prr(s, ack);
        }
    }

    fn leave(&mut self, s: &mut Sender) {
        s.board.forget_retransmissions();
        self.repair = None;
    }

    /// Loss is detected: DupThresh duplicate ACKs, or `IsLost(HighACK + 1)`
    /// (§5 step 1); the ns-2 rules count duplicate ACKs alone.
    fn detects_loss(&self, s: &Sender) -> bool {
        s.dup_acks.are_enough()
            || self.rule == Pipe::Rfc6675 && s.board.loss_edge(s.dup_acks.thresh, s.mss).is_some()
    }

    /// `NextSeg` (§4), rules 1 to 4; 2 is the next in order.
    fn next_seg(&self, s: &Sender, repair: &Repair) -> Next {
        let (pipe, window) = (self.pipe(s), self.window(s));
        let from = repair.high_rxt.max(s.una);
        let fack = s.board.fack(s.una);
        let lost_below = match self.rule {
            Pipe::Rfc6675 => s.board.loss_edge(s.dup_acks.thresh, s.mss).map_or(s.una, |e| e.at),
            Pipe::Ns2 | Pipe::Ns2Old => fack, // every hole
        };
        let one = |hole: Range| Range { start: hole.start, end: hole.end.min(hole.start + s.mss) };
        if let Some(hole) = s.board.hole(from, lost_below) {
            return again(one(hole), pipe, window); // rule 1
        }
        match in_order(s, pipe, window) {
            Next::Nothing => {}
            new => return new, // rule 2
        }
        if let Some(hole) = s.board.hole(from, fack) {
            return again(one(hole), pipe, window); // rule 3
        }
        if self.rule == Pipe::Rfc6675 && repair.rescue_rxt.is_none_or(|rescued| s.una > rescued) {
            // Rule 4: one segment that includes the highest unSACKed octet.
            let end = match s.board.sacked().last() {
                Some(top) if top.end == s.max => top.start,
                _ => s.max,
            };
            if end > s.una {
                let floor = s.board.sacked().iter().rev().map(|r| r.end).find(|e| *e < end);
                let start = end.saturating_sub(s.mss).max(floor.unwrap_or(s.una)).max(s.una);
                return again(Range { start, end }, pipe, window);
            }
        }
        Next::Nothing
    }
}

impl Scheme for Sack {
    fn on_ack(&mut self, s: &mut Sender, ack: &Ack) -> Rto {
        if let Some(repair) = &mut self.repair {
            if s.una >= s.recovery_point.at {
                self.leave(s); // §5, step A
                return Rto::Restart;
            }
            if ack.acked > 0 {
                repair.count -= 2 * s.mss as i64;
            } else if ack.duplicate {
                repair.count -= s.mss as i64;
            }
            if self.prr.is_some() {
                self.count_for_prr(s, ack);
            }
        } else {
            if ack.acked > 0 {
                s.grow(ack, ack.acked);
            }
            if self.detects_loss(s) && s.recovery_point.is_reached(s.una) {
                self.enter(s, ack);
            }
        }
        Rto::Restart
    }

    fn on_timeout(&mut self, s: &mut Sender) {
        self.leave(s);
    }

    fn next(&self, s: &Sender) -> Next {
        match &self.repair {
            Some(repair) if repair.pending => Next::Retransmit(s.segment_at(s.una)),
            Some(repair) => self.next_seg(s, repair),
            None => in_order(s, self.in_flight(s), s.cwnd() + self.limited_transmit(s)),
        }
    }

    fn on_retransmit(&mut self, s: &mut Sender, range: Range, _now: Time) {
        if let Some(prr) = &mut self.prr {
            prr.on_sent(range.len());
        }
        s.board.on_retransmit(range);
        let Some(repair) = &mut self.repair else { return };
        let first = std::mem::take(&mut repair.pending);
        // ns-2 does not count the retransmission at the entry.
        if !first {
            repair.count += range.len() as i64;
        }
        let is_hole =
            range.start >= repair.high_rxt.max(s.una) && range.start < s.board.fack(s.una);
        if first || is_hole {
            repair.high_rxt = range.end;
            if first {
                repair.rescue_rxt = Some(range.end); // (4.3)
            }
        } else {
            repair.rescue_rxt = Some(s.recovery_point.at); // rule 4 leaves HighRxt alone
        }
    }

    fn on_in_order(&mut self, _s: &Sender, range: Range, _now: Time) {
        if let Some(repair) = &mut self.repair {
            repair.count += range.len() as i64;
            if let Some(prr) = &mut self.prr {
                prr.on_sent(range.len());
            }
        }
    }

    fn window(&self, s: &Sender) -> u64 {
        prr::window(self.prr.as_deref().filter(|_| self.repair.is_some()), s)
    }

    fn in_flight(&self, s: &Sender) -> u64 {
        if self.repair.is_some() {
            self.pipe(s)
        } else if self.rule == Pipe::Rfc6675 && s.dup_acks.limited_transmit {
            s.flight() - s.board.sacked().total()
        } else {
            s.flight()
        }
    }

    fn in_recovery(&self) -> bool {
        self.repair.is_some()
    }

    fn newly_lost(&self, s: &mut Sender, _was_in_recovery: bool, _ack: &Ack) -> u64 {
        let edge = s.board.loss_edge(s.dup_acks.thresh, s.mss).map_or(s.una, |e| e.at);
        s.lost_below(edge)
    }
}

impl Sack {
    /// Under RFC 6675 SACKed octets leave the pipe by themselves (§5 step 3),
    /// which is limited transmit; the ns-2 rules count duplicate ACKs.
    fn limited_transmit(&self, s: &Sender) -> u64 {
        if self.rule == Pipe::Rfc6675 { 0 } else { limited_transmit(s) }
    }
}
