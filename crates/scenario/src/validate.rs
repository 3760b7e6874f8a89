//! What a scenario as a whole must fulfil: names that exist, once each, and
//! an end; and paths between the hosts of each flow.

use crate::InputError;
use crate::build::FIRST_PORT;
use crate::graph::Graph;
use crate::hostile_rules::check as check_hostile;
use crate::multihoming;
use crate::quantity::{LONGEST_S, Quantity};
use crate::schema::{
    ChannelKind, ChannelSpec, Direction, Effect, Impairment, Ip, LinkSpec, Protocol, Scenario,
    What, Workload,
};
use anabranch_network::{ImpairmentKind, QueueConfig};
use anabranch_units::Span;
use std::collections::BTreeMap;

/// Largest number of hosts, routers or links.
const MOST_NODES: usize = 100_000;

/// Each flow has a port of its own at both hosts, or several.
const MOST_PORTS_OF_A_HOST: u64 = (u16::MAX - FIRST_PORT) as u64;

/// Checks what concerns more than one field.
pub(crate) fn check(s: &Scenario) -> Result<(), InputError> {
    let mut nodes = Names::default();
    let hosts: Vec<&str> = s.hosts.iter().map(|host| host.name.as_str()).collect();
    let routers = s.routers.iter().map(String::as_str).collect();
    for (kind, list) in [("hosts", hosts), ("routers", routers)] {
        if list.len() > MOST_NODES {
            let allowed = format!("at most {MOST_NODES} names");
            return Err(InputError::field(kind, list.len(), allowed));
        }
        for (i, name) in list.into_iter().enumerate() {
            nodes.add(name, format!("{kind}[{i}]"))?;
        }
    }
    for (i, host) in s.hosts.iter().enumerate() {
        for (j, interface) in host.interfaces.iter().enumerate() {
            check_name(interface, &format!("hosts[{i}].interfaces[{j}]"))?;
        }
    }
    let interfaces = s.hosts.iter().map(|host| host.interfaces.len()).sum::<usize>();
    if interfaces > MOST_NODES {
        let allowed = format!("at most {MOST_NODES} interfaces");
        return Err(InputError::field("hosts", interfaces, allowed));
    }
    let mut channels = Names::default();
    for (i, channel) in s.channels.iter().enumerate() {
        channels.add(&channel.name, format!("channels[{i}].name"))?;
    }
    let graph = Graph::new(s);
    check_links(s, &graph)?;
    check_flows(s, &graph)?;
    check_reachability(s, &graph)?;
    check_samples(s)?;
    check_hostile(s, &graph)?;
    check_references(s, &graph)
}

/// What is sampled fits a memory: 100 million samples of a series are 1.6 GB.
fn check_samples(s: &Scenario) -> Result<(), InputError> {
    const MOST: u64 = 100_000_000;
    let Some(duration) = s.duration else { return Ok(()) };
    for (i, observe) in s.observe.iter().enumerate() {
        let least = Span::from_picos(duration.as_picos().div_ceil(MOST));
        if let Some(interval) = observe.interval.filter(|interval| *interval < least) {
            let allowed = format!("at least {}, for {MOST} samples", least.write());
            let field = format!("observe[{i}].interval");
            return Err(InputError::field(field, interval.write(), allowed));
        }
    }
    Ok(())
}

fn check_links(s: &Scenario, graph: &Graph<'_>) -> Result<(), InputError> {
    let mut links = Names::default();
    for (i, link) in s.links.iter().enumerate() {
        for (j, end) in link.ends.iter().enumerate() {
            // A host with several interfaces is no end, each of them is.
            if graph.node(end).is_none_or(|node| graph.names()[node] != *end) {
                let mut names: Vec<_> = graph.names().iter().map(String::as_str).collect();
                names.sort_unstable();
                let allowed = format!("a host or router: {}", shorten(names.into_iter()));
                return Err(InputError::field(format!("links[{i}].ends[{j}]"), end, allowed));
            }
        }
        for (field, way) in [("rate", &link.forward), ("reverse.rate", &link.reverse)] {
            if way.mtu.0 * 8 / way.rate.as_bps() > LONGEST_S {
                let allowed = format!("rates that send a packet of {} within 10 days", way.mtu);
                return Err(InputError::field(format!("links[{i}].{field}"), way.rate, allowed));
            }
        }
        let ways = [("regulator", &link.forward), ("reverse.regulator", &link.reverse)];
        for ((field, way), from) in ways.into_iter().zip(&link.ends) {
            if way.regulator.is_some() && !s.routers.contains(from) {
                let allowed = "a direction that leaves a router, where a regulator stands";
                let value = format!("of {from}, a host");
                return Err(InputError::field(format!("links[{i}].{field}"), value, allowed));
            }
        }
        links.add(&link.name, format!("links[{i}].name"))?;
        links.add(&link.reverse_name, format!("links[{i}].reverse.name"))?;
    }
    Ok(())
}

fn check_flows(s: &Scenario, graph: &Graph<'_>) -> Result<(), InputError> {
    if s.flows.is_empty() && (s.listeners.is_empty() || s.duration.is_none()) {
        return Err(InputError::required("flows", "at least one flow"));
    }
    let mut names = Names::default();
    let mut ports: BTreeMap<&str, u64> = BTreeMap::new();
    for (i, flow) in s.flows.iter().enumerate() {
        let field = |name: &str| format!("flows[{i}].{name}");
        let owner = |name: &str, end: &str| match graph.interface(end) {
            Some(interface) => Ok(graph.owner(interface)),
            None => {
                let names = graph.interfaces().map(|node| graph.names()[node].as_str());
                let allowed = format!("a host: {}", shorten(names));
                Err(InputError::field(field(name), end, allowed))
            }
        };
        let ends = [owner("from", &flow.from)?, owner("to", &flow.to)?];
        if ends[0] == ends[1] {
            let allowed = format!("another host than `from` ({})", flow.from);
            return Err(InputError::field(field("to"), &flow.to, allowed));
        }
        let of_server = if flow.port.is_some() { 0 } else { flow.server_ports() };
        for (host, each) in ends.into_iter().zip([flow.client_ports(), of_server]) {
            let used = ports.entry(host).or_default();
            *used += u64::from(flow.count) * u64::from(each);
            if *used > MOST_PORTS_OF_A_HOST {
                let allowed = match each {
                    1 => format!("at most {MOST_PORTS_OF_A_HOST} flows at the host {host}"),
                    _ => format!("at most {MOST_PORTS_OF_A_HOST} ports, {each} a flow, at {host}"),
                };
                return Err(InputError::field(field("count"), flow.count, allowed));
            }
        }
        for name in flow.names() {
            names.add(&name, field("name"))?;
        }
        if !flow.has_end() && s.duration.is_none() && flow.duration.is_none() {
            let endless = matches!(flow.protocol, Protocol::Udp(_))
                || matches!(flow.workload, Workload::Video(_));
            let (name, allowed) = match endless {
                false => (
                    "size",
                    "a size such as \"4 MB\", unless the flow or the scenario has a duration",
                ),
                true => (
                    "duration",
                    "a time such as \"10 s\", unless the scenario has one: this traffic does not end \
                     by itself",
                ),
            };
            return Err(InputError::required(field(name), allowed));
        }
    }
    Ok(())
}

/// A path of links between the two interfaces of each flow.
fn check_reachability(s: &Scenario, graph: &Graph<'_>) -> Result<(), InputError> {
    for (i, flow) in s.flows.iter().enumerate() {
        let [client, server] = multihoming::interfaces(graph, flow, &format!("flows[{i}]"))?;
        let (from, to) = (client[0], server[0]);
        if !graph.reaches(from, to) {
            let leads = |node: &usize| graph.reaches(from, *node);
            let others: Vec<_> = graph.interfaces().filter(leads).collect();
            let others = others.into_iter().map(|node| graph.names()[node].as_str());
            let over = match (s.one_family(), graph.family(from)) {
                (Some(_), _) => "",
                (None, Ip::V4) => " over IPv4",
                (None, Ip::V6) => " over IPv6",
            };
            let from = &graph.names()[from];
            let allowed = match others.len() {
                0 => format!("a host that links lead to; none leads from {from} to any host{over}"),
                _ => format!("a host that links lead to from {from}{over}: {}", shorten(others)),
            };
            return Err(InputError::field(format!("flows[{i}].to"), &flow.to, allowed));
        }
        multihoming::ends(graph, flow, &format!("flows[{i}]"))?;
    }
    Ok(())
}

/// Flows and links that other fields name.
fn check_references(s: &Scenario, graph: &Graph<'_>) -> Result<(), InputError> {
    let flows = || s.flows.iter().flat_map(|flow| flow.names());
    let unknown_flow = |field: String, name: &str| {
        let names: Vec<_> = flows().take(20).collect();
        let allowed = format!("a flow: {}", shorten(names.iter().map(String::as_str)));
        InputError::field(field, name, allowed)
    };
    for (i, link) in s.links.iter().enumerate() {
        for (direction, of) in [("", &link.forward), ("reverse.", &link.reverse)] {
            for (j, impairment) in of.impairments.iter().enumerate() {
                let Effect::Packets { flow, .. } = &impairment.what else { continue };
                if !flows().any(|name| name == *flow) {
                    let field = format!("links[{i}].{direction}impairments[{j}].flow");
                    return Err(unknown_flow(field, flow));
                }
            }
            let QueueConfig::Htb(htb) = &of.queue else { continue };
            for (j, class) in htb.classes.iter().enumerate() {
                let field = |what| format!("links[{i}].{direction}queue.classes[{j}].{what}");
                let is_entry = |name: &String| s.flows.iter().any(|flow| flow.name == *name);
                let is_flow = |name: &String| is_entry(name) || flows().any(|flow| flow == *name);
                if let Some(flow) = class.matches.flows.iter().find(|name| !is_flow(name)) {
                    return Err(unknown_flow(field("flows"), flow));
                }
                let is_host = |name: &String| graph.interface(name).is_some();
                if let Some(host) = class.matches.hosts.iter().find(|name| !is_host(name)) {
                    let names: Vec<_> = s.hosts.iter().map(|host| host.name.as_str()).collect();
                    let allowed = format!("a host: {}", shorten(names.into_iter().take(20)));
                    return Err(InputError::field(field("hosts"), host, allowed));
                }
            }
        }
    }
    check_rewritten(s)?;
    for (i, observe) in s.observe.iter().enumerate() {
        if let Some(flow) = &observe.flow {
            let entry = s.flows.iter().any(|f| f.name == *flow);
            if !entry && !flows().any(|name| name == *flow) {
                return Err(unknown_flow(format!("observe[{i}].flow"), flow));
            }
        }
        let Some(link) = &observe.link else { continue };
        let (names, what) = observable(s, observe.what);
        if !names.contains(link) {
            let names = shorten(names.iter().take(20).map(String::as_str));
            let allowed = format!("a direction of a {what}: {names}");
            return Err(InputError::field(format!("observe[{i}].link"), link, allowed));
        }
    }
    Ok(())
}

/// The directions that a quantity of links can be asked of, and what they are of.
fn observable(s: &Scenario, what: What) -> (Vec<String>, &'static str) {
    if what == What::Cells {
        let lines = s.channels.iter().filter(|channel| matches!(channel.kind, ChannelKind::Abr(_)));
        let both = |channel_spec: &ChannelSpec| {
            [channel_spec.name.clone(), format!("{}-reverse", channel_spec.name)]
        };
        return (lines.flat_map(both).collect(), "line of ATM");
    }
    let (meant, of): (fn(&Direction) -> bool, _) = match what {
        What::Regulator => (|way| way.regulator.is_some(), "link with a regulator"),
        What::CellRate => (|way| way.cells.is_some(), "link that is a virtual channel"),
        _ => (|_| true, "link"),
    };
    let ways = |l: &'_ LinkSpec| {
        let meant = [&l.forward, &l.reverse].map(meant);
        let names = [&l.name, &l.reverse_name].map(|name| name.to_owned());
        names.into_iter().zip(meant).filter(|item| item.1).map(|item| item.0)
    };
    (s.links.iter().flat_map(ways).collect(), of)
}

/// Counted octets are the pattern at their sequence numbers, which are others behind a box that
/// rewrites them: a checksum over them would be wrong.
fn check_rewritten(s: &Scenario) -> Result<(), InputError> {
    let rewrites = |impairment: &Impairment| match &impairment.what {
        Effect::Any(ImpairmentKind::Middlebox(middlebox)) => middlebox.rewrite_sequence.is_some(),
        _ => false,
    };
    let ways = s.links.iter().flat_map(|link| [&link.forward, &link.reverse]);
    if !ways.flat_map(|way| &way.impairments).any(rewrites) {
        return Ok(());
    }
    for (i, flow) in s.flows.iter().enumerate() {
        let sums = matches!(&flow.protocol, Protocol::Mptcp(config) if config.checksum);
        if sums && !flow.octets {
            let allowed = "true where `mptcp.checksum` meets a box that rewrites sequence numbers";
            return Err(InputError::field(format!("flows[{i}].octets"), "false", allowed));
        }
    }
    Ok(())
}

/// Names that are there once each.
#[derive(Default)]
pub(crate) struct Names(BTreeMap<String, String>);

impl Names {
    pub(crate) fn add(&mut self, name: &str, field: String) -> Result<(), InputError> {
        check_name(name, &field)?;
        match self.0.insert(name.to_owned(), field.clone()) {
            None => Ok(()),
            Some(first) => {
                let allowed = format!("a name of its own; `{first}` has this name already");
                Err(InputError::field(field, name, allowed))
            }
        }
    }
}

fn check_name(name: &str, field: &str) -> Result<(), InputError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    match !name.is_empty() && name.len() <= 100 && name.chars().all(plain) {
        true => Ok(()),
        false => {
            let allowed = "1 to 100 letters a-z A-Z, digits, `-` and `_`";
            Err(InputError::field(field, format!("{name:?}"), allowed))
        }
    }
}

/// The first names, and that there are more.
pub(crate) fn shorten<'a>(mut names: impl Iterator<Item = &'a str>) -> String {
    let mut list = names.by_ref().take(12).collect::<Vec<_>>().join(", ");
    if names.next().is_some() {
        list.push_str(", …");
    }
    list
}
