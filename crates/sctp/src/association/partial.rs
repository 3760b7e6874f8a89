//! Messages are given up here (RFC 3758): what [`Sender`](crate::sender::Sender) gives up is told
//! to the peer, and what the peer gives up to the [`Receiver`](crate::receiver::Receiver).

use super::Association;
use crate::extensions::Extensions;
use crate::receiver::Skipped;
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::{Chunk, ForwardTsn, IForwardTsn, SkippedMessage};

impl Association {
    /// Gives up what is lost and not worth sending again, and what is late before
    /// it leaves, and tells the peer (RFC 3758 §3.5).
    pub(super) fn give_up(&mut self, now: Time) {
        if !self.extensions.has(Extensions::PARTIAL) {
            return;
        }
        let lost = self.sender.give_up_lost(now, &mut self.paths, &self.config);
        let late = self.sender.give_up_late(now, &mut self.paths, &self.config);
        self.tell(now);
        if lost || late {
            self.tell_of_room();
        }
        if late {
            self.after_progress(now); // perhaps it was all that was left
        }
    }

    /// Queues a FORWARD-TSN if the peer waits for something that is not coming (§3.5 C).
    fn tell(&mut self, now: Time) {
        let room = self.paths[self.paths.data_path()].room.chunk;
        let Some(chunk) = self.sender.forward_tsn(room) else { return };
        let told = |c: &Chunk| matches!(c, Chunk::ForwardTsn(_) | Chunk::IForwardTsn(_));
        self.control.waiting.discard(told);
        self.control.waiting.insist(chunk);
        // §3.5 C5: a timer guards it.
        let path = self.paths.data_path();
        if self.paths.iter().all(|path| !path.t3.is_armed()) {
            let path = &mut self.paths[path];
            path.t3.set(now + path.rtt.rto());
        }
    }

    /// Tells the peer again what is still skipped, as a SACK came or T3-rtx expired.
    #[inline]
    pub(super) fn tell_again(&mut self, now: Time) {
        if self.sender.repeat_forward_tsn() {
            self.tell(now);
        }
    }

    /// Handles a FORWARD-TSN (§3.6). Returns false when it is not to be acknowledged.
    pub(super) fn on_forward_tsn(&mut self, forward: &ForwardTsn) -> bool {
        let skipped = forward.skipped.iter().map(|(stream, ssn)| SkippedMessage {
            stream: *stream,
            unordered: false,
            mid: *ssn as u32,
        });
        self.on_skip(false, forward.cum_tsn, skipped)
    }

    pub(super) fn on_interleaved_forward_tsn(&mut self, forward: &IForwardTsn) -> bool {
        self.on_skip(true, forward.cum_tsn, forward.skipped.iter().copied())
    }

    fn on_skip(
        &mut self,
        interleaved: bool,
        cum: Serial32,
        skipped: impl Iterator<Item = SkippedMessage>,
    ) -> bool {
        if !self.state().may_receive() || !self.extensions.has(Extensions::PARTIAL) {
            return false;
        }
        if interleaved != self.extensions.has(Extensions::INTERLEAVING) {
            self.on_violation(b"FORWARD-TSN of the wrong kind"); // RFC 8260 §2.3.1
            return false;
        }
        let skipped = self.receiver.skip(cum, skipped);
        if skipped == Skipped::Advanced {
            self.tell_of_messages();
        }
        skipped != Skipped::Late
    }
}
