//! Channels at work: links that share a capacity by explicit rates.
//!
//! As sources of events channels follow links and regulators. One that has
//! nothing to allocate for has no event; it wakes with the next packet that
//! finds one of its links empty, and allocates at its next date.

use crate::fabric::Fabric;
use anabranch_network::{Channel, LinkId};
use anabranch_units::Time;

/// Channels by number, and whose links are which.
#[derive(Default)]
pub(crate) struct Channels {
    pub list: Vec<Channel>,
    /// The channel of each link that has one, else [`NONE`]; empty without
    /// channels.
    pub of_link: Vec<u32>,
}

/// No channel.
pub(crate) const NONE: u32 = u32::MAX;

impl Fabric {
    /// A link's next event has changed for a packet that came.
    pub(crate) fn wake_channel(&mut self, link: LinkId) {
        let number = self.channels.of_link[link.0 as usize];
        if number == NONE {
            return;
        }
        let source = self.channel_source(number as usize);
        if self.events.date(source) == Time::NEVER {
            let next = self.channels.list[number as usize].next_allocation(self.now);
            self.events.set(source, next);
        }
    }

    /// The date of an allocation has come.
    pub(crate) fn poll_channel(&mut self, number: usize) {
        let channel = &mut self.channels.list[number];
        let goes_on = channel.allocate(self.now, &mut self.links);
        let next = if goes_on { channel.next_allocation(self.now) } else { Time::NEVER };
        self.events.set(self.channel_source(number), next);
    }

    fn channel_source(&self, number: usize) -> u32 {
        (self.links.len() + self.regulators.list.len() + number) as u32
    }
}
