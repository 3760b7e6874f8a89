//! Channels at work: links that share a capacity by explicit rates.
//!
//! As sources of events channels follow links and regulators. One that has
//! nothing to allocate for has no event; it wakes with the next packet that
//! finds one of its links empty, and allocates at its next date.

use crate::tournament::Tournament;
use anabranch_network::{Channel, Link, LinkId};
use anabranch_units::Time;

/// Channels by number, and whose links are which.
#[derive(Default)]
pub(crate) struct Channels {
    pub list: Vec<Channel>,
    /// The channel of each link that has one, else [`NONE`]; empty without
    /// channels.
    pub of_link: Vec<u32>,
}

/// The channel number of a link that has no channel.
pub(crate) const NONE: u32 = u32::MAX;

impl Channels {
    /// A link's next event has changed for a packet that came. The events of
    /// channels begin with source `first`.
    pub fn wake(&self, link: LinkId, now: Time, first: usize, events: &mut Tournament) {
        let number = self.of_link[link.0 as usize];
        if number == NONE {
            return;
        }
        let source = first as u32 + number;
        if events.date(source) == Time::NEVER {
            let next = self.list[number as usize].next_allocation(now);
            events.set(source, next);
        }
    }

    /// The date of an allocation has come: that of the next, if there is one.
    pub fn allocate(&mut self, number: usize, now: Time, links: &mut [Link]) -> Time {
        let channel = &mut self.list[number];
        if channel.allocate(now, links) { channel.next_allocation(now) } else { Time::NEVER }
    }
}
