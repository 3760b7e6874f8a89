//! Packets to a pcapng file, one interface for each host or link.
//!
//! A host's interface shows what `tcpdump` would show there: what its
//! endpoints send and what reaches them, each with its direction. A link's interface shows what comes
//! out at its far end, with the TTL that it has there.
//!
//! Of a flow one side may be captured alone, so that each of its packets is there once.

use super::{Interests, Observer, PacketEvent, PacketEventKind, Place};
use crate::flow::{FlowId, Side};
use anabranch_network::{LinkEvent, LinkId, NodeId};
use anabranch_units::Time;
use anabranch_wire::pcapng::{Direction, Snap, Writer};
use anabranch_wire::{AddressBook, Packet};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Writes a capture. An error of the output ends it and is reported by
/// [`finish`](Self::finish).
pub struct Capture<W: Write> {
    writer: Option<Writer<W>>,
    interfaces: BTreeMap<Place, u32>,
    book: AddressBook,
    snap: Snap,
    /// The side that is captured, by flow; of flows that are not listed both are.
    sides: BTreeMap<FlowId, Side>,
    error: Option<io::Error>,
}

impl<W: Write> Capture<W> {
    /// A capture of nothing yet; `book` gives the addresses, `snap` says how much of each packet is
    /// kept.
    ///
    /// # Errors
    /// Those of the output.
    pub fn new(out: W, book: AddressBook, snap: Snap) -> io::Result<Capture<W>> {
        let (writer, interfaces) = (Some(Writer::new(out)?), BTreeMap::new());
        Ok(Capture { writer, interfaces, book, snap, sides: BTreeMap::new(), error: None })
    }

    /// Captures of this flow, at hosts, this side alone.
    pub fn only(&mut self, flow: FlowId, side: Side) {
        self.sides.insert(flow, side);
    }

    /// Also captures at this host.
    ///
    /// # Errors
    /// Those of the output.
    pub fn host(&mut self, node: NodeId, name: &str) -> io::Result<()> {
        self.add(Place::Node(node), name)
    }

    /// Also captures at the far end of this link.
    ///
    /// # Errors
    /// Those of the output.
    pub fn link(&mut self, link: LinkId, name: &str) -> io::Result<()> {
        self.add(Place::Link(link), name)
    }

    /// Ends the capture and gives back the output, flushed; `None` when it was
    /// ended before.
    ///
    /// # Errors
    /// The first error of the output since the start.
    pub fn finish(&mut self) -> io::Result<Option<W>> {
        let writer = self.writer.take();
        match self.error.take() {
            Some(error) => Err(error),
            None => writer.map(Writer::finish).transpose(),
        }
    }

    fn is_left_out(&self, flow: FlowId, side: Side) -> bool {
        self.sides.get(&flow).is_some_and(|only| *only != side)
    }

    fn add(&mut self, place: Place, name: &str) -> io::Result<()> {
        if let Some(writer) = &mut self.writer {
            let number = writer.add_interface(name, self.snap)?;
            self.interfaces.insert(place, number);
        }
        Ok(())
    }
}

impl<W: Write> Observer for Capture<W> {
    fn interests(&self) -> Interests {
        Interests { packets: true, ..Interests::default() }
    }

    fn packet(&mut self, now: Time, event: &PacketEvent, packet: &Packet) {
        use PacketEventKind::{Link, Received, Sent};
        if !matches!(event.kind, Sent | Received | Link(LinkEvent::Delivered))
            || self.error.is_some()
        {
            return;
        }
        if event.flow.is_some_and(|(flow, side)| self.is_left_out(flow, side)) {
            return;
        }
        let Some(interface) = self.interfaces.get(&event.place) else { return };
        let Some(writer) = &mut self.writer else { return };
        let (interface, book) = (*interface, &self.book);
        let done = match event.kind {
            Sent => writer.packet_value_going(interface, now, Direction::Outbound, packet, book),
            Received => writer.packet_value_going(interface, now, Direction::Inbound, packet, book),
            _ => writer.packet_value(interface, now, packet, book),
        };
        self.error = done.err();
    }
}
