//! Packets may leave and come without a checksum, in the care of a layer below that finds their
//! errors (RFC 9653).
//!
//! The only method that has a number is SCTP over DTLS (§6), and DTLS is not here: whoever sets
//! [`Config::zero_checksum`](crate::Config::zero_checksum) says that something below does what it
//! would do. Each side says so for what it receives, in its INIT or INIT ACK. A packet leaves
//! without a checksum where both have: the user of the sender must have allowed it, too (§5.2, a
//! MAY).

use super::Association;
use crate::extensions::Extensions;
use anabranch_wire::sctp::{Chunk, SctpPacket};
use anabranch_wire::{Body, Packet};

/// Returns whether a packet with this chunk has its checksum (§5.2 1 to 3): the chunk may belong to
/// no association yet, or to one that is found otherwise than by tag and ports, or it answers what
/// came out of the blue. Of an INIT ACK the INIT decides that it answers.
fn needs_checksum(chunk: &Chunk) -> bool {
    matches!(
        chunk,
        Chunk::Init(_)
            | Chunk::InitAck(_)
            | Chunk::CookieEcho(_)
            | Chunk::Asconf { .. }
            | Chunk::Abort { reflected: true, .. }
            | Chunk::ShutdownComplete { reflected: true }
    )
}

impl Association {
    /// Returns whether a packet is dropped for its checksum: it is zero and not right, and this
    /// side has not said that it takes that (§5.3). An INIT begins an association, for which
    /// nothing was said.
    #[inline]
    pub(super) fn misses_checksum(&self, sctp: &SctpPacket) -> bool {
        sctp.zero_checksum
            && (!self.config.zero_checksum || matches!(sctp.chunks.first(), Some(Chunk::Init(_))))
    }

    /// Gives a packet that leaves zero as its checksum, if the association may do without (§5.2).
    #[cold]
    pub(super) fn leave_checksum_out(&self, packet: &mut Packet) {
        if let Body::Sctp(sctp) = &mut packet.body
            && self.extensions.has(Extensions::ZERO_CHECKSUM)
            && (sctp.dst_port, sctp.tag) == (self.identity.peer_port, self.identity.peer_tag)
            && !sctp.chunks.iter().any(needs_checksum)
        {
            sctp.zero_checksum = true;
        }
    }
}
