//! Hosts as end systems: the time that each packet takes them, and
//! back-pressure from the queue in front of their outgoing link.
//!
//! *Processing.* A host has one processor, without a limit to what waits for
//! it (`processor.rs`). A packet that arrives occupies it before its endpoint
//! hears of it, one that an endpoint sends before it comes to the link. Timers
//! and applications take no time. What waits here is in no link.
//!
//! *Back-pressure.* An endpoint is not polled for packets while more than a
//! number of its octets have left it and have not begun their transmission;
//! it is polled again when enough of them have. It is the remedy of
//! Kalampoukas, Varma and Ramakrishnan (ToN 1998; RFC 3449 §4.8); Linux's small queues (`tcp_limit_output_bytes`) count
//! alike, but until the transmission has ended. It knows no protocol: all
//! packets of an endpoint count and wait, acknowledgments too.
//!
//! Hosts without either cost nothing; a simulation without such hosts has no
//! [`Hosts`].

mod backpressure;
mod processor;

use crate::events::EventQueue;
use anabranch_network::{LinkEvent, LinkId, NodeId};
use anabranch_units::{Bytes, Span, Time};
use anabranch_wire::Packet;
use backpressure::Backpressure;
use processor::{Done, Processor};
use std::collections::BTreeMap;

/// What a host does besides passing packets between endpoints and links at
/// once.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostConfig {
    /// Processing time of each packet that it receives.
    pub receive: Span,
    /// Processing time of each packet that it sends.
    pub send: Span,
    /// An endpoint is not polled for packets while more than these octets of
    /// it, IP headers included, wait for the line.
    pub backpressure: Option<Bytes>,
}

/// What such a host has to do.
#[derive(Debug)]
pub(crate) enum HostTask {
    /// An endpoint hears of a packet.
    Receive(Packet),
    /// A packet comes to the link.
    Send(Packet),
    /// An endpoint is polled again.
    Poll(u32),
    /// There is nothing to do after all.
    Nothing,
}

/// The hosts that have something special.
#[derive(Debug)]
pub(crate) struct Hosts {
    /// Place in `systems` of each node; [`PLAIN`] for none.
    of_node: Vec<u32>,
    /// Place in `systems` of the node that each link leaves; [`PLAIN`] for none.
    of_link: Vec<u32>,
    systems: Vec<System>,
    /// Time at which each of `systems` has something to do.
    due: EventQueue,
    backpressure: Option<Backpressure>,
}

const PLAIN: u32 = u32::MAX;

#[derive(Debug)]
struct System {
    processor: Processor,
    /// There is back-pressure.
    is_limited: bool,
}

impl Hosts {
    /// Makes the hosts with these configurations; `None` when nothing is special. `owners` gives
    /// the host of each node, itself for most; `starts` are the nodes that links leave,
    /// `of_endpoints` the host of each endpoint.
    pub(crate) fn new(
        configs: &[(NodeId, HostConfig)],
        owners: impl Iterator<Item = NodeId>,
        starts: impl Iterator<Item = NodeId>,
        of_endpoints: impl Iterator<Item = NodeId>,
    ) -> Option<Box<Hosts>> {
        let mut numbers = BTreeMap::new();
        let mut systems = Vec::new();
        for (node, config) in configs {
            numbers.insert(*node, systems.len() as u32);
            let processor = Processor::new(config.receive, config.send);
            let is_limited = config.backpressure.is_some();
            systems.push(System { processor, is_limited });
        }
        let number = |host: NodeId| numbers.get(&host).copied().unwrap_or(PLAIN);
        let of_node: Vec<u32> = owners.map(number).collect();
        let of_link = starts.map(|node| of_node[node.0 as usize]).collect();
        let any_limit = systems.iter().any(|system: &System| system.is_limited);
        let limits = configs.iter().map(|config| config.1.backpressure.map(|octets| octets.0));
        let backpressure = any_limit.then(|| Backpressure::new(limits, of_endpoints.map(number)));
        let due = EventQueue::new(systems.len());
        let some = !systems.is_empty();
        some.then(|| Box::new(Hosts { of_node, of_link, systems, due, backpressure }))
    }

    /// The hosts want to hear what happens on links.
    pub(crate) fn watch_links(&self) -> bool {
        self.backpressure.is_some()
    }

    /// Returns when the first of them has something to do.
    pub(crate) fn due(&self) -> Time {
        self.due.first()
    }

    /// A packet that came to its host; true when the host keeps a copy for
    /// now and will hand that to the endpoint.
    pub(crate) fn receive(&mut self, now: Time, node: NodeId, packet: &Packet) -> bool {
        let number = self.of_node[node.0 as usize];
        let Some(system) = self.systems.get_mut(number as usize) else { return false };
        let taken = system.processor.receive(now, packet);
        if taken {
            self.set_due(number);
        }
        taken
    }

    /// A packet of an endpoint, or the host's own; `None` when the host keeps it
    /// for now.
    pub(crate) fn send(
        &mut self,
        now: Time,
        node: NodeId,
        packet: Packet,
        endpoint: Option<u32>,
    ) -> Option<Packet> {
        let number = self.of_node[node.0 as usize];
        let Some(system) = self.systems.get_mut(number as usize) else { return Some(packet) };
        if let Some(backpressure) = self.backpressure.as_mut().filter(|_| system.is_limited) {
            backpressure.on_sent(endpoint, &packet);
        }
        let packet = system.processor.send(now, packet);
        if packet.is_none() {
            self.set_due(number);
        }
        packet
    }

    /// A packet leaves a node past its host: of nobody there.
    pub(crate) fn on_leaving(&mut self, node: NodeId, packet: &Packet) {
        let number = self.of_node[node.0 as usize];
        let Some(system) = self.systems.get(number as usize) else { return };
        if let Some(backpressure) = self.backpressure.as_mut().filter(|_| system.is_limited) {
            backpressure.on_sent(None, packet);
        }
    }

    /// Whether an endpoint may be polled for packets. One that may not comes
    /// back as [`HostTask::Poll`].
    pub(crate) fn may_poll(&mut self, now: Time, endpoint: u32) -> bool {
        let Some(backpressure) = &mut self.backpressure else { return true };
        let Some(host) = backpressure.refuses(now, endpoint) else { return true };
        self.set_due(host);
        false
    }

    /// The endpoint is not being polled for now.
    pub(crate) fn is_held(&self, endpoint: u32) -> bool {
        self.backpressure.as_ref().is_some_and(|backpressure| backpressure.is_held(endpoint))
    }

    /// Something happened on a link; `offered`: while a packet was offered.
    pub(crate) fn on_link(
        &mut self,
        now: Time,
        link: LinkId,
        event: LinkEvent,
        packet: &Packet,
        offered: bool,
    ) {
        let number = self.of_link[link.0 as usize];
        let Some(system) = self.systems.get(number as usize) else { return };
        if let Some(backpressure) = self.backpressure.as_mut().filter(|_| system.is_limited) {
            backpressure.on_link(now, number, event, packet, offered);
            self.set_due(number);
        }
    }

    /// A node dropped a packet.
    #[cold]
    pub(crate) fn on_dropped(&mut self, now: Time, node: NodeId, packet: &Packet) {
        let number = self.of_node[node.0 as usize];
        let Some(system) = self.systems.get(number as usize) else { return };
        // One of its own, for which it has no link.
        if let Some(backpressure) = self.backpressure.as_mut().filter(|_| system.is_limited)
            && packet.src.0 == node.0
        {
            backpressure.on_dropped(now, number, packet);
            self.set_due(number);
        }
    }

    /// The date of [`Hosts::due`] has come.
    pub(crate) fn next_task(&mut self, now: Time) -> HostTask {
        let Some((_, number)) = self.due.peek() else { return HostTask::Nothing };
        let system = &mut self.systems[number as usize];
        let task = match system.processor.take_done(now) {
            Some(Done::Received(packet)) => HostTask::Receive(packet),
            Some(Done::Sent(packet)) => HostTask::Send(packet),
            None => {
                let backpressure = self.backpressure.as_mut();
                let ready = backpressure.and_then(|item| item.take_ready(now, number));
                ready.map_or(HostTask::Nothing, HostTask::Poll)
            }
        };
        self.set_due(number);
        task
    }

    fn set_due(&mut self, number: u32) {
        let busy = self.systems[number as usize].processor.due();
        let held =
            self.backpressure.as_ref().map_or(Time::NEVER, |backpressure| backpressure.due(number));
        self.due.set(number, busy.min(held));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anabranch_wire::{Addr, Body, Payload};

    const HOST: NodeId = NodeId(0);
    const PEER: NodeId = NodeId(1);

    /// Endpoint 0 at a host that lets 100 octets wait, endpoint 1 at a plain
    /// one; link 0 leaves the first.
    fn hosts() -> Box<Hosts> {
        let config = HostConfig { backpressure: Some(Bytes(100)), ..HostConfig::default() };
        let (owners, endpoints) = ([HOST, PEER], [HOST, PEER]);
        let starts = [HOST, PEER];
        let hosts = Hosts::new(
            &[(HOST, config)],
            owners.into_iter(),
            starts.into_iter(),
            endpoints.into_iter(),
        );
        hosts.expect("one host is special")
    }

    fn packet(len: u32) -> Packet {
        let body = Body::Other { protocol: 17, payload: Payload::virtual_of(len) };
        Packet::new(Addr(HOST.0), Addr(PEER.0), body)
    }

    fn at(us: u64) -> Time {
        Time::ZERO + Span::from_micros(us)
    }

    #[test]
    fn an_endpoint_is_polled_again_when_enough_has_begun_to_leave() {
        let mut hosts = hosts();
        let link = LinkId(0);
        for (us, starts) in [(0, 0), (0, 10), (0, 20)] {
            assert!(hosts.may_poll(at(us), 0), "to begin at {starts} us");
            assert!(hosts.send(at(us), HOST, packet(60), Some(0)).is_some());
            let event = LinkEvent::Enqueued { starts: at(starts), departs: at(starts + 10) };
            hosts.on_link(at(us), link, event, &packet(60), true);
        }
        // 80 octets each; the first is on the line.
        assert!(!hosts.may_poll(at(0), 0) && hosts.is_held(0));
        assert!(hosts.may_poll(at(0), 1));
        assert_eq!(hosts.due(), at(10));
        assert!(matches!(hosts.next_task(at(10)), HostTask::Poll(0)));
        assert!(hosts.may_poll(at(10), 0) && !hosts.is_held(0));
        // The date of the last start was set while somebody waited for it.
        assert!(matches!(hosts.next_task(at(20)), HostTask::Nothing));
        assert_eq!(hosts.due(), Time::NEVER);
    }

    /// What a subflow at another port of its has waiting counts too.
    #[test]
    fn packets_are_of_the_endpoint_that_sent_them() {
        let mut hosts = hosts();
        for protocol in [64, 65] {
            let other = Body::Other { protocol, payload: Payload::virtual_of(60) };
            let packet = Packet::new(Addr(HOST.0), Addr(PEER.0), other);
            hosts.send(at(0), HOST, packet.clone(), Some(0));
            let event = LinkEvent::Enqueued { starts: at(10), departs: at(20) };
            hosts.on_link(at(0), LinkId(0), event, &packet, true);
        }
        assert!(!hosts.may_poll(at(0), 0));
        assert!(matches!(hosts.next_task(at(10)), HostTask::Poll(0)));
        assert!(hosts.may_poll(at(10), 0));
        // The host's own answers wait for nobody.
        hosts.send(at(10), HOST, packet(200), None);
        assert!(hosts.may_poll(at(10), 0));
    }

    #[test]
    fn what_never_reaches_a_link_does_not_wait() {
        let mut hosts = hosts();
        for _ in 0..2 {
            hosts.send(at(0), HOST, packet(60), Some(0));
        }
        assert!(!hosts.may_poll(at(0), 0));
        hosts.on_dropped(at(5), HOST, &packet(60));
        assert_eq!(hosts.due(), at(5));
        assert!(matches!(hosts.next_task(at(5)), HostTask::Poll(0)));
        // Of another host: not its own.
        hosts.on_dropped(at(5), PEER, &packet(60));
        hosts.send(at(5), HOST, packet(60), Some(0));
        assert!(!hosts.may_poll(at(5), 0));
    }
}
