//! Hostile peers: the packets of a real endpoint, changed as they leave.
//!
//! Most of them are the misbehaving receivers of Savage, Cardwell, Wetherall and
//! Anderson ("TCP congestion control with a misbehaving receiver", 1999). What such an
//! endpoint itself has received is as ever: only what it tells is not true.

mod acks;
mod sack;
mod segments;
mod window;

#[cfg(test)]
mod tests;

use crate::Kind;
use anabranch_endpoint::{
    ByteStream, Demultiplex, Endpoint, Event, HalfClose, MessageOriented, Messages, Observation,
    Observe, PathObservation, PeerMemory, Progress, TemporalSharing, TimeWait,
};
use anabranch_units::Time;
use anabranch_wire::{FlowKey, Packet};
use std::collections::VecDeque;

/// What a hostile peer does, and from when to when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Manner {
    /// The attack; one of a peer's.
    pub kind: Kind,
    /// Time until which the endpoint is honest.
    pub start: Time,
    /// Time from which on the endpoint is honest again.
    pub end: Time,
    /// Packets in place of one, or octets for each: what the attack has to say of how
    /// much.
    pub size: u32,
}

/// A way in which packets are changed.
trait Twist: Send {
    /// A packet of the endpoint, in whose place those in `out` leave.
    fn send(&mut self, packet: Packet, out: &mut VecDeque<Packet>);

    /// A packet for the endpoint has come.
    fn receive(&mut self, _packet: &Packet) {}
}

/// An endpoint that does not tell the truth.
pub struct Misbehaving<E> {
    endpoint: E,
    manner: Manner,
    twist: Box<dyn Twist>,
    out: VecDeque<Packet>,
}

impl<E> Misbehaving<E> {
    /// The endpoint with these manners.
    ///
    /// # Panics
    /// For an attack from outside.
    pub fn new(endpoint: E, manner: Manner) -> Misbehaving<E> {
        let twist: Box<dyn Twist> = match manner.kind {
            Kind::AckDivision => Box::new(acks::Division::new(manner.size)),
            Kind::OptimisticAck => Box::new(acks::Optimistic::new(manner.size)),
            Kind::DupAckSpoofing => Box::new(acks::Duplicates { copies: manner.size }),
            Kind::LyingSack => Box::new(sack::Lies::new(manner.size)),
            Kind::Reneging => Box::new(sack::Reneging::new()),
            Kind::ZeroWindow => Box::new(window::Narrow { octets: 0 }),
            Kind::TinyWindow => Box::new(window::Narrow { octets: 1 }),
            Kind::OctetSegments => Box::new(segments::Octets { most: manner.size.max(1) }),
            other => panic!("{} is no attack of a peer", other.info().name),
        };
        Misbehaving { endpoint, manner, twist, out: VecDeque::new() }
    }

    /// Returns the real endpoint inside.
    pub fn inner(&self) -> &E {
        &self.endpoint
    }

    fn lies(&self, now: Time) -> bool {
        self.manner.start <= now && now < self.manner.end
    }
}

// Not inlined: it may hold what holds it, and would keep the calls of honest endpoints from being
// inlined where they are made.
impl<E: Endpoint> Endpoint for Misbehaving<E> {
    #[inline(never)]
    fn handle_input(&mut self, now: Time, packet: &Packet) {
        self.twist.receive(packet);
        self.endpoint.handle_input(now, packet);
    }

    #[inline(never)]
    fn handle_timeout(&mut self, now: Time) {
        self.endpoint.handle_timeout(now);
    }

    #[inline(never)]
    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        loop {
            if let Some(packet) = self.out.pop_front() {
                return Some(packet);
            }
            let packet = self.endpoint.poll_transmit(now)?;
            if !self.lies(now) {
                return Some(packet);
            }
            self.twist.send(packet, &mut self.out);
        }
    }

    #[inline(never)]
    fn poll_event(&mut self) -> Option<Event> {
        self.endpoint.poll_event()
    }

    #[inline(never)]
    fn poll_timeout(&self) -> Time {
        self.endpoint.poll_timeout()
    }
}

impl<E: ByteStream> ByteStream for Misbehaving<E> {
    fn connect(&mut self, now: Time) {
        self.endpoint.connect(now);
    }

    fn write(&mut self, len: u64) -> u64 {
        self.endpoint.write(len)
    }

    fn write_octets(&mut self, octets: &[u8]) -> usize {
        self.endpoint.write_octets(octets)
    }

    fn room(&self) -> u64 {
        self.endpoint.room()
    }

    fn read(&mut self, max: u64) -> u64 {
        self.endpoint.read(max)
    }

    fn read_octets(&mut self, buf: &mut [u8]) -> usize {
        self.endpoint.read_octets(buf)
    }

    fn close(&mut self) {
        self.endpoint.close();
    }

    fn abort(&mut self) {
        self.endpoint.abort();
    }
}

impl<E: HalfClose> HalfClose for Misbehaving<E> {
    fn has_half_close(&self) -> bool {
        self.endpoint.has_half_close()
    }
}

impl<E: MessageOriented> MessageOriented for Misbehaving<E> {
    fn messages(&mut self) -> Option<&mut dyn Messages> {
        self.endpoint.messages()
    }
}

impl<E: Observe> Observe for Misbehaving<E> {
    fn status(&self) -> String {
        self.endpoint.status()
    }

    fn observe(&self) -> Observation {
        self.endpoint.observe()
    }

    fn observe_path(&self, path: usize) -> Option<PathObservation> {
        self.endpoint.observe_path(path)
    }

    fn memory(&self) -> u64 {
        self.endpoint.memory()
    }
}

impl<E: Demultiplex> Demultiplex for Misbehaving<E> {
    fn flow_key(&self) -> FlowKey {
        self.endpoint.flow_key()
    }

    fn has_flow(&self, key: FlowKey) -> bool {
        self.endpoint.has_flow(key)
    }

    fn accepts(&self, packet: &Packet) -> bool {
        self.endpoint.accepts(packet)
    }

    fn join_token(&self) -> Option<u32> {
        self.endpoint.join_token()
    }
}

impl<E: TemporalSharing> TemporalSharing for Misbehaving<E> {
    fn recall(&mut self, memory: &PeerMemory) {
        self.endpoint.recall(memory);
    }

    fn has_learnt(&self) -> bool {
        self.endpoint.has_learnt()
    }

    fn remember(&mut self, memory: &mut PeerMemory) {
        self.endpoint.remember(memory);
    }
}

impl<E: TimeWait> TimeWait for Misbehaving<E> {
    fn lingers(&self) -> bool {
        self.endpoint.lingers()
    }

    fn gives_way_to(&self, packet: &Packet) -> bool {
        self.endpoint.gives_way_to(packet)
    }
}

impl<E: Progress> Progress for Misbehaving<E> {
    fn progress_timeout(&self) -> Time {
        self.endpoint.progress_timeout()
    }
}
