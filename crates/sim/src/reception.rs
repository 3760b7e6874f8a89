//! A port of a host that listens to strangers.
//!
//! A connection that it accepts is either the server's end of a flow, whose
//! client opened it, and takes the place of that end; or it belongs to nobody
//! that the simulation knows. Such strangers stand here, in slots that are used
//! again, each with an application of the port's kind.

use crate::FlowEndpoint;
use crate::app::{App, AppState, ChannelId, Hosted};
use crate::app_context::AppContext;
use crate::events::EventQueue;
use anabranch_endpoint::{Demux, Listen, ListenReport};
use anabranch_network::NodeId;
use anabranch_units::Time;
use anabranch_wire::{Body, FlowKey, Packet};
use std::collections::BTreeMap;

/// Description of a port that listens to strangers.
pub struct ListenSpec<E> {
    /// Name of the port in results.
    pub name: String,
    /// The host, itself not an interface.
    pub host: NodeId,
    /// Port number that it listens at.
    pub port: u16,
    /// IP protocol number of its transport.
    pub protocol: u8,
    /// The listener, which makes the connections.
    pub listener: Box<dyn Listen<E> + Send>,
    /// What runs on connections of strangers.
    pub app: App,
    /// Most connections of strangers that are accepted at once; others wait in the
    /// port's queue.
    pub most: usize,
}

/// Totals of a listening port so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReceptionResult {
    /// What the port holds and has seen.
    pub report: ListenReport,
    /// Connections accepted, those of flows included.
    pub accepted: u64,
    /// Connections of strangers that there are, those in TIME-WAIT not counted.
    pub strangers: usize,
    /// Connections of strangers in TIME-WAIT that another of the same addresses and ports took the
    /// place of (RFC 6191 §2).
    pub gave_way: u64,
    /// Octets that strangers' applications received.
    pub bytes: u64,
    /// Most handshakes that were under way at a time.
    pub peak_half_open: usize,
    /// Most octets that handshakes, waiting connections and strangers took together.
    pub peak_memory: u64,
}

/// A connection of a stranger.
struct UnknownPeer<E> {
    hosted: Hosted<E>,
    /// Octets that it took when it was last looked at.
    memory: u64,
    /// It counts among those that there are at a time no more.
    lingers: bool,
}

/// A listening port at work.
pub(crate) struct Reception<E> {
    pub name: String,
    pub host: NodeId,
    pub port: u16,
    pub listener: Box<dyn Listen<E> + Send>,
    protocol: u8,
    app: App,
    most: usize,
    /// Server ends that flows are to have here, by what their clients send.
    expected: BTreeMap<FlowKey, u32>,
    slots: Vec<Option<UnknownPeer<E>>>,
    free: Vec<u32>,
    demux: Demux,
    timers: EventQueue,
    held: u64,
    /// Number of strangers whose connections linger.
    lingering: usize,
    result: ReceptionResult,
}

impl<E: FlowEndpoint> Reception<E> {
    pub(crate) fn new(spec: ListenSpec<E>) -> Reception<E> {
        Reception {
            name: spec.name,
            host: spec.host,
            port: spec.port,
            listener: spec.listener,
            protocol: spec.protocol,
            app: spec.app,
            most: spec.most,
            expected: BTreeMap::new(),
            slots: Vec::new(),
            free: Vec::new(),
            demux: Demux::default(),
            timers: EventQueue::new(0),
            held: 0,
            lingering: 0,
            result: ReceptionResult::default(),
        }
    }

    /// A flow has its server's end here.
    pub(crate) fn expect(&mut self, client: FlowKey, endpoint: u32) {
        self.expected.insert(client, endpoint);
    }

    /// The packet is for this port: of its transport, or an error about what it sent.
    pub(crate) fn is_for(&self, host: NodeId, port: u16, packet: &Packet) -> bool {
        let protocol = match &packet.body {
            Body::Icmp(icmp) => icmp.quote.protocol,
            _ => packet.flow_key().protocol,
        };
        self.listens_at(host, port, protocol)
    }

    /// It listens where another does.
    pub(crate) fn listens_where(&self, other: &Reception<E>) -> bool {
        other.listens_at(self.host, self.port, self.protocol)
    }

    /// Whether it listens at this port of this host.
    pub(crate) fn listens_at(&self, host: NodeId, port: u16, protocol: u8) -> bool {
        (self.host, self.port, self.protocol) == (host, port, protocol)
    }

    /// The connection of a stranger that a packet is for.
    pub(crate) fn find(&mut self, packet: &Packet) -> Option<u32> {
        let slots = &self.slots;
        let endpoint = |slot: u32| {
            &slots[slot as usize].as_ref().expect("a slot in the table is taken").hosted.endpoint
        };
        self.demux.find(packet, endpoint)
    }

    /// A connection in a slot, and what it may call.
    pub(crate) fn hosted(&mut self, slot: u32) -> Option<&mut Hosted<E>> {
        self.slots[slot as usize].as_mut().map(|slot| &mut slot.hosted)
    }

    /// The next connection that the port has ready, with the server's end that it
    /// becomes; `None` while there is no room for strangers, too.
    pub(crate) fn accept(&mut self) -> Option<(E, Option<u32>)> {
        if self.strangers() >= self.most {
            return None;
        }
        let endpoint = self.listener.accept()?;
        self.result.accepted += 1;
        if let Some(token) = endpoint.join_token() {
            self.listener.note_token(token, true);
        }
        let end = self.end_of(&endpoint);
        Some((endpoint, end))
    }

    /// The server's end that a connection becomes. Its client may have opened it from another of its
    /// addresses than the first, or to another of the host's.
    fn end_of(&mut self, endpoint: &E) -> Option<u32> {
        let first = self.expected.remove(&endpoint.flow_key().reversed());
        first.or_else(|| {
            let is_it = |key: &&FlowKey| endpoint.has_flow(key.reversed());
            let client = *self.expected.keys().find(is_it)?;
            self.expected.remove(&client)
        })
    }

    /// The server's end of a flow is still to come, and connections wait while there is no room for
    /// another stranger.
    pub(crate) fn keeps_waiting(&self, end: u32) -> bool {
        self.strangers() >= self.most
            && self.listener.report().waiting > 0
            && self.expected.values().any(|expected| *expected == end)
    }

    /// A stranger's connection gets a slot; `None` when another has its addresses and
    /// ports, and it is forgotten.
    pub(crate) fn enter(&mut self, endpoint: E, context: &mut AppContext) -> Option<u32> {
        let slot = self.free.last().copied().unwrap_or(self.slots.len() as u32);
        self.demux.insert(slot, &endpoint).ok()?;
        let channels = [ChannelId::open(&self.app, context), None];
        let app = AppState::new(&self.app, &App::Sink, channels, false, context);
        let stranger =
            Some(UnknownPeer { hosted: Hosted { endpoint, app }, memory: 0, lingers: false });
        match self.free.pop() {
            Some(_) => self.slots[slot as usize] = stranger,
            None => self.slots.push(stranger),
        }
        if self.timers.sources() <= slot as usize {
            self.timers.grow(slot as usize + 1);
        }
        Some(slot)
    }

    /// A stranger was served and wants to be called at `due`.
    pub(crate) fn settle(&mut self, slot: u32, due: Time) {
        let Some(found) = &mut self.slots[slot as usize] else { return };
        let memory = found.hosted.endpoint.memory();
        self.held = self.held - found.memory + memory;
        found.memory = memory;
        if !found.lingers && found.hosted.endpoint.lingers() {
            found.lingers = true;
            self.lingering += 1;
        }
        if found.hosted.app.closed.is_none() {
            return self.timers.set(slot, due);
        }
        self.remove(slot);
    }

    /// A stranger lingers and gives way to the connection that `packet` opens, of which the listener
    /// hears.
    pub(crate) fn gives_way(&mut self, slot: u32, packet: &Packet) -> bool {
        let Some(stranger) = &self.slots[slot as usize] else { return false };
        let gives_way = stranger.hosted.endpoint.gives_way_to(packet);
        if gives_way {
            self.result.gave_way += 1;
            self.listener.succeed(&stranger.hosted.endpoint);
        }
        gives_way
    }

    /// Forgets a stranger, and frees its slot.
    pub(crate) fn remove(&mut self, slot: u32) {
        let Some(found) = &mut self.slots[slot as usize] else { return };
        self.lingering -= found.lingers as usize;
        self.held -= found.memory;
        self.result.bytes += found.hosted.app.received;
        if let Some(token) = found.hosted.endpoint.join_token() {
            self.listener.note_token(token, false);
        }
        self.slots[slot as usize] = None;
        self.free.push(slot);
        self.demux.remove(slot);
        self.timers.set(slot, Time::NEVER);
    }

    /// Connections of strangers that there are; those in TIME-WAIT are not.
    fn strangers(&self) -> usize {
        self.slots.len() - self.free.len() - self.lingering
    }

    /// A stranger whose date has come.
    pub(crate) fn due_stranger(&self, now: Time) -> Option<u32> {
        self.timers.peek().filter(|(at, _)| *at <= now).map(|(_, slot)| slot)
    }

    /// Returns when the first of its parts is to be called.
    pub(crate) fn due(&self) -> Time {
        self.timers.first().min(self.listener.poll_timeout())
    }

    /// Notes the most that was held.
    pub(crate) fn note(&mut self) {
        let report = self.listener.report();
        let result = &mut self.result;
        result.peak_half_open = result.peak_half_open.max(report.half_open);
        result.peak_memory = result.peak_memory.max(report.held + self.held);
    }

    /// Octets that it holds now.
    pub(crate) fn memory(&self) -> u64 {
        self.listener.report().held + self.held
    }

    /// Returns the port's totals so far.
    pub(crate) fn result(&self) -> ReceptionResult {
        let there = self.slots.iter().flatten().map(|slot| slot.hosted.app.received);
        ReceptionResult {
            report: self.listener.report(),
            strangers: self.strangers(),
            bytes: self.result.bytes + there.sum::<u64>(),
            ..self.result
        }
    }
}
