//! Between which nodes packets go.

use super::SimulationBuilder;
use crate::FlowEndpoint;
use anabranch_network::NodeId;
use std::collections::BTreeMap;

impl<E: FlowEndpoint> SimulationBuilder<E> {
    /// Every interface of each host with those of each that it has a flow with, both ways.
    pub(super) fn interface_pairs(&self, flows: &[(NodeId, NodeId)]) -> Vec<(NodeId, NodeId)> {
        let mut of_host = BTreeMap::<NodeId, Vec<NodeId>>::new();
        for (interface, host) in &self.owners {
            of_host.entry(*host).or_insert_with(|| vec![*host]).push(*interface);
        }
        let all = |node: NodeId| {
            let host = self.owner(node);
            of_host.get(&host).cloned().unwrap_or_else(|| vec![host])
        };
        let mut pairs = Vec::new();
        for (client, server) in flows {
            for from in all(*client) {
                pairs.extend(all(*server).into_iter().flat_map(|to| [(from, to), (to, from)]));
            }
        }
        pairs
    }
}
