//! ICMP errors are handled here (RFC 9260 §10), but only those about packets of this association,
//! by ports, address and verification tag.
//!
//! "Packet too big" makes the packets of its path smaller from then on (§7.3; `mtu.rs`). A chunk
//! that has its TSN cannot be cut: it is sent again alone, in a packet that IP may cut (§6.9).
//! "Protocol unreachable", and over IPv6 "unknown next header", end the association, as an ABORT
//! would (ICMP8). All others are ignored: paths fail by their timers.

use super::Association;
use crate::state::State;
use anabranch_endpoint::CloseReason;
use anabranch_units::Time;
use anabranch_wire::{Icmp, IcmpKind, Packet, SctpPacket};

impl Association {
    pub(super) fn on_icmp(&mut self, now: Time, icmp: &Icmp) {
        let (quote, key) = (&icmp.quote, icmp.quote.flow_key());
        // ICMP6: an INIT's tag is zero, and its own is not in the quote.
        let ours = quote.protocol == SctpPacket::PROTOCOL
            && (key.src_port, key.dst_port) == (self.identity.local_port, self.identity.peer_port)
            && quote.seq().0 == self.identity.peer_tag
            && self.identity.peer_tag != 0
            && self.state() != State::Closed;
        let Some(path) = self.paths.find(quote.dst).filter(|_| ours) else { return };
        match icmp.kind {
            IcmpKind::PacketTooBig { mtu } => {
                let mtu = match mtu {
                    0 => plateau(quote.len as u32 + self.config.ip_header),
                    // It counts a header of IPv4.
                    mtu => mtu.saturating_add(self.config.ip_header - Packet::IP_HEADER),
                };
                self.on_too_big(now, path, mtu);
            }
            IcmpKind::ProtocolUnreachable | IcmpKind::UnknownNextHeader => {
                let opening = self.phase.is_opening();
                self.finish(if opening { CloseReason::Refused } else { CloseReason::Reset });
            }
            _ => {}
        }
    }
}

/// Returns the next smaller MTU that is common, for routers that do not say theirs (RFC 1191 §7.1).
fn plateau(len: u32) -> u32 {
    [32_000, 17_914, 8166, 4352, 2002, 1492, 1006].into_iter().find(|mtu| *mtu < len).unwrap_or(508)
}
