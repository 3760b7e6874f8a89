//! ICMP messages of a script: what they say, whatever they quote.

use crate::script::IcmpSpec;
use anabranch_wire::IcmpKind;

/// What an ICMP message of a script says.
pub(super) fn kind(spec: &IcmpSpec) -> Result<IcmpKind, String> {
    let code = spec.code.as_deref().unwrap_or("net_unreachable");
    Ok(match (spec.kind.as_str(), code) {
        ("unreachable", "frag_needed") | ("packet_too_big", _) => {
            IcmpKind::PacketTooBig { mtu: spec.mtu.unwrap_or(0) }
        }
        ("unreachable", "net_unreachable" | "net_unknown" | "net_unreachable_for_tos") => {
            IcmpKind::NoRoute
        }
        ("unreachable", "host_unreachable" | "host_unknown" | "source_route_failed")
        | ("unreachable", "src_host_isolated" | "host_unreachable_for_tos") => {
            IcmpKind::HostUnreachable
        }
        ("unreachable", "protocol_unreachable") => IcmpKind::ProtocolUnreachable,
        ("unreachable", "port_unreachable") => IcmpKind::PortUnreachable,
        ("unreachable", "net_prohibited" | "host_prohibited" | "packet_filtered") => {
            IcmpKind::Prohibited
        }
        ("time_exceeded" | "exceeded", _) => IcmpKind::TimeExceeded,
        (kind, code) => return Err(format!("a message of ICMP {kind} {code}")),
    })
}
