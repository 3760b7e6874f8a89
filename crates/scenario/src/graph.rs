//! The nodes of a scenario, in the order in which they are built, and which
//! of them links join.

use crate::schema::{Ip, Scenario};
use std::collections::{BTreeMap, VecDeque};

/// Interfaces, routers and the links between them. Nodes have numbers: the
/// interfaces of each host in turn, then the routers.
pub(crate) struct Graph<'a> {
    names: Vec<String>,
    /// The host of each interface.
    owners: Vec<&'a str>,
    /// The family of each node's address; of routers that have both, IPv4.
    families: Vec<Ip>,
    index: BTreeMap<String, usize>,
    neighbours: Vec<Vec<u32>>,
    /// Routers that links join, hosts apart, have the same number.
    component: Vec<u32>,
}

impl<'a> Graph<'a> {
    /// The nodes and links of `scenario`; links to unknown nodes are skipped.
    pub(crate) fn new(scenario: &'a Scenario) -> Graph<'a> {
        let mut graph = Graph {
            names: Vec::new(),
            owners: Vec::new(),
            families: Vec::new(),
            index: BTreeMap::new(),
            neighbours: Vec::new(),
            component: Vec::new(),
        };
        for host in &scenario.hosts {
            graph.index.insert(host.name.clone(), graph.names.len());
            graph.families.extend(&host.families);
            for node in host.nodes() {
                graph.owners.push(&host.name);
                graph.add(node);
            }
        }
        scenario.routers.iter().for_each(|name| graph.add(name.clone()));
        graph.families.resize(graph.names.len(), scenario.one_family().unwrap_or_default());
        graph.neighbours = vec![Vec::new(); graph.names.len()];
        for link in &scenario.links {
            let [a, b] = [&link.ends[0], &link.ends[1]].map(|end| graph.index.get(end).copied());
            if let (Some(a), Some(b)) = (a, b) {
                graph.neighbours[a].push(b as u32);
                graph.neighbours[b].push(a as u32);
            }
        }
        graph.join();
        graph
    }

    fn add(&mut self, name: String) {
        self.index.insert(name.clone(), self.names.len());
        self.names.push(name);
    }

    /// Numbers the routers by what joins them.
    fn join(&mut self) {
        self.component = vec![u32::MAX; self.names.len()];
        let hosts = self.owners.len();
        for start in hosts..self.names.len() {
            if self.component[start] != u32::MAX {
                continue;
            }
            let mut todo = vec![start];
            while let Some(node) = todo.pop() {
                self.component[node] = start as u32;
                let next = self.neighbours[node].iter().map(|next| *next as usize);
                todo.extend(next.filter(|n| *n >= hosts && self.component[*n] == u32::MAX));
            }
        }
    }

    /// The names of all nodes.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    /// The host that has an interface.
    pub(crate) fn owner(&self, interface: usize) -> &'a str {
        self.owners[interface]
    }

    /// A node by its name; a host's name means its first interface.
    pub(crate) fn node(&self, name: &str) -> Option<usize> {
        self.index.get(name).copied()
    }

    /// An interface by its name; a host's name means its first.
    pub(crate) fn interface(&self, name: &str) -> Option<usize> {
        self.node(name).filter(|node| *node < self.owners.len())
    }

    /// Returns the numbers of all interfaces.
    pub(crate) fn interfaces(&self) -> std::ops::Range<usize> {
        0..self.owners.len()
    }

    /// All interfaces of the host that has this one.
    pub(crate) fn siblings(&self, interface: usize) -> impl Iterator<Item = usize> + use<> {
        let owner = self.owners[interface];
        let first = self.index[owner];
        first..first + self.owners[first..].iter().take_while(|item| **item == owner).count()
    }

    /// The family of a node's address; of a router that has both, IPv4.
    pub(crate) fn family(&self, node: usize) -> Ip {
        self.families[node]
    }

    /// The host that has this interface has addresses of both families.
    #[cfg(target_os = "linux")]
    pub(crate) fn has_both_families(&self, interface: usize) -> bool {
        self.siblings(interface).any(|sibling| self.families[sibling] != self.families[interface])
    }

    /// Packets of IPv6 may come to a node: to an interface with such an address,
    /// or to a router that links lead to from one.
    #[cfg(target_os = "linux")]
    pub(crate) fn has_ipv6(&self, node: usize) -> bool {
        let is_near = |interface: usize| {
            let mut near = self.neighbours[interface]
                .iter()
                .map(|neighbour| self.component[*neighbour as usize]);
            near.any(|neighbour| neighbour == self.component[node])
        };
        let mut ipv6 = self.interfaces().filter(|interface| self.families[*interface] == Ip::V6);
        ipv6.any(|ipv6| ipv6 == node || node >= self.owners.len() && is_near(ipv6))
    }

    /// Links lead from one interface to another with an address of the same
    /// family; hosts do not forward.
    pub(crate) fn reaches(&self, from: usize, to: usize) -> bool {
        if self.families[from] != self.families[to] {
            return false;
        }
        let direct = self.neighbours[from].contains(&(to as u32));
        let routers = |node: usize| {
            let all = self.neighbours[node].iter().map(|next| self.component[*next as usize]);
            all.filter(|component| *component != u32::MAX)
        };
        from != to && (direct || routers(from).any(|a| routers(to).any(|b| a == b)))
    }

    /// Links on the shortest way from `node` to each other one, over routers
    /// alone; `u32::MAX` where there is none.
    pub(crate) fn hops_from(&self, node: usize) -> Vec<u32> {
        let mut hops = vec![u32::MAX; self.names.len()];
        hops[node] = 0;
        let mut reached = VecDeque::from([node]);
        while let Some(at) = reached.pop_front() {
            if at != node && at < self.owners.len() {
                continue;
            }
            for next in &self.neighbours[at] {
                let next = *next as usize;
                if hops[next] == u32::MAX {
                    hops[next] = hops[at] + 1;
                    reached.push_back(next);
                }
            }
        }
        hops
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = r#"
        hosts = ["a", { name = "b", interfaces = ["x", "y"] }, "c", "d"]
        routers = ["r", "s", "t"]
        links = [
            { ends = ["a", "r"], rate = "1 Mbit/s", delay = "5 ms" },
            { ends = ["r", "s"], rate = "1 Mbit/s", delay = "5 ms" },
            { ends = ["s", "b.x"], rate = "1 Mbit/s", delay = "5 ms" },
            { ends = ["b.y", "c"], rate = "1 Mbit/s", delay = "5 ms" },
            { ends = ["c", "t"], rate = "1 Mbit/s", delay = "5 ms" },
            { ends = ["t", "d"], rate = "1 Mbit/s", delay = "5 ms" },
        ]
        flows = [{ name = "f", from = "a", to = "b", size = "1 MB" }]
    "#;

    #[test]
    fn no_way_leads_through_a_host() {
        let scenario = Scenario::from_toml(TWO, "t").unwrap();
        let graph = Graph::new(&scenario);
        assert_eq!(graph.names(), ["a", "b.x", "b.y", "c", "d", "r", "s", "t"]);
        let reaches = |a: &str, b: &str| {
            let [a, b] = [a, b].map(|name| graph.interface(name).expect(name));
            assert_eq!(graph.reaches(a, b), graph.reaches(b, a));
            graph.reaches(a, b)
        };
        assert!(reaches("a", "b") && reaches("a", "b.x"));
        assert!(reaches("b.y", "c") && reaches("c", "d"));
        for (a, b) in [("a", "b.y"), ("b.x", "b.y"), ("a", "c"), ("b.y", "d"), ("a", "a")] {
            assert!(!reaches(a, b), "{a} {b}");
        }
        assert_eq!(graph.interface("r"), None);
    }
}
