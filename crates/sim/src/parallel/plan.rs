//! Which part simulates which node.
//!
//! Parts may be joined by plain links with a propagation delay alone (a drop-tail queue, one rate, one
//! delay), the longest that leave enough to do for all: the shortest of them is how far parts go on between
//! two meetings. Nodes that other links join, the interfaces of a host, and both ends of flows whose
//! applications know of each other are in one part.

mod groups;
mod load;

use crate::FlowEndpoint;
use crate::simulation::Simulation;
use anabranch_units::{Span, Time};
use groups::{Groups, divide};
use load::Load;
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

    /// The part that simulates each node, by the node's number.
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
