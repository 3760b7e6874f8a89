//! One direction of a link: impairments, queue, transmitter, propagation.
//!
//! A packet's whole way is known when it is offered: it starts when the
//! transmitter is free, leaves `size / rate` later and arrives a propagation
//! delay after that. It waits for that date in a ring, whose head is the
//! link's one pending event. How many packets wait at a date is counted when
//! somebody asks, by moving a cursor over the departures that have passed.
//!
//! This file is the link with a drop-tail queue, one rate and one delay. All
//! else is in `features`: impairments, disciplines that mark and drop on arrival
//! (`fifo`) or hold the packets (`held`), other transmitters, changing delays.
//! The ring and the counters are what all links have (`base`).

mod base;
mod elided;
mod features;
mod fifo;
mod held;

pub use elided::{End, Passing};

use crate::config::LinkConfig;
use crate::counters::LinkCounters;
use crate::pool::{PacketId, PacketPool};
use crate::queue::{DropTail, QueueConfig, QueueLimit, Waiting};
use crate::transmitter::Line;
use anabranch_endpoint::Generator;
use anabranch_units::{Bytes, Rate, Span, Time};
use anabranch_wire::Packet;
use base::{Base, Entry, Step};
use features::Features;

/// `LinkDrop` is the reason why a link dropped a packet. The numbers are places in the link's
/// counters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum LinkDrop {
    /// The queue had no room for the packet.
    Queue = 0,
    /// A loss impairment took the packet.
    Loss = 1,
    /// Bit errors damaged it, which a checksum would show.
    Corrupt = 2,
    /// The packet was larger than the link's MTU.
    Mtu = 3,
    /// Active queue management dropped the packet before the queue was full.
    Aqm = 4,
}

impl LinkDrop {
    /// `COUNT` is how many reasons exist.
    const COUNT: usize = 5;
}

/// `LinkEvent` is what happens to a packet on a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkEvent {
    /// Accepted by a queue that is first in, first out.
    Enqueued {
        /// Time at which its transmission starts; until then it waits.
        starts: Time,
        /// `departs` is the time at which its transmission ends.
        departs: Time,
    },
    /// Accepted by a queue that decides later what goes when.
    Waits,
    /// The packet leaves such a queue, for the transmitter.
    Starts {
        /// `since` is the time at which it joined the queue.
        since: Time,
        /// `departs` is the time at which its transmission ends.
        departs: Time,
    },
    /// The packet leaves such a queue, since it is dropped.
    Removed(LinkDrop),
    /// The queue has set CE in the packet's ECN field.
    Marked,
    /// The link has made this packet, a copy of another.
    Duplicated,
    /// The link has dropped the packet for this reason.
    Dropped(LinkDrop),
    /// The packet has reached the far end.
    Delivered,
}

/// `LinkWatch` is a watcher of a link's packets.
pub trait LinkWatch {
    /// Hears that something happened to `packet` at `now`.
    fn link_event(&mut self, now: Time, event: LinkEvent, packet: &Packet);
}

/// `Link` is one direction of a link.
#[derive(Debug)]
pub struct Link {
    busy_until: Time,
    base: Base,
    line: Line,
    mtu: u32,
    queue: DropTail,
    /// `is_elided` says that what arrives is no event: see [`Link::elide`].
    is_elided: bool,
    /// `features` is what goes beyond a drop-tail queue, one rate and one delay.
    features: Option<Box<Features>>,
}

impl Link {
    /// Makes an idle link. Each impairment gets a generator drawn from `generator`, then the queue
    /// where it needs one.
    pub fn new(config: &LinkConfig, generator: Generator) -> Link {
        let queue = match config.queue {
            QueueConfig::DropTail { limit } => DropTail::new(limit),
            _ => DropTail::new(QueueLimit::Unlimited),
        };
        Link {
            busy_until: Time::ZERO,
            base: Base::new(config.delay),
            line: Line::new(config.rate),
            mtu: config.mtu.0.min(LinkConfig::MAX_MTU) as u32,
            queue,
            is_elided: false,
            features: Features::new(config, generator).map(Box::new),
        }
    }

    /// A packet comes to the link. Returns the date of the link's next event
    /// when that has changed.
    #[inline]
    pub fn offer(
        &mut self,
        now: Time,
        id: PacketId,
        pool: &mut PacketPool,
        watch: Option<&mut dyn LinkWatch>,
    ) -> Option<Time> {
        let mut size = pool.size(id);
        let fits = size <= self.mtu || self.cuts(id, &mut size, pool);
        self.base.received.add(size);
        let mut step = Step { now, pool, watch };
        if self.features.is_some() {
            return self.offer_with_features((id, size), fits, &mut step);
        }
        let was_empty = self.base.is_empty();
        if !fits {
            self.base.drop(id, size, LinkDrop::Mtu, &mut step);
        } else {
            self.enqueue(id, size, &mut step);
        }
        (was_empty && !self.base.is_empty()).then(|| self.base.first_arrival())
    }

    /// Returns, of a packet larger than the MTU, whether IP may cut it; `size` is then that of all
    /// fragments.
    ///
    /// They pass the link as one, and are lost as one: whoever lacks one can use none of them.
    #[cold]
    fn cuts(&self, id: PacketId, size: &mut u32, pool: &PacketPool) -> bool {
        let may = pool.may_fragment(id);
        if may {
            let is_ipv6 = pool.is_ipv6(pool.dst(id));
            *size = Packet::len_in_fragments(*size, self.mtu, is_ipv6);
        }
        may
    }

    /// Offers a packet as [`Link::offer`] does, where the link has features.
    fn offer_with_features(
        &mut self,
        (id, size): (PacketId, u32),
        fits: bool,
        step: &mut Step<'_, '_>,
    ) -> Option<Time> {
        let before = self.next_event();
        let features = self.features.as_mut()?;
        if !fits {
            self.base.drop(id, size, LinkDrop::Mtu, step);
        } else {
            features.pass((id, size), 0, &mut self.base, step);
        }
        // A virtual channel's source hears of packets with the event.
        let calls = features.calls();
        let after = self.next_event();
        (after != before || calls).then_some(after)
    }

    /// Returns the size of the largest packet that the link carries, in octets.
    #[inline]
    pub fn mtu(&self) -> Bytes {
        Bytes(self.mtu as u64)
    }

    /// The date of [`Link::next_event`] has come. Returns the packet that
    /// reached the far end, if one did.
    #[inline]
    pub fn handle_event(
        &mut self,
        now: Time,
        pool: &mut PacketPool,
        watch: Option<&mut dyn LinkWatch>,
    ) -> Option<PacketId> {
        let mut step = Step { now, pool, watch };
        let (id, size) = match &mut self.features {
            Some(features) => features.handle_event(&mut self.base, &mut step)?,
            None => {
                let entry = self.base.pop_arrived(now)?;
                (entry.id, entry.size())
            }
        };
        self.base.delivered.add(size);
        step.tell(LinkEvent::Delivered, id);
        Some(id)
    }

    /// Returns when to call [`Link::handle_event`]; [`Time::NEVER`] for an idle link.
    #[inline]
    pub fn next_event(&self) -> Time {
        let head = self.base.first_arrival();
        match &self.features {
            None => head,
            Some(features) => head.min(features.next_event()),
        }
    }

    /// Returns what waits for the transmitter at `now`, without the packet being transmitted. `now`
    /// never decreases.
    pub fn waiting(&mut self, now: Time) -> Waiting {
        match &mut self.features {
            None => self.base.waiting(now, self.busy_until),
            Some(features) => features.waiting(now),
        }
    }

    /// Returns the counters as they are now.
    pub fn counters(&self) -> LinkCounters {
        let mut counters = self.base.counters();
        if let Some(features) = &self.features {
            features.count(&mut counters);
        }
        counters
    }

    /// Returns how many packets reached the far end.
    pub fn delivered(&self) -> u64 {
        self.base.delivered.packets
    }

    /// Returns how many octets were offered to the link.
    pub fn octets_received(&self) -> u64 {
        self.base.received.octets
    }

    /// Returns when `octets` that begin at `now` have gone to the line, at the rate that it then
    /// has; in an outage, when that ends.
    pub fn drains_at(&self, now: Time, octets: u64) -> Time {
        let size = u32::try_from(octets).unwrap_or(u32::MAX);
        match &self.features {
            None => now.saturating_add(self.line.time_for(size)),
            Some(features) => features.drains_at(now, octets),
        }
    }

    /// Returns the rate at a date: in force, scheduled or granted; of a trace its mean, of a shaped
    /// line that of its bucket, `None` in an outage.
    pub fn rate_at(&self, now: Time) -> Option<Rate> {
        match &self.features {
            None => Some(self.line.rate()),
            Some(features) => features.rate_at(now),
        }
    }

    /// Lets a link with an explicit rate send at `rate` from `from` on, which does not descend.
    pub fn grant(&mut self, from: Time, rate: Rate) {
        if let Some(features) = &mut self.features {
            features.grant(from, rate);
        }
    }

    /// Returns whether a link that holds its packets has one that waits or is being sent.
    pub(crate) fn is_sending(&self, now: Time) -> bool {
        self.features.as_ref().is_some_and(|features| features.is_sending(now))
    }

    /// Takes the next packet of a link whose line is a virtual channel, for its source, which sends
    /// packets at `rate` now. Returns its number, its octets, and whether more wait.
    pub fn take_for_cells(
        &mut self,
        now: Time,
        rate: Rate,
        pool: &mut PacketPool,
        watch: Option<&mut dyn LinkWatch>,
    ) -> Option<(u32, u32, bool)> {
        let mut step = Step { now, pool, watch };
        self.features.as_mut()?.take_for_cells(rate, &mut self.base, &mut step)
    }

    /// Such a packet has come to the far end, `whole` or not. The date of the link's next event.
    pub fn end_in_cells(
        &mut self,
        now: Time,
        number: u32,
        whole: bool,
        pool: &mut PacketPool,
        watch: Option<&mut dyn LinkWatch>,
    ) -> Time {
        let mut step = Step { now, pool, watch };
        if let Some(features) = &mut self.features {
            features.end_in_cells(number, whole, &mut self.base, &mut step);
        }
        self.next_event()
    }

    /// Returns the transmission time of a packet at the link's rate.
    pub fn transmission_time(&self, size: Bytes) -> Span {
        self.line.time_for(size.0 as u32)
    }

    #[inline]
    fn enqueue(&mut self, id: PacketId, size: u32, step: &mut Step<'_, '_>) {
        let Some(starts) = self.admit(step.now, size) else {
            return self.base.drop(id, size, LinkDrop::Queue, step);
        };
        self.send(starts, id, size);
        step.tell(LinkEvent::Enqueued { starts, departs: self.busy_until }, id);
    }

    /// Returns when the transmission of a packet that comes at `at` starts; `None` where it has no
    /// room to wait.
    #[inline]
    fn admit(&mut self, at: Time, size: u32) -> Option<Time> {
        if at >= self.busy_until {
            return Some(at);
        }
        let waiting = self.base.waiting(at, self.busy_until);
        self.queue.admits(waiting, size).then_some(self.busy_until)
    }

    /// A packet's transmission starts then. Returns when it arrives.
    #[inline]
    fn send(&mut self, starts: Time, id: PacketId, size: u32) -> Time {
        self.busy_until = starts.saturating_add(self.line.time_for(size));
        let arrival = self.busy_until.saturating_add(self.base.delay);
        self.base.push(Entry::new(arrival, id, size, 0));
        arrival
    }
}

#[cfg(test)]
mod tests;
