//! Listening ports, attackers and gauges of a simulation to be built.

use super::SimulationBuilder;
use crate::FlowEndpoint;
use crate::agents::Agents;
use crate::assault::{Assault, AttackResult, AttackSpec};
use crate::flow::FlowId;
use crate::gauge::Gauge;
use crate::reception::{ListenSpec, Reception};
use anabranch_network::NodeId;
use anabranch_units::{Span, Time};

impl<E: FlowEndpoint> SimulationBuilder<E> {
    /// Lets anybody open connections to a port. Of flows that end there the server's
    /// endpoint is the one that the port makes; the one given with the flow is never
    /// called.
    pub fn listen(&mut self, spec: ListenSpec<E>) {
        self.shared.insert((spec.host, spec.port));
        self.agents.receptions.push(Reception::new(spec));
    }

    /// Adds an attacker to the simulation.
    pub fn attack(&mut self, spec: AttackSpec) {
        let AttackSpec { name, node, attacker, forged, overhears } = spec;
        let (overheard, result) = (None, AttackResult::default());
        let assault = Assault { name, node, attacker, forged, overhears: overheard, result };
        self.agents.assaults.push(assault);
        self.overheard.push(overhears);
    }

    /// Somebody deceives the ends of a flow, so that their ending in order says nothing of its
    /// octets.
    pub fn distrust(&mut self, flow: FlowId) {
        self.flows[flow.0 as usize].is_deceived = true;
    }

    /// Looks at what the endpoints and listening ports of a host, itself not an
    /// interface, take in memory: each `every`, until a date.
    pub fn gauge(&mut self, host: NodeId, every: Span, until: Time) {
        self.agents.gauges.push(Gauge::new(host, every, until));
    }

    /// The listening port that the server of a flow is to be found at, by its number.
    pub(super) fn reception_of(&self, flow: usize) -> Option<usize> {
        let (node, port) = self.bound[flow][1];
        let key = self.endpoints[2 * flow + 1].endpoint.flow_key();
        let is_it =
            |reception: &Reception<E>| reception.listens_at(self.owner(node), port, key.protocol);
        self.agents.receptions.iter().position(is_it)
    }

    /// What acts beside links and endpoints; `None` where nothing does.
    pub(super) fn finish_agents(&mut self) -> Option<Box<Agents<E>>> {
        let mut agents = std::mem::take(&mut self.agents);
        if agents.len() == 0 {
            return None;
        }
        let nodes = (0..self.node_names.len() as u32).map(NodeId);
        agents.owners = nodes.map(|node| self.owner(node)).collect();
        for (flow, sides) in self.bound.iter().enumerate() {
            for (side, (node, _)) in sides.iter().enumerate() {
                let host = self.owner(*node);
                let gauges = agents.gauges.iter_mut().filter(|gauge| gauge.host == host);
                gauges.for_each(|gauge| gauge.endpoints.push((2 * flow + side) as u32));
            }
            let (node, port) = sides[1];
            let key = self.endpoints[2 * flow + 1].endpoint.flow_key();
            let host = self.owner(node);
            let at = |reception: &&mut Reception<E>| reception.listens_at(host, port, key.protocol);
            if let Some(reception) = agents.receptions.iter_mut().find(at) {
                reception.expect(key.reversed(), 2 * flow as u32 + 1);
            }
        }
        Some(Box::new(agents))
    }
}
