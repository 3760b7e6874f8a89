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
const HOP_NS: f64 = 100.0;
const MEETING_NS: f64 = 1000.0;
const CROSSING_NS: f64 = 140.0;
/// A run that is not sped up by this much is not divided.
const LEAST_SPEEDUP: f64 = 1.15;
/// This many divisions are improved, with so many looks at nodes and links each, and each group is tried so
/// often.
const IMPROVED: usize = 4;
const MOST_LOOKS: usize = 20_000_000;
const MOST_ROUNDS: usize = 10;

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
        let mut found: Vec<(Plan, Groups)> = Vec::new();
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
                found.push((Plan { part_of, parts: count, lookahead, speedup }, groups.clone()));
            }
            // The best of them are worth a closer look.
            found.sort_by(|one, other| other.0.speedup.total_cmp(&one.0.speedup));
            found.truncate(IMPROVED);
        }
        let improved = found.into_iter().map(|(mut plan, mut groups)| {
            plan.improve(&mut groups, &load);
            plan
        });
        let best = improved.max_by(|one, other| one.speedup.total_cmp(&other.speedup));
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

    /// Moves one group of nodes after the other to another part, as long as that makes the run faster.
    fn improve(&mut self, groups: &mut Groups, load: &Load) {
        let members = groups.members();
        let size = load.nodes.len() + load.links.len();
        let rounds = (MOST_LOOKS / (members.len() * self.parts * size).max(1)).min(MOST_ROUNDS);
        for _ in 0..rounds {
            let before = self.speedup;
            for group in &members {
                let from = self.part_of[group[0]];
                for to in 0..self.parts as u32 {
                    if to == self.part_of[group[0]] {
                        continue;
                    }
                    let was = self.part_of[group[0]];
                    group.iter().for_each(|node| self.part_of[*node] = to);
                    let is_alone = !self.part_of.contains(&from);
                    let speedup = load.speedup(&self.part_of, self.parts, self.lookahead);
                    if speedup > self.speedup && !is_alone {
                        self.speedup = speedup;
                    } else {
                        group.iter().for_each(|node| self.part_of[*node] = was);
                    }
                }
            }
            if self.speedup == before {
                return;
            }
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
        (network.watched || !network.observers.are_divisible(), "observers of packets or queues"),
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

/// What is to be done at each node and over each link, in packet-hops, as far as it can be told before, and
/// how many hops there are in a second.
///
/// Flows share links by max-min fairness: the link that has least for each of its flows gives it to them,
/// then the next, and so on. What a flow has to move takes as long as its share needs for it; flows without
/// end are counted for as long as the longest of the others.
struct Load {
    /// The nodes that each link joins.
    ends: Vec<(usize, usize)>,
    nodes: Vec<f64>,
    links: Vec<f64>,
    hops_per_s: f64,
}

/// Octets of a segment.
const SEGMENT: f64 = 1500.0;
/// An ACK for every second segment.
const ACKS: f64 = 0.5;
/// What an endpoint does with a segment, in hops.
const ENDPOINT: f64 = 2.0;

/// The data of one direction of a flow.
struct Stream {
    /// Nodes at which it starts and ends.
    nodes: [usize; 2],
    /// The links that it takes, and those that its ACKs take.
    links: [Vec<usize>; 2],
    /// Octets; infinite without an end.
    octets: f64,
    /// Its share of the links, in octets a second.
    rate: f64,
}

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
        let mut streams = streams(simulation);
        let rate = |link: &anabranch_network::Link| {
            link.rate_at(Time::ZERO).map_or(0.0, |rate| rate.as_bps() as f64 / 8.0)
        };
        share(&mut streams, network.links.iter().map(rate).collect());
        let seconds = |stream: &Stream| stream.octets / stream.rate;
        let longest = streams.iter().map(seconds).filter(|seconds| seconds.is_finite());
        let longest = longest.fold(0.0, f64::max);
        let longest = if longest > 0.0 { longest } else { 1.0 };
        for stream in &streams {
            let segments = stream.octets.min(stream.rate * longest) / SEGMENT;
            let [from, to] = stream.nodes;
            load.nodes[from] += ENDPOINT * segments;
            load.nodes[to] += ENDPOINT * segments;
            for (links, packets) in stream.links.iter().zip([segments, ACKS * segments]) {
                for link in links {
                    load.links[*link] += packets;
                    load.nodes[load.ends[*link].0] += packets;
                }
            }
        }
        load.hops_per_s = load.links.iter().sum::<f64>() / longest;
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

/// The data of all flows, of both directions.
fn streams<E: FlowEndpoint>(simulation: &Simulation<E>) -> Vec<Stream> {
    let mut streams = Vec::new();
    for pair in simulation.endpoints.chunks_exact(2) {
        let nodes = [0, 1].map(|side| NodeId(pair[side].endpoint.flow_key().src.0));
        let way = |from: usize, to: usize| {
            let mut links = Vec::new();
            let hop = |_, link: LinkId| links.push(link.0 as usize);
            simulation.network.for_each_hop((nodes[from], nodes[to]), hop);
            links
        };
        for (from, to) in [(0, 1), (1, 0)] {
            let octets = match pair[to].app.expected() {
                0 => continue,
                u64::MAX => f64::INFINITY,
                octets => octets as f64,
            };
            streams.push(Stream {
                nodes: [from, to].map(|side| nodes[side].0 as usize),
                links: [way(from, to), way(to, from)],
                octets,
                rate: 0.0,
            });
        }
    }
    streams
}

/// Gives each stream its max-min share of the links, which carry so many octets a second.
fn share(streams: &mut [Stream], mut left: Vec<f64>) {
    let mut users = vec![0_usize; left.len()];
    let mut open: Vec<&mut Stream> = streams.iter_mut().collect();
    for link in open.iter().flat_map(|stream| &stream.links[0]) {
        users[*link] += 1;
    }
    while !open.is_empty() {
        let shares = left.iter().zip(&users).map(|(left, users)| left / *users as f64);
        let tightest = shares.enumerate().filter(|(_, share)| !share.is_nan());
        let Some((tightest, share)) = tightest.min_by(|one, other| one.1.total_cmp(&other.1))
        else {
            return;
        };
        let (done, rest): (Vec<_>, Vec<_>) =
            open.into_iter().partition(|stream| stream.links[0].contains(&tightest));
        if done.is_empty() {
            return;
        }
        for stream in done {
            stream.rate = share.max(1.0);
            for link in &stream.links[0] {
                left[*link] = (left[*link] - share).max(0.0);
                users[*link] -= 1;
            }
        }
        open = rest;
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

    /// The nodes of each group.
    fn members(&mut self) -> Vec<Vec<usize>> {
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for node in 0..self.0.len() {
            members.entry(self.of(node)).or_default().push(node);
        }
        members.into_values().collect()
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
