//! Knows which endpoint has which port of which node.
//!
//! A port belongs to one endpoint, or is shared: then the host's [`Demux`] tells
//! whose a packet is.

use crate::app::Hosted;
use anabranch_endpoint::{Demultiplex, Demux, Taken};
use anabranch_network::NodeId;
use anabranch_wire::{Body, FlowKey, Packet};

/// The owners of ports: for each node an array over the range of its ports, all in one table, so
/// that a host with one flow costs one entry wherever its port is.
#[derive(Debug)]
pub(crate) struct Ports {
    rows: Vec<Row>,
    /// An endpoint, or from [`SHARED`] on the place of a table in `shared`.
    table: Vec<u32>,
    /// Tables of the hosts with shared ports.
    shared: Vec<Demux>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    base: u32,
    first: u16,
    /// The last port; below `first` for a node without endpoints.
    last: u16,
}

const UNBOUND: u32 = u32::MAX;
const SHARED: u32 = 1 << 31;

impl Ports {
    /// Tables for `nodes` nodes on which `bound` and nothing else will be
    /// bound.
    pub(crate) fn new(nodes: usize, bound: impl Iterator<Item = (NodeId, u16)>) -> Ports {
        let mut rows = vec![Row { base: 0, first: u16::MAX, last: 0 }; nodes];
        for (node, port) in bound {
            let row = &mut rows[node.0 as usize];
            (row.first, row.last) = (row.first.min(port), row.last.max(port));
        }
        let mut len = 0_u32;
        for row in rows.iter_mut().filter(|row| row.first <= row.last) {
            row.base = len;
            let ports = (row.last - row.first) as u32 + 1;
            len = len.checked_add(ports).expect("tables of ports have fewer than 2^32 entries");
        }
        Ports { rows, table: vec![UNBOUND; len as usize], shared: Vec::new() }
    }

    /// A place for the endpoints that share ports of a host.
    pub(crate) fn share(&mut self) -> u32 {
        self.shared.push(Demux::default());
        self.shared.len() as u32 - 1
    }

    /// Lets the endpoints of `share` have the port; false when another has it.
    pub(crate) fn bind_shared(&mut self, node: NodeId, port: u16, share: u32) -> bool {
        let place = self.place(node, port).expect("every port to be bound has a place");
        let entry = &mut self.table[place];
        if *entry == UNBOUND {
            *entry = SHARED | share;
        }
        *entry == SHARED | share
    }

    /// Adds an endpoint to a share.
    pub(crate) fn join_share(
        &mut self,
        share: u32,
        number: u32,
        endpoint: &impl Demultiplex,
    ) -> Result<(), Taken> {
        self.shared[share as usize].insert(number, endpoint)
    }

    /// Binds a port; false when it is in use.
    pub(crate) fn bind(&mut self, node: NodeId, port: u16, endpoint: u32) -> bool {
        let place = self.place(node, port).expect("every port to be bound has a place");
        let free = self.table[place] == UNBOUND;
        if free {
            self.table[place] = endpoint;
        }
        free
    }

    /// Gives `node` the ports of `owner`, all of which are bound.
    pub(crate) fn alias(&mut self, node: NodeId, owner: NodeId) {
        self.rows[node.0 as usize] = self.rows[owner.0 as usize];
    }

    /// The endpoint that alone has the port.
    #[inline]
    pub(crate) fn endpoint(&self, node: NodeId, port: u16) -> Option<u32> {
        let endpoint = self.table[self.place(node, port)?];
        (endpoint < SHARED).then_some(endpoint)
    }

    /// Whether the port is shared by several endpoints.
    #[cold]
    pub(crate) fn is_shared(&self, node: NodeId, port: u16) -> bool {
        self.share_of(node, port).is_some()
    }

    /// The endpoint that a packet at a shared port is for.
    #[cold]
    pub(crate) fn among_shared<E: Demultiplex>(
        &mut self,
        node: NodeId,
        port: u16,
        packet: &Packet,
        endpoints: &[Hosted<E>],
    ) -> Option<u32> {
        let share = self.share_of(node, port)?;
        self.shared[share].find(packet, |number| &endpoints[number as usize].endpoint)
    }

    /// The endpoint at a shared port that is known to have a flow.
    #[cold]
    pub(crate) fn known(&self, node: NodeId, port: u16, flow: FlowKey) -> Option<u32> {
        self.shared[self.share_of(node, port)?].owner(flow)
    }

    /// The place of the table of a shared port.
    fn share_of(&self, node: NodeId, port: u16) -> Option<usize> {
        let entry = self.table[self.place(node, port)?];
        (SHARED..UNBOUND).contains(&entry).then_some((entry ^ SHARED) as usize)
    }

    #[inline]
    fn place(&self, node: NodeId, port: u16) -> Option<usize> {
        let row = self.rows[node.0 as usize];
        let inside = row.first <= port && port <= row.last;
        inside.then(|| row.base as usize + (port - row.first) as usize)
    }
}

/// The port of the endpoint that a packet is for.
#[inline]
pub(crate) fn port(packet: &Packet) -> u16 {
    match &packet.body {
        Body::Tcp(segment) => segment.dst_port,
        // To whoever sent what it quotes.
        Body::Icmp(icmp) => icmp.quote.flow_key().src_port,
        Body::Sctp(sctp) => sctp.dst_port,
        Body::Udp(datagram) => datagram.dst_port,
        // Protocols without ports: the endpoint at port 0.
        Body::Other { .. } => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alias_has_the_ports_of_its_owner() {
        let mut ports = Ports::new(3, [(NodeId(1), 80)].into_iter());
        assert!(ports.bind(NodeId(1), 80, 7));
        ports.alias(NodeId(2), NodeId(1));
        assert_eq!(ports.endpoint(NodeId(2), 80), Some(7));
        assert_eq!(ports.endpoint(NodeId(0), 80), None);
    }

    #[test]
    fn ports_belong_to_their_node_alone() {
        let bound = [(NodeId(0), 80), (NodeId(2), 0), (NodeId(2), u16::MAX), (NodeId(0), 83)];
        let mut ports = Ports::new(4, bound.into_iter());
        for (endpoint, (node, port)) in (0..).zip(bound) {
            assert!(ports.bind(node, port, endpoint));
        }
        assert!(!ports.bind(NodeId(0), 83, 9), "in use");
        for node in 0..4 {
            for port in 0..=u16::MAX {
                let expected = bound.iter().position(|bound| *bound == (NodeId(node), port));
                assert_eq!(
                    ports.endpoint(NodeId(node), port),
                    expected.map(|expected| expected as u32)
                );
            }
        }
    }
}
