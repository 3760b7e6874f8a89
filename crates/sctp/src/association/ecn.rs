//! Explicit congestion notification works as in RFC 4960 Appendix A, since RFC 9260 leaves it to a
//! document of its own: both sides offer it, packets with data are ECN-capable, the receiver
//! reports marks by ECNE until a CWR answers, and the sender halves the window of the path, once in
//! a round trip.

use super::Association;
use crate::extensions::Extensions;
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::{Chunk, SctpPacket};
use anabranch_wire::{Ecn as Mark, Packet};

impl Association {
    /// Notes that a packet came with CE.
    #[cold]
    pub(super) fn on_mark(&mut self, sctp: &SctpPacket) {
        if self.extensions.has(Extensions::ECN) && self.control.marks.on_mark(sctp) {
            self.receiver.sacks.ask();
        }
    }

    /// Handles an ECNE: a chunk of this side's was in a packet that was marked.
    pub(super) fn on_ecne(&mut self, now: Time, tsn: Serial32) {
        let data_path = self.paths.data_path();
        if self.sender.on_ecne(now, tsn, &mut self.paths, data_path) {
            self.control.waiting.push(Chunk::Cwr(tsn));
        }
    }

    /// Makes a packet with data say that routers may mark it.
    #[cold]
    pub(super) fn make_capable(&self, packet: &mut Packet) {
        if self.extensions.has(Extensions::ECN) && packet.payload_len() > 0 {
            packet.ecn = Mark::Ect0;
        }
    }
}
