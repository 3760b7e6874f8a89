//! Links whose arrivals are no events. Where the next link gets packets from this one alone, what
//! happens to a packet there depends on nothing that is not known when it is offered here: its host
//! offers it to one link after the other ahead of time ([`Link::offer_ahead`]), and hears of the last
//! alone. What has arrived meanwhile is counted when the host asks ([`Link::arrive`]).

use super::base::Entry;
use super::{Link, LinkDrop};
use crate::counters::LinkCounters;
use crate::pool::{PacketId, PacketPool};
use anabranch_units::{Span, Time};

/// `End` says how the way of a packet ends at the far end of an elided link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The router there drops it: its TTL is used up.
    Ttl,
    /// The router there drops it: it knows no link to its destination.
    NoRoute,
    /// The next link drops the packet, for this reason.
    Dropped(LinkDrop),
}

/// A packet that has not arrived at the far end of an elided link, and what will happen there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Passing {
    /// `id` is the packet's slot in the pool.
    pub id: PacketId,
    /// `end` says how its way ends; `None` where it goes on.
    pub end: Option<End>,
}

/// `TTL` is the fate of a packet whose TTL ends here; that of a packet that goes on is 0.
const TTL: u32 = 1;
const NO_ROUTE: u32 = 2;
const QUEUE: u32 = 3;
const MTU: u32 = 4;

impl End {
    fn fate(self) -> u32 {
        match self {
            End::Ttl => TTL,
            End::NoRoute => NO_ROUTE,
            End::Dropped(LinkDrop::Mtu) => MTU,
            End::Dropped(_) => QUEUE,
        }
    }
}

impl Passing {
    fn of(entry: &Entry) -> Passing {
        let end = match entry.fate() {
            0 => None,
            TTL => Some(End::Ttl),
            NO_ROUTE => Some(End::NoRoute),
            MTU => Some(End::Dropped(LinkDrop::Mtu)),
            _ => Some(End::Dropped(LinkDrop::Queue)),
        };
        Passing { id: entry.id, end }
    }
}

impl Link {
    /// Returns whether the link has nothing but a drop-tail queue, one rate and one delay.
    pub fn is_plain(&self) -> bool {
        self.features.is_none()
    }

    /// Returns the propagation delay of a plain link; `None` for another one.
    pub fn plain_delay(&self) -> Option<Span> {
        self.is_plain().then_some(self.base.delay)
    }

    /// Returns how many octets arrive at the far end of a plain link within `span` at the most; `None` for
    /// another link.
    pub fn most_arriving(&self, span: Span) -> Option<u64> {
        let octets = self.line.rate().bytes_in(span).0;
        self.is_plain().then(|| octets.saturating_add(u64::from(self.mtu)))
    }

    /// A packet of `size` octets that was offered elsewhere is on its way over a plain link, and arrives
    /// at the far end at `arrival`; dates do not descend.
    pub fn put_on_its_way(&mut self, arrival: Time, id: PacketId, size: u32) {
        self.base.push(Entry::new(arrival, id, size, 0));
    }

    /// Chooses whether arrivals are no events from now on, on a plain link; before the first
    /// packet.
    pub fn elide(&mut self, elided: bool) {
        self.is_elided = elided;
    }

    /// Returns whether arrivals are no events: see [`Link::elide`].
    #[inline]
    pub fn is_elided(&self) -> bool {
        self.is_elided
    }

    /// A packet comes to a plain link at a date that may lie ahead; dates do not descend. Returns when
    /// it arrives at the far end, or why it is dropped: it then stays in the pool.
    #[inline]
    pub fn offer_ahead(
        &mut self,
        at: Time,
        id: PacketId,
        pool: &PacketPool,
    ) -> Result<Time, LinkDrop> {
        let mut size = pool.size(id);
        let fits = size <= self.mtu || self.cuts(id, &mut size, pool);
        self.base.received.add(size);
        let starts = if fits { self.admit(at, size) } else { None };
        match starts {
            Some(starts) => Ok(self.send(starts, id, size)),
            None => {
                let reason = if fits { LinkDrop::Queue } else { LinkDrop::Mtu };
                self.base.count_dropped(size, reason);
                Err(reason)
            }
        }
    }

    /// The way of the packet that was offered last ends at the far end.
    #[cold]
    pub fn end_last(&mut self, end: End) {
        self.base.set_last_fate(end.fate());
    }

    /// Returns whether one more packet would take more memory: time to take those that have
    /// arrived.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.base.is_full()
    }

    /// Takes the first packet of an elided link if it has arrived by then.
    #[inline]
    pub fn arrive(&mut self, until: Time) -> Option<(Time, Passing)> {
        let entry = self.base.pop_arrived(until)?;
        self.base.delivered.add(entry.size());
        Some((entry.arrival, Passing::of(&entry)))
    }

    /// Returns the packets of an elided link that have not arrived.
    pub fn passing(&self) -> impl Iterator<Item = Passing> {
        self.base.entries().map(Passing::of)
    }

    /// Takes from the counters a packet that was offered ahead of now, and may have been dropped.
    pub fn take_back(
        &self,
        counters: &mut LinkCounters,
        Passing { id, end }: Passing,
        pool: &PacketPool,
    ) {
        let mut size = pool.size(id);
        if size > self.mtu {
            self.cuts(id, &mut size, pool);
        }
        counters.received -= 1;
        counters.bytes_received -= u64::from(size);
        let (packets, octets) = match end {
            Some(End::Dropped(LinkDrop::Mtu)) => {
                (&mut counters.dropped_mtu, &mut counters.bytes_dropped)
            }
            Some(_) => (&mut counters.dropped_queue, &mut counters.bytes_dropped),
            None => (&mut counters.queued, &mut counters.bytes_queued),
        };
        *packets -= 1;
        *octets -= u64::from(size);
    }
}
