//! What each path of a connection has carried, over all the subflows that it had:
//! one that is lost and opened again goes on counting where it stood.

use anabranch_endpoint::{Observation, PathId, PathObservation, PathState};
use anabranch_units::Span;
use anabranch_wire::Addr;

/// Paths that are told apart; subflows beyond count with the last of them, so
/// that a peer who joins from ever new ports costs no memory.
const MOST_PATHS: usize = 64;

/// The paths, the oldest first, and totals of subflows that are gone.
#[derive(Debug, Default)]
pub(crate) struct PathCounts {
    paths: Vec<PathObservation>,
    undone_reductions: u64,
    tail_loss_probes: u64,
    spurious_retransmissions: u64,
}

impl PathCounts {
    /// The number of the path, which may be a new one.
    pub fn number(&mut self, local: Addr, remote: Addr, subflow: u8) -> usize {
        let id = PathId { local: Some(local), remote, subflow };
        if let Some(known) = self.paths.iter().position(|known| known.id() == id) {
            return known;
        }
        if self.paths.len() < MOST_PATHS {
            self.paths.push(unused(local, remote, subflow));
        }
        self.paths.len() - 1
    }

    /// A path as its past subflows left it.
    pub fn get(&self, path: usize) -> Option<PathObservation> {
        self.paths.get(path).copied()
    }

    /// Adds the counts of subflows that are gone.
    pub fn add_to(&self, all: &mut Observation) {
        for past in &self.paths {
            all.packets_sent += past.packets;
            all.retransmitted_packets += past.retransmitted;
            all.fast_retransmits += past.fast_retransmits;
            all.timeouts += past.timeouts;
            all.ecn_reductions += past.ecn_reductions;
        }
        all.undone_reductions += self.undone_reductions;
        all.tail_loss_probes += self.tail_loss_probes;
        all.spurious_retransmissions += self.spurious_retransmissions;
    }

    /// A subflow of the path is over.
    pub fn retire(&mut self, path: usize, last: &PathObservation, whole: &Observation) {
        self.undone_reductions += whole.undone_reductions;
        self.tail_loss_probes += whole.tail_loss_probes;
        self.spurious_retransmissions += whole.spurious_retransmissions;
        let past = &mut self.paths[path];
        *past = PathObservation {
            state: PathState::Inactive,
            cwnd: 0,
            in_flight: 0,
            errors: 0,
            ..sum(past, last)
        };
    }
}

/// The state of the path's subflow, and counts of it and those before.
pub(crate) fn sum(past: &PathObservation, now: &PathObservation) -> PathObservation {
    PathObservation {
        // As the path is called, of a subflow that counts with another's.
        local: past.local,
        remote: past.remote,
        subflow: past.subflow,
        timeouts: past.timeouts + now.timeouts,
        fast_retransmits: past.fast_retransmits + now.fast_retransmits,
        ecn_reductions: past.ecn_reductions + now.ecn_reductions,
        packets: past.packets + now.packets,
        retransmitted: past.retransmitted + now.retransmitted,
        bytes_acked: past.bytes_acked + now.bytes_acked,
        bytes_received: Some(past.bytes_received.unwrap_or(0) + now.bytes_received.unwrap_or(0)),
        ..*now
    }
}

fn unused(local: Addr, remote: Addr, subflow: u8) -> PathObservation {
    PathObservation {
        local,
        remote,
        subflow: Some(subflow),
        state: PathState::Unconfirmed,
        cwnd: 0,
        ssthresh: u64::MAX,
        in_flight: 0,
        srtt: None,
        rto: Span::ZERO,
        errors: 0,
        timeouts: 0,
        fast_retransmits: 0,
        ecn_reductions: 0,
        packets: 0,
        retransmitted: 0,
        bytes_acked: 0,
        bytes_received: Some(0),
        heartbeats: 0,
        coupling: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_its_number_and_its_counts() {
        let mut paths = PathCounts::default();
        assert_eq!(paths.number(Addr(1), Addr(2), 0), 0);
        assert_eq!(paths.number(Addr(1), Addr(3), 0), 1);
        assert_eq!(paths.number(Addr(1), Addr(2), 1), 2);
        let mut now = unused(Addr(1), Addr(2), 0);
        (now.state, now.cwnd, now.packets) = (PathState::Active, 7, 5);
        let whole = Observation { tail_loss_probes: 2, ..Observation::default() };
        paths.retire(0, &now, &whole);
        let past = paths.get(0).unwrap();
        assert_eq!((past.state, past.cwnd, past.packets), (PathState::Inactive, 0, 5));
        assert_eq!(paths.number(Addr(1), Addr(2), 0), 0);
        let both = sum(&past, &now);
        assert_eq!((both.state, both.cwnd, both.packets), (PathState::Active, 7, 10));
        let mut all = Observation::default();
        paths.add_to(&mut all);
        assert_eq!((all.packets_sent, all.tail_loss_probes), (5, 2));
    }

    #[test]
    fn ever_new_ports_cost_no_memory() {
        let mut paths = PathCounts::default();
        let numbers: Vec<_> = (0..=255).map(|n| paths.number(Addr(1), Addr(2), n)).collect();
        assert_eq!(numbers[..MOST_PATHS], (0..MOST_PATHS).collect::<Vec<_>>());
        assert!(numbers[MOST_PATHS..].iter().all(|number| *number == MOST_PATHS - 1));
        let one = unused(Addr(1), Addr(2), 200);
        let last = PathObservation { packets: 3, ..one };
        paths.retire(MOST_PATHS - 1, &last, &Observation::default());
        assert_eq!(paths.get(MOST_PATHS - 1).unwrap().packets, 3);
        assert_eq!(paths.get(MOST_PATHS), None);
    }
}
