//! Nodes, who is linked to whom, and static shortest-path routes in hops.
//! Among equally short paths the link with the lowest index is taken, or, with
//! equal-cost multipath (RFC 2992), the one that a hash of the flow chooses:
//! all packets of a flow take one path. Hosts do not forward: no path leads
//! through one.
//!
//! Tables are arrays indexed by address. A node with a single outgoing link
//! needs no table, so that a hundred thousand hosts cost nothing.

use crate::hash::mix;
use anabranch_wire::Addr;
use std::collections::{BTreeMap, VecDeque};

/// `NodeId` is a host or a router, by its number in the topology.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

/// `LinkId` is the number of one direction of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LinkId(pub u32);

/// Nodes and directed links, from which routes are computed.
#[derive(Clone, Default, Debug)]
pub struct Topology {
    forwards: Vec<bool>,
    links: Vec<(NodeId, NodeId)>,
    multipath: bool,
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

    /// Spreads flows over all shortest paths.
    pub fn set_multipath(&mut self, multipath: bool) {
        self.multipath = multipath;
    }

    /// Returns the nodes at which a link starts and ends.
    pub fn ends(&self, link: LinkId) -> (NodeId, NodeId) {
        self.links[link.0 as usize]
    }

    /// Returns whether the node forwards packets.
    pub fn is_router(&self, node: NodeId) -> bool {
        self.forwards[node.0 as usize]
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> usize {
        self.forwards.len()
    }

    /// Returns the address of a node, which is its number.
    pub fn addr(&self, node: NodeId) -> Addr {
        Addr(node.0)
    }

    /// Computes the routing tables of all nodes.
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

        let mut groups = Groups::default();
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
                    let equal = outgoing[node].iter().copied().filter(|link| leads(&link));
                    let most = if self.multipath { usize::MAX } else { 1 };
                    let equal: Vec<u32> = equal.take(most).collect();
                    table[row.base as usize + dst] = match equal[..] {
                        [] => unreachable!("a reachable node has a next hop"),
                        [only] => only,
                        _ => groups.add(equal),
                    };
                }
            }
        }
        Routes { rows, table, groups, addresses: n as u32 }
    }

    /// Counts hops from every node to `dst`, over routers only.
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

    /// Returns whether packets from `from` can reach `to`.
    pub fn reaches(&self, routes: &Routes, from: NodeId, to: NodeId) -> bool {
        let mut node = from;
        for _ in 0..=self.node_count() {
            if node == to {
                return true;
            }
            if node != from && !self.is_router(node) {
                return false;
            }
            // Whichever of equal links: all lead there.
            match routes.next(node, self.addr(to), || 0) {
                Some(link) => node = self.ends(link).1,
                None => return false,
            }
        }
        false
    }
}

const NO_LINK: u32 = u32::MAX;
/// Entries from here on are groups of equal links.
const GROUP: u32 = 1 << 31;
const UNREACHABLE: u32 = u32::MAX;

/// `Row` is where a node's entries start; the mask is zero for a node whose single entry serves all
/// addresses.
#[derive(Clone, Copy, Debug)]
struct Row {
    base: u32,
    mask: u32,
}

/// Sets of links that are equally good, each kept once.
#[derive(Clone, Default, Debug)]
struct Groups {
    links: Vec<Vec<u32>>,
    index: BTreeMap<Vec<u32>, u32>,
}

impl Groups {
    /// Returns the entry for these links, and makes it where there is none.
    fn add(&mut self, equal: Vec<u32>) -> u32 {
        let next = self.links.len() as u32;
        let group = *self.index.entry(equal.clone()).or_insert(next);
        if group == next {
            self.links.push(equal);
        }
        GROUP | group
    }

    /// Returns the link of a flow. Each node mixes its own number into the hash, or else all would
    /// divide alike and leave paths unused.
    #[cold]
    fn choose(&self, entry: u32, node: NodeId, flow: u32) -> LinkId {
        let links = &self.links[(entry & !GROUP) as usize];
        let hash = mix((node.0 as u64) << 32 | flow as u64) >> 32;
        LinkId(links[((hash * links.len() as u64) >> 32) as usize])
    }
}

/// `Routes` has the next hops of every node.
#[derive(Clone, Debug)]
pub struct Routes {
    rows: Vec<Row>,
    table: Vec<u32>,
    groups: Groups,
    addresses: u32,
}

impl Routes {
    /// Returns whether no links are equally good: packets between two nodes take one path.
    pub fn are_single(&self) -> bool {
        self.groups.links.is_empty()
    }

    /// The link that `node` sends packets for `dst` over; `None` when there is
    /// none. A node with a single outgoing link sends everything over it.
    /// `flow` is asked for the flow's hash where links are equally good.
    #[inline]
    pub fn next(&self, node: NodeId, dst: Addr, flow: impl FnOnce() -> u32) -> Option<LinkId> {
        if dst.0 >= self.addresses {
            return None;
        }
        let Row { base, mask } = self.rows[node.0 as usize];
        let link = self.table[(base + (dst.0 & mask)) as usize];
        if link < GROUP {
            return Some(LinkId(link));
        }
        (link != NO_LINK).then(|| self.groups.choose(link, node, flow()))
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
        let next = |node| routes.next(node, to_b, || 0);
        assert_eq!([a, r, s, t, u].map(next), [a_r, r_t, s_u, t_u, u_b].map(Some));
        assert_ne!(Some(r_s), next(r));
        assert!(net.reaches(&routes, a, b));
        assert!(!net.reaches(&routes, b, a));
        assert_eq!(routes.next(u, net.addr(r), || 0), Some(u_r));
        assert_eq!(routes.next(b, to_b, || 0), None);
        assert_eq!(routes.next(a, Addr(99), || 0), None);
    }

    #[test]
    fn multipath_spreads_flows_and_keeps_each_on_one_path() {
        // a - r - {s, t, u} - v - b, and a fourth router that leads nowhere.
        let mut net = Topology::default();
        let (a, b) = (net.add_node(false), net.add_node(false));
        let [r, s, t, u, v, w] = [(); 6].map(|()| net.add_node(true));
        net.add_link(a, r);
        let ways = [s, t, u].map(|middle| net.add_link(r, middle));
        net.add_link(r, w);
        for middle in [s, t, u] {
            net.add_link(middle, v);
        }
        net.add_link(v, b);
        net.set_multipath(true);
        let routes = net.routes();
        assert!(net.reaches(&routes, a, b));
        let mut counts = [0; 3];
        for flow in 0..3000_u32 {
            let way = routes.next(r, net.addr(b), || flow).unwrap();
            assert_eq!(routes.next(r, net.addr(b), || flow), Some(way));
            counts[ways.iter().position(|item| *item == way).unwrap()] += 1;
        }
        // Standard deviation 26.
        assert!(counts.iter().all(|n| (890..1110).contains(n)), "{counts:?}");
    }

    #[test]
    fn routers_divide_independently() {
        // Two stages of two: all four ends are used.
        let mut net = Topology::default();
        let b = net.add_node(false);
        let [r, s, t] = [(); 3].map(|()| net.add_node(true));
        let up = [s, t].map(|middle| net.add_link(r, middle));
        let ends = [(); 4].map(|()| net.add_node(true));
        let mut down = Vec::new();
        for (middle, pair) in [(s, &ends[..2]), (t, &ends[2..])] {
            for end in pair {
                down.push(net.add_link(middle, *end));
                net.add_link(*end, b);
            }
        }
        net.set_multipath(true);
        let routes = net.routes();
        let mut used = [0; 4];
        for flow in 0..1000 {
            let first = routes.next(r, net.addr(b), || flow).unwrap();
            let middle = if first == up[0] { s } else { t };
            let second = routes.next(middle, net.addr(b), || flow).unwrap();
            used[down.iter().position(|down| *down == second).unwrap()] += 1;
        }
        assert!(used.iter().all(|n| (190..310).contains(n)), "{used:?}");
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
