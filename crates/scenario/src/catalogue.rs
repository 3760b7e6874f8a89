//! What there is to choose from, with a line and a reference each.

use crate::schema::What;
use crate::topology::TOPOLOGIES;
use anabranch_attack::ATTACKS;
use anabranch_congestion::{ALGORITHMS, Algorithm, Controller};
use anabranch_mptcp::path_manager::PATH_MANAGERS;
use anabranch_network::abr::ALLOCATIONS;
use anabranch_network::{IMPAIRMENTS, QUEUES, REGULATORS, TRANSMITTERS};
use anabranch_sctp::failover::FAILOVERS;
use anabranch_sctp::policy::DESTINATIONS;
use anabranch_sctp::scheduler::SCHEDULERS;
use anabranch_tcp::recovery::SCHEMES;

/// A line of a catalogue of what scenarios can choose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The name in scenarios.
    pub name: &'static str,
    /// What it is, in one phrase.
    pub summary: String,
    /// The RFC, paper or program that defines it.
    pub reference: &'static str,
}

/// The catalogues that [`catalogue`] knows.
pub const KINDS: [&str; 14] = [
    "algorithms",
    "recoveries",
    "destinations",
    "failovers",
    "schedulers",
    "path-managers",
    "queues",
    "transmitters",
    "regulators",
    "allocations",
    "impairments",
    "attacks",
    "topologies",
    "observers",
];

/// The entries of the catalogue of this kind; `None` for a kind that is none.
///
/// `algorithms` are the window algorithms, those for the paths of Multipath TCP told from the others, and, after
/// them, the recovery schemes, each told by the first words of its line; `recoveries` are the
/// latter alone. `destinations` and `failovers` are SCTP's, `path-managers`
/// Multipath TCP's, and `schedulers` of both, told by the first words of their lines.
pub fn catalogue(kind: &str) -> Option<Vec<Entry>> {
    let entry = |name, summary: &str, reference| Entry { name, summary: summary.into(), reference };
    let network = |table: &'static [anabranch_network::Info]| {
        table.iter().map(|i| entry(i.name, i.summary, i.reference)).collect()
    };
    let sctp = |table: &[(&'static str, &'static str, &'static str)]| {
        table.iter().map(|(name, summary, reference)| entry(*name, summary, *reference)).collect()
    };
    let recoveries = |prefix: &'static str| {
        SCHEMES.iter().map(move |i| entry(i.name, &format!("{prefix}{}", i.summary), i.reference))
    };
    Some(match kind {
        "algorithms" => ALGORITHMS
            .iter()
            .map(|i| entry(i.name, &format!("{}{}", window_label(i.name), i.summary), i.reference))
            .chain(recoveries("recovery: "))
            .collect(),
        "recoveries" => recoveries("").collect(),
        "destinations" => sctp(&DESTINATIONS),
        "failovers" => sctp(&FAILOVERS),
        "schedulers" => {
            let multipath = anabranch_mptcp::scheduler::SCHEDULERS.iter().map(|info| {
                entry(info.name, &format!("Multipath TCP: {}", info.summary), info.reference)
            });
            let of_sctp = SCHEDULERS.iter().map(|(name, summary, reference)| {
                entry(*name, &format!("SCTP: {summary}"), *reference)
            });
            multipath.chain(of_sctp).collect()
        }
        "path-managers" => PATH_MANAGERS
            .iter()
            .map(|info| entry(info.name, info.summary, "docs/algorithms/path-managers.md"))
            .collect(),
        "queues" => network(QUEUES),
        "transmitters" => network(TRANSMITTERS),
        "regulators" => network(REGULATORS),
        "allocations" => network(ALLOCATIONS),
        "impairments" => network(IMPAIRMENTS),
        "attacks" => ATTACKS
            .iter()
            .map(|attack| entry(attack.name, attack.summary, attack.reference))
            .collect(),
        "topologies" => TOPOLOGIES
            .into_iter()
            .map(|(name, summary, reference)| entry(name, summary, reference))
            .collect(),
        "observers" => What::ALL
            .iter()
            .map(|(name, _, summary)| entry(name, summary, "docs/scenario.md"))
            .collect(),
        _ => return None,
    })
}

/// The first words of a window algorithm's line.
fn window_label(name: &str) -> &'static str {
    let window = Algorithm::from_name(name).map(|algorithm| algorithm.build(1, u64::MAX));
    match window.is_some_and(|window| window.is_coupled()) {
        true => "window, coupled: ",
        false => "window: ",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a window algorithm does decides, and no list of names.
    #[test]
    fn windows_that_hear_of_siblings_are_called_coupled() {
        let lines = catalogue("algorithms").unwrap();
        let coupled = lines.iter().filter(|line| line.summary.starts_with("window, coupled: "));
        let names: Vec<_> = coupled.map(|line| line.name).collect();
        assert_eq!(
            names,
            ["lia", "olia", "balia", "wvegas", "mcubic", "mcubic-share", "coupled-bbr", "d-lia"]
        );
        assert!(
            lines.iter().any(|line| line.name == "reno" && line.summary.starts_with("window: "))
        );
    }
}
