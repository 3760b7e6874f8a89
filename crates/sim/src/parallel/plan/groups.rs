//! Groups of nodes that are in one part, and how they are divided.

use super::load::Load;
use std::collections::BTreeMap;

/// Groups of nodes that stay together.
#[derive(Clone, Debug)]
pub(super) struct Groups(Vec<usize>);

impl Groups {
    /// Each node is a group of its own.
    pub fn new(nodes: usize) -> Groups {
        Groups((0..nodes).collect())
    }

    /// The node that stands for the group of `node`.
    pub fn of(&mut self, node: usize) -> usize {
        let mut root = node;
        while self.0[root] != root {
            self.0[root] = self.0[self.0[root]];
            root = self.0[root];
        }
        root
    }

    /// The nodes of each group.
    pub fn members(&mut self) -> Vec<Vec<usize>> {
        let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for node in 0..self.0.len() {
            members.entry(self.of(node)).or_default().push(node);
        }
        members.into_values().collect()
    }

    /// The groups of two nodes are one from now on.
    pub fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.of(one), self.of(other));
        let (first, second) = (one.min(other), one.max(other));
        self.0[second] = first;
    }
}

/// Divides groups into `parts` parts of about as much to do: the group with the most that is left begins a
/// part, and neighbours join it while it has less than its share. `None` if there are fewer groups.
pub(super) fn divide(groups: &mut Groups, load: &Load, parts: usize) -> Option<Vec<u32>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of four nodes: neighbours stay together, and both parts have as much to do.
    #[test]
    fn neighbours_share_a_part() {
        let load = Load {
            ends: vec![(0, 1), (1, 2), (2, 3)],
            nodes: vec![3.0, 2.0, 2.0, 3.0],
            links: vec![5.0, 1.0, 5.0],
            hops_per_s: 1.0,
        };
        let mut groups = Groups::new(4);
        let parts = divide(&mut groups, &load, 2).unwrap();
        assert_eq!((parts[0], parts[2]), (parts[1], parts[3]));
        assert_ne!(parts[0], parts[3]);
        groups.join(0, 3);
        groups.join(0, 1);
        let parts = divide(&mut groups, &load, 2).unwrap();
        assert_eq!([parts[0], parts[0]], [parts[1], parts[3]]);
        groups.join(2, 1);
        assert_eq!(divide(&mut groups, &load, 2), None, "one group is left");
    }
}
