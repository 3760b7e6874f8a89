//! One direction of a link: impairments, queue, transmitter, propagation.
//!
//! A packet's whole way is known when it is offered: it starts when the
//! transmitter is free, leaves `size / rate` later and arrives a propagation
//! delay after that. It waits for that date in a ring, whose head is the
//! link's one pending event. How many packets wait at a date is counted when
//! somebody asks, by moving a cursor over the departures that have passed.
//!
//! A packet that an egress impairment loses stays in the ring until it would
//! have arrived: it uses the link. A reordered packet goes through the ring
//! like any other and, at the far end, into a side heap for its extra time.

use crate::config::LinkConfig;
use crate::counters::LinkCounters;
use crate::impairment::{Impairment, Position, Verdict};
use crate::pool::{PacketId, PacketPool};
use crate::queue::{Queue, Waiting};
use anabranch_endpoint::Generator;
use anabranch_units::{Bytes, Rate, Span, Time};
use anabranch_wire::Packet;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

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
}

/// What happens to a packet on a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LinkEvent {
    /// Accepted by the queue.
    Enqueued {
        /// When its transmission starts; until then it waits.
        starts: Time,
        /// When its transmission ends.
        departs: Time,
    },
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
    queue: Queue,
    impaired: Option<Box<Impaired>>,
    received: Count,
    delivered: Count,
    dropped_octets: u64,
    dropped: [u64; 4],
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
enum Fate {
    Arrives = 0,
    Lost = 1,
    Corrupt = 2,
    HeldBack = 3,
}

impl Entry {
    fn size(&self) -> u32 {
        self.size_fate & SIZE_MASK
    }
    fn fate(&self) -> Fate {
        match self.size_fate >> SIZE_BITS {
            0 => Fate::Arrives,
            1 => Fate::Lost,
            2 => Fate::Corrupt,
            _ => Fate::HeldBack,
        }
    }
}

#[derive(Clone, Copy, Default, Debug)]
struct Count {
    packets: u64,
    octets: u64,
}

/// What only links with impairments have.
#[derive(Debug)]
struct Impaired {
    list: Vec<(Position, Impairment)>,
    duplicated: Count,
    /// Extra times of the held-back packets in the ring, in its order.
    extras: VecDeque<Span>,
    /// Held-back packets beyond the ring: date, order of coming, packet, size.
    held: BinaryHeap<Reverse<(Time, u64, PacketId, u32)>>,
    held_count: u64,
}

impl Link {
    /// An idle link. Each impairment gets a generator drawn from `generator`.
    pub fn new(config: &LinkConfig, mut generator: Generator) -> Link {
        let build = |it: &crate::ImpairmentConfig| {
            (it.at, it.build(Generator::from_u64(generator.next_u64())))
        };
        let list: Vec<_> = config.impairments.iter().map(build).collect();
        let impaired = (!list.is_empty()).then(|| {
            Box::new(Impaired {
                list,
                duplicated: Count::default(),
                extras: VecDeque::new(),
                held: BinaryHeap::new(),
                held_count: 0,
            })
        });
        Link {
            busy_until: Time::ZERO,
            ring: VecDeque::new(),
            departed: 0,
            unsent_octets: 0,
            line: Line::new(config.rate),
            delay: config.delay,
            mtu: config.mtu.0.min(LinkConfig::MAX_MTU) as u32,
            queue: config.queue.build(),
            impaired,
            received: Count::default(),
            delivered: Count::default(),
            dropped_octets: 0,
            dropped: [0; 4],
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
        self.received.packets += 1;
        self.received.octets += size as u64;
        let was_empty = self.ring.is_empty();
        if size > self.mtu {
            self.drop(now, id, size, DropReason::Mtu, pool, &mut watch);
        } else if self.impaired.is_some() {
            self.offer_impaired(now, id, size, 0, pool, &mut watch);
        } else {
            self.enqueue(now, id, size, Fate::Arrives, pool, &mut watch);
        }
        (was_empty && !self.ring.is_empty()).then(|| self.next_event())
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
        let (id, size) = match self.ring.front() {
            Some(entry) if entry.arrival <= now => {
                let entry = *entry;
                self.ring.pop_front();
                match self.departed {
                    0 => self.unsent_octets -= entry.size() as u64,
                    _ => self.departed -= 1,
                }
                if entry.fate() != Fate::Arrives {
                    self.handle_fate(now, entry, pool, &mut watch);
                    return None;
                }
                (entry.id, entry.size())
            }
            _ => self.impaired.as_mut()?.release(now)?,
        };
        self.delivered.packets += 1;
        self.delivered.octets += size as u64;
        if let Some(watch) = watch {
            watch.link_event(now, LinkEvent::Delivered, pool.packet(id));
        }
        Some(id)
    }

    /// When to call [`Link::handle_event`]; [`Time::NEVER`] for an idle link.
    #[inline]
    pub fn next_event(&self) -> Time {
        let head = self.ring.front().map_or(Time::NEVER, |entry| entry.arrival);
        match &self.impaired {
            None => head,
            Some(impaired) => {
                let held = impaired.held.peek().map_or(Time::NEVER, |Reverse(held)| held.0);
                head.min(held)
            }
        }
    }

    /// What waits for the transmitter at `now`, without the packet being
    /// transmitted. `now` never decreases.
    pub fn waiting(&mut self, now: Time) -> Waiting {
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
        let [dropped_queue, dropped_loss, dropped_corrupt, dropped_mtu] = self.dropped;
        let in_ring: u64 = self.ring.iter().map(|entry| entry.size() as u64).sum();
        let mut counters = LinkCounters {
            received: self.received.packets,
            delivered: self.delivered.packets,
            dropped_queue,
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
        if let Some(impaired) = &self.impaired {
            counters.duplicated = impaired.duplicated.packets;
            counters.bytes_duplicated = impaired.duplicated.octets;
            counters.queued += impaired.held.len() as u64;
            counters.bytes_queued += impaired.held.iter().map(|it| it.0.3 as u64).sum::<u64>();
        }
        counters
    }

    /// Packets that reached the far end.
    pub fn delivered(&self) -> u64 {
        self.delivered.packets
    }

    /// Transmission time of a packet.
    pub fn transmission_time(&self, size: Bytes) -> Span {
        self.line.time_for(size.0 as u32)
    }

    #[inline]
    fn enqueue(
        &mut self,
        now: Time,
        id: PacketId,
        size: u32,
        fate: Fate,
        pool: &mut PacketPool,
        watch: &mut Option<&mut dyn LinkWatch>,
    ) -> bool {
        let mut starts = now;
        if now < self.busy_until {
            let waiting = self.waiting(now);
            if !self.queue.admits(waiting, size) {
                self.drop(now, id, size, DropReason::Queue, pool, watch);
                return false;
            }
            starts = self.busy_until;
        }
        self.busy_until = starts.saturating_add(self.line.time_for(size));
        self.unsent_octets += size as u64;
        self.ring.push_back(Entry {
            arrival: self.busy_until.saturating_add(self.delay),
            id,
            size_fate: size | (fate as u32) << SIZE_BITS,
        });
        if let Some(watch) = watch {
            let event = LinkEvent::Enqueued { starts, departs: self.busy_until };
            watch.link_event(now, event, pool.packet(id));
        }
        true
    }

    /// A packet meets the impairments from number `first` on: those at the
    /// ingress, the queue, then those at the egress, whose result is kept as
    /// the packet's fate.
    fn offer_impaired(
        &mut self,
        now: Time,
        id: PacketId,
        size: u32,
        first: usize,
        pool: &mut PacketPool,
        watch: &mut Option<&mut dyn LinkWatch>,
    ) {
        let impaired = self.impaired.as_mut().expect("only impaired links come here");
        let mut fate = Fate::Arrives;
        let mut extra = Span::ZERO;
        let mut copy_from = None;
        for (number, (at, impairment)) in impaired.list.iter_mut().enumerate().skip(first) {
            if fate != Fate::Arrives && *at == Position::Egress {
                continue;
            }
            match (impairment.judge(pool.packet(id), size), *at) {
                (Verdict::Pass, _) => {}
                (Verdict::Lose, Position::Ingress) => {
                    return self.drop_all(now, id, size, DropReason::Loss, copy_from, pool, watch);
                }
                (Verdict::Corrupt, Position::Ingress) => {
                    return self.drop_all(
                        now,
                        id,
                        size,
                        DropReason::Corrupt,
                        copy_from,
                        pool,
                        watch,
                    );
                }
                (Verdict::Lose, Position::Egress) => fate = Fate::Lost,
                (Verdict::Corrupt, Position::Egress) => fate = Fate::Corrupt,
                (Verdict::Delay(more), _) => extra += more,
                (Verdict::Duplicate, _) => copy_from = copy_from.or(Some(number + 1)),
            }
        }
        if fate == Fate::Arrives && extra != Span::ZERO {
            fate = Fate::HeldBack;
        }
        let copy = copy_from.map(|next| (pool.duplicate(id), next));
        if self.enqueue(now, id, size, fate, pool, watch) && fate == Fate::HeldBack {
            let impaired = self.impaired.as_mut().expect("only impaired links come here");
            impaired.extras.push_back(extra);
        }
        if let Some((copy, next)) = copy {
            self.offer_copy(now, copy, size, next, pool, watch);
        }
    }

    /// An ingress impairment takes the original; a copy made before goes on.
    #[expect(clippy::too_many_arguments, reason = "the way of a packet, in one place")]
    fn drop_all(
        &mut self,
        now: Time,
        id: PacketId,
        size: u32,
        reason: DropReason,
        copy_from: Option<usize>,
        pool: &mut PacketPool,
        watch: &mut Option<&mut dyn LinkWatch>,
    ) {
        let copy = copy_from.map(|next| (pool.duplicate(id), next));
        self.drop(now, id, size, reason, pool, watch);
        if let Some((copy, next)) = copy {
            self.offer_copy(now, copy, size, next, pool, watch);
        }
    }

    fn offer_copy(
        &mut self,
        now: Time,
        copy: PacketId,
        size: u32,
        next: usize,
        pool: &mut PacketPool,
        watch: &mut Option<&mut dyn LinkWatch>,
    ) {
        let impaired = self.impaired.as_mut().expect("only impaired links come here");
        impaired.duplicated.packets += 1;
        impaired.duplicated.octets += size as u64;
        if let Some(watch) = watch {
            watch.link_event(now, LinkEvent::Duplicated, pool.packet(copy));
        }
        self.offer_impaired(now, copy, size, next, pool, watch);
    }

    /// The head of the ring does not simply arrive.
    #[cold]
    fn handle_fate(
        &mut self,
        now: Time,
        entry: Entry,
        pool: &mut PacketPool,
        watch: &mut Option<&mut dyn LinkWatch>,
    ) {
        let Entry { id, .. } = entry;
        match entry.fate() {
            Fate::Arrives => unreachable!("an arrival has no further fate"),
            Fate::Lost => self.drop(now, id, entry.size(), DropReason::Loss, pool, watch),
            Fate::Corrupt => self.drop(now, id, entry.size(), DropReason::Corrupt, pool, watch),
            Fate::HeldBack => {
                let impaired = self.impaired.as_mut().expect("only impaired links hold back");
                let extra = impaired.extras.pop_front().expect("each held-back packet has a time");
                impaired.held_count += 1;
                let until = now.saturating_add(extra);
                impaired.held.push(Reverse((until, impaired.held_count, id, entry.size())));
            }
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
        self.dropped[reason as usize] += 1;
        self.dropped_octets += size as u64;
        if let Some(watch) = watch {
            watch.link_event(now, LinkEvent::Dropped(reason), pool.packet(id));
        }
        pool.release(id);
    }
}

impl Impaired {
    /// The next held-back packet whose time has come.
    fn release(&mut self, now: Time) -> Option<(PacketId, u32)> {
        let Reverse((until, _, id, size)) = *self.held.peek()?;
        (until <= now).then(|| {
            self.held.pop();
            (id, size)
        })
    }
}

/// Transmission times, as [`Rate::time_for`] but without its 128-bit division.
#[derive(Clone, Copy, Debug)]
struct Line {
    rate: Rate,
    /// Picoseconds for each octet, when that is a whole number; else zero.
    ps_per_octet: u64,
}

impl Line {
    const PS_TIMES_BITS: u64 = 8_000_000_000_000;

    fn new(rate: Rate) -> Line {
        let whole = Self::PS_TIMES_BITS % rate.as_bps() == 0;
        Line { rate, ps_per_octet: if whole { Self::PS_TIMES_BITS / rate.as_bps() } else { 0 } }
    }

    #[inline]
    fn time_for(&self, size: u32) -> Span {
        if self.ps_per_octet != 0 {
            Span::from_picos(self.ps_per_octet.saturating_mul(size as u64))
        } else {
            self.divided(size)
        }
    }

    fn divided(&self, size: u32) -> Span {
        let bps = self.rate.as_bps();
        match (size as u64).checked_mul(Self::PS_TIMES_BITS).and_then(|n| n.checked_add(bps / 2)) {
            Some(bits) => Span::from_picos(bits / bps),
            None => self.rate.time_for(Bytes(size as u64)),
        }
    }
}

#[cfg(test)]
mod tests;
