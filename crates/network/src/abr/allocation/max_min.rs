//! Exact max-min rates, as if one place knew all lines and who sends: what a switch's algorithm is
//! held against. The rates are exact, but they still travel in RM cells.
//!
//! At every multiple of an interval it is seen which directions of virtual channels are in use:
//! those that sent cells of their own since the last time, or have data left. What the others
//! send, answers alone, is taken off each line as it was measured. The rest is divided by
//! progressive filling (Bertsekas and Gallager, *Data Networks*, 2nd ed., 1992, §6.5.2): all rates
//! grow together, and one stops at its peak or when a line on its way is full. The port of that line
//! tells it so; the others would give it their whole target. A direction that is not in use is told
//! what it would get if it joined.

use super::super::cells::Cell;
use super::is_of_flow;
use crate::catalogue::Info;
use anabranch_units::{Span, Time};

pub(super) const INFO: Info = Info {
    name: "max-min",
    summary: "exact max-min rates among the virtual channels in use, computed for all lines at once",
    reference: "progressive filling (Bertsekas and Gallager 1992 §6.5.2)",
};

/// `MaxMinConfig` describes the computation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct MaxMinConfig {
    /// Part of the line that is given away, above 0 and up to 1.
    pub target: f64,
    /// `interval` is the time from one computation to the next; `None` stands for 100 cell times of
    /// the line, and 1 ms at least. The shortest of all lines counts.
    pub interval: Option<Span>,
}

impl Default for MaxMinConfig {
    fn default() -> Self {
        MaxMinConfig { target: super::TARGET, interval: None }
    }
}

/// `MaxMin` is a port's part: what it has to give, what it counts, and what it tells.
#[derive(Debug)]
pub(in crate::abr) struct MaxMin {
    /// `target` is how many cells a second the port gives away.
    pub target: f64,
    pub interval: Span,
    /// Cells since the last computation, by direction of a virtual channel: its own, and answers.
    pub cells: Vec<[u32; 2]>,
    /// Cells a second that each direction is told, as of the last computation.
    pub rates: Vec<f64>,
}

impl MaxMin {
    pub(super) fn new(target: f64, interval: Span, directions: usize) -> MaxMin {
        MaxMin {
            target,
            interval,
            cells: vec![[0; 2]; directions],
            rates: vec![target; directions],
        }
    }

    pub(super) fn on_cell(&mut self, cell: &Cell) {
        self.cells[cell.direction as usize][usize::from(!is_of_flow(cell))] += 1;
    }

    pub(super) fn explicit_rate(&self, direction: u32) -> f64 {
        self.rates[direction as usize]
    }
}

/// The date at which the rates of a network are computed next, and the interval between.
#[derive(Debug)]
pub(in crate::abr) struct Shares {
    interval: Span,
    /// `next` is the time of the next computation.
    pub next: Time,
}

impl Shares {
    /// Takes the shortest of the ports' intervals; `None` if there are none.
    pub(in crate::abr) fn new(intervals: impl Iterator<Item = Span>) -> Option<Shares> {
        let interval = intervals.min()?;
        Some(Shares { interval, next: Time::ZERO + interval })
    }

    /// The date has come. How long ago the last computation was: seconds.
    pub(in crate::abr) fn begin(&mut self, now: Time) -> f64 {
        let over = now.saturating_since(self.next).as_picos() / self.interval.as_picos() + 1;
        self.next = self.next.saturating_add(self.interval.saturating_mul(over));
        self.interval.saturating_mul(over).as_secs_f64()
    }
}

/// `Filled` is what a direction gets, and the full ports on its way, which are what holds it back.
#[derive(Clone, PartialEq, Debug)]
pub(in crate::abr) struct Filled {
    pub rate: f64,
    pub full: Vec<u32>,
}

/// Computes max-min rates: of directions with these peaks, each over these ports, of which each has
/// so much to give. `None` for a direction that does not take part.
///
/// Ports that are no part of it have infinitely much.
pub(in crate::abr) fn fill(
    capacity: &[f64],
    directions: &[(Option<f64>, Vec<u32>)],
) -> Vec<Option<Filled>> {
    let mut rates: Vec<Option<Filled>> = vec![None; directions.len()];
    let mut left = capacity.to_vec();
    let mut open: Vec<usize> =
        (0..directions.len()).filter(|i| directions[*i].0.is_some()).collect();
    while !open.is_empty() {
        let mut users = vec![0_u32; capacity.len()];
        for i in &open {
            for port in &directions[*i].1 {
                users[*port as usize] += 1;
            }
        }
        let shares = left.iter().zip(&users).filter(|item| *item.1 > 0);
        let level = shares
            .map(|share| share.0.max(0.0) / f64::from(*share.1))
            .fold(f64::INFINITY, f64::min);
        let least = open.iter().filter_map(|i| directions[*i].0).fold(f64::INFINITY, f64::min);
        let rate = level.min(least);
        let is_full = |port: &u32| {
            let port = *port as usize;
            left[port].max(0.0) / f64::from(users[port]) <= rate * (1.0 + 1e-9)
        };
        let mut going = Vec::new();
        let mut stopped = Vec::new();
        for i in open {
            let (peak, ports) = &directions[i];
            let full: Vec<u32> = ports.iter().copied().filter(is_full).collect();
            if full.is_empty() && peak.is_none_or(|peak| peak > rate) {
                going.push(i);
            } else {
                rates[i] = Some(Filled { rate, full });
                stopped.push(i);
            }
        }
        for port in stopped.iter().flat_map(|i| &directions[*i].1) {
            left[*port as usize] -= rate;
        }
        open = going;
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rates(capacity: &[f64], directions: &[(f64, &[u32])]) -> Vec<f64> {
        let directions: Vec<_> =
            directions.iter().map(|direction| (Some(direction.0), direction.1.to_vec())).collect();
        fill(capacity, &directions).into_iter().map(|share| share.unwrap().rate).collect()
    }

    /// Bertsekas and Gallager's example 6.9 in form: a parking lot, and a last line that is wider.
    #[test]
    fn a_parking_lot() {
        let inf = f64::INFINITY;
        let all: (f64, &[u32]) = (inf, &[0, 1, 2]);
        let directions: &[(f64, &[u32])] =
            &[all, (inf, &[0]), (inf, &[0]), (inf, &[1]), (inf, &[2])];
        assert_eq!(rates(&[90.0, 90.0, 100.0], directions), [30.0, 30.0, 30.0, 60.0, 70.0]);
        // With a peak of 10 the others share what it leaves.
        let directions: &[(f64, &[u32])] =
            &[(10.0, &[0, 1, 2]), (inf, &[0]), (inf, &[0]), (inf, &[1])];
        assert_eq!(rates(&[90.0, 90.0, 100.0], directions), [10.0, 40.0, 40.0, 80.0]);
        assert_eq!(fill(&[1.0], &[(None, vec![0])]), [None]);
        let over_both = (Some(inf), vec![0, 1]);
        let told = fill(&[8.0, 9.0], &[over_both.clone(), over_both]);
        assert_eq!(told[1], Some(Filled { rate: 4.0, full: vec![0] }));
    }

    proptest! {
        /// No line is overfull; each rate is its peak, or a line on its way is full on which it is
        /// the largest (Bertsekas and Gallager's bottleneck condition).
        #[test]
        fn every_rate_has_a_bottleneck(
            capacity in prop::collection::vec(1.0_f64..100.0, 1..6),
            directions in prop::collection::vec((0.1_f64..80.0, prop::collection::btree_set(0_u32..6, 1..4)), 1..12),
        ) {
            let lines = capacity.len() as u32;
            let directions: Vec<(f64, Vec<u32>)> = directions
                .into_iter()
                .map(|(peak, ports)| {
                    let ports: std::collections::BTreeSet<u32> = ports.iter().map(|port| port % lines).collect();
                    (peak, ports.into_iter().collect())
                })
                .collect();
            let input: Vec<_> = directions.iter().map(|direction| (Some(direction.0), direction.1.clone())).collect();
            let found: Vec<f64> = fill(&capacity, &input).into_iter().map(|share| share.unwrap().rate).collect();
            let load = |port: u32| {
                let on = directions.iter().zip(&found).filter(|zip| zip.0.1.contains(&port));
                on.map(|on| *on.1).collect::<Vec<_>>()
            };
            for ((peak, ports), rate) in directions.iter().zip(&found) {
                let is_bottleneck = |port: &u32| {
                    let rates = load(*port);
                    let is_full = rates.iter().sum::<f64>() >= capacity[*port as usize] * (1.0 - 1e-6);
                    is_full && rates.iter().all(|other| *other <= rate * (1.0 + 1e-6))
                };
                prop_assert!(*rate >= peak * (1.0 - 1e-6) || ports.iter().any(is_bottleneck));
                prop_assert!(*rate <= *peak);
            }
            for port in 0..lines {
                prop_assert!(load(port).iter().sum::<f64>() <= capacity[port as usize] * (1.0 + 1e-6));
            }
        }
    }
}
