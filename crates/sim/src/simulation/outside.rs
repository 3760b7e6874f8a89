//! Hosts that stand outside the simulation: a kernel behind a TUN device, say.
//!
//! What reaches such a host leaves the simulation as a [`Departure`], and what
//! it sends is put in by [`Simulation::enter`]. Endpoints that are bound there
//! hear of no packet and send none: they may stand for a socket of the host,
//! whose state changes by itself, and are told so by
//! [`Simulation::with_endpoint`]. Whoever drives such a simulation calls
//! [`Simulation::run_until`] with the dates of a clock.

use super::Simulation;
use crate::FlowEndpoint;
use crate::app::Hosted;
use crate::flow::{FlowId, Side};
use crate::observe::{NodeDrop, PacketEvent, PacketEventKind, Place};
use crate::outside::{Departure, Leaving, Outside, Turn, note_rest};
use crate::ports::port;
use anabranch_network::{NodeId, PacketId};
use anabranch_units::Time;
use anabranch_wire::{Body, Packet};

impl<E: FlowEndpoint> Simulation<E> {
    /// The date of the next event; [`Time::NEVER`] when nothing is pending.
    pub fn next_event(&self) -> Time {
        let scheduled =
            self.schedule.get(self.next_scheduled).map_or(Time::NEVER, |schedule| schedule.at());
        let hosts = self.network.hosts_due();
        scheduled.min(self.timers.first()).min(hosts).min(self.network.events.peek().0)
    }

    /// A host outside sends a packet from `node`, now.
    pub fn enter(&mut self, node: NodeId, packet: Packet) {
        if self.network.observers.packets() {
            let source = packet.flow_key().src_port;
            let kind = PacketEventKind::Sent;
            self.tell_outside(kind, node, source, &packet);
        }
        let id = self.network.pool.insert(packet);
        self.network.route(node, id);
        self.end_event();
    }

    /// Takes the packets that have reached hosts outside since the last call,
    /// in the order in which they did.
    pub fn departures(&mut self) -> impl Iterator<Item = Departure<'_>> {
        let leaving = self.outside.as_mut().map(|outside| &mut outside.leaving);
        let ids = leaving.iter().flat_map(|leaving| leaving.iter()).map(|item| item.id);
        self.network.pool.release_left(ids);
        let pool = &self.network.pool;
        let departure = |leaving: Leaving| Departure {
            at: leaving.at,
            node: leaving.node,
            packet: pool.left(leaving.id),
        };
        leaving.into_iter().flat_map(|leaving| leaving.drain(..)).map(departure)
    }

    /// From now on applications that have real octets to write write about so many `together` in a
    /// turn, each of them `least` at least, and the rest when [`Simulation::write_on`] lets them:
    /// octets take time to make and to copy, which a clock does not give. Without hosts outside
    /// nothing changes.
    pub fn write_in_pieces(&mut self, together: u64, least: u64) {
        if let Some(outside) = &mut self.outside {
            outside.turn = Turn { together, least: least.max(1) };
            self.context.piece = outside.turn.piece(outside.rests.len());
        }
    }

    /// An application waits for [`Simulation::write_on`].
    pub fn has_rest(&self) -> bool {
        self.outside.as_ref().is_some_and(|outside| !outside.rests.is_empty())
    }

    /// Whoever has waited longest writes its next piece, now.
    pub fn write_on(&mut self) {
        let Some(outside) = &mut self.outside else { return };
        let Some(index) = outside.rests.pop_front() else { return };
        self.context.piece = outside.turn.piece(outside.rests.len());
        let Hosted { endpoint, app } = &mut self.endpoints[index as usize];
        app.write(self.network.now, endpoint, &mut self.context);
        note_rest(&mut self.context, &mut self.outside, index);
        self.service_and_set_timer(index);
        self.end_event();
    }

    /// Changes an endpoint from outside, now; then its application hears what
    /// it has to tell, and what it wants to send is sent.
    pub fn with_endpoint<R>(
        &mut self,
        flow: FlowId,
        side: Side,
        change: impl FnOnce(&mut E) -> R,
    ) -> R {
        let index = flow.endpoint(side);
        let result = change(&mut self.endpoints[index as usize].endpoint);
        self.service_and_set_timer(index);
        self.end_event();
        result
    }

    /// Nothing more will come to the application of a side: all that it expects
    /// is there, or its connection has ended, or it expects nothing.
    pub fn is_over(&self, flow: FlowId, side: Side) -> bool {
        self.hosted(flow, side).app.is_over()
    }

    /// The connection of a side was established.
    pub fn is_established(&self, flow: FlowId, side: Side) -> bool {
        self.hosted(flow, side).app.is_established()
    }

    /// The connection of a side has ended.
    pub fn is_closed(&self, flow: FlowId, side: Side) -> bool {
        self.hosted(flow, side).app.closed.is_some()
    }

    /// A packet reached a host that has no endpoint for it.
    #[cold]
    pub(super) fn hand_out(&mut self, node: NodeId, id: PacketId) {
        if self.offer_to_agents(node, id) {
            return;
        }
        let is_outside = |outside: &Outside| outside.nodes[node.0 as usize];
        if !self.outside.as_deref().is_some_and(is_outside) {
            let packet = self.network.pool.packet(id);
            if packet.has_zero_checksum() {
                return self.network.drop(node, id, NodeDrop::Checksum);
            }
            // A segment for nobody is answered by a reset, whoever has the port (RFC 9293 §3.5.2).
            let is_tcp = matches!(packet.body, Body::Tcp(_));
            return match is_tcp || self.ports.is_shared(node, port(packet)) {
                true => self.network.refuse(node, id),
                false => self.network.drop(node, id, NodeDrop::NoEndpoint),
            };
        }
        let at = self.network.now;
        let packet = self.network.pool.leave(id);
        if self.network.observers.packets() {
            let packet = packet.clone();
            self.tell_outside(PacketEventKind::Received, node, port(&packet), &packet);
        }
        if let Some(outside) = &mut self.outside {
            outside.leaving.push(Leaving { at, node, id });
        }
    }

    fn tell_outside(&mut self, kind: PacketEventKind, node: NodeId, port: u16, packet: &Packet) {
        let flow = match kind {
            PacketEventKind::Sent => packet.flow_key(),
            _ => packet.flow_key().reversed(),
        };
        let index = self.outside.as_ref().and_then(|outside| {
            outside.ports.endpoint(node, port).or_else(|| outside.ports.known(node, port, flow))
        });
        let event =
            PacketEvent { kind, place: Place::Node(node), flow: index.map(FlowId::of_endpoint) };
        self.network.observers.packet(self.network.now, event, packet);
    }
}
