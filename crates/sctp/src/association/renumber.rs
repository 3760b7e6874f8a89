//! TSNs and stream sequence numbers of both directions start anew: the SSN/TSN
//! reset (RFC 6525 §5.1.4, §5.2.4).
//!
//! Nothing is lost: who asks first sends all that was given before and waits until
//! it is acknowledged; who is asked answers "in progress" while something of its
//! own is outstanding, and sends nothing new until the request comes again.
//!
//! Deviation: §5.2.4 lets who answers go on with its next TSN. Here both
//! directions jump by 2^31. New data that overtakes the answer is then refused,
//! and sent again later, instead of being taken for data with the old numbers.

use super::reconfig::{Answer, ReconfigError, Wish, result};
use super::{Association, Notification};
use crate::extensions::Extensions;
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::Parameter;

/// How far TSNs jump.
const JUMP: u32 = 1 << 31;
/// What is further ahead than this is of the numbers before a reset, and late.
pub(super) const FAR: u64 = 1 << 30;

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

    /// The peer asks for it.
    pub(super) fn on_tsn_reset(&mut self, now: Time) -> Answer {
        match self.reconfig().asked {
            // Both would give numbers that the other does not know of.
            Some(Parameter::TsnReset { .. }) => return result::ALREADY_IN_PROGRESS.into(),
            Some(_) => return result::IN_PROGRESS.into(),
            None => {}
        }
        if !self.flight.is_empty() {
            // It asks again after an RTO; if not, we do not wait for ever.
            let wait = self.paths[self.data_path()].rtt.rto() * 2;
            self.reconfig().hold.set(now + wait);
            return result::IN_PROGRESS.into();
        }
        self.reconfig().hold.stop();
        let ours = self.local_origin.at(self.flight.next()).add(JUMP);
        let theirs = self.peer_origin.at(self.map.next).add(JUMP);
        self.renumber(ours, theirs);
        Answer { code: result::PERFORMED, next_tsns: Some((ours, theirs)) }
    }

    /// The next TSN of this side is `ours`, that of the peer `theirs`.
    pub(super) fn renumber(&mut self, ours: Serial32, theirs: Serial32) {
        if self.extensions.has(Extensions::ADDRESSES) {
            self.addresses(); // its numbers begin with the first TSN of all
        }
        // As after a FORWARD-TSN up to all that is known of (§5.2.4 D4).
        let end = self.map.end();
        self.map.skip_to(end);
        self.reassembly.renumber(end);
        self.duplicates.clear();
        self.peer_origin = theirs.add((self.map.next as u32).wrapping_neg());
        self.local_origin = ours.add((self.flight.next() as u32).wrapping_neg());
        (0..self.outbound).for_each(|stream| self.outgoing.reset_numbers(stream));
        self.pending.readable |= self.reassembly.is_ready();
        self.notify(Notification::Renumbered);
    }
}
