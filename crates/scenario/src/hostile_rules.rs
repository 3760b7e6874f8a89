//! What listening ports and attacks of a scenario must fulfil beside its other parts.

use crate::InputError;
use crate::graph::Graph;
use crate::schema::{AttackSpec, FlowSpec, ListenSpec, Protocol, Scenario, SctpSpec, Workload};
use crate::validate::{Names, shorten};
use anabranch_attack::Target;
use anabranch_sim::Sizes;
use anabranch_units::Bytes;

/// Most attacks of a scenario: each may have forged addresses of its own.
const MOST_ATTACKS: usize = 100;

pub(crate) fn check(s: &Scenario, graph: &Graph<'_>) -> Result<(), InputError> {
    check_listeners(s)?;
    check_ports(s, graph)?;
    let mut names = Names::default();
    if s.attacks.len() > MOST_ATTACKS {
        let allowed = format!("at most {MOST_ATTACKS} attacks");
        return Err(InputError::field("attacks", s.attacks.len(), allowed));
    }
    for (i, attack) in s.attacks.iter().enumerate() {
        names.add(&attack.name, format!("attacks[{i}].name"))?;
        check_attack(s, graph, attack, &|name| format!("attacks[{i}].{name}"))?;
    }
    if !s.attacks.is_empty() && s.duration.is_none() {
        let allowed = "a duration such as \"10 s\" in a scenario with attacks";
        return Err(InputError::required("duration", allowed));
    }
    Ok(())
}

fn is_sctp(protocol: &Protocol) -> bool {
    matches!(protocol, Protocol::Sctp(_))
}

fn check_listeners(s: &Scenario) -> Result<(), InputError> {
    let mut names = Names::default();
    for (i, listener) in s.listeners.iter().enumerate() {
        let field = |name: &str| format!("listen[{i}].{name}");
        names.add(&listener.name, field("name"))?;
        if !s.hosts.iter().any(|host| host.name == listener.host) {
            let allowed =
                format!("a host: {}", shorten(s.hosts.iter().map(|host| host.name.as_str())));
            return Err(InputError::field(field("host"), &listener.host, allowed));
        }
        let same = |other: &ListenSpec| {
            (&other.host, other.port) == (&listener.host, listener.port)
                && is_sctp(&other.protocol) == is_sctp(&listener.protocol)
        };
        if s.listeners[..i].iter().any(same) {
            let allowed = "a port of its own, for each transport";
            return Err(InputError::field(field("port"), listener.port, allowed));
        }
    }
    Ok(())
}

/// The listening port that a flow ends at.
pub(crate) fn listener_of<'a>(
    s: &'a Scenario,
    graph: &Graph<'_>,
    flow: &FlowSpec,
) -> Option<&'a ListenSpec> {
    let host = graph.owner(graph.interface(&flow.to)?);
    let port = flow.port?;
    let is_it = |listen_spec: &&ListenSpec| {
        listen_spec.host == host
            && listen_spec.port == port
            && is_sctp(&listen_spec.protocol) == is_sctp(&flow.protocol)
    };
    s.listeners.iter().find(is_it)
}

fn check_ports(s: &Scenario, graph: &Graph<'_>) -> Result<(), InputError> {
    for (i, flow) in s.flows.iter().enumerate() {
        let listener = listener_of(s, graph, flow);
        let port = flow.port.unwrap_or(0);
        if listener.is_none() && flow.port.is_some() && is_sctp(&flow.protocol) {
            let allowed = "none in a flow over SCTP, unless its host listens there";
            return Err(InputError::field(format!("flows[{i}].port"), port, allowed));
        }
        if let Some(listener) = listener
            && listener.protocol.name() != flow.protocol.name()
        {
            let allowed =
                format!("{}, as the port {port} of {}", listener.protocol.name(), flow.to);
            let field = format!("flows[{i}].protocol");
            return Err(InputError::field(field, flow.protocol.name(), allowed));
        }
        if let (Protocol::Sctp(client), Some(Protocol::Sctp(server))) =
            (&flow.protocol, listener.map(|listener| &listener.protocol))
        {
            check_association(client, server, flow, &|name| format!("flows[{i}].{name}"))?;
        }
    }
    Ok(())
}

/// What flows whose ends have the same options are asked when they are read: that no message goes
/// on a stream that there is not, and that the other side has room for each chunk and message.
fn check_association(
    client: &SctpSpec,
    server: &SctpSpec,
    flow: &FlowSpec,
    field: &dyn Fn(&str) -> String,
) -> Result<(), InputError> {
    let port = flow.port.unwrap_or(0);
    for (way, writer, reader) in [("", client, server), ("reverse.", server, client)] {
        let (sends, buffer) = (&writer.config, reader.config.receive_buffer);
        let chunk = sends.message_size.unwrap_or_else(|| sends.max_payload());
        if chunk > buffer {
            let allowed =
                format!("chunks of at most {}, the receive buffer there", Bytes(buffer.into()));
            let what = format!("port {port}, {} a chunk", Bytes(chunk.into()));
            return Err(InputError::field(field("port"), what, allowed));
        }
        let messages = match &flow.workload {
            Workload::Messages(messages) if way.is_empty() => Some(messages),
            Workload::Messages(messages) => messages.reverse.as_deref(),
            _ => None,
        };
        let Some(messages) = messages else { continue };
        let most = sends.outbound_streams.min(reader.config.inbound_streams);
        if messages.streams > most {
            let allowed = format!("at most {most}, for the port {port}");
            let field = field(&format!("traffic.{way}streams"));
            return Err(InputError::field(field, messages.streams, allowed));
        }
        let most = u64::from(buffer).min(sends.send_buffer);
        if let Sizes::Constant { mean } = &messages.size
            && *mean > most
        {
            let allowed = format!("at most {}, what both buffers hold", Bytes(most));
            let field = field(&format!("traffic.{way}size"));
            return Err(InputError::field(field, Bytes(*mean), allowed));
        }
    }
    Ok(())
}

fn check_attack(
    s: &Scenario,
    graph: &Graph<'_>,
    attack: &AttackSpec,
    field: &dyn Fn(&str) -> String,
) -> Result<(), InputError> {
    let info = attack.kind.info();
    let owner = |name: &str, end: &str| match graph.interface(end) {
        Some(interface) => Ok(graph.owner(interface)),
        None => {
            let names = graph.interfaces().map(|node| graph.names()[node].as_str());
            Err(InputError::field(field(name), end, format!("a host: {}", shorten(names))))
        }
    };
    let from = owner("from", &attack.from)?;
    let to = attack.to.as_deref().map(|to| owner("to", to)).transpose()?;
    if to == Some(from) {
        let allowed = format!("another host than `from` ({from})");
        return Err(InputError::field(field("to"), from, allowed));
    }
    if let (Some(to), false) = (&attack.to, info.target == Target::Peer) {
        let node = |name: &str| graph.interface(name).expect("checked above");
        if !graph.reaches(node(&attack.from), node(to)) {
            let allowed = format!("a host that links lead to from {}", attack.from);
            return Err(InputError::field(field("to"), to, allowed));
        }
    }
    let Some(name) = &attack.flow else { return Ok(()) };
    let named =
        |flow_spec: &&FlowSpec| flow_spec.name == *name || flow_spec.names().any(|of| of == *name);
    let Some(flow) = s.flows.iter().find(named) else {
        let names: Vec<_> = s.flows.iter().flat_map(|flow| flow.names()).take(20).collect();
        let allowed = format!("a flow: {}", shorten(names.iter().map(String::as_str)));
        return Err(InputError::field(field("flow"), name, allowed));
    };
    if !info.transports.contains(&flow.protocol.name()) {
        let allowed = format!("a flow over {} for {}", info.transports.join(" or "), info.name);
        return Err(InputError::field(field("flow"), name, allowed));
    }
    let ends = [owner("flow", &flow.from)?, owner("flow", &flow.to)?];
    let (role, end) = match info.target {
        Target::Peer => ("from", from),
        _ => ("to", to.unwrap_or_default()),
    };
    if !ends.contains(&end) {
        let allowed = format!("an end of the flow {name}: {} or {}", ends[0], ends[1]);
        return Err(InputError::field(field(role), end, allowed));
    }
    if info.target == Target::Peer && end == ends[1] && listener_of(s, graph, flow).is_some() {
        let allowed = format!("the client of the flow {name} ({}): its server listens", ends[0]);
        return Err(InputError::field(field("from"), end, allowed));
    }
    Ok(())
}
