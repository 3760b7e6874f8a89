//! Schemes of the user's own: they say which octets are lost; the rest is as
//! in RFC 6675.
//!
//! Recovery begins with the first octets that a scheme calls lost, reduces the
//! window once, and ends when everything outstanding then is acknowledged. What
//! is lost leaves the pipe until it is sent again. Lost octets go first, the
//! lowest first; then new data. The first retransmission does not wait for the
//! pipe. A range may be called lost again after it was sent again.

use super::{Next, Rto, Scheme, again, in_order};
use crate::range_set::{Range, RangeSet};
use crate::sender::{Ack, Sender};
use anabranch_custom::Place;
use anabranch_units::{Span, Time};
use std::fmt;

/// What a scheme of the user's own sees with an ACK. Offsets count octets from
/// the SYN.
#[derive(Clone, Copy, Debug)]
pub struct AckView<'a> {
    /// When.
    pub now: Time,
    /// Oldest offset that is not acknowledged.
    pub una: u64,
    /// The offset after the highest ever sent.
    pub max: u64,
    /// Payload of a full segment.
    pub mss: u64,
    /// Octets newly acknowledged in order.
    pub acked: u64,
    /// Octets newly known to have arrived.
    pub delivered: u64,
    /// It is a duplicate.
    pub duplicate: bool,
    /// Duplicates in a row.
    pub dupacks: u32,
    /// SACKed ranges above `una`, from low to high.
    pub sacked: &'a RangeSet,
    /// What was called lost and has not been sent again.
    pub lost: &'a RangeSet,
    /// A loss is being repaired.
    pub in_recovery: bool,
    /// The round-trip sample of this ACK.
    pub rtt: Option<Span>,
    /// Smoothed round-trip time.
    pub srtt: Option<Span>,
    /// Smallest round-trip time seen.
    pub min_rtt: Option<Span>,
}

/// A scheme of the user's own.
pub trait LossDetector: fmt::Debug + Send {
    /// An ACK came: appends the ranges that are lost, from what it tells.
    /// What is not outstanding, or SACKed, is left out by the sender.
    fn on_ack(&mut self, ack: &AckView<'_>, lost: &mut Vec<Range>);

    /// `range` left, for the first time or `again`.
    fn on_sent(&mut self, _now: Time, _range: Range, _again: bool) {}

    /// The retransmission timer expired: all that is not SACKed is sent again
    /// from `una` on.
    fn on_timeout(&mut self) {}
}

/// Makes a scheme of the user's own, given its place.
pub type MakeDetector = dyn Fn(&Place) -> Box<dyn LossDetector> + Send + Sync;

#[derive(Debug)]
pub(crate) struct Own {
    detector: Box<dyn LossDetector>,
    /// To be sent again.
    lost: RangeSet,
    in_recovery: bool,
    /// The first retransmission of this recovery has not left.
    pending: bool,
    /// Octets that the ACK at hand made lost.
    newly_lost: u64,
    /// Kept for its memory.
    told: Vec<Range>,
}

impl Own {
    pub(super) fn new(detector: Box<dyn LossDetector>) -> Own {
        Own {
            detector,
            lost: RangeSet::default(),
            in_recovery: false,
            pending: false,
            newly_lost: 0,
            told: Vec::new(),
        }
    }

    pub(super) fn newly_lost(&self) -> u64 {
        self.newly_lost
    }

    pub(super) fn on_resent(&mut self, now: Time, range: Range) {
        self.detector.on_sent(now, range, true);
    }

    fn forget(&mut self) {
        self.lost.clear();
        (self.in_recovery, self.pending) = (false, false);
    }

    /// What of the lost octets has arrived after all.
    fn trim(&mut self, s: &Sender) {
        self.lost.remove_below(s.una);
        if !self.lost.is_empty() {
            for range in s.board.sacked().iter() {
                self.lost.remove(range);
            }
        }
    }

    fn ask(&mut self, s: &Sender, ack: &Ack) {
        let view = AckView {
            now: ack.now,
            una: s.una,
            max: s.max,
            mss: s.mss,
            acked: ack.acked,
            delivered: ack.delivered,
            duplicate: ack.duplicate,
            dupacks: s.dupacks,
            sacked: s.board.sacked(),
            lost: &self.lost,
            in_recovery: self.in_recovery,
            rtt: ack.rtt,
            srtt: s.rtt.srtt(),
            min_rtt: s.rtt.min_rtt(),
        };
        self.told.clear();
        self.detector.on_ack(&view, &mut self.told);
        let before = self.lost.total();
        for range in &self.told {
            let range = Range { start: range.start.max(s.una), end: range.end.min(s.max) };
            if range.start < range.end {
                self.lost.insert(range);
            }
        }
        self.trim(s);
        self.newly_lost = self.lost.total().saturating_sub(before);
    }
}

impl Scheme for Own {
    fn on_ack(&mut self, s: &mut Sender, ack: &Ack) -> Rto {
        self.trim(s);
        if self.in_recovery && s.una >= s.recover {
            s.board.forget_retransmissions();
            self.forget();
        } else if !self.in_recovery && ack.acked > 0 {
            s.grow(ack, ack.acked);
        }
        if s.is_going_back() {
            self.newly_lost = 0;
            return Rto::Restart;
        }
        self.ask(s, ack);
        if !self.in_recovery && !self.lost.is_empty() {
            if s.may_enter_recovery() {
                s.enter_recovery(ack.now, ack.prior_in_flight);
                (self.in_recovery, self.pending) = (true, true);
            } else {
                self.lost.clear();
            }
        }
        Rto::Restart
    }

    fn on_timeout(&mut self, s: &mut Sender) {
        s.board.forget_retransmissions();
        self.forget();
        self.detector.on_timeout();
    }

    fn on_undo(&mut self, s: &mut Sender) {
        s.board.forget_retransmissions();
        self.forget();
    }

    fn next(&self, s: &Sender) -> Next {
        let in_flight = self.in_flight(s);
        match self.lost.first() {
            Some(hole) => {
                let range = Range { start: hole.start, end: hole.end.min(hole.start + s.mss) };
                match self.pending {
                    true => Next::Retransmit(range),
                    false => again(range, in_flight, s.cwnd()),
                }
            }
            None => in_order(s, in_flight, s.cwnd()),
        }
    }

    fn on_retransmit(&mut self, s: &mut Sender, range: Range) {
        self.pending = false;
        self.lost.remove(range);
        s.board.on_retransmit(range);
    }

    fn on_in_order(&mut self, _s: &Sender, range: Range, now: Time) {
        self.detector.on_sent(now, range, false);
    }

    fn in_flight(&self, s: &Sender) -> u64 {
        (s.flight() - s.board.sacked().total()).saturating_sub(self.lost.total())
    }

    fn in_recovery(&self) -> bool {
        self.in_recovery
    }
}
