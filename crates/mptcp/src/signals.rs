//! Limits how many ACKs with options other than DSS a subflow sends in a row (RFC 8684 §3, §3.4.1, §4):
//! no more than two, since whoever does not know Multipath TCP takes a third duplicate for a lost
//! segment.

use anabranch_endpoint::Timer;
use anabranch_units::{Serial32, Span, Time};

/// Most duplicate ACKs with such options that leave in a row.
const MOST: u8 = 2;

/// The ACKs with options other than DSS that a subflow has sent in a row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signals {
    /// The sequence number that the last of them acknowledged.
    ack: Serial32,
    /// How many of them left with this acknowledgment.
    count: u8,
    /// More may leave from this date on, if the row has not ended before.
    timer: Timer,
}

impl Signals {
    /// The state before such an ACK has left.
    pub const NONE: Signals = Signals { ack: Serial32(0), count: 0, timer: Timer::IDLE };

    /// An ACK of everything before `ack` may have such options; it counts as sent with them. Where it may
    /// not they wait for an ACK of something else, or for `patience`.
    pub fn may_leave(&mut self, now: Time, ack: Serial32, patience: Span) -> bool {
        if ack != self.ack {
            *self = Signals { ack, ..Signals::NONE };
        }
        let may = self.count < MOST;
        if may {
            self.count += 1;
        } else if !self.timer.is_armed() {
            self.timer.set(now + patience);
        }
        may
    }

    /// Another ACK of the same may have such options.
    pub fn may_follow(&self) -> bool {
        self.count < MOST
    }

    /// Options that wait may leave from this date on.
    pub fn deadline(&self) -> Time {
        self.timer.deadline()
    }

    /// The row is taken for over; false where that is not due.
    pub fn renew(&mut self, now: Time) -> bool {
        let is_due = self.timer.expired(now);
        if is_due {
            *self = Signals { ack: self.ack, ..Signals::NONE };
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8684 §4: no more than two in a row.
    #[test]
    fn two_leave_in_a_row_and_others_later() {
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let second = Span::from_secs(1);
        let mut signals = Signals::NONE;
        let mut may = |ms, ack| signals.may_leave(at(ms), Serial32(ack), second);
        assert!(may(0, 7) && may(0, 7) && !may(1, 7));
        assert!(may(2, 8), "that is no duplicate");
        assert!(may(2, 8) && !may(10, 8) && !may(20, 8));
        assert_eq!(signals.deadline(), at(1010));
        assert!(!signals.renew(at(1000)) && signals.renew(at(1010)));
        assert_eq!(signals.deadline(), Time::NEVER);
        assert!(signals.may_leave(at(1010), Serial32(8), second));
    }
}
