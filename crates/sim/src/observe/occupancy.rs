//! Packets that wait in front of a link, without the one being transmitted.
//!
//! A link with a queue first in, first out computes departures at arrival and
//! has no event for them, so the dates at which waiting packets start are kept here, and those that
//! have passed are told before the next arrival. Other queues tell of what joins and leaves them.

use anabranch_network::LinkEvent;
use anabranch_units::Time;
use std::collections::VecDeque;

/// Counts the packets that wait.
#[derive(Clone, Debug, Default)]
pub(super) struct Occupancy {
    starts: VecDeque<Time>,
    /// Packets in a queue that tells of what leaves it.
    held: u64,
}

impl Occupancy {
    /// Calls `changed` with date and number for each change up to `now`.
    pub(super) fn advance(&mut self, now: Time, mut changed: impl FnMut(Time, u64)) {
        while let Some(start) = self.starts.front().copied().filter(|start| *start <= now) {
            self.starts.pop_front();
            changed(start, self.starts.len() as u64);
        }
    }

    /// Something happened at the link: the same for the changes up to now, and the one that it is.
    pub(super) fn on_event(
        &mut self,
        now: Time,
        event: LinkEvent,
        mut changed: impl FnMut(Time, u64),
    ) {
        match event {
            LinkEvent::Enqueued { starts, .. } => {
                self.advance(now, &mut changed);
                if starts > now {
                    self.starts.push_back(starts);
                    changed(now, self.starts.len() as u64);
                }
            }
            LinkEvent::Waits => {
                self.held += 1;
                changed(now, self.held);
            }
            LinkEvent::Starts { .. } | LinkEvent::Removed(_) => {
                self.held -= 1;
                changed(now, self.held);
            }
            _ => {}
        }
    }
}
