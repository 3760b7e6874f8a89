//! Forged ICMP errors (RFC 5927) about packets of a connection of others: that its
//! peer cannot be reached, that its packets are too big, and errors that break off
//! inside of what they quote.

use super::scene::Scene;
use super::{Aim, Form};
use crate::Kind;
use anabranch_wire::{Body, Icmp, IcmpKind, Packet, Payload, Quote, icmp};

/// The least MTU of IPv4 (RFC 791 §3.2).
const LEAST_MTU: u32 = 68;

/// Forged ICMP errors of one kind.
pub(super) struct Errors {
    pub kind: Kind,
    pub aim: Aim,
}

impl Form for Errors {
    fn forge(&mut self, scene: &mut Scene<'_>) {
        let (victim, _) = scene.sight.victim;
        let (router, _) = scene.stranger();
        if self.kind == Kind::IcmpFragment {
            // Type 3, code 3, and half a header of IP.
            let mut octets = vec![3, 3, 0, 0, 0, 0, 0, 0];
            octets.extend_from_slice(&scene.octets::<10>());
            let payload = Payload::of_octets(octets);
            let body = Body::Other { protocol: icmp::PROTOCOL_V4, payload };
            return scene.out.push_back(Packet::new(router, victim, body));
        }
        // What the victim sent last is quoted; the numbers are as the aim has them.
        let Some(sent) = &scene.last[scene.sight.side] else { return };
        let mut quote = Quote::of(sent);
        if self.aim != Aim::Exact {
            let seq = match self.aim {
                Aim::Window => quote.seq().add(1 << 16 | scene.generator.below(1 << 20) as u32),
                _ => anabranch_units::Serial32(scene.random()),
            };
            quote.first[4..].copy_from_slice(&seq.0.to_be_bytes());
        }
        let kind = match self.kind {
            Kind::IcmpTooBig => IcmpKind::PacketTooBig { mtu: LEAST_MTU },
            _ if scene.generator.chance(0.5) => IcmpKind::ProtocolUnreachable,
            _ => IcmpKind::PortUnreachable,
        };
        let body = Body::Icmp(Box::new(Icmp { kind, quote }));
        scene.out.push_back(Packet::new(router, victim, body));
    }
}
