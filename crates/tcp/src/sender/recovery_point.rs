//! Remembers how far had been sent when the window was last reduced: until that is
//! acknowledged, the same losses and marks do not reduce it again.

/// A `RecoveryPoint` is that of RFC 6675 §2, and says whether the sender goes back to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecoveryPoint {
    /// `at` is the offset after the highest sent when the last loss was detected, or the last
    /// timeout came: no new fast retransmit happens until all below is acknowledged, or more than
    /// that (`recover` of RFC 6582 §3.2).
    pub at: u64,
    /// `cwr` is the offset after the highest sent when an echo of congestion last reduced the
    /// window: until it is acknowledged, neither another echo nor a loss reduces it again (RFC 3168
    /// §6.1.2).
    pub cwr: u64,
    /// `going_back` says that what was outstanding at a timeout is being sent again in order: from
    /// the timeout until all of it is acknowledged.
    going_back: bool,
}

impl RecoveryPoint {
    /// A loss was detected, with `max` the offset after the highest sent.
    pub fn set(&mut self, max: u64) {
        self.at = max;
    }

    /// All that is outstanding, up to `max`, is sent again in order.
    pub fn go_back(&mut self, max: u64) {
        (self.at, self.going_back) = (max, true);
    }

    /// What was outstanding at a timeout is being sent again. No fast retransmit happens meanwhile.
    #[inline]
    pub fn is_going_back(&self) -> bool {
        self.going_back
    }

    /// `una` is acknowledged; true when that ends the going back.
    pub fn ends_at(&mut self, una: u64) -> bool {
        let ends = self.going_back && una >= self.at;
        self.going_back &= !ends;
        ends
    }

    /// The last reduction was spurious: a new loss may be detected at once, with `una` acknowledged.
    pub fn withdraw(&mut self, una: u64) {
        (self.at, self.going_back) = (una.saturating_sub(1), false);
    }

    /// The data that was outstanding at the last loss or timeout has been acknowledged, so that
    /// duplicate ACKs, or what was SACKed, may signal a new loss (RFC 6675 §5.1). Where duplicate ACKs
    /// are all there is, see [`RecoveryPoint::is_passed`].
    pub fn is_reached(&self, una: u64) -> bool {
        una >= self.at && !self.going_back
    }

    /// Duplicate ACKs alone may signal a new loss: the ACK covers at least one octet beyond what was
    /// outstanding at the last loss or timeout (RFC 6582 §3.2 step 2). At that point itself they may as
    /// well tell of segments that were sent again without need (§4).
    pub fn is_passed(&self, una: u64) -> bool {
        una > self.at && !self.going_back
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_loss_is_believed_while_going_back() {
        let mut point = RecoveryPoint::default();
        point.go_back(5000);
        assert!(!point.is_reached(4000) && !point.ends_at(4000));
        assert!(point.ends_at(5000) && !point.ends_at(6000));
        assert!(point.is_reached(5000) && !point.is_passed(5000) && point.is_passed(5001));
    }

    #[test]
    fn a_spurious_reduction_leaves_no_point() {
        let mut point = RecoveryPoint::default();
        point.go_back(5000);
        point.withdraw(3000);
        assert!(point.is_passed(3000) && !point.is_going_back());
    }
}
