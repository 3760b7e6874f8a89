//! Loss recovery decoupled from congestion control: Hwang, Yoo and Yoo, *An
//! Efficient Loss Recovery Algorithm for TCP with SACK*.
//!
//! Figure 1 of the paper, on an ACK:
//!
//! ```text
//! IF recovery == false then                     // normal mode
//!   IF ack_no > moment_ack then
//!     moment_ack = ack_no
//!     open congestion window
//!   ELSE IF packet loss is detected then        // third duplicate ACK
//!     recovery = true
//!     halve congestion window
//! ELSE                                          // recovery mode
//!   open congestion window
//!   IF holes of SACK blocks is covered? then
//!     retransmit = retransmit − # of holes covered
//!   IF ack_no covers all loss packets? then
//!     recovery = false
//!     moment_ack = ack_no
//!   ELSE
//!     moment_ack = forward ACK number
//! ```
//!
//! Figure 3, sending:
//!
//! ```text
//! WHILE next_seq <= moment_ack + cwnd − retransmit
//!   IF no retransmission is needed then
//!     seqno = next_seq;  next_seq = next_seq + 1
//!   ELSE
//!     seqno = next retransmitting packet;  retransmit = retransmit + 1
//!   send a seqno packet
//! ```
//!
//! In octets, with `next_seq` and `moment_ack` as the offsets *after* the last
//! packet sent and the last acknowledged, the condition reads
//! `next_seq − moment_ack + retransmit + length <= cwnd`.
//!
//! Where the paper contradicts itself:
//! - *The ACK that detects.* In figure 1 it leaves `moment_ack` at the cumulative
//!   ACK, and only the next one moves it to the forward ACK. The text (§2.3) says
//!   that `moment_ack` *is* the forward ACK in recovery mode, and that after
//!   n − m ≥ 3 duplicate ACKs nothing is in the network, so that the window can be
//!   opened anew at this point. With n − m = 3 the two differ: the third duplicate
//!   ACK is the last, and by figure 1 nothing leaves until limited transmit's
//!   segments are acknowledged a round trip later, or, without limited transmit,
//!   until the timer expires. The text is the rule here; `opens_late` has the
//!   figure's.
//!
//! Where the paper is silent:
//! - *All loss packets* are those sent before the detection: recovery ends
//!   when everything outstanding at the detection is acknowledged. A loss
//!   among later packets is a new detection and halves the window again;
//!   otherwise a sender under steady loss would halve once and never more.
//! - *Limited transmit* (RFC 3042) before the detection, as the paper's
//!   figure 5(d) shows it.
//! - *A timeout* ends recovery mode: `retransmit = 0`, `moment_ack = ack_no`,
//!   then slow start as with every other scheme.
//! - *A retransmission lost again* keeps counting in `retransmit` and is left
//!   to the timeout; the holes it leaves are not sent a third time before.
//! - *An ACK that reports nothing new*, of a segment that arrives twice, does not
//!   open the window.
//! - *Reordering*: a hole that fills by itself before it was sent again was
//!   never in `retransmit`, so nothing is subtracted for it.

use super::{Next, Rto, Scheme, again, in_order, limited_transmit};
use crate::ack::Ack;
use crate::range_set::Range;
use crate::sender::Sender;
use anabranch_units::Time;

/// A `Decoupled` is the scheme at work.
#[derive(Debug)]
pub(crate) struct Decoupled {
    /// `opens_late` says that the ACK that detects a loss leaves `moment_ack` where it is.
    opens_late: bool,
    /// `recovery` is the recovery mode, while it lasts.
    recovery: Option<Recovering>,
}

/// A `Recovering` is the recovery mode from the detection of a loss to the end of its repair.
#[derive(Clone, Copy, Debug)]
struct Recovering {
    /// `moment_ack` is the left edge of the sliding window, which follows SND.UNA in normal mode.
    moment_ack: u64,
    /// `high_rxt` is the offset after the highest sent again.
    high_rxt: u64,
}

impl Decoupled {
    pub(crate) fn new(opens_late: bool) -> Decoupled {
        Decoupled { opens_late, recovery: None }
    }
}

impl Scheme for Decoupled {
    fn on_ack(&mut self, s: &mut Sender, ack: &Ack) -> Rto {
        let Some(recovery) = &mut self.recovery else {
            if ack.acked > 0 {
                s.grow(ack, ack.acked); // moment_ack is SND.UNA
            } else if ack.duplicate && s.dup_acks.are_enough() && s.recovery_point.is_reached(s.una)
            {
                s.enter_recovery(ack.now, ack.prior_in_flight);
                let moment_ack = if self.opens_late { s.una } else { s.board.fack(s.una) };
                self.recovery = Some(Recovering { moment_ack, high_rxt: s.una });
            }
            return Rto::Restart;
        };
        if ack.delivered > 0 {
            s.grow(ack, ack.delivered);
        }
        // `retransmit`, the scoreboard's retransmitted octets, has already
        // shrunk by what this ACK covers.
        if s.una >= s.recovery_point.at {
            s.board.forget_retransmissions();
            self.recovery = None;
        } else {
            recovery.moment_ack = s.board.fack(s.una);
        }
        Rto::Restart
    }

    fn on_timeout(&mut self, _s: &mut Sender) {
        self.recovery = None;
    }

    fn next(&self, s: &Sender) -> Next {
        let in_flight = self.in_flight(s);
        let Some(recovery) = &self.recovery else {
            return in_order(s, in_flight, s.cwnd() + limited_transmit(s));
        };
        match s.board.hole(recovery.high_rxt.max(s.una), s.board.fack(s.una)) {
            Some(hole) => {
                let range = Range { start: hole.start, end: hole.end.min(hole.start + s.mss) };
                again(range, in_flight, s.cwnd())
            }
            None => in_order(s, in_flight, s.cwnd()),
        }
    }

    fn on_retransmit(&mut self, s: &mut Sender, range: Range, _now: Time) {
        if let Some(recovery) = &mut self.recovery {
            recovery.high_rxt = range.end;
        }
        s.board.on_retransmit(range);
    }

    fn in_flight(&self, s: &Sender) -> u64 {
        let moment_ack = self.recovery.map_or(s.una, |mode| mode.moment_ack.max(s.una));
        s.nxt - moment_ack.min(s.nxt) + s.board.retransmitted()
    }

    fn in_recovery(&self) -> bool {
        self.recovery.is_some()
    }

    fn newly_lost(&self, s: &mut Sender, _was_in_recovery: bool, _ack: &Ack) -> u64 {
        if self.recovery.is_some() { s.lost_below(s.board.fack(s.una)) } else { 0 }
    }
}
