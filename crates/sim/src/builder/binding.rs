//! Gives endpoints their ports.

use super::{BuildError, SimulationBuilder};
use crate::FlowEndpoint;
use crate::flow::{FlowId, Side};
use crate::ports::Ports;
use anabranch_network::NodeId;
use std::collections::BTreeMap;

/// A port of a host, and the endpoint that has it, or one of those.
#[derive(Clone, Copy)]
struct Binding {
    host: NodeId,
    port: u16,
    endpoint: u32,
    /// It is the port of the endpoint's flow, no further one.
    is_first: bool,
}

impl<E: FlowEndpoint> SimulationBuilder<E> {
    /// Every port of the flows, those of the flows themselves first.
    fn bindings(&self) -> Vec<Binding> {
        let first = (0..).zip(self.bound.iter().flatten()).map(|(endpoint, &(node, port))| {
            Binding { host: self.owner(node), port, endpoint, is_first: true }
        });
        let more = self.also_bound.iter().map(|&(flow, side, port)| {
            let node = self.bound[flow.0 as usize][side as usize].0;
            let endpoint = flow.endpoint(side);
            Binding { host: self.owner(node), port, endpoint, is_first: false }
        });
        first.chain(more).collect()
    }

    /// The ports of hosts inside the simulation, and of those outside.
    pub(super) fn bind_ports(&mut self) -> Result<[Ports; 2], BuildError> {
        let bindings = self.bindings();
        let is_outside = |node: NodeId| self.outside.contains(&self.owner(node));
        let nodes = self.node_names.len();
        let mut both = [false, true].map(|outside| {
            let these = bindings.iter().filter(|binding| is_outside(binding.host) == outside);
            let listening =
                self.agents.receptions.iter().map(|reception| (reception.host, reception.port));
            let listening = listening.filter(|listening| is_outside(listening.0) == outside);
            Ports::new(nodes, these.map(|item| (item.host, item.port)).chain(listening))
        });
        let mut shares = BTreeMap::new();
        for &Binding { host, port, endpoint, is_first } in &bindings {
            let ports = &mut both[is_outside(host) as usize];
            let (flow, node) = (|| self.flow_of(endpoint), || self.node_of(endpoint));
            let bound = if self.shared.contains(&(host, port)) {
                let share = *shares.entry(host).or_insert_with(|| ports.share());
                let is_server = endpoint % 2 == 1;
                // Its listener makes the endpoint.
                let is_made = is_server && self.reception_of(endpoint as usize / 2).is_some();
                if is_first && !is_made {
                    let found = &self.endpoints[endpoint as usize].endpoint;
                    ports.join_share(share, endpoint, found).map_err(|taken| {
                        BuildError::Indistinct { flow: flow(), node: node(), taken }
                    })?;
                }
                ports.bind_shared(host, port, share)
            } else {
                ports.bind(host, port, endpoint)
            };
            if !bound {
                return Err(BuildError::PortInUse { flow: flow(), node: node(), port });
            }
        }
        let mut listening = Vec::new();
        for (at, reception) in self.agents.receptions.iter().enumerate() {
            let ports = &mut both[is_outside(reception.host) as usize];
            let share = *shares.entry(reception.host).or_insert_with(|| ports.share());
            let before = &self.agents.receptions[..at];
            let twice = before.iter().any(|other| other.listens_where(reception));
            if twice || !ports.bind_shared(reception.host, reception.port, share) {
                let node = self.node_names[reception.host.0 as usize].clone();
                let listener = reception.name.clone();
                return Err(BuildError::NotFree { listener, node, port: reception.port });
            }
            listening.push(share);
        }
        for (interface, host) in &self.owners {
            both.iter_mut().for_each(|ports| ports.alias(*interface, *host));
        }
        self.agents.shares = listening;
        Ok(both)
    }

    /// The name of the flow of an endpoint.
    fn flow_of(&self, endpoint: u32) -> String {
        let flow = &self.flows[endpoint as usize / 2];
        self.flow_names[flow.name as usize].clone()
    }

    /// The name of the host, or interface, that the flow names there.
    fn node_of(&self, endpoint: u32) -> String {
        let (node, _) = self.bound[endpoint as usize / 2][endpoint as usize % 2];
        self.node_names[node.0 as usize].clone()
    }

    /// The endpoint of that side of a flow has one more port of its host.
    pub fn also_bind(&mut self, flow: FlowId, side: Side, port: u16) {
        self.also_bound.push((flow, side, port));
    }

    /// Endpoints of several flows may have this port of `host`, itself not an
    /// interface: packets find theirs by addresses and ports, and by tokens
    /// ([`Demux`](anabranch_endpoint::Demux)); the host refuses what is for none.
    pub fn share_port(&mut self, host: NodeId, port: u16) {
        self.shared.insert((host, port));
    }
}
