//! Ports that listen to strangers, and attacks: floods, packets into flows of others, and ends of
//! flows that do not tell the truth.

use super::Transport;
use super::network::Network;
use super::options::{mptcp, sctp, tcp};
use crate::draw::{Draw, Options, bytes, micros, number, table};
use anabranch_attack::{ATTACKS, Info, Kind, Target};
use toml::{Table, Value};

/// Packets of an attack, about, at most: a run has some ten thousand events.
const PACKETS: u64 = 3000;
/// The last of the ports that hosts may listen at.
const LAST_PORT: u64 = 40_000;

/// Ports where servers of some flows listen to strangers too.
pub(super) fn listeners(draw: &mut Draw, network: &Network, flows: &mut [Value]) -> Vec<Table> {
    let mut all: Vec<Table> = Vec::new();
    for flow in flows.iter_mut().filter_map(Value::as_table_mut) {
        if !draw.chance(0.2) {
            continue;
        }
        let protocol = transport(flow);
        let there = |found: &Table| found["host"] == flow["to"] && transport(found) == protocol;
        let port = match all.iter().find(|found| there(found)) {
            Some(found) => found["port"].clone(),
            None => {
                let made = listener(draw, network, flow["to"].clone(), protocol, all.len());
                let port = made["port"].clone();
                all.push(made);
                port
            }
        };
        flow.insert("port".into(), port);
    }
    all
}

fn listener(
    draw: &mut Draw,
    network: &Network,
    host: Value,
    transport: Transport,
    number_of_it: usize,
) -> Table {
    let options = protocol(draw, transport, network);
    let mut o = Options::new(draw, 0.4);
    o.table = options;
    o.put("name", format!("p{number_of_it}")).put("host", host);
    let port = o.draw.between(1, LAST_PORT);
    o.put("port", number(port));
    o.maybe("backlog", |draw| number(draw.spread(1, 256)));
    if transport != Transport::Sctp {
        o.maybe("half_open", |draw| number(draw.spread(1, 512)));
        o.word("cookies", &["off", "when-full", "always"]);
    }
    o.maybe("connections", |draw| number(draw.spread(1, 256)));
    o.maybe("respond", |draw| bytes(draw.spread(1, 10_000)));
    o.table
}

/// The fields that say which transport, and its options.
fn protocol(draw: &mut Draw, transport: Transport, network: &Network) -> Table {
    match transport {
        Transport::Tcp => table([("tcp", tcp(draw, network, false).0.into())]),
        Transport::Mptcp => table([
            ("protocol", "mptcp".into()),
            ("tcp", tcp(draw, network, true).0.into()),
            ("mptcp", mptcp(draw).into()),
        ]),
        Transport::Sctp => {
            let mut options = sctp(draw, network).0;
            // A port opens nothing and has no addresses to change.
            options.remove("dynamic_addresses");
            options.remove("address_changes");
            table([("protocol", "sctp".into()), ("sctp", options.into())])
        }
    }
}

fn transport(of: &Table) -> Transport {
    match of.get("protocol").and_then(Value::as_str) {
        Some("sctp") => Transport::Sctp,
        Some("mptcp") => Transport::Mptcp,
        _ => Transport::Tcp,
    }
}

/// One attack or several, and the time that the run takes.
pub(super) fn attacks(
    draw: &mut Draw,
    network: &mut Network,
    listeners: &[Table],
    flows: &[Value],
) -> (Vec<Value>, Value) {
    let n = draw.pick(&[1, 1, 1, 2, 3]);
    let mut all = Vec::new();
    for i in 0..n {
        let target = match listeners.is_empty() {
            true => draw.pick(&[Target::Flow, Target::Peer, Target::Peer]),
            false => draw.pick(&[Target::Port, Target::Port, Target::Flow, Target::Peer]),
        };
        let mut made = match target {
            Target::Port => against_port(draw, network, listeners),
            _ => against_flow(draw, network, flows, target),
        };
        made.insert("name".into(), format!("x{i}").into());
        if draw.chance(0.7) {
            made.insert("start".into(), draw.time(1, 5_000_000));
        }
        all.push(Value::Table(made));
    }
    // Transfers either are interrupted, or have the time to complete after all.
    let longest = if draw.chance(0.5) { 30_000_000 } else { 20_000_000_000 };
    (all, draw.time(1_000_000, longest))
}

/// One of the attacks against that, for one of these transports.
fn kind(draw: &mut Draw, target: Target, transport: Transport) -> &'static Info {
    let name = match transport {
        Transport::Tcp => "tcp",
        Transport::Sctp => "sctp",
        Transport::Mptcp => "mptcp",
    };
    let knows = |attack: &&Info| attack.target == target && attack.transports.contains(&name);
    let all: Vec<&Info> = ATTACKS.iter().filter(knows).collect();
    draw.pick(&all)
}

fn against_port(draw: &mut Draw, network: &mut Network, listeners: &[Table]) -> Table {
    let port = &listeners[draw.between(0, listeners.len() as u64 - 1) as usize];
    let host = port["host"].as_str().expect("a name");
    let attack = kind(draw, Target::Port, transport(port));
    let mut made = from_outside(draw, network, host);
    made.insert("kind".into(), attack.name.into());
    // Sometimes at a door that is closed.
    let closed = draw.chance(0.05).then(|| number(draw.between(1, LAST_PORT)));
    made.insert("port".into(), closed.unwrap_or_else(|| port["port"].clone()));
    made
}

fn against_flow(draw: &mut Draw, network: &mut Network, flows: &[Value], target: Target) -> Table {
    let flow = flows[draw.between(0, flows.len() as u64 - 1) as usize].as_table().expect("a flow");
    let end = |name: &str| flow[name].as_str().expect("a name");
    let attack = kind(draw, target, transport(flow));
    let mut made = match target {
        Target::Peer => {
            // A server that listens is honest.
            let lies = if flow.contains_key("port") { "from" } else { draw.pick(&["from", "to"]) };
            let mut made = table([("from", end(lies).into())]);
            if draw.chance(0.3) {
                made.insert("duration".into(), draw.time(1000, 20_000_000));
            }
            made
        }
        _ => {
            let victim = draw.pick(&["from", "to"]);
            let mut made = from_outside(draw, network, end(victim));
            if draw.chance(0.8) {
                let aim = draw.pick(&["exact", "window", "sweep", "random"]);
                made.insert("aim".into(), aim.into());
            }
            made
        }
    };
    let most = match attack.kind {
        Kind::AckDivision | Kind::DupAckSpoofing => 40,
        Kind::OctetSegments => 200,
        _ => 50_000,
    };
    if draw.chance(0.5) {
        made.insert("size".into(), number(draw.spread(1, most)));
    }
    made.insert("kind".into(), attack.name.into());
    made.insert("flow".into(), flow["name"].clone());
    made
}

/// Draws who attacks a host, and at what rate: a host of its own, or another one.
fn from_outside(draw: &mut Draw, network: &mut Network, victim: &str) -> Table {
    let (from, to) = network.attacker(draw, victim);
    let per_second = draw.spread(1, 100_000);
    let lasts = draw.spread(1, PACKETS) * 1_000_000 / per_second;
    let mut made = table([("from", from.into()), ("to", to.into())]);
    made.insert("per_second".into(), number(per_second));
    made.insert("duration".into(), micros(lasts.max(1)));
    if draw.chance(0.5) {
        let n = if draw.chance(0.3) { 0 } else { draw.spread(1, 65_536) };
        made.insert("addresses".into(), number(n));
    }
    made
}
