//! SACKs at once: when this side sets the I bit (RFC 9260 §6.1, RFC 7053 §5.1).
//!
//! The receiver answers the packet, so that its last chunk asks, or the chunks that end messages
//! whose users do. A chunk that is sent again asks as it did the first time, as captures of usrsctp
//! and FreeBSD's scripts have it; and where it is all that the window lets out.

use super::Association;
use crate::config::ImmediateSacks;
use crate::state::State;
use anabranch_wire::sctp::{Chunk, Chunks, DataFlags};

impl Association {
    /// A new chunk: the user's wish, where the settings have it for all messages.
    #[inline]
    pub(super) fn ask_with_message(&self, flags: &mut DataFlags) {
        let wanted = self.config.immediate_sacks.is_some_and(|when| when.messages);
        if wanted && flags.contains(DataFlags::END) {
            *flags = flags.union(DataFlags::IMMEDIATE);
        }
    }

    /// A packet on `path` that ends in new data is complete.
    #[inline]
    pub(super) fn ask_with_new(&mut self, chunks: &mut Chunks, path: usize) {
        if let Some(when) = self.config.immediate_sacks
            && self.gains_by_a_sack(when, path)
            && let Some(newest) = self.flight.chunks.back_mut()
        {
            newest.fragment.flags = newest.fragment.flags.union(DataFlags::IMMEDIATE);
            mark(chunks);
        }
    }

    /// The same of data that is sent again.
    #[inline]
    pub(super) fn ask_with_lost(&self, chunks: &mut Chunks, path: usize) {
        if let Some(when) = self.config.immediate_sacks
            && when.window_full
            && self.is_held_up(path)
        {
            mark(chunks);
        }
    }

    fn gains_by_a_sack(&self, when: ImmediateSacks, path: usize) -> bool {
        when.shutdown_pending && self.state == State::ShutdownPending
            || when.last && !self.has_more()
            || when.window_full && self.is_held_up(path)
            || when.reconfiguration && self.reconfig.as_ref().is_some_and(|it| it.is_waiting())
    }

    /// Something waits to be sent.
    fn has_more(&self) -> bool {
        self.flight.lost > 0 || !self.outgoing.is_empty()
    }

    /// Something waits, and may not leave on `path` before a SACK comes.
    fn is_held_up(&self, path: usize) -> bool {
        let to = &self.paths[path];
        let window = match self.flight.lost {
            0 => to.window.limit(),
            _ => to.window.cwnd(),
        };
        let beyond = |len| self.flight.payload + u64::from(len) > self.peer_rwnd;
        let room = || self.flight.lost > 0 || !self.next_len(self.max_payload).is_some_and(beyond);
        self.has_more() && (self.await_sack || to.flight >= window || !room())
    }
}

/// Sets the bit of the last chunk with data.
fn mark(chunks: &mut Chunks) {
    if let Some(flags) = chunks.iter_mut().filter_map(flags_of).last() {
        *flags = flags.union(DataFlags::IMMEDIATE);
    }
}

fn flags_of(chunk: &mut Chunk) -> Option<&mut DataFlags> {
    match chunk {
        Chunk::Data(data) => Some(&mut data.flags),
        Chunk::IData(data) => Some(&mut data.flags),
        _ => None,
    }
}
