//! Explicit congestion notification (RFC 4960 Appendix A; RFC 9260 leaves it to
//! a document of its own): both sides offer it, packets with data are ECN-capable,
//! the receiver reports marks by ECNE until a CWR answers, and the sender halves
//! the window of the path, once in a round trip.

use super::Association;
use crate::extensions::Extensions;
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::{Chunk, SctpPacket};
use anabranch_wire::{Ecn as Mark, Packet};

/// What exists once a mark was seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ecn {
    /// Lowest TSN of the packet that was marked, until the peer has answered.
    marked: Option<Serial32>,
    /// Marks of chunks before this offset have been answered.
    reduced: u64,
}

impl Association {
    /// A packet came with CE.
    #[cold]
    pub(super) fn on_mark(&mut self, sctp: &SctpPacket) {
        if !self.extensions.has(Extensions::ECN) {
            return;
        }
        let tsn = |chunk: &Chunk| match chunk {
            Chunk::Data(data) => Some(data.tsn),
            Chunk::IData(data) => Some(data.tsn),
            _ => None,
        };
        // A sender numbers the chunks of a packet in order.
        if let Some(lowest) = sctp.chunks.iter().find_map(tsn) {
            self.ecn.get_or_insert_default().marked.get_or_insert(lowest);
            self.sack_now = true;
        }
    }

    /// The report that goes with each SACK.
    pub(super) fn ecne(&self) -> Option<Chunk> {
        self.ecn.as_ref()?.marked.map(Chunk::Ecne)
    }

    /// The peer has reduced its window for a report of `tsn`.
    pub(super) fn on_cwr(&mut self, tsn: Serial32) {
        if let Some(ecn) = &mut self.ecn
            && ecn.marked.is_some_and(|marked| marked.distance_from(tsn) <= 0)
        {
            ecn.marked = None;
        }
    }

    /// A chunk of ours was in a packet that was marked.
    pub(super) fn on_ecne(&mut self, now: Time, tsn: Serial32) {
        let una = self.flight.una;
        let Some(offset) = tsn.expand(self.local_origin, una) else { return };
        if offset >= self.flight.next() {
            return; // it was never sent
        }
        let next = self.flight.next();
        let ecn = self.ecn.get_or_insert_default();
        if offset >= ecn.reduced {
            ecn.reduced = next;
            let sent = offset.checked_sub(una).and_then(|at| self.flight.chunks.get(at as usize));
            let path = sent.map_or(self.data_path(), |chunk| chunk.path as usize);
            let view = self.paths[path].view(self.max_chunk as u64);
            self.paths[path].window.on_loss(now, false, &view);
        }
        self.push_control(Chunk::Cwr(tsn));
    }

    /// Packets with data say that routers may mark them.
    #[cold]
    pub(super) fn make_capable(&self, packet: &mut Packet) {
        if self.extensions.has(Extensions::ECN) && packet.payload_len() > 0 {
            packet.ecn = Mark::Ect0;
        }
    }
}
