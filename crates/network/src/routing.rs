//! Nodes, who is linked to whom, and static shortest-path routes in hops.
//! Among equally short paths the link with the lowest index is taken. Hosts
//! do not forward: no path leads through one.
//!
//! Tables are arrays indexed by address. A node with a single outgoing link
//! needs no table, so that a hundred thousand hosts cost nothing.

use anabranch_wire::Addr;
use std::collections::VecDeque;

/// A host or a router.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// One direction of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub u32);

/// The graph.
#[derive(Clone, Default, Debug)]
pub struct Topology {
    forwards: Vec<bool>,
    links: Vec<(NodeId, NodeId)>,
}

impl Topology {
    /// Adds a node; a router forwards, a host does not.
    pub fn add_node(&mut self, forwards: bool) -> NodeId {
        self.forwards.push(forwards);
        NodeId(self.forwards.len() as u32 - 1)
    }

    /// Adds a link in one direction.
    pub fn add_link(&mut self, from: NodeId, to: NodeId) -> LinkId {
        self.links.push((from, to));
        LinkId(self.links.len() as u32 - 1)
    }

    /// Where a link starts and ends.
    pub fn ends(&self, link: LinkId) -> (NodeId, NodeId) {
        self.links[link.0 as usize]
    }

    /// The node forwards.
    pub fn is_router(&self, node: NodeId) -> bool {
        self.forwards[node.0 as usize]
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.forwards.len()
    }

    /// The address of a node: its number.
    pub fn addr(&self, node: NodeId) -> Addr {
        Addr(node.0)
    }

    /// Computes all tables.
    pub fn routes(&self) -> Routes {
        let n = self.node_count();
        let mut outgoing = vec![Vec::new(); n];
        let mut incoming = vec![Vec::new(); n];
        for (index, (from, to)) in self.links.iter().enumerate() {
            outgoing[from.0 as usize].push(index as u32);
            incoming[to.0 as usize].push(index as u32);
        }

        let mut rows = Vec::with_capacity(n);
        let mut table = Vec::new();
        for links in &outgoing {
            let (base, mask) = (table.len() as u32, if links.len() > 1 { u32::MAX } else { 0 });
            rows.push(Row { base, mask });
            match links.as_slice() {
                [] => table.push(NO_LINK),
                [only] => table.push(*only),
                _ => table.resize(table.len() + n, NO_LINK),
            }
        }
        assert!(table.len() < u32::MAX as usize, "routing tables have fewer than 2^32 entries");

        if rows.iter().any(|row| row.mask != 0) {
            let mut hops = vec![UNREACHABLE; n];
            for dst in 0..n {
                self.hops_to(dst, &incoming, &mut hops);
                for (node, row) in rows.iter().enumerate().filter(|(_, row)| row.mask != 0) {
                    if hops[node] == UNREACHABLE || node == dst {
                        continue;
                    }
                    let leads = |link: &&u32| {
                        let to = self.links[**link as usize].1.0 as usize;
                        hops[to] == hops[node] - 1 && (to == dst || self.forwards[to])
                    };
                    let link = outgoing[node].iter().find(leads);
                    table[row.base as usize + dst] =
                        *link.expect("a reachable node has a next hop");
                }
            }
        }
        Routes { rows, table, addresses: n as u32 }
    }

    /// Hops from every node to `dst`, over routers only.
    fn hops_to(&self, dst: usize, incoming: &[Vec<u32>], hops: &mut [u32]) {
        hops.fill(UNREACHABLE);
        hops[dst] = 0;
        let mut reached = VecDeque::from([dst]);
        while let Some(node) = reached.pop_front() {
            if node != dst && !self.forwards[node] {
                continue;
            }
            for link in &incoming[node] {
                let from = self.links[*link as usize].0.0 as usize;
                if hops[from] == UNREACHABLE {
                    hops[from] = hops[node] + 1;
                    reached.push_back(from);
                }
            }
        }
    }

    /// Whether packets from `from` can reach `to`.
    pub fn reaches(&self, routes: &Routes, from: NodeId, to: NodeId) -> bool {
        let mut node = from;
        for _ in 0..=self.node_count() {
            if node == to {
                return true;
            }
            if node != from && !self.is_router(node) {
                return false;
            }
            match routes.next(node, self.addr(to)) {
                Some(link) => node = self.ends(link).1,
                None => return false,
            }
        }
        false
    }
}

const NO_LINK: u32 = u32::MAX;
const UNREACHABLE: u32 = u32::MAX;

/// Where a node's entries start; the mask is zero for a node whose single
/// entry serves all addresses.
#[derive(Clone, Copy, Debug)]
struct Row {
    base: u32,
    mask: u32,
}

/// Next hops of every node.
#[derive(Clone, Debug)]
pub struct Routes {
    rows: Vec<Row>,
    table: Vec<u32>,
    addresses: u32,
}

impl Routes {
    /// The link that `node` sends packets for `dst` over; `None` when there is
    /// none. A node with a single outgoing link sends everything over it.
    #[inline]
    pub fn next(&self, node: NodeId, dst: Addr) -> Option<LinkId> {
        if dst.0 >= self.addresses {
            return None;
        }
        let Row { base, mask } = self.rows[node.0 as usize];
        let link = self.table[(base + (dst.0 & mask)) as usize];
        (link != NO_LINK).then_some(LinkId(link))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortest_path_with_ties_to_the_lowest_link() {
        // a - r - {s, t} - u - b: two equal ways from r to u.
        let mut net = Topology::default();
        let (a, b) = (net.add_node(false), net.add_node(false));
        let [r, s, t, u] = [(); 4].map(|()| net.add_node(true));
        let a_r = net.add_link(a, r);
        let r_t = net.add_link(r, t);
        let r_s = net.add_link(r, s);
        let s_u = net.add_link(s, u);
        let t_u = net.add_link(t, u);
        let u_b = net.add_link(u, b);
        let u_r = net.add_link(u, r);
        let routes = net.routes();
        let to_b = net.addr(b);
        let next = |node| routes.next(node, to_b);
        assert_eq!([a, r, s, t, u].map(next), [a_r, r_t, s_u, t_u, u_b].map(Some));
        assert_ne!(Some(r_s), next(r));
        assert!(net.reaches(&routes, a, b));
        assert!(!net.reaches(&routes, b, a));
        assert_eq!(routes.next(u, net.addr(r)), Some(u_r));
        assert_eq!(routes.next(b, to_b), None);
        assert_eq!(routes.next(a, Addr(99)), None);
    }

    #[test]
    fn no_path_leads_through_a_host() {
        let mut net = Topology::default();
        let [a, m, b] = [(); 3].map(|()| net.add_node(false));
        net.add_link(a, m);
        net.add_link(m, b);
        let routes = net.routes();
        assert!(net.reaches(&routes, a, m));
        assert!(!net.reaches(&routes, a, b));
    }
}
