//! The packets' side of a simulation: links, routing between them, regulators,
//! and the pending events of both.

mod boundary;
mod elision;
mod stations;

use crate::channel::Channels;
use crate::flow::{FlowId, Side};
use crate::host::Hosts;
use crate::icmp_limit::IcmpLimiter;
use crate::observe::{NodeDrop, Observers, PacketEvent, PacketEventKind, Place};
use crate::regulate::Regulators;
use crate::tournament::Tournament;
use anabranch_network::abr::Atm;
use anabranch_network::{
    Link, LinkCounters, LinkEvent, LinkId, LinkWatch, NodeId, PacketId, PacketPool, Routes,
    flow_hash,
};
use anabranch_units::Time;
use anabranch_wire::{Addr, Body, Icmp, IcmpKind, Packet, Quote, icmp};
use boundary::Boundary;
pub(crate) use boundary::Crossing;
pub(crate) use elision::Feeders;

/// Links and the packets in them.
pub(crate) struct Network {
    pub now: Time,
    pub links: Vec<Link>,
    /// Node at which each link ends, for one load: as the topology says, or the station of a
    /// regulator.
    pub ends: Vec<NodeId>,
    pub events: Tournament,
    pub pool: PacketPool,
    pub routes: Routes,
    /// Whether each node forwards; then `false` for each station of a regulator.
    pub is_router: Vec<bool>,
    pub regulators: Regulators,
    pub channels: Channels,
    /// Lines of ATM, where links are virtual channels.
    pub atm: Option<Box<Atm>>,
    pub observers: Observers,
    /// Observers or hosts want to hear what happens: [`Network::set_watched`].
    pub watched: bool,
    /// Hosts with something special.
    pub hosts: Option<Box<Hosts>>,
    /// The links whose arrivals are no events.
    pub feeders: Feeders,
    /// What leaves for other parts, where this is one of several.
    pub boundary: Option<Box<Boundary>>,
    /// The links' counters, once the parts of a run have been put together.
    pub settled: Option<Vec<LinkCounters>>,
    /// Events of links, regulators, channels and cells handled.
    pub handled: u64,
    /// The sources that have had their events of this date: those below.
    pub reached: u32,
    pub drops: NodeDrops,
    /// Nodes answer packets that they drop with ICMP errors.
    pub icmp: bool,
    pub icmp_limiter: IcmpLimiter,
    /// Addresses of nobody: the first, how many, and the node that packets to them go to.
    pub forged: Vec<(Addr, u32, NodeId)>,
}

/// Packets that nodes, not links, have dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct NodeDrops {
    /// TTL exhausted at a router.
    pub ttl: u64,
    /// No route, or a host that would have to forward.
    pub no_route: u64,
    /// No endpoint has the port.
    pub no_endpoint: u64,
    /// The transport's checksum did not match, at the host that the packet was
    /// for.
    pub checksum: u64,
    /// ICMP errors that a limit of their rate kept back.
    pub icmp_withheld: u64,
}

/// Tells observers and hosts what a link tells.
struct LinkObserver<'a> {
    observers: &'a mut Observers,
    hosts: &'a mut Option<Box<Hosts>>,
    link: LinkId,
    /// While a packet is offered to the link.
    offered: bool,
}

impl LinkWatch for LinkObserver<'_> {
    fn link_event(&mut self, now: Time, event: LinkEvent, packet: &Packet) {
        if let Some(hosts) = self.hosts {
            hosts.on_link(now, self.link, event, packet, self.offered);
        }
        if !self.observers.packets() {
            return;
        }
        let kind = PacketEventKind::Link(event);
        let place = Place::Link(self.link);
        self.observers.packet(now, PacketEvent { kind, place, flow: None }, packet);
    }
}

macro_rules! watch {
    ($network:ident, $link:expr, $offered:expr, $observer:ident) => {
        if $network.watched {
            let (observers, hosts) = (&mut $network.observers, &mut $network.hosts);
            $observer = LinkObserver { observers, hosts, link: LinkId($link), offered: $offered };
            Some(&mut $observer as &mut dyn LinkWatch)
        } else {
            None
        }
    };
}

// Below the macro, which it uses.
mod atm;

impl Network {
    /// A packet of an endpoint; it leaves from the interface that it names as
    /// its source.
    #[inline]
    pub(crate) fn send(&mut self, packet: Packet, flow: (FlowId, Side)) {
        let node = NodeId(packet.src.0);
        if self.observers.packets() {
            let kind = PacketEventKind::Sent;
            let event = PacketEvent { kind, place: Place::Node(node), flow: Some(flow) };
            self.observers.packet(self.now, event, &packet);
        }
        match self.hosts {
            None => self.inject(packet),
            Some(_) => self.send_through_host(node, packet, Some(flow)),
        }
    }

    #[cold]
    fn send_through_host(&mut self, node: NodeId, packet: Packet, of: Option<(FlowId, Side)>) {
        let endpoint = of.map(|(flow, side)| flow.endpoint(side));
        let hosts = self.hosts.as_mut().expect("the caller has looked");
        if let Some(packet) = hosts.send(self.now, node, packet, endpoint) {
            self.inject(packet);
        }
    }

    /// A packet for none of the endpoints that share its port: the host answers
    /// for them.
    #[cold]
    pub(crate) fn refuse(&mut self, node: NodeId, id: PacketId) {
        let reset = self.pool.packet(id).refusal();
        self.discard(node, id, NodeDrop::NoEndpoint);
        reset.into_iter().for_each(|reset| self.send_of_host(reset));
    }

    /// A packet of a host that is of no endpoint.
    pub(crate) fn send_of_host(&mut self, packet: Packet) {
        let node = NodeId(packet.src.0);
        if self.observers.packets() {
            let kind = PacketEventKind::Sent;
            let event = PacketEvent { kind, place: Place::Node(node), flow: None };
            self.observers.packet(self.now, event, &packet);
        }
        match self.hosts {
            None => self.inject(packet),
            Some(_) => self.send_through_host(node, packet, None),
        }
    }

    /// A packet leaves a node, whatever source it names.
    pub(crate) fn leave(&mut self, node: NodeId, id: PacketId) {
        if self.observers.packets() {
            let kind = PacketEventKind::Sent;
            let event = PacketEvent { kind, place: Place::Node(node), flow: None };
            self.observers.packet(self.now, event, self.pool.packet(id));
        }
        if let Some(hosts) = &mut self.hosts {
            hosts.on_leaving(node, self.pool.packet(id));
        }
        self.route(node, id);
    }

    /// A packet comes to the links of the node that it names as its source.
    #[inline]
    pub(crate) fn inject(&mut self, packet: Packet) {
        let node = NodeId(packet.src.0);
        let id = self.pool.insert(packet);
        self.route(node, id);
    }

    /// Whether an endpoint may be polled for packets.
    #[inline]
    pub(crate) fn may_poll(&mut self, endpoint: u32) -> bool {
        match &mut self.hosts {
            None => true,
            Some(hosts) => hosts.may_poll(self.now, endpoint),
        }
    }

    /// Returns when the first host has something to do by itself.
    #[inline]
    pub(crate) fn hosts_due(&self) -> Time {
        self.hosts.as_ref().map_or(Time::NEVER, |hosts| hosts.due())
    }

    /// Finds out who watches; to be called when observers have been attached.
    pub(crate) fn set_watched(&mut self) {
        let by_hosts = self.hosts.as_ref().is_some_and(|hosts| hosts.watch_links());
        self.watched = by_hosts || self.observers.packets() || self.observers.events();
        if self.watched {
            self.stop_eliding();
        }
        if let Some(atm) = &mut self.atm {
            atm.keep_notes(self.observers.cells());
        }
    }

    /// Handles events of links and regulators up to and including `until`, until
    /// a packet reaches the host that it is addressed to, which the caller
    /// releases, or until one has given a host something to do.
    pub(crate) fn run(&mut self, until: Time) -> Option<(NodeId, PacketId)> {
        loop {
            let (at, link) = self.events.peek();
            if at > until || at == Time::NEVER {
                return None;
            }
            if let Some(arrival) = self.handle_event(at, link, until) {
                return Some(arrival);
            }
            if self.watched {
                if self.observers.events() {
                    self.after_event();
                }
                // Cells may have gone on beyond `at`.
                if self.hosts_due() <= self.now {
                    return None;
                }
            }
        }
    }

    /// Handles the first event, that of `link` at `at`, as [`Network::run`] does.
    #[inline(always)]
    pub(crate) fn handle_event(
        &mut self,
        at: Time,
        link: u32,
        until: Time,
    ) -> Option<(NodeId, PacketId)> {
        debug_assert!(self.now <= at, "time never goes back");
        self.now = at;
        self.reached = link + 1;
        self.handled += 1;
        let mut observer;
        let watch = watch!(self, link, false, observer);
        let mut delivered = None;
        if let Some(found) = self.links.get_mut(link as usize) {
            delivered = found.handle_event(at, &mut self.pool, watch);
            let next = found.next_event();
            self.events.set(link, next);
        } else {
            self.poll_other(link as usize - self.links.len(), until);
        }
        let id = delivered?;
        let node = self.ends[link as usize];
        // A station has no address: what seems to be for it has been corrupted or forged.
        if self.pool.dst(id).0 == node.0 && !self.is_station(node) {
            return Some((node, id));
        }
        if !self.forged.is_empty() && self.is_at_forger(node, id) {
            return Some((node, id));
        }
        self.forward(node, id);
        None
    }

    /// An event of what is no link: regulators, then channels, then cells, which go on up to
    /// `until`.
    #[cold]
    fn poll_other(&mut self, number: usize, until: Time) {
        match number.checked_sub(self.regulators.list.len()) {
            None => self.poll_regulator(number),
            Some(channel) if channel == self.channels.list.len() => self.run_atm(until),
            Some(channel) => {
                let next = self.channels.allocate(channel, self.now, &mut self.links);
                self.events.set((self.first_channel() + channel) as u32, next);
            }
        }
    }

    /// The source of the first channel's events.
    fn first_channel(&self) -> usize {
        self.links.len() + self.regulators.list.len()
    }

    pub(crate) fn after_event(&mut self) {
        let regulators = &self.regulators.list;
        self.observers.after_event(self.now, &self.links, regulators, self.pool.live());
    }

    /// A packet for another node reached `node`.
    #[inline]
    pub(crate) fn forward(&mut self, node: NodeId, id: PacketId) {
        if !self.is_router[node.0 as usize] {
            if !self.reach_station(node, id) {
                self.drop(node, id, NodeDrop::NoRoute);
            }
        } else if !self.pool.decrement_ttl(id) {
            self.drop(node, id, NodeDrop::Ttl);
        } else {
            self.route(node, id);
        }
    }

    #[inline]
    pub(crate) fn route(&mut self, node: NodeId, id: PacketId) {
        let dst = self.pool.dst(id);
        let flow = || flow_hash(&self.pool.packet(id).flow_key());
        let Some(link) = self.routes.next(node, dst, flow).or_else(|| self.to_forger(node, dst))
        else {
            return self.drop(node, id, NodeDrop::NoRoute);
        };
        if self.icmp {
            self.report_too_big(node, link, id);
        }
        let found = &mut self.links[link.0 as usize];
        if found.is_elided() {
            return self.send_ahead(link, id);
        }
        let mut observer;
        let watch = watch!(self, link.0, true, observer);
        if let Some(next) = found.offer(self.now, id, &mut self.pool, watch) {
            self.events.set(link.0, next);
            if !self.channels.list.is_empty() {
                let first = self.first_channel();
                self.channels.wake(link, self.now, first, &mut self.events);
            }
            if self.atm.is_some() {
                self.packets_wait(link);
            }
        }
    }

    /// The link towards whoever has forged an address.
    #[cold]
    fn to_forger(&self, node: NodeId, dst: Addr) -> Option<LinkId> {
        let forger = self.forger(dst).filter(|forger| *forger != node)?;
        self.routes.next(node, Addr(forger.0), || 0)
    }

    fn forger(&self, addr: Addr) -> Option<NodeId> {
        let has = |first: Addr, count| addr.0.checked_sub(first.0).is_some_and(|at| at < count);
        self.forged.iter().find(|(first, count, _)| has(*first, *count)).map(|forged| forged.2)
    }

    #[cold]
    fn is_at_forger(&self, node: NodeId, id: PacketId) -> bool {
        self.forger(self.pool.dst(id)) == Some(node)
    }

    /// The link will drop what is larger than its MTU.
    #[cold]
    fn report_too_big(&mut self, node: NodeId, link: LinkId, id: PacketId) {
        let mtu = self.links[link.0 as usize].mtu();
        if u64::from(self.pool.size(id)) > mtu.0 && !self.pool.packet(id).may_fragment {
            let quote = Quote::of(self.pool.packet(id));
            // Endpoints count headers of IPv4.
            let longer = if self.pool.is_ipv6(quote.dst) { Packet::IPV6_LONGER } else { 0 };
            let mtu = (mtu.0 as u32).saturating_sub(longer);
            self.report(node, IcmpKind::PacketTooBig { mtu }, quote);
        }
    }

    /// Sends an ICMP error about a packet of `quote` from `node`. There is
    /// none about an error (RFC 1122 §3.2.2), and none from a node to itself.
    #[cold]
    fn report(&mut self, node: NodeId, kind: IcmpKind, quote: Quote) {
        let about_icmp = quote.protocol == icmp::PROTOCOL_V4;
        if about_icmp || quote.src.0 == node.0 {
            return;
        }
        if !self.icmp_limiter.allows(self.now, node, quote.src, kind) {
            self.drops.icmp_withheld += 1;
            return;
        }
        let body = Body::Icmp(Box::new(Icmp { kind, quote }));
        let packet = Packet::new(Addr(node.0), quote.src, body);
        let id = self.pool.insert(packet);
        self.route(node, id);
    }

    #[cold]
    pub(crate) fn drop(&mut self, node: NodeId, id: PacketId, reason: NodeDrop) {
        let kind = match reason {
            NodeDrop::Ttl => Some(IcmpKind::TimeExceeded),
            NodeDrop::NoRoute => Some(IcmpKind::NoRoute),
            NodeDrop::NoEndpoint => Some(IcmpKind::PortUnreachable),
            NodeDrop::Checksum => None,
        };
        let error = kind.filter(|_| self.icmp).map(|kind| (kind, Quote::of(self.pool.packet(id))));
        self.discard(node, id, reason);
        if let Some((kind, quote)) = error {
            self.report(node, kind, quote);
        }
    }

    /// Drops a packet of which nobody is told.
    fn discard(&mut self, node: NodeId, id: PacketId, reason: NodeDrop) {
        match reason {
            NodeDrop::Ttl => self.drops.ttl += 1,
            NodeDrop::NoEndpoint => self.drops.no_endpoint += 1,
            NodeDrop::Checksum => self.drops.checksum += 1,
            NodeDrop::NoRoute => self.drops.no_route += 1,
        }
        if let Some(hosts) = &mut self.hosts {
            hosts.on_dropped(self.now, node, self.pool.packet(id));
        }
        if self.observers.packets() {
            let kind = PacketEventKind::Dropped(reason);
            let event = PacketEvent { kind, place: Place::Node(node), flow: None };
            self.observers.packet(self.now, event, self.pool.packet(id));
        }
        self.pool.release(id);
    }
}
