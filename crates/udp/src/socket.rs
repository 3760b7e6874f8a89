//! The socket.

use crate::framing::{Framing, Reader};
use anabranch_endpoint::message::{Incoming, Outgoing, Refusal};
use anabranch_endpoint::{
    ByteStream, CloseReason, Demultiplex, Endpoint, Event, HalfClose, MessageOriented, Messages,
    Observation, Observe, PendingEvents, Progress, TemporalSharing, TimeWait,
};
use anabranch_units::Time;
use anabranch_wire::{Addr, Body, FlowKey, IcmpKind, Packet, UdpDatagram};
use std::collections::VecDeque;

/// Settings of one side of a flow over UDP.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// Differentiated services code point of its packets (RFC 2474 §3).
    pub dscp: u8,
    /// Octets of data that may wait for the host's line; a message beyond waits for room.
    pub send_buffer: u64,
    /// The place of a datagram's number in its data.
    pub framing: Framing,
}

impl Default for Config {
    fn default() -> Config {
        // The send buffer is what Linux gives a socket (`net.core.wmem_default`).
        Config { dscp: 0, send_buffer: 212_992, framing: Framing::Plain }
    }
}

/// A connected UDP socket.
#[derive(Clone, Debug)]
pub struct Socket {
    config: Config,
    local: (Addr, u16),
    remote: (Addr, u16),
    /// A server that has not heard from its peer sends nothing: it would not know where to.
    connected: bool,
    closing: bool,
    closed: bool,
    aborted: bool,
    outgoing: VecDeque<UdpDatagram>,
    /// Octets of data in `outgoing`.
    waiting: u64,
    /// A message was refused for want of room.
    refused: bool,
    incoming: VecDeque<Incoming>,
    reader: Reader,
    events: PendingEvents,
    counts: Counts,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    sent: u64,
    received: u64,
    octets_received: u64,
    /// Datagrams whose first octets are not those of the framing.
    strange: u64,
    /// ICMP errors about datagrams of this socket.
    errors: u64,
    /// Of these errors, those that say that nobody has the peer's port.
    refusals: u64,
}

impl Socket {
    /// The number that is read first is near `first`.
    pub fn client(config: Config, local: (Addr, u16), remote: (Addr, u16), first: u32) -> Socket {
        Socket {
            reader: Reader::new(config.framing, first),
            config,
            local,
            remote,
            connected: false,
            closing: false,
            closed: false,
            aborted: false,
            outgoing: VecDeque::new(),
            waiting: 0,
            refused: false,
            incoming: VecDeque::new(),
            events: PendingEvents::default(),
            counts: Counts::default(),
        }
    }

    /// Makes the server's socket, which is a client that does not connect.
    pub fn server(config: Config, local: (Addr, u16), remote: (Addr, u16), first: u32) -> Socket {
        Socket::client(config, local, remote, first)
    }

    fn open(&mut self) {
        if !self.connected && !self.closed {
            self.connected = true;
            self.events.connected = true;
        }
    }

    fn end_if_sent(&mut self) {
        if self.closing && self.outgoing.is_empty() {
            self.end(CloseReason::Normal);
        }
    }

    fn end(&mut self, reason: CloseReason) {
        if !std::mem::replace(&mut self.closed, true) {
            self.events.closed = Some(reason);
        }
    }

    fn on_datagram(&mut self, datagram: &UdpDatagram) {
        let Some(message) = self.reader.message(datagram) else {
            self.counts.strange += 1;
            return;
        };
        self.open();
        self.counts.received += 1;
        self.counts.octets_received += u64::from(datagram.data_len());
        self.incoming.push_back(message);
        self.events.readable = true;
    }
}

impl Endpoint for Socket {
    fn handle_input(&mut self, _now: Time, packet: &Packet) {
        match &packet.body {
            Body::Udp(datagram)
                if (packet.src, datagram.src_port) == self.remote && !self.aborted =>
            {
                self.on_datagram(datagram);
            }
            Body::Icmp(icmp) if icmp.quote.flow_key() == self.flow_key() => {
                self.counts.errors += 1;
                self.counts.refusals += u64::from(icmp.kind == IcmpKind::PortUnreachable);
            }
            _ => {}
        }
    }

    fn handle_timeout(&mut self, _now: Time) {}

    fn poll_transmit(&mut self, _now: Time) -> Option<Packet> {
        if !self.connected {
            return None;
        }
        let datagram = self.outgoing.pop_front()?;
        self.waiting -= u64::from(datagram.data_len());
        self.counts.sent += 1;
        if std::mem::take(&mut self.refused) {
            self.events.writable = true;
        }
        self.end_if_sent();
        let packet = Packet::new(self.local.0, self.remote.0, Body::Udp(datagram));
        Some(Packet { dscp: self.config.dscp, ..packet })
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.events.take()
    }

    /// Returns [`Time::NEVER`]: a socket has no timers.
    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }
}

impl Messages for Socket {
    fn send_message(&mut self, message: Outgoing) -> Result<(), Refusal> {
        let len = message.payload.len();
        if self.closing || self.closed || len > UdpDatagram::MOST_DATA {
            return Err(Refusal::Never);
        }
        if self.waiting > 0 && self.waiting + u64::from(len) > self.config.send_buffer {
            self.refused = true;
            return Err(Refusal::Full);
        }
        let datagram = self.config.framing.datagram(&message, self.local.1, self.remote.1);
        self.waiting += u64::from(datagram.data_len());
        self.outgoing.push_back(datagram);
        Ok(())
    }

    fn receive_message(&mut self) -> Option<Incoming> {
        self.incoming.pop_front()
    }
}

impl ByteStream for Socket {
    /// Nothing is sent: a datagram is the first that the peer hears.
    fn connect(&mut self, _now: Time) {
        self.open();
    }

    /// Datagrams are no stream: nothing is taken.
    fn write(&mut self, _len: u64) -> u64 {
        0
    }

    fn write_octets(&mut self, _octets: &[u8]) -> usize {
        0
    }

    fn read(&mut self, _max: u64) -> u64 {
        0
    }

    fn read_octets(&mut self, _buf: &mut [u8]) -> usize {
        0
    }

    /// The socket ends once what waits has left; the peer does not hear of it. What the peer had under
    /// way is still taken, so that it does not look lost.
    fn close(&mut self) {
        self.closing = true;
        self.end_if_sent();
    }

    fn abort(&mut self) {
        self.outgoing.clear();
        self.waiting = 0;
        self.aborted = true;
        self.end(CloseReason::Aborted);
    }
}

impl HalfClose for Socket {
    fn has_half_close(&self) -> bool {
        false
    }
}

impl MessageOriented for Socket {
    fn messages(&mut self) -> Option<&mut dyn Messages> {
        Some(self)
    }
}

impl Observe for Socket {
    fn observe(&self) -> Observation {
        Observation {
            in_flight: self.waiting,
            bytes_received: self.counts.octets_received,
            packets_sent: self.counts.sent,
            ..Observation::default()
        }
    }

    fn status(&self) -> String {
        let Counts { sent, received, strange, errors, refusals, .. } = self.counts;
        let waiting = self.outgoing.len();
        format!(
            "{sent} datagrams sent, {waiting} waiting, {received} received, {strange} of another \
             kind, {errors} ICMP errors ({refusals} of a closed port)"
        )
    }

    fn memory(&self) -> u64 {
        let queues = self.outgoing.capacity() * size_of::<UdpDatagram>()
            + self.incoming.capacity() * size_of::<Incoming>();
        size_of::<Socket>() as u64 + queues as u64 + self.waiting
    }
}

impl Demultiplex for Socket {
    fn flow_key(&self) -> FlowKey {
        FlowKey {
            src: self.local.0,
            dst: self.remote.0,
            protocol: UdpDatagram::PROTOCOL,
            src_port: self.local.1,
            dst_port: self.remote.1,
        }
    }
}

impl TemporalSharing for Socket {}
impl TimeWait for Socket {}
impl Progress for Socket {}

#[cfg(test)]
mod tests;
