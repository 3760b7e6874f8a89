//! Judges how precise a live run was, and whether that matters.

use crate::graph::Graph;
use crate::multihoming;
use crate::schema::Scenario;
use anabranch_live::{Lateness, Scheduling};
use anabranch_units::Span;
use std::time::Duration;

/// The lateness of packets for external hosts, and its causes.
#[derive(Clone, PartialEq, Debug)]
pub struct Precision {
    /// Times from the date at which a packet should have left until it had.
    pub lateness: Lateness,
    /// The longest time that the loop was away beyond its sleep.
    pub longest_absence: Span,
    /// Date zero by `CLOCK_MONOTONIC`.
    pub started: Duration,
    /// Processor time of the loop.
    pub cpu: Duration,
    /// The scheduling policy under which the loop ran.
    pub scheduling: Scheduling,
    /// It ran without root's rights.
    pub unprivileged: bool,
    /// The least that any flow's round trip takes by the delays of links.
    pub shortest_round_trip: Span,
}

/// The lateness that one packet in a hundred may always have.
const FLOOR: Span = Span::from_micros(200);
/// The retransmission timeout of Linux is at least 200 ms: half of that.
const LONGEST_ABSENCE: Span = Span::from_millis(100);

impl Precision {
    /// What a packet in a hundred may be late by: a fiftieth of the shortest
    /// round trip, and no less than 200 us. One in a thousand may be late by
    /// five times as much.
    pub fn bound(&self) -> Span {
        Span::from_picos(self.shortest_round_trip.as_picos() / 50).max(FLOOR)
    }

    /// Why the timing may have changed the answer; nothing when it has not.
    pub fn doubts(&self) -> Vec<String> {
        self.doubts_of(&self.lateness)
    }

    /// The same of some of the packets, by their lateness.
    pub fn doubts_of(&self, lateness: &Lateness) -> Vec<String> {
        let (bound, absence) = (self.bound(), self.longest_absence);
        let bounds = [(0.99, bound, "100"), (0.999, bound * 5, "1000")];
        let too_late = bounds.into_iter().filter_map(|(q, bound, share)| {
            let late = lateness.quantile(q);
            (late > bound).then(|| {
                format!(
                    "one packet in {share} left {late} late, or later; more than {bound} may matter here"
                )
            })
        });
        let away = (absence > LONGEST_ABSENCE).then(|| {
            format!("the emulator was not running for {absence}: other work, or suspended")
        });
        too_late.chain(away).collect()
    }
}

/// The least round trip of any flow: over links by their delays alone.
pub(super) fn shortest_round_trip(scenario: &Scenario, graph: &Graph<'_>) -> Span {
    let node = |name: &str| graph.node(name).expect("names are checked");
    let mut arcs = Vec::new();
    for link in &scenario.links {
        let [a, b] = [node(&link.ends[0]), node(&link.ends[1])];
        arcs.extend([(a, b, link.forward.delay), (b, a, link.reverse.delay)]);
    }
    let round_trip = |flow| {
        let [from, to] = multihoming::primary(graph, flow)?;
        Some(
            shortest(&arcs, graph.names().len(), from, to)
                + shortest(&arcs, graph.names().len(), to, from),
        )
    };
    scenario.flows.iter().filter_map(round_trip).min().unwrap_or(Span::ZERO)
}

/// What the longest way can take by the delays of its links, at most 5 s.
pub(super) fn longest_delay(scenario: &Scenario) -> Span {
    let delays = scenario.links.iter().map(|link| link.forward.delay.max(link.reverse.delay));
    let longest = delays.max().unwrap_or(Span::ZERO);
    longest.saturating_mul(scenario.routers.len() as u64 + 1).min(Span::from_secs(5))
}

/// Bellman and Ford's way.
fn shortest(arcs: &[(usize, usize, Span)], nodes: usize, from: usize, to: usize) -> Span {
    let mut least = vec![Span::MAX; nodes];
    least[from] = Span::ZERO;
    loop {
        let mut changed = false;
        for (a, b, delay) in arcs.iter().filter(|(_, b, _)| *b != from) {
            let over = least[*a].as_picos().saturating_add(delay.as_picos());
            if least[*a] != Span::MAX && over < least[*b].as_picos() {
                (least[*b], changed) = (Span::from_picos(over), true);
            }
        }
        if !changed {
            return if least[to] == Span::MAX { Span::ZERO } else { least[to] };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        hosts = ["a", "b"]
        routers = ["r"]
        links = [
            { ends = ["a", "r"], rate = "10 Mbit/s", delay = "1 ms" },
            { ends = ["r", "b"], rate = "10 Mbit/s", delay = "19 ms", reverse = { delay = "9 ms" } },
            { ends = ["a", "b"], rate = "1 Mbit/s", delay = "50 ms" },
        ]
        flows = [{ name = "f", from = "a", to = "b", size = "1 MB" }]
    "#;

    fn precision(late: &[Span]) -> Precision {
        let scenario = Scenario::from_toml(TEXT, "t").unwrap();
        let mut lateness = Lateness::default();
        late.iter().for_each(|late| lateness.record(*late));
        Precision {
            lateness,
            longest_absence: Span::ZERO,
            started: Duration::ZERO,
            cpu: Duration::ZERO,
            scheduling: Scheduling::Fifo,
            unprivileged: true,
            shortest_round_trip: shortest_round_trip(&scenario, &Graph::new(&scenario)),
        }
    }

    #[test]
    fn lateness_matters_by_the_round_trip() {
        let us = Span::from_micros;
        let mut late = vec![us(100); 1000];
        let found = precision(&late);
        assert_eq!(found.shortest_round_trip, Span::from_millis(30));
        assert_eq!((found.bound(), found.doubts().len()), (us(600), 0));
        // One in a hundred may be later; one in a thousand not by a millisecond.
        late[0] = us(2900);
        late[1] = us(2900);
        assert_eq!(precision(&late).doubts().len(), 0);
        late[1] = us(3500);
        late[2] = us(3500);
        assert_eq!(precision(&late).doubts().len(), 1);
        late[..20].fill(us(700));
        assert_eq!(precision(&late).doubts().len(), 1);
        let away = Precision { longest_absence: Span::from_secs(2), ..precision(&[]) };
        assert!(away.doubts()[0].contains("2 s"), "{:?}", away.doubts());
    }
}
