//! What acts in a simulation besides links, endpoints and flows' dates: listening
//! ports, attackers, and who looks at a host's memory.

use crate::assault::Assault;
use crate::gauge::Gauge;
use crate::reception::Reception;
use anabranch_network::NodeId;
use anabranch_units::Time;
use anabranch_wire::{Addr, Packet};

/// All of them. Their events have the numbers after those of endpoints: ports
/// first, then attackers, then gauges.
pub(crate) struct Agents<E> {
    pub receptions: Vec<Reception<E>>,
    pub assaults: Vec<Assault>,
    pub gauges: Vec<Gauge>,
    /// Host of each node, by the node's number.
    pub owners: Vec<NodeId>,
    /// Number of the shared port of each reception.
    pub shares: Vec<u32>,
}

/// Names one agent by its kind and its place among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Agent {
    Reception(usize),
    Assault(usize),
    Gauge(usize),
}

impl<E> Default for Agents<E> {
    fn default() -> Agents<E> {
        let (owners, shares) = (Vec::new(), Vec::new());
        let (receptions, assaults, gauges) = (Vec::new(), Vec::new(), Vec::new());
        Agents { receptions, assaults, gauges, owners, shares }
    }
}

impl<E> Agents<E> {
    pub(crate) fn len(&self) -> usize {
        self.receptions.len() + self.assaults.len() + self.gauges.len()
    }

    /// Addresses that attackers forge: the first, how many, and the attacker's node.
    pub(crate) fn forged(&self) -> impl Iterator<Item = (Addr, u32, NodeId)> + '_ {
        self.assaults.iter().map(|assault| (assault.forged.0, assault.forged.1, assault.node))
    }

    /// The one with this number.
    pub(crate) fn agent(&self, number: usize) -> Agent {
        let (receptions, assaults) = (self.receptions.len(), self.assaults.len());
        match number {
            _ if number < receptions => Agent::Reception(number),
            _ if number < receptions + assaults => Agent::Assault(number - receptions),
            _ => Agent::Gauge(number - receptions - assaults),
        }
    }

    /// Returns the number of the agent's event source, counted from the first agent.
    pub(crate) fn number(&self, agent: Agent) -> usize {
        match agent {
            Agent::Reception(at) => at,
            Agent::Assault(at) => self.receptions.len() + at,
            Agent::Gauge(at) => self.receptions.len() + self.assaults.len() + at,
        }
    }
}

impl<E: crate::FlowEndpoint> Agents<E> {
    /// Returns when the agent is to be called; [`Time::NEVER`] for not at all.
    pub(crate) fn due(&self, agent: Agent) -> Time {
        match agent {
            Agent::Reception(at) => self.receptions[at].due(),
            Agent::Assault(at) => self.assaults[at].attacker.poll_timeout(),
            Agent::Gauge(at) => self.gauges[at].due(),
        }
    }

    /// Who takes a packet that reached a node and is for none of its endpoints: a
    /// listening port of its host, or else an attacker there.
    pub(crate) fn taker(&self, node: NodeId, port: u16, packet: &Packet) -> Option<Agent> {
        let host = self.owners[node.0 as usize];
        let listens =
            self.receptions.iter().position(|reception| reception.is_for(host, port, packet));
        let attacks = || self.assaults.iter().position(|assault| assault.node == node);
        listens.map(Agent::Reception).or_else(|| attacks().map(Agent::Assault))
    }
}
