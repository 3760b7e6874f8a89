//! TSNs and stream sequence numbers of both directions start anew by the SSN/TSN reset (RFC 6525
//! §5.1.4, §5.2.4).
//!
//! Nothing is lost: who asks first sends all that was given before and waits until
//! it is acknowledged; who is asked answers "in progress" while something of its
//! own is outstanding, and sends nothing new until the request comes again.
//!
//! Deviation: §5.2.4 lets who answers go on with its next TSN. Here both
//! directions jump by 2^31. New data that overtakes the answer is then refused,
//! and sent again later, instead of being taken for data with the old numbers.

use super::{Association, Notification};
use crate::control::reconfig::{Answer, ReconfigError, Wish, result};
use crate::extensions::Extensions;
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::Parameter;

/// TSNs jump this far.
const JUMP: u32 = 1 << 31;

impl Association {
    /// Makes all TSNs and stream sequence numbers of both directions start anew,
    /// once all that was given is acknowledged. [`Notification::Renumbered`]
    /// follows on both sides.
    ///
    /// # Errors
    /// See [`ReconfigError`].
    pub fn reset_association(&mut self) -> Result<(), ReconfigError> {
        self.wish(Wish::Renumber)
    }

    /// Handles the peer's request for such a reset, and returns the answer.
    pub(super) fn on_tsn_reset(&mut self, now: Time) -> Answer {
        match self.reconfig().asked() {
            // Both would give numbers that the other does not know of.
            Some(Parameter::TsnReset { .. }) => return result::ALREADY_IN_PROGRESS.into(),
            Some(_) => return result::IN_PROGRESS.into(),
            None => {}
        }
        if !self.sender.flight.is_empty() {
            // It asks again after an RTO; if not, we do not wait for ever.
            let wait = self.paths[self.paths.data_path()].rtt.rto() * 2;
            self.reconfig().hold.set(now + wait);
            return result::IN_PROGRESS.into();
        }
        self.reconfig().hold.stop();
        let ours = self.sender.next_tsn().add(JUMP);
        let theirs = self.receiver.cumulative_tsn().add(1).add(JUMP);
        self.renumber(ours, theirs);
        Answer { code: result::PERFORMED, next_tsns: Some((ours, theirs)) }
    }

    /// Makes `ours` the next TSN of this side, and `theirs` that of the peer.
    pub(super) fn renumber(&mut self, ours: Serial32, theirs: Serial32) {
        if self.extensions.has(Extensions::ADDRESSES) {
            self.addresses(); // its numbers begin with the first TSN of all
        }
        self.receiver.renumber(theirs);
        self.sender.renumber(ours);
        self.tell_of_messages();
        self.notify(Notification::Renumbered);
    }
}
