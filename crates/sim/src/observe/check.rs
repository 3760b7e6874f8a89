//! Checks conservation at every event.

use super::{Interests, Observer};
use anabranch_network::{Link, Regulator};
use anabranch_units::Time;

/// Panics, with the law that was broken, when after some event a link has
/// received + duplicated != delivered + dropped + queued in packets or in
/// octets or a regulator received != released + held + dropped, when the arena
/// holds other packets than these, or when time went back. Visits every link at
/// every event: for tests and checked runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConservationChecker {
    last: Time,
    events: u64,
}

impl ConservationChecker {
    /// Makes a checker that has seen no event.
    pub fn new() -> ConservationChecker {
        ConservationChecker::default()
    }

    /// Events after which everything held.
    pub fn events(&self) -> u64 {
        self.events
    }
}

impl Observer for ConservationChecker {
    fn interests(&self) -> Interests {
        Interests { events: true, ..Interests::default() }
    }

    fn after_event(
        &mut self,
        now: Time,
        links: &[Link],
        regulators: &[Regulator],
        in_network: usize,
    ) {
        assert!(self.last <= now, "time never goes back: {now} after {}", self.last);
        self.last = now;
        let mut queued = 0;
        for (index, link) in links.iter().enumerate() {
            let counters = link.counters();
            assert!(
                counters.is_conserved(),
                "link {index} at {now}: received + duplicated = delivered + dropped + queued: {counters:?}",
            );
            queued += counters.queued;
        }
        for (index, regulator) in regulators.iter().enumerate() {
            let counters = regulator.counters();
            assert!(
                counters.is_conserved(),
                "regulator {index} at {now}: received = released + held + dropped: {counters:?}",
            );
            queued += counters.held;
        }
        let broken = "every packet in the arena is in a link or a regulator";
        assert_eq!(in_network as u64, queued, "{broken}, at {now}");
        self.events += 1;
    }
}
