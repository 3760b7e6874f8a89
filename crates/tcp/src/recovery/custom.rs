//! Schemes of the user's own: they say which octets are lost; the rest is as
//! in RFC 6675.
//!
//! Recovery begins with the first octets that a scheme calls lost, reduces the
//! window once, and ends when everything outstanding then is acknowledged. What
//! is lost leaves the pipe until it is sent again. Lost octets go first, the
//! lowest first; then new data. The first retransmission does not wait for the
//! pipe. A range may be called lost again after it was sent again.

use super::detector::{AckView, LossDetector};
use super::{Next, Rto, Scheme, again, in_order};
use crate::ack::Ack;
use crate::range_set::{Range, RangeSet};
use crate::sender::Sender;
use anabranch_units::Time;

/// `Custom` is such a scheme at work.
#[derive(Debug)]
pub(crate) struct Custom {
    /// `detector` is the user's: it says what is lost.
    detector: Box<dyn LossDetector>,
    /// `lost` are the ranges to be sent again.
    lost: RangeSet,
    /// `in_recovery` says that losses are being repaired.
    in_recovery: bool,
    /// `pending` says that the first retransmission of this recovery has not left.
    pending: bool,
    /// `newly_lost` counts the octets that the ACK at hand made lost.
    newly_lost: u64,
    /// `told` is what the detector says; it is kept for its memory.
    told: Vec<Range>,
}

impl Custom {
    pub(super) fn new(detector: Box<dyn LossDetector>) -> Custom {
        Custom {
            detector,
            lost: RangeSet::default(),
            in_recovery: false,
            pending: false,
            newly_lost: 0,
            told: Vec::new(),
        }
    }

    fn forget(&mut self) {
        self.lost.clear();
        (self.in_recovery, self.pending) = (false, false);
    }

    /// Forgets those of the lost octets that have arrived after all.
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
            dupacks: s.dup_acks.count,
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

impl Scheme for Custom {
    fn on_ack(&mut self, s: &mut Sender, ack: &Ack) -> Rto {
        self.trim(s);
        if self.in_recovery && s.una >= s.recovery_point.at {
            s.board.forget_retransmissions();
            self.forget();
        } else if !self.in_recovery && ack.acked > 0 {
            s.grow(ack, ack.acked);
        }
        if s.recovery_point.is_going_back() {
            self.newly_lost = 0;
            return Rto::Restart;
        }
        self.ask(s, ack);
        if !self.in_recovery && !self.lost.is_empty() {
            if s.recovery_point.is_reached(s.una) {
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

    fn on_retransmit(&mut self, s: &mut Sender, range: Range, now: Time) {
        self.pending = false;
        self.lost.remove(range);
        s.board.on_retransmit(range);
        self.detector.on_sent(now, range, true);
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

    fn newly_lost(&self, _s: &mut Sender, _was_in_recovery: bool, _ack: &Ack) -> u64 {
        self.newly_lost
    }
}
