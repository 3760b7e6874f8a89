//! Fields of the IP header that a script sets or expects.

use crate::script::{Ect, IpSpec};
use anabranch_wire::{Ecn, Packet};

/// Gives a packet that comes what the script says about its header.
pub(super) fn mark(spec: &IpSpec, packet: &mut Packet) {
    if let Some(tos) = spec.tos {
        (packet.dscp, packet.ecn) = (tos >> 2, Ecn::from_bits(tos));
    }
    match spec.ect {
        None | Some(Ect::None) => {}
        Some(Ect::Ect0 | Ect::Either) => packet.ecn = Ecn::Ect0,
        Some(Ect::Ect1) => packet.ecn = Ecn::Ect1,
        Some(Ect::Ce) => packet.ecn = Ecn::Ce,
    }
    packet.ttl = spec.ttl.unwrap_or(packet.ttl);
}

/// What is wrong about the header of a packet that left, in words.
pub(super) fn differs(spec: &IpSpec, packet: &Packet) -> Option<String> {
    let ecn_fits = match spec.ect {
        None => true,
        Some(Ect::None) => packet.ecn == Ecn::NotEct,
        Some(Ect::Ect0) => packet.ecn == Ecn::Ect0,
        Some(Ect::Ect1) => packet.ecn == Ecn::Ect1,
        Some(Ect::Either) => matches!(packet.ecn, Ecn::Ect0 | Ecn::Ect1),
        Some(Ect::Ce) => packet.ecn == Ecn::Ce,
    };
    if !ecn_fits {
        return Some(format!("the ECN field is {:?}", packet.ecn));
    }
    if spec.ttl.is_some_and(|ttl| ttl != packet.ttl) {
        return Some(format!("{} hops are left", packet.ttl));
    }
    let tos = packet.dscp << 2 | packet.ecn as u8;
    spec.tos
        .filter(|expected| *expected != tos)
        .map(|_| format!("the octet of DSCP and ECN is {tos:#04x}"))
}

/// The ECN field as a script would write it, with a space behind.
pub(super) fn shown_ecn(packet: &Packet) -> &'static str {
    match packet.ecn {
        Ecn::NotEct => "",
        Ecn::Ect0 => "[ect0] ",
        Ecn::Ect1 => "[ect1] ",
        Ecn::Ce => "[ce] ",
    }
}
