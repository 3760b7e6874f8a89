//! Arrivals that need no event of their own.
//!
//! What happens to a packet on a link depends on those that came to the link before it. Where all of
//! them come from one other link, in its order, that is known as soon as the packet is offered to the
//! other: it is offered to both then, to the second ahead of time, and its arrival in between is no
//! event ([`Link::elide`](anabranch_network::Link::elide)). Results, counters and the number of events
//! are the same: an arrival is counted when its date has passed ([`Network::settle`]), and what a link
//! was offered ahead of that date is taken from its counters ([`Network::counters`]).
//!
//! [`Feeders`] finds these links in the routes between the hosts of flows. Watchers hear of all
//! arrivals, and whoever sends from a router (ICMP errors, regulators) would come between: where there
//! are some, no link is elided.

use super::Network;
use anabranch_network::{End, LinkCounters, LinkId, NodeId, PacketId, Passing};
use anabranch_units::Time;
use anabranch_wire::Addr;

/// Which links are elided, and which link alone feeds each of the others.
#[derive(Default)]
pub(crate) struct Feeders {
    /// By link; empty where none is elided.
    of_link: Vec<Feeder>,
    /// The links that are elided.
    elided: Vec<LinkId>,
}

/// Where the packets of a link come from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Feeder {
    /// No packet comes.
    None,
    /// All packets come over this link.
    Link(LinkId),
    /// Packets come from a host, or over several links.
    Others,
}

impl Feeder {
    /// Packets come over `before`, too; from a host where that is `None`.
    fn and(self, before: Option<LinkId>) -> Feeder {
        match (self, before) {
            (Feeder::None, Some(link)) => Feeder::Link(link),
            (Feeder::Link(known), Some(link)) if known == link => self,
            _ => Feeder::Others,
        }
    }
}

impl Network {
    /// Finds the links whose arrivals need no event, where packets go between these nodes alone.
    pub(crate) fn elide(&mut self, pairs: &[(NodeId, NodeId)]) {
        let others_send = self.icmp || self.hosts.is_some() || !self.forged.is_empty();
        let several_ways = !self.regulators.list.is_empty() || !self.routes.are_single();
        if self.watched || others_send || several_ways {
            return;
        }
        let mut of_link = vec![Feeder::None; self.links.len()];
        for pair in pairs {
            self.for_each_hop(*pair, |before, link| {
                let feeder = &mut of_link[link.0 as usize];
                *feeder = feeder.and(before);
            });
        }
        // A link may lead to several, of which all must be fed by it alone.
        let is_plain = |link: LinkId| self.links[link.0 as usize].is_plain();
        let mut leads = vec![None; self.links.len()];
        for pair in pairs {
            self.for_each_hop(*pair, |before, link| {
                let Some(before) = before else { return };
                let is_fed = of_link[link.0 as usize] == Feeder::Link(before);
                let all = leads[before.0 as usize].get_or_insert(is_plain(before));
                *all &= is_fed && is_plain(link);
            });
        }
        let links = (0..self.links.len() as u32).map(LinkId);
        let elided: Vec<_> = links.filter(|link| leads[link.0 as usize] == Some(true)).collect();
        if !elided.is_empty() {
            self.set_elided(Feeders { of_link, elided });
        }
    }

    /// Calls `hop` with each link from one node to another, and the link before it.
    pub(crate) fn for_each_hop(
        &self,
        (from, to): (NodeId, NodeId),
        mut hop: impl FnMut(Option<LinkId>, LinkId),
    ) {
        let (mut node, mut before) = (from, None);
        // Not for ever, should routes lead in a circle.
        for _ in 0..self.is_router.len() {
            let Some(link) = self.routes.next(node, Addr(to.0), || 0) else { return };
            hop(before, link);
            node = self.ends[link.0 as usize];
            if node == to || !self.is_router[node.0 as usize] {
                return;
            }
            before = Some(link);
        }
    }

    /// Every arrival is an event, since somebody watches.
    pub(crate) fn stop_eliding(&mut self) {
        if !self.feeders.elided.is_empty() {
            assert!(
                self.now == Time::ZERO,
                "who hears of packets is attached before the first event"
            );
            self.set_elided(Feeders::default());
        }
    }

    fn set_elided(&mut self, feeders: Feeders) {
        let old = std::mem::replace(&mut self.feeders, feeders);
        old.elided.iter().for_each(|link| self.links[link.0 as usize].elide(false));
        self.feeders.elided.iter().for_each(|link| self.links[link.0 as usize].elide(true));
    }

    /// Links that lead to other parts are elided from now on, those that come from others are not.
    pub(super) fn set_borders(&mut self, away: impl Iterator<Item = LinkId>, here: &[LinkId]) {
        let elided = &mut self.feeders.elided;
        elided.extend(away);
        elided.sort();
        elided.dedup();
        elided.retain(|link| !here.contains(link));
        here.iter().for_each(|link| self.links[link.0 as usize].elide(false));
        self.feeders.elided.iter().for_each(|link| self.links[link.0 as usize].elide(true));
    }

    /// Offers a packet to an elided link, and ahead of time to those after it.
    pub(super) fn send_ahead(&mut self, first: LinkId, id: PacketId) {
        let (mut link, mut at, mut before) = (first, self.now, None);
        loop {
            let mut found = &mut self.links[link.0 as usize];
            if found.is_elided() && found.is_full() {
                self.pass_on(link, before_date(self.now));
                found = &mut self.links[link.0 as usize];
            }
            match found.offer_ahead(at, id, &self.pool) {
                Ok(arrival) => at = arrival,
                Err(reason) => return self.end_ahead(before, id, End::Dropped(reason)),
            }
            if !found.is_elided() {
                if at == found.next_event() {
                    self.events.set(link.0, at);
                }
                return;
            }
            if self.cross(link, at, id) {
                return;
            }
            before = Some(link);
            if !self.pool.decrement_ttl(id) {
                return self.end_ahead(before, id, End::Ttl);
            }
            let node = self.ends[link.0 as usize];
            match self.routes.next(node, self.pool.dst(id), || 0) {
                Some(next) => link = next,
                None => return self.end_ahead(before, id, End::NoRoute),
            }
        }
    }

    /// The way of the packet that was offered last ends where the link `before` does, at once where
    /// there is none.
    #[cold]
    fn end_ahead(&mut self, before: Option<LinkId>, id: PacketId, end: End) {
        match before {
            Some(link) => self.links[link.0 as usize].end_last(end),
            None => self.pool.release(id),
        }
    }

    /// Counts what has arrived over an elided link by `until`. Returns when the last did.
    #[cold]
    fn pass_on(&mut self, link: LinkId, until: Time) -> Time {
        let mut last = Time::ZERO;
        let leads_away = self.leads_away(link);
        let found = &mut self.links[link.0 as usize];
        while let Some((at, passing)) = found.arrive(until) {
            if leads_away {
                // It is an event of the part that it leads to.
                self.pool.release(passing.id);
                continue;
            }
            self.handled += 1;
            last = at;
            if let Some(end) = passing.end {
                self.drops.ttl += u64::from(end == End::Ttl);
                self.drops.no_route += u64::from(end == End::NoRoute);
                self.pool.release(passing.id);
            }
        }
        last
    }

    /// Counts what has arrived over elided links by `end`, or where that is `None` up to the event that
    /// was handled last; the clock then shows the last arrival.
    pub(crate) fn settle(&mut self, end: Option<Time>) {
        for i in 0..self.feeders.elided.len() {
            let link = self.feeders.elided[i];
            // Events of one date come in the order of links.
            let had_events = link.0 < self.reached;
            let now = if had_events { self.now } else { before_date(self.now) };
            let last = self.pass_on(link, end.unwrap_or(now).min(before_date(Time::NEVER)));
            self.now = self.now.max(last);
        }
    }

    /// The counters of a link as they are now.
    pub(crate) fn counters(&self, link: LinkId) -> LinkCounters {
        if let Some(settled) = &self.settled {
            return settled[link.0 as usize];
        }
        let found = &self.links[link.0 as usize];
        let mut counters = found.counters();
        let Some(Feeder::Link(feeder)) = self.feeders.of_link.get(link.0 as usize) else {
            return counters;
        };
        let node = self.ends[feeder.0 as usize];
        let comes = |passing: &Passing| {
            passing.end != Some(End::Ttl)
                && self.routes.next(node, self.pool.dst(passing.id), || 0) == Some(link)
        };
        let feeder = &self.links[feeder.0 as usize];
        if feeder.is_elided() {
            let coming = feeder.passing().filter(comes);
            coming.for_each(|passing| found.take_back(&mut counters, passing, &self.pool));
        }
        counters
    }
}

/// The latest date before `date`.
fn before_date(date: Time) -> Time {
    Time::from_picos(date.as_picos().saturating_sub(1))
}
