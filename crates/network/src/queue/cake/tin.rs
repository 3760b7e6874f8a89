//! A tin of CAKE: its share of the rate, and its 1024 flow queues (§3.2 of the paper).
//!
//! A flow's hash names a queue; where that is another flow's, the flow takes the first free one of the
//! eight of its set, and shares the named one only if none is free.
//!
//! Queues take turns by deficit (DRR++). One that has just got packets is *sparse* and goes before
//! those that have used up a quantum, which are *bulk*. A quantum is divided by the number of bulk
//! flows of the flow's source or destination, whichever has more of those that are counted. A queue
//! that is found empty leaves at once if COBALT is at rest, else it is *decaying*: out of the turns,
//! and looked at once for each packet that leaves until COBALT has forgotten.

use super::super::ack_filter::FilteredBand;
use super::super::cobalt::{CobaltLaw, CobaltState};
use super::super::item::{Item, Losses};
use super::CakeIsolation;
use anabranch_endpoint::Generator;
use anabranch_units::{Bytes, Rate, Span, Time};
use anabranch_wire::{Addr, Packet};
use std::collections::{BTreeMap, VecDeque};

/// Flow queues of a tin.
const FLOWS: usize = 1024;
/// Queues of a set.
const WAYS: usize = 8;
/// Deficits are in so many parts of an octet, so that a divided quantum loses nothing.
const PARTS: i64 = 1 << 16;
/// Octets of a turn without a rate.
const QUANTUM: u64 = 1514;

/// What a flow queue is in the turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Set {
    /// Out of all lists.
    #[default]
    None,
    /// Among the new ones.
    Sparse,
    /// Empty, and among the old ones until its turn comes.
    SparseWait,
    /// Among the old ones.
    Bulk,
    /// Empty, while COBALT forgets.
    Decaying,
}

/// What [`Tin::next_flow`] finds at the head of a list.
pub(super) enum Pick {
    /// The flow queue with this number has its turn.
    Flow(usize),
    /// A queue had no credit: it got some, and waits.
    Later,
}

#[derive(Default, Debug)]
struct Flow {
    band: FilteredBand,
    cobalt: CobaltState,
    /// What it may still send, in [`PARTS`] of an octet.
    deficit: i64,
    set: Set,
    /// The hash of the flow that has the queue.
    tag: u32,
    source: Addr,
    destination: Addr,
}

/// One tin.
#[derive(Debug)]
pub(super) struct Tin {
    rate: Option<Rate>,
    /// The tin's clock: it is ahead of its share while this is to come.
    next: Time,
    /// Octets of a turn of this tin without a rate, and what is left of them.
    tin_quantum: i64,
    tin_deficit: i64,
    /// Octets of a turn of a flow.
    quantum: i64,
    law: CobaltLaw,
    /// Time of a packet of the MTU.
    packet_time: Span,
    flows: Vec<Flow>,
    new: VecDeque<u16>,
    old: VecDeque<u16>,
    decaying: VecDeque<u16>,
    sparse: u32,
    bulk: u32,
    packets: u64,
    /// Bulk flows of each host that has any.
    sources: BTreeMap<Addr, u32>,
    destinations: BTreeMap<Addr, u32>,
}

impl Tin {
    /// Makes a tin with so many octets in its turn, without a rate.
    pub(super) fn new(tin_quantum: i64) -> Tin {
        Tin {
            rate: None,
            next: Time::ZERO,
            tin_quantum,
            tin_deficit: 0,
            quantum: QUANTUM as i64,
            law: CobaltLaw { ecn: true, ..CobaltLaw::default() },
            packet_time: Span::ZERO,
            flows: (0..FLOWS).map(|_| Flow::default()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            sparse: 0,
            bulk: 0,
            packets: 0,
            sources: BTreeMap::new(),
            destinations: BTreeMap::new(),
        }
    }

    /// Sets the rate of the tin, and what depends on it: a turn of about a quarter of a millisecond, from
    /// 300 to 1514 octets; a target of at least one and a half packets.
    pub(super) fn set_rate(&mut self, rate: Option<Rate>, mtu: Bytes, rtt: Span) {
        self.rate = rate;
        let octets = |rate: Rate| (rate.as_bps() / 8 / 4096).clamp(300, QUANTUM);
        self.quantum = rate.map_or(QUANTUM, octets) as i64;
        self.packet_time = rate.map_or(Span::ZERO, |rate| rate.time_for(mtu));
        let target = Span::from_picos(rtt.as_picos() / 20);
        let most = self.packet_time + Span::from_picos(self.packet_time.as_picos() / 2);
        self.law.target = target.max(most);
        let longer = rtt + self.law.target.saturating_sub(target);
        self.law.interval = longer.max(self.law.target.saturating_mul(2));
    }

    /// Returns the date at which the tin's share of the rate lets its next packet leave.
    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Whether a flow is in the turns.
    pub(super) fn is_listed(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// A packet comes: a tin that had none has saved nothing.
    pub(super) fn wake(&mut self, now: Time) {
        if self.packets == 0 {
            self.next = self.next.max(now);
        }
    }

    /// Moves the tin's clock by a packet of so many octets. A tin that is far ahead, since nobody else
    /// sent, is not moved.
    pub(super) fn charge(&mut self, octets: u64, now: Time) {
        let took = self.rate.map_or(Span::ZERO, |rate| rate.time_for(Bytes(octets)));
        if self.next < now {
            self.next = self.next.saturating_add(took);
        } else {
            self.next = self.next.max(now.saturating_add(took));
        }
    }

    /// Without a rate: whether the tin has its turn; if not it gets its quantum for the next.
    pub(super) fn has_turn(&mut self) -> bool {
        if self.tin_deficit >= 0 && self.is_listed() {
            return true;
        }
        if self.tin_deficit <= 0 {
            self.tin_deficit += self.tin_quantum;
        }
        false
    }

    /// Returns the queue of a packet's flow.
    pub(super) fn flow(&mut self, isolation: CakeIsolation, hash: u32, packet: &Packet) -> usize {
        let home = ((u64::from(hash) * FLOWS as u64) >> 32) as usize;
        let ways = || (0..WAYS).map(|way| home - home % WAYS + (home + way) % WAYS);
        let flows = &self.flows;
        let has_it = |way: &usize| flows[*way].tag == hash && flows[*way].set != Set::None;
        if let Some(way) = ways().find(has_it) {
            return way;
        }
        let had_it = |way: &usize| flows[*way].tag == hash;
        let is_free = |way: &usize| flows[*way].set == Set::None;
        let way = ways().find(had_it).or_else(|| ways().find(is_free)).unwrap_or(home);
        // Where none is free the flows of `home` are from now on those of this packet's hosts.
        if flows[way].set == Set::Bulk {
            self.count(way, isolation, false);
        }
        let flow = &mut self.flows[way];
        (flow.tag, flow.source, flow.destination) = (hash, packet.src, packet.dst);
        if flow.set == Set::Bulk {
            self.count(way, isolation, true);
        }
        way
    }

    /// Counts a bulk flow of the hosts of a queue, or one less.
    fn count(&mut self, flow: usize, isolation: CakeIsolation, more: bool) {
        let Flow { source, destination, .. } = self.flows[flow];
        let counted = [
            (isolation.counts_sources(), source, &mut self.sources),
            (isolation.counts_destinations(), destination, &mut self.destinations),
        ];
        for (_, host, counts) in counted.into_iter().filter(|(counts, ..)| *counts) {
            if more {
                *counts.entry(host).or_insert(0) += 1;
            } else if let Some(count) = counts.get_mut(&host) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(&host);
                }
            }
        }
    }

    /// What a flow gets in a turn, in [`PARTS`] of an octet.
    fn turn_of(&self, flow: usize) -> i64 {
        let flow = &self.flows[flow];
        let of = |counts: &BTreeMap<Addr, u32>, host| counts.get(&host).copied().unwrap_or(0);
        let load = of(&self.sources, flow.source).max(of(&self.destinations, flow.destination));
        self.quantum * PARTS / i64::from(load.max(1))
    }

    /// Drops what an ACK makes redundant in its queue.
    pub(super) fn filter(
        &mut self,
        flow: usize,
        ack: &Packet,
        aggressive: bool,
        losses: &mut Losses,
    ) {
        let before = losses.len();
        self.flows[flow].band.filter(ack, aggressive, losses);
        self.packets -= (losses.len() - before) as u64;
    }

    /// Adds a packet to a queue; `ack` where the filter may take it out again.
    pub(super) fn push(&mut self, flow: usize, item: Item, ack: Option<&Packet>) {
        self.packets += 1;
        self.flows[flow].band.push(item, ack);
    }

    /// Takes the packet at the head of a queue.
    pub(super) fn pop(&mut self, flow: usize) -> Option<Item> {
        let item = self.flows[flow].band.pop()?;
        self.packets -= 1;
        Some(item)
    }

    /// A queue that has got a packet takes part in the turns.
    pub(super) fn join(&mut self, flow: usize, isolation: CakeIsolation) {
        match self.flows[flow].set {
            Set::None | Set::Decaying => {
                if self.flows[flow].set == Set::Decaying {
                    self.decaying.retain(|other| usize::from(*other) != flow);
                }
                self.new.push_back(flow as u16);
                self.sparse += 1;
                self.flows[flow].set = Set::Sparse;
                self.flows[flow].deficit = self.turn_of(flow);
            }
            Set::SparseWait => {
                self.sparse -= 1;
                self.become_bulk(flow, isolation);
            }
            Set::Sparse | Set::Bulk => {}
        }
    }

    fn become_bulk(&mut self, flow: usize, isolation: CakeIsolation) {
        self.flows[flow].set = Set::Bulk;
        self.bulk += 1;
        self.count(flow, isolation, true);
    }

    /// The queue whose turn it is. One without credit goes behind the old ones.
    pub(super) fn next_flow(
        &mut self,
        looks_at_decaying: bool,
        isolation: CakeIsolation,
    ) -> Option<Pick> {
        let decaying = if looks_at_decaying { self.decaying.front() } else { None };
        let listed = decaying.or(self.new.front()).or(self.old.front()).or(self.decaying.front());
        let flow = usize::from(*listed?);
        if self.flows[flow].deficit > 0 {
            return Some(Pick::Flow(flow));
        }
        if self.flows[flow].set == Set::Sparse {
            if self.flows[flow].band.is_empty() {
                self.flows[flow].set = Set::SparseWait;
            } else {
                self.sparse -= 1;
                self.become_bulk(flow, isolation);
            }
        }
        self.flows[flow].deficit += self.turn_of(flow);
        // It is at the head of the list that it is in.
        for list in [&mut self.new, &mut self.old] {
            if list.front() == Some(&(flow as u16)) {
                list.pop_front();
                break;
            }
        }
        self.old.push_back(flow as u16);
        Some(Pick::Later)
    }

    /// The queue whose turn it is was found empty.
    pub(super) fn leave(&mut self, flow: usize, now: Time, isolation: CakeIsolation) {
        for list in [&mut self.new, &mut self.old, &mut self.decaying] {
            if list.front() == Some(&(flow as u16)) {
                list.pop_front();
                break;
            }
        }
        match self.flows[flow].set {
            Set::Bulk => {
                self.bulk -= 1;
                self.count(flow, isolation, false);
            }
            Set::Sparse | Set::SparseWait => self.sparse -= 1,
            Set::Decaying | Set::None => {}
        }
        let state = &mut self.flows[flow];
        state.cobalt.on_empty(now, &self.law);
        state.set = if state.cobalt.is_at_rest(now) { Set::None } else { Set::Decaying };
        if state.set == Set::Decaying {
            self.decaying.push_back(flow as u16);
        }
    }

    /// Whether COBALT drops a packet that has been taken; never the last of its queue.
    ///
    /// With `ingress` a wait counts only beyond two packets of each bulk flow: with many flows the
    /// line before the queue is so shared that they wait anyway.
    pub(super) fn drops(
        &mut self,
        flow: usize,
        now: Time,
        ingress: bool,
        item: &mut Item,
        generator: &mut Generator,
    ) -> bool {
        let packets = if ingress { u64::from(self.bulk * 2).max(4) } else { 4 };
        let floor = self.packet_time.saturating_mul(packets);
        let flow = &mut self.flows[flow];
        let drops = flow.cobalt.drops(now, &self.law, floor, item, generator);
        drops && !flow.band.is_empty()
    }

    /// A packet of so many octets counts for the turns of its queue and of the tin.
    pub(super) fn sent(&mut self, flow: usize, octets: u64) {
        self.flows[flow].deficit -= octets as i64 * PARTS;
        self.tin_deficit -= octets as i64;
    }

    /// Returns the queue with the most octets.
    pub(super) fn longest(&self) -> Option<(usize, u64)> {
        let flows = self.new.iter().chain(&self.old).map(|flow| usize::from(*flow));
        let octets = |flow: usize| self.flows[flow].band.waiting().octets;
        flows.map(|flow| (flow, octets(flow))).max_by_key(|(flow, octets)| (*octets, *flow))
    }

    /// Drops the head of a queue for want of room.
    pub(super) fn drop_head(&mut self, flow: usize, now: Time) -> Option<Item> {
        let item = self.pop(flow)?;
        self.flows[flow].cobalt.on_overflow(now, &self.law);
        Some(item)
    }
}

#[cfg(test)]
impl Tin {
    /// Target, interval and octets of a flow's turn.
    pub(super) fn law_and_quantum(&self) -> (Span, Span, i64) {
        (self.law.target, self.law.interval, self.quantum)
    }

    /// Lets all packets have come at `since`.
    pub(super) fn age(&mut self, since: Time) {
        self.flows.iter_mut().for_each(|flow| flow.band.age(since));
    }
}
