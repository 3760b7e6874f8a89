//! Checks conservation at every event.

use super::{Interests, Observer};
use anabranch_network::Link;
use anabranch_units::Time;

/// Panics, with the law that was broken, when after some event a link has
/// received + duplicated != delivered + dropped + queued in packets or in
/// octets, when the arena holds other packets than the links, or when time
/// went back. Visits every link at every event: for tests and checked runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConservationChecker {
    last: Time,
    events: u64,
}

impl ConservationChecker {
    /// Nothing checked yet.
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

    fn after_event(&mut self, now: Time, links: &[Link], in_network: usize) {
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
        assert_eq!(in_network as u64, queued, "every packet in the arena is in a link, at {now}");
        self.events += 1;
    }
}
