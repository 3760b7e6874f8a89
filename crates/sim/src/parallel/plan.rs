//! Which part simulates which node.
//!
//! Parts may be joined by plain links with a propagation delay alone (a drop-tail queue, one rate, one
//! delay), the longest that leave enough to do for all: the shortest of them is how far parts go on between
//! two meetings. Nodes that other links join, the interfaces of a host, and both ends of flows whose
//! applications know of each other are in one part.

use crate::FlowEndpoint;
use crate::simulation::Simulation;
use anabranch_network::{LinkId, NodeId};
use anabranch_units::{Span, Time};
use std::collections::BTreeMap;
use std::fmt;

/// How a network is divided, and how far its parts go on between two meetings.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    part_of: Vec<u32>,
    parts: usize,
    lookahead: Span,
    speedup: f64,
}

/// Why a run is not divided.
#[derive(Clone, PartialEq, Debug)]
pub enum Obstacle {
    /// The simulation has this, of which there is one for all parts.
    Shared(&'static str),
    /// No plain links with a delay divide the network.
    NoLinks,
    /// Parts would wait for each other more than they would gain: this many times as fast, by the model.
    NoGain(f64),
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::Shared(what) => write!(f, "it has {what}, which all parts would share"),
            Obstacle::NoLinks => write!(
                f,
                "no links with a drop-tail queue, one rate and a delay divide its network into parts"
            ),
            Obstacle::NoGain(speedup) => {
                write!(f, "parts would wait for each other: about {speedup:.1} times as fast")
            }
        }
    }
}

/// Nanoseconds that a packet costs on a link, two threads to meet, and a packet to cross into another
/// part: measured (docs/performance.md, "One run on several cores").
const HOP_NS: f64 = 150.0;
const MEETING_NS: f64 = 600.0;
const CROSSING_NS: f64 = 120.0;
/// A run that is not sped up by this much is not divided.
const LEAST_SPEEDUP: f64 = 1.15;
/// A flow without end counts as this many octets.
const ENDLESS: f64 = 1e9;

impl Plan {
    /// Divides the network of a simulation, which has not begun, into `parts` parts at the most.
    pub fn new<E: FlowEndpoint>(
        simulation: &Simulation<E>,
        parts: usize,
    ) -> Result<Plan, Obstacle> {
        if let Some(what) = shared(simulation) {
            return Err(Obstacle::Shared(what));
        }
        let load = Load::of(simulation);
        let joined = joined(simulation);
        let mut delays: Vec<Span> =
            (0..load.links.len()).filter_map(|i| cut_delay(simulation, i)).collect();
        delays.sort();
        delays.dedup();
        let mut best: Option<Plan> = None;
        for lookahead in delays.into_iter().rev() {
            let mut groups = joined.clone();
            for (link, ends) in load.ends.iter().enumerate() {
                if cut_delay(simulation, link).is_none_or(|delay| delay < lookahead) {
                    groups.join(ends.0, ends.1);
                }
            }
            for count in 2..=parts {
                let Some(part_of) = divide(&mut groups, &load, count) else { break };
                let speedup = load.speedup(&part_of, count, lookahead);
                if best.as_ref().is_none_or(|best| speedup > best.speedup) {
                    best = Some(Plan { part_of, parts: count, lookahead, speedup });
                }
            }
        }
        best.ok_or(Obstacle::NoLinks)
    }

    /// Divides it likewise, if the run gains by that.
    pub fn that_gains<E: FlowEndpoint>(
        simulation: &Simulation<E>,
        parts: usize,
    ) -> Result<Plan, Obstacle> {
        let plan = Plan::new(simulation, parts)?;
        match plan.speedup < LEAST_SPEEDUP {
            true => Err(Obstacle::NoGain(plan.speedup)),
            false => Ok(plan),
        }
    }

    /// How many parts there are, 2 or more.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// The part of each node.
    pub fn part_of(&self) -> &[u32] {
        &self.part_of
    }

    /// How far parts go on between two meetings.
    pub fn lookahead(&self) -> Span {
        self.lookahead
    }

    /// How many times as fast the run should be as on one core, by the model.
    pub fn speedup(&self) -> f64 {
        self.speedup
    }
}

/// What the simulation has of which there is one for all nodes.
fn shared<E: FlowEndpoint>(simulation: &Simulation<E>) -> Option<&'static str> {
    let network = &simulation.network;
    let all = [
        (network.watched || network.observers.states(), "observers"),
        (simulation.outside.is_some(), "hosts outside"),
        (simulation.agents.is_some() || !network.forged.is_empty(), "listening ports or attackers"),
        (network.hosts.is_some(), "hosts with a processor, a queue or delays of their own"),
        (!network.regulators.list.is_empty(), "regulators"),
        (!network.channels.list.is_empty(), "channels"),
        (network.atm.is_some(), "ATM lines"),
        (network.now != Time::ZERO, "a past"),
    ];
    all.into_iter().find(|(has, _)| *has).map(|(_, what)| what)
}

/// The delay of a link that may join parts.
fn cut_delay<E: FlowEndpoint>(simulation: &Simulation<E>, link: usize) -> Option<Span> {
    simulation.network.links[link].plain_delay().filter(|delay| *delay > Span::ZERO)
}

/// Nodes that are in one part whatever the links between them.
fn joined<E: FlowEndpoint>(simulation: &Simulation<E>) -> Groups {
    let mut groups = Groups::new(simulation.layout.owners.len());
    for (node, owner) in simulation.layout.owners.iter().enumerate() {
        groups.join(node, owner.0 as usize);
    }
    let node = |index: usize| simulation.endpoints[index].endpoint.flow_key().src.0 as usize;
    let mut of_barrier = BTreeMap::new();
    for client in (0..simulation.endpoints.len()).step_by(2) {
        let pair = [client, client + 1];
        let apps = pair.map(|index| &simulation.endpoints[index].app);
        let sources = apps.iter().filter_map(|app| app.source_number());
        let sources: Vec<_> = sources.map(|number| &simulation.context.sources[number]).collect();
        let know = apps.iter().any(|app| app.channel_number().is_some())
            || sources.iter().any(|source| source.server().is_some());
        if know {
            groups.join(node(client), node(client + 1));
        }
        for barrier in sources.iter().filter_map(|source| source.barrier()) {
            let first = *of_barrier.entry(barrier).or_insert(node(client));
            groups.join(first, node(client));
        }
    }
    groups
}

/// What is to be done at each node and over each link, in packet-hops, as far as it can be told from
/// the flows' lengths, and how many hops there are in a second at the most.
struct Load {
    /// The nodes that each link joins.
    ends: Vec<(usize, usize)>,
    nodes: Vec<f64>,
    links: Vec<f64>,
    hops_per_s: f64,
}

/// An ACK for every second segment of 1500 octets.
const SEGMENT: f64 = 1500.0;
const ACKS: f64 = 0.5;
/// What an endpoint does with a segment, in hops.
const ENDPOINT: f64 = 2.0;

impl Load {
    fn of<E: FlowEndpoint>(simulation: &Simulation<E>) -> Load {
        let network = &simulation.network;
        let starts = simulation.layout.starts.iter();
        let ends = starts.zip(&network.ends).map(|(from, to)| (from.0 as usize, to.0 as usize));
        let mut load = Load {
            ends: ends.collect(),
            nodes: vec![0.0; simulation.layout.owners.len()],
            links: vec![0.0; network.links.len()],
            hops_per_s: 0.0,
        };
        let mut per_s = vec![0.0; network.links.len()];
        for pair in simulation.endpoints.chunks_exact(2) {
            let nodes = [0, 1].map(|side| NodeId(pair[side].endpoint.flow_key().src.0));
            let octets = [1, 0].map(|reader| match pair[reader].app.expected() {
                u64::MAX => ENDLESS,
                octets => (octets as f64).min(ENDLESS),
            });
            for (from, to) in [(0, 1), (1, 0)] {
                let packets = (octets[from] + ACKS * octets[to]) / SEGMENT;
                load.nodes[nodes[from].0 as usize] += ENDPOINT * packets;
                load.nodes[nodes[to].0 as usize] += ENDPOINT * packets;
                let mut way = Vec::new();
                network.for_each_hop((nodes[from], nodes[to]), |_, link| way.push(link));
                let rate = |link: &LinkId| network.links[link.0 as usize].rate_at(Time::ZERO);
                let least = way.iter().filter_map(rate).map(|rate| rate.as_bps()).min();
                let share = packets * SEGMENT / (octets[0] + octets[1]).max(1.0);
                for link in way {
                    let index = link.0 as usize;
                    load.links[index] += packets;
                    load.nodes[load.ends[index].0] += packets;
                    per_s[index] += share * least.unwrap_or(0) as f64 / (8.0 * SEGMENT);
                }
            }
        }
        for (link, per_s) in per_s.into_iter().enumerate() {
            let rate = network.links[link].rate_at(Time::ZERO).map_or(0, |rate| rate.as_bps());
            load.hops_per_s += per_s.min(rate as f64 / (8.0 * SEGMENT));
        }
        load
    }

    /// How many times as fast `parts` parts are as one: what is to be done in a window by one, and by the
    /// part that has most to do, with what crosses and a meeting.
    fn speedup(&self, part_of: &[u32], parts: usize, lookahead: Span) -> f64 {
        let mut most = vec![0.0; parts];
        for (node, work) in self.nodes.iter().enumerate() {
            most[part_of[node] as usize] += work;
        }
        let whole: f64 = self.nodes.iter().sum();
        let hops: f64 = self.links.iter().sum();
        for (link, packets) in self.links.iter().enumerate() {
            let (from, to) = self.ends[link];
            if part_of[from] != part_of[to] {
                most[part_of[from] as usize] += packets * CROSSING_NS / HOP_NS / 2.0;
                most[part_of[to] as usize] += packets * CROSSING_NS / HOP_NS / 2.0;
            }
        }
        if hops == 0.0 {
            return 0.0;
        }
        let most = most.into_iter().fold(0.0, f64::max);
        let hops_in_window = self.hops_per_s * lookahead.as_secs_f64();
        let alone = HOP_NS * hops_in_window;
        alone / (alone * most / whole + 2.0 * MEETING_NS)
    }
}

/// Groups of nodes that stay together.
#[derive(Clone, Debug)]
struct Groups(Vec<usize>);

impl Groups {
    fn new(nodes: usize) -> Groups {
        Groups((0..nodes).collect())
    }

    /// The node that stands for the group of `node`.
    fn of(&mut self, node: usize) -> usize {
        let mut root = node;
        while self.0[root] != root {
            self.0[root] = self.0[self.0[root]];
            root = self.0[root];
        }
        root
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.of(one), self.of(other));
        let (first, second) = (one.min(other), one.max(other));
        self.0[second] = first;
    }
}

/// Divides groups into `parts` parts of about as much to do: the group with the most that is left begins a
/// part, and neighbours join it while it has less than its share. `None` if there are fewer groups.
fn divide(groups: &mut Groups, load: &Load, parts: usize) -> Option<Vec<u32>> {
    let nodes = load.nodes.len();
    let mut work: BTreeMap<usize, f64> = BTreeMap::new();
    for node in 0..nodes {
        *work.entry(groups.of(node)).or_default() += load.nodes[node];
    }
    if work.len() < parts {
        return None;
    }
    let mut shared: BTreeMap<usize, BTreeMap<usize, f64>> = BTreeMap::new();
    for (link, (from, to)) in load.ends.iter().enumerate() {
        let (from, to) = (groups.of(*from), groups.of(*to));
        if from != to {
            *shared.entry(from).or_default().entry(to).or_default() += load.links[link];
            *shared.entry(to).or_default().entry(from).or_default() += load.links[link];
        }
    }
    let mut part_of_group: BTreeMap<usize, u32> = BTreeMap::new();
    let mut left: f64 = work.values().sum();
    for part in 0..parts as u32 {
        let share = left / f64::from(parts as u32 - part);
        let mut mine = 0.0;
        let mut pull: BTreeMap<usize, f64> = BTreeMap::new();
        loop {
            let is_last = part as usize == parts - 1;
            let free = |group: &usize| !part_of_group.contains_key(group);
            let (remaining, missing) =
                (work.len() - part_of_group.len(), parts - 1 - part as usize);
            if remaining == 0 || !is_last && mine > 0.0 && (mine >= share || remaining <= missing) {
                break;
            }
            // The neighbour that most goes to; else, as at first, the group with the most to do.
            let near = pull.iter().filter(|(group, _)| free(group));
            let next = near.max_by(|one, other| one.1.total_cmp(other.1)).map(|(group, _)| *group);
            let most = || {
                let rest = work.iter().filter(|(group, _)| free(group));
                rest.max_by(|one, other| one.1.total_cmp(other.1)).map(|(group, _)| *group)
            };
            let Some(group) = next.or_else(most) else { break };
            // Not much more than its share, where there is something in it already.
            if !is_last && mine > 0.0 && mine + work[&group] - share > share - mine {
                pull.remove(&group);
                if pull.keys().any(free) {
                    continue;
                }
                break;
            }
            part_of_group.insert(group, part);
            mine += work[&group].max(f64::MIN_POSITIVE);
            for (other, packets) in shared.get(&group).into_iter().flatten() {
                *pull.entry(*other).or_default() += packets;
            }
            pull.remove(&group);
        }
        left -= mine;
    }
    Some((0..nodes).map(|node| part_of_group[&groups.of(node)]).collect())
}
