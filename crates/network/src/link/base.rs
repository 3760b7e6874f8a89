//! What every link has: the packets that travel over it, in order of arrival, and its counters.

use super::{LinkDrop, LinkEvent, LinkWatch};
use crate::counters::LinkCounters;
use crate::pool::{PacketId, PacketPool};
use crate::queue::Waiting;
use anabranch_units::{Span, Time};
use std::collections::VecDeque;

/// `Step` is one step of a link: the date, where packets are kept, and who watches them.
pub(super) struct Step<'a, 'w> {
    pub now: Time,
    pub pool: &'a mut PacketPool,
    pub watch: Option<&'w mut dyn LinkWatch>,
}

impl Step<'_, '_> {
    /// Tells the watcher, if there is one, what happens to a packet.
    #[inline]
    pub(super) fn tell(&mut self, event: LinkEvent, id: PacketId) {
        if let Some(watch) = &mut self.watch {
            watch.link_event(self.now, event, self.pool.packet(id));
        }
    }
}

/// `Entry` is a packet on its way, in the link's ring.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// `arrival` is departure plus propagation delay; it ascends along the ring.
    pub arrival: Time,
    pub id: PacketId,
    /// `size_fate` has the octets in the low 24 bits, and the fate above them.
    size_fate: u32,
}

const SIZE_BITS: u32 = 24;
const SIZE_MASK: u32 = (1 << SIZE_BITS) - 1;

impl Entry {
    /// Makes an entry; `fate` is a number below 256, 0 for a packet that simply arrives.
    #[inline]
    pub(super) fn new(arrival: Time, id: PacketId, size: u32, fate: u32) -> Entry {
        Entry { arrival, id, size_fate: size | fate << SIZE_BITS }
    }

    /// Returns the packet's octets.
    #[inline]
    pub(super) fn size(&self) -> u32 {
        self.size_fate & SIZE_MASK
    }

    /// Returns the number that [`Entry::new`] was given.
    pub(super) fn fate(&self) -> u32 {
        self.size_fate >> SIZE_BITS
    }
}

/// `Count` is a number of packets and their octets.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Count {
    pub packets: u64,
    pub octets: u64,
}

impl Count {
    #[inline]
    pub(super) fn add(&mut self, size: u32) {
        self.packets += 1;
        self.octets += size as u64;
    }
}

/// `Base` has the packets on their way, and the counters.
#[derive(Debug)]
pub(super) struct Base {
    ring: VecDeque<Entry>,
    /// Number of entries at the front of the ring that are known to have departed.
    departed: usize,
    /// `unsent_octets` is how many octets the other entries have.
    unsent_octets: u64,
    /// The propagation delay, where no schedule says otherwise.
    pub delay: Span,
    pub received: Count,
    pub delivered: Count,
    dropped_octets: u64,
    dropped: [u64; LinkDrop::COUNT],
}

impl Base {
    pub(super) fn new(delay: Span) -> Base {
        Base {
            ring: VecDeque::new(),
            departed: 0,
            unsent_octets: 0,
            delay,
            received: Count::default(),
            delivered: Count::default(),
            dropped_octets: 0,
            dropped: [0; LinkDrop::COUNT],
        }
    }

    /// Returns whether no packet travels.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Returns when the first packet arrives; never where none travels.
    #[inline]
    pub(super) fn first_arrival(&self) -> Time {
        self.ring.front().map_or(Time::NEVER, |entry| entry.arrival)
    }

    /// Returns when the last packet arrives; zero where none travels.
    pub(super) fn last_arrival(&self) -> Time {
        self.ring.back().map_or(Time::ZERO, |entry| entry.arrival)
    }

    /// A packet begins its way; its arrival is not before that of the last one.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        self.unsent_octets += entry.size() as u64;
        self.ring.push_back(entry);
    }

    /// Returns the first packet if it has arrived, and forgets it.
    #[inline]
    pub(super) fn pop_arrived(&mut self, now: Time) -> Option<Entry> {
        let entry = *self.ring.front().filter(|entry| entry.arrival <= now)?;
        self.ring.pop_front();
        match self.departed {
            0 => self.unsent_octets -= entry.size() as u64,
            _ => self.departed -= 1,
        }
        Some(entry)
    }

    /// Returns whether the ring would grow with one more packet.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.ring.len() == self.ring.capacity()
    }

    /// Gives another fate to the packet that began its way last.
    pub(super) fn set_last_fate(&mut self, fate: u32) {
        if let Some(last) = self.ring.back_mut() {
            *last = Entry::new(last.arrival, last.id, last.size(), fate);
        }
    }

    /// Returns the packets on their way, in order of arrival.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.ring.iter()
    }

    /// Returns what waits for a transmitter that works through the packets in order and is busy
    /// until `busy_until`. `now` never decreases.
    pub(super) fn waiting(&mut self, now: Time, busy_until: Time) -> Waiting {
        if now >= busy_until {
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

    /// Drops a packet that has not waited in a queue that decides later.
    #[cold]
    pub(super) fn drop(
        &mut self,
        id: PacketId,
        size: u32,
        reason: LinkDrop,
        step: &mut Step<'_, '_>,
    ) {
        self.discard(id, size, reason, LinkEvent::Dropped(reason), step);
    }

    /// Drops a packet, of which watchers hear this event.
    pub(super) fn discard(
        &mut self,
        id: PacketId,
        size: u32,
        reason: LinkDrop,
        event: LinkEvent,
        step: &mut Step<'_, '_>,
    ) {
        self.count_dropped(size, reason);
        step.tell(event, id);
        step.pool.release(id);
    }

    /// Counts a packet of this size that is dropped.
    pub(super) fn count_dropped(&mut self, size: u32, reason: LinkDrop) {
        self.dropped[reason as usize] += 1;
        self.dropped_octets += size as u64;
    }

    /// Returns the counters of a link that has nothing else.
    pub(super) fn counters(&self) -> LinkCounters {
        let [dropped_queue, dropped_loss, dropped_corrupt, dropped_mtu, dropped_aqm] = self.dropped;
        LinkCounters {
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
            bytes_queued: self.ring.iter().map(|entry| entry.size() as u64).sum(),
            ..LinkCounters::default()
        }
    }
}
