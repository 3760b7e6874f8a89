//! A law that decides on arrival, where departures are not known then: a leaf of a discipline of classes.

use super::item::{Band, Item, Losses};
use super::{Aqm, Arrival, Waiting};
use anabranch_units::Time;

/// A queue that decides on arrival and holds its packets.
#[derive(Debug)]
pub(crate) struct HeldAqm {
    aqm: Aqm,
    band: Band,
    /// Time at which the last packet left.
    free_at: Time,
}

impl HeldAqm {
    /// Makes an empty queue of this law.
    pub(super) fn new(aqm: Aqm) -> HeldAqm {
        HeldAqm { aqm, band: Band::default(), free_at: Time::ZERO }
    }

    pub(super) fn enqueue(&mut self, mut item: Item, losses: &mut Losses) {
        let waiting = Waiting { packets: self.band.len() as u64, octets: self.band.octets() };
        // It is idle while nothing waits; what has left is no longer its own.
        let busy_until = if self.band.is_empty() { self.free_at } else { Time::NEVER };
        let Item { since: now, size, ecn, .. } = item;
        match self.aqm.on_arrival(&Arrival { now, size, ecn, waiting, busy_until }) {
            Err(loss) => losses.push((item, loss)),
            Ok(marks) => {
                if marks {
                    item.mark();
                }
                self.band.push(item);
            }
        }
    }

    pub(super) fn dequeue(&mut self, now: Time) -> Option<Item> {
        let item = self.band.pop()?;
        self.aqm.on_departure(now, item.since, item.size);
        self.free_at = now;
        Some(item)
    }
}
