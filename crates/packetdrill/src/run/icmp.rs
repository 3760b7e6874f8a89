//! ICMP messages of a script, of IPv4 and IPv6: what they say, whatever they quote.

use crate::script::IcmpSpec;
use anabranch_wire::IcmpKind;

/// What an ICMP message of a script says; `None` for one that no transport here acts on: source
/// quench (RFC 6633), and redirects, which are the routing's.
pub(super) fn kind(spec: &IcmpSpec) -> Result<Option<IcmpKind>, String> {
    let code = spec.code.as_deref().unwrap_or("net_unreachable");
    Ok(Some(match (spec.kind.as_str(), code) {
        ("unreachable", "frag_needed") | ("packet_too_big", _) => {
            IcmpKind::PacketTooBig { mtu: spec.mtu.unwrap_or(0) }
        }
        ("unreachable", "net_unreachable" | "net_unknown" | "net_unreachable_for_tos")
        | ("unreachable", "no_route") => IcmpKind::NoRoute,
        ("unreachable", "host_unreachable" | "host_unreachable_for_tos")
        | ("unreachable", "address_unreachable" | "addr_unreachable" | "not_neighbour") => {
            IcmpKind::HostUnreachable
        }
        ("unreachable", "source_route_failed") => IcmpKind::SourceRouteFailed,
        ("unreachable", "host_unknown") => IcmpKind::HostUnknown,
        ("unreachable", "src_host_isolated" | "source_host_isolated") => IcmpKind::HostIsolated,
        ("unreachable", "protocol_unreachable") => IcmpKind::ProtocolUnreachable,
        ("parameter_problem", "unknown_next_header") => IcmpKind::UnknownNextHeader,
        ("unreachable", "port_unreachable") => IcmpKind::PortUnreachable,
        ("unreachable", "net_prohibited" | "host_prohibited")
        | ("unreachable", "packet_filtered" | "admin_prohibited")
        | ("unreachable", "precedence_violation" | "precedence_cutoff") => IcmpKind::Prohibited,
        ("parameter_problem", _) => IcmpKind::ParameterProblem,
        ("time_exceeded" | "exceeded", "frag_reass_exceeded" | "exceeded_frag_time") => {
            IcmpKind::ReassemblyTimeExceeded
        }
        ("time_exceeded" | "exceeded", _) => IcmpKind::TimeExceeded,
        ("redirect" | "source_quench", _) => return Ok(None),
        (kind, code) => return Err(format!("a message of ICMP {kind} {code}")),
    }))
}
