//! One direction of a link: impairments, queue, transmitter, propagation.
//!
//! A packet's whole way is known when it is offered: it starts when the
//! transmitter is free, leaves `size / rate` later and arrives a propagation
//! delay after that. It waits for that date in a ring, whose head is the
//! link's one pending event. How many packets wait at a date is counted when
//! somebody asks, by moving a cursor over the departures that have passed.
//!
//! This file is the link with a drop-tail queue, one rate and one delay. All
//! else is in `special`: impairments, disciplines that mark and drop on arrival
//! (`fifo`) or hold the packets (`held`), other transmitters, changing delays.
//! Those links share the ring, the counters and the events.

mod fifo;
mod held;
mod special;

use crate::config::LinkConfig;
use crate::counters::LinkCounters;
use crate::pool::{PacketId, PacketPool};
use crate::queue::{DropTail, QueueConfig, QueueLimit, Waiting};
use crate::transmitter::Line;
use anabranch_endpoint::Generator;
use anabranch_units::{Bytes, Rate, Span, Time};
use anabranch_wire::Packet;
use special::Special;
use std::collections::VecDeque;

/// Why the network dropped a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum DropReason {
    /// The queue was full.
    Queue,
    /// A loss impairment.
    Loss,
    /// Bit errors.
    Corrupt,
    /// Larger than the link's MTU.
    Mtu,
    /// TTL exhausted at a router.
    Ttl,
    /// A node without a route to the destination, or a host that would have
    /// to forward.
    NoRoute,
    /// No endpoint at the destination has the port.
    NoEndpoint,
    /// A decision of active queue management.
    Aqm,
    /// The transport's checksum does not match, at the destination.
    Checksum,
    /// A regulator could not hold it.
    Regulator,
}

/// Reasons that a link has.
const DROPS: usize = 5;

impl DropReason {
    /// Where a link counts it.
    fn slot(self) -> usize {
        match self {
            DropReason::Queue => 0,
            DropReason::Loss => 1,
            DropReason::Corrupt => 2,
            DropReason::Mtu => 3,
            DropReason::Aqm => 4,
            _ => unreachable!("this reason is a node's"),
        }
    }
}

/// What happens to a packet on a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkEvent {
    /// Accepted by a queue that is first in, first out.
    Enqueued {
        /// When its transmission starts; until then it waits.
        starts: Time,
        /// When its transmission ends.
        departs: Time,
    },
    /// Accepted by a queue that decides later what goes when.
    Waits,
    /// Leaves such a queue, for the transmitter.
    Starts {
        /// When its transmission ends.
        departs: Time,
    },
    /// Leaves such a queue: dropped.
    Removed(DropReason),
    /// The queue has set CE.
    Marked,
    /// The link made this copy.
    Duplicated,
    /// Dropped.
    Dropped(DropReason),
    /// Reached the far end.
    Delivered,
}

/// Who watches a link's packets.
pub trait LinkWatch {
    /// Something happened to `packet` at `now`.
    fn link_event(&mut self, now: Time, event: LinkEvent, packet: &Packet);
}

/// One direction of a link.
#[derive(Debug)]
pub struct Link {
    busy_until: Time,
    ring: VecDeque<Entry>,
    /// How many entries at the front of the ring are known to have departed.
    departed: usize,
    /// Octets of the other entries.
    unsent_octets: u64,
    line: Line,
    delay: Span,
    mtu: u32,
    queue: DropTail,
    /// What goes beyond a drop-tail queue, one rate and one delay.
    special: Option<Box<Special>>,
    received: Count,
    delivered: Count,
    dropped_octets: u64,
    dropped: [u64; DROPS],
}

/// A packet in the ring. `size` keeps the octets in its low 24 bits and the
/// fate above.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Departure plus propagation delay; ascends along the ring.
    arrival: Time,
    id: PacketId,
    size_fate: u32,
}

const SIZE_BITS: u32 = 24;
const SIZE_MASK: u32 = (1 << SIZE_BITS) - 1;

impl Entry {
    fn size(&self) -> u32 {
        self.size_fate & SIZE_MASK
    }
}

#[derive(Clone, Copy, Default, Debug)]
struct Count {
    packets: u64,
    octets: u64,
}

impl Count {
    fn add(&mut self, size: u32) {
        self.packets += 1;
        self.octets += size as u64;
    }
}

impl Link {
    /// An idle link. Each impairment gets a generator drawn from `generator`,
    /// then the queue where it needs one.
    pub fn new(config: &LinkConfig, generator: Generator) -> Link {
        let queue = match config.queue {
            QueueConfig::DropTail { limit } => DropTail::new(limit),
            _ => DropTail::new(QueueLimit::Unlimited),
        };
        Link {
            busy_until: Time::ZERO,
            ring: VecDeque::new(),
            departed: 0,
            unsent_octets: 0,
            line: Line::new(config.rate),
            delay: config.delay,
            mtu: config.mtu.0.min(LinkConfig::MAX_MTU) as u32,
            queue,
            special: Special::new(config, generator).map(Box::new),
            received: Count::default(),
            delivered: Count::default(),
            dropped_octets: 0,
            dropped: [0; DROPS],
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
        mut watch: Option<&mut dyn LinkWatch>,
    ) -> Option<Time> {
        let size = pool.size(id);
        self.received.add(size);
        if self.special.is_some() {
            return self.offer_special(now, id, size, pool, &mut watch);
        }
        let was_empty = self.ring.is_empty();
        if size > self.mtu {
            self.drop(now, id, size, DropReason::Mtu, pool, &mut watch);
        } else {
            self.enqueue(now, id, size, pool, &mut watch);
        }
        (was_empty && !self.ring.is_empty()).then(|| self.next_event())
    }

    /// The largest packet that it carries.
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
        mut watch: Option<&mut dyn LinkWatch>,
    ) -> Option<PacketId> {
        let (id, size) = if self.special.is_some() {
            self.handle_special(now, pool, &mut watch)?
        } else {
            let entry = *self.ring.front().filter(|entry| entry.arrival <= now)?;
            self.ring.pop_front();
            match self.departed {
                0 => self.unsent_octets -= entry.size() as u64,
                _ => self.departed -= 1,
            }
            (entry.id, entry.size())
        };
        self.delivered.add(size);
        if let Some(watch) = watch {
            watch.link_event(now, LinkEvent::Delivered, pool.packet(id));
        }
        Some(id)
    }

    /// When to call [`Link::handle_event`]; [`Time::NEVER`] for an idle link.
    #[inline]
    pub fn next_event(&self) -> Time {
        let head = self.ring.front().map_or(Time::NEVER, |entry| entry.arrival);
        match &self.special {
            None => head,
            Some(special) => head.min(special.next_event()),
        }
    }

    /// What waits for the transmitter at `now`, without the packet being
    /// transmitted. `now` never decreases.
    pub fn waiting(&mut self, now: Time) -> Waiting {
        if let Some(special) = &mut self.special {
            return special.waiting(now);
        }
        if now >= self.busy_until {
            self.departed = self.ring.len();
            self.unsent_octets = 0;
            return Waiting::default();
        }
        while let Some(entry) = self.ring.get(self.departed)
            && entry.arrival <= now.saturating_add(self.delay)
        {
            self.unsent_octets -= entry.size() as u64;
            self.departed += 1;
        }
        let on_the_line = self.ring.get(self.departed).map_or(0, Entry::size);
        Waiting {
            packets: (self.ring.len() - self.departed).saturating_sub(1) as u64,
            octets: self.unsent_octets - on_the_line as u64,
        }
    }

    /// The counters now.
    pub fn counters(&self) -> LinkCounters {
        let [dropped_queue, dropped_loss, dropped_corrupt, dropped_mtu, dropped_aqm] = self.dropped;
        let in_ring: u64 = self.ring.iter().map(|entry| entry.size() as u64).sum();
        let mut counters = LinkCounters {
            received: self.received.packets,
            delivered: self.delivered.packets,
            dropped_queue,
            dropped_aqm,
            dropped_loss,
            dropped_corrupt,
            dropped_mtu,
            queued: self.ring.len() as u64,
            bytes_received: self.received.octets,
            bytes_delivered: self.delivered.octets,
            bytes_dropped: self.dropped_octets,
            bytes_queued: in_ring,
            ..LinkCounters::default()
        };
        if let Some(special) = &self.special {
            special.count(&mut counters);
        }
        counters
    }

    /// Packets that reached the far end.
    pub fn delivered(&self) -> u64 {
        self.delivered.packets
    }

    /// Octets that were offered to the link.
    pub fn octets_received(&self) -> u64 {
        self.received.octets
    }

    /// When `octets` that begin at `now` have gone to the line, at the rate
    /// that it then has; in an outage, when that ends.
    pub fn drains_at(&self, now: Time, octets: u64) -> Time {
        let size = u32::try_from(octets).unwrap_or(u32::MAX);
        match &self.special {
            None => now.saturating_add(self.line.time_for(size)),
            Some(special) => special.drains_at(now, octets),
        }
    }

    /// The rate at a date: in force, scheduled or granted; of a trace its mean,
    /// of a shaped line that of its bucket, `None` in an outage.
    pub fn rate_at(&self, now: Time) -> Option<Rate> {
        match &self.special {
            None => Some(self.line.rate()),
            Some(special) => special.rate_at(now),
        }
    }

    /// Of a link with an explicit rate: it sends at `rate` from `from` on, which
    /// does not descend.
    pub fn grant(&mut self, from: Time, rate: Rate) {
        if let Some(special) = &mut self.special {
            special.grant(from, rate);
        }
    }

    /// Of a link that holds its packets: one waits or is being sent.
    pub(crate) fn is_sending(&self, now: Time) -> bool {
        self.special.as_ref().is_some_and(|special| special.is_sending(now))
    }

    /// Transmission time of a packet at the link's rate.
    pub fn transmission_time(&self, size: Bytes) -> Span {
        self.line.time_for(size.0 as u32)
    }

    #[inline]
    fn enqueue(
        &mut self,
        now: Time,
        id: PacketId,
        size: u32,
        pool: &mut PacketPool,
        watch: &mut Option<&mut dyn LinkWatch>,
    ) {
        let mut starts = now;
        if now < self.busy_until {
            let waiting = self.waiting(now);
            if !self.queue.admits(waiting, size) {
                return self.drop(now, id, size, DropReason::Queue, pool, watch);
            }
            starts = self.busy_until;
        }
        self.busy_until = starts.saturating_add(self.line.time_for(size));
        self.unsent_octets += size as u64;
        let arrival = self.busy_until.saturating_add(self.delay);
        self.ring.push_back(Entry { arrival, id, size_fate: size });
        if let Some(watch) = watch {
            let event = LinkEvent::Enqueued { starts, departs: self.busy_until };
            watch.link_event(now, event, pool.packet(id));
        }
    }

    #[cold]
    fn drop(
        &mut self,
        now: Time,
        id: PacketId,
        size: u32,
        reason: DropReason,
        pool: &mut PacketPool,
        watch: &mut Option<&mut dyn LinkWatch>,
    ) {
        self.dropped[reason.slot()] += 1;
        self.dropped_octets += size as u64;
        if let Some(watch) = watch {
            watch.link_event(now, LinkEvent::Dropped(reason), pool.packet(id));
        }
        pool.release(id);
    }
}

#[cfg(test)]
mod tests;
