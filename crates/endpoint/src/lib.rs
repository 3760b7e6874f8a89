//! The contract between a transport endpoint and whoever hosts it, in
//! simulated or in real time, and the small machines that endpoints share.
//!
//! An endpoint never reads a clock, a socket or a global: `now` is an
//! argument and never decreases, random draws come from a seeded generator
//! given to the constructor, and output is pulled.

mod demux;
mod event;
mod listen;
pub mod mac;
mod memory;
pub mod message;
mod path;
mod pending;
mod rtt;
mod seed;
mod timer;
mod written;

pub use demux::{Demux, Taken};
pub use event::{CloseReason, Event, Observation};
pub use listen::{Attacker, Listen, ListenReport};
pub use memory::PeerMemory;
pub use message::Messages;
pub use path::{PathId, PathObservation, PathState};
pub use pending::PendingEvents;
pub use rtt::{RtoBounds, RttEstimator};
pub use seed::{GENERATOR, Generator, Seed};
pub use timer::Timer;
pub use written::Written;

use anabranch_units::Time;
use anabranch_wire::{FlowKey, Packet};

/// A transport endpoint: one side of a TCP connection, an SCTP association or
/// an MPTCP connection.
///
/// After each command and each `handle_*` call the host polls: first
/// [`poll_event`](Self::poll_event) until `None` (the application answers with
/// commands, so that what it reads and writes is in the packets that follow),
/// then [`poll_transmit`](Self::poll_transmit) until `None`, and both again while
/// sending has led to an event (a message that is given up in place of being sent
/// leaves room in the send buffer); then [`poll_timeout`](Self::poll_timeout) once.
pub trait Endpoint {
    /// A packet for this endpoint arrived.
    fn handle_input(&mut self, now: Time, packet: &Packet);

    /// A deadline may have passed; early calls are harmless.
    fn handle_timeout(&mut self, now: Time);

    /// The next packet to send; call until `None`.
    fn poll_transmit(&mut self, now: Time) -> Option<Packet>;

    /// What the application should hear; call until `None`.
    fn poll_event(&mut self) -> Option<Event>;

    /// When to call [`handle_timeout`](Self::handle_timeout) if nothing else
    /// happens; [`Time::NEVER`] when nothing is pending.
    fn poll_timeout(&self) -> Time;

    /// When it will do something by itself that carries the connection on or ends it: as
    /// [`poll_timeout`](Self::poll_timeout), without what would go on although nothing moves any more
    /// (keep-alives, heartbeats). For hosts that look for connections that stand still.
    fn progress_timeout(&self) -> Time {
        self.poll_timeout()
    }

    /// Where the connection stands, in one line for people: its state, what waits to be sent and to
    /// be acknowledged, what holds it up.
    fn status(&self) -> String {
        let it = self.observe();
        format!(
            "{} octets acknowledged, {} received, {} in flight",
            it.bytes_acked, it.bytes_received, it.in_flight
        )
    }

    /// The endpoint's state for observers (windows in octets).
    fn observe(&self) -> Observation;

    /// The state of a path of a transport with several, numbered from 0;
    /// `None` beyond the last.
    fn observe_path(&self, _path: usize) -> Option<PathObservation> {
        None
    }

    /// What the host remembers of the peer; before the endpoint connects.
    fn recall(&mut self, _memory: &PeerMemory) {}

    /// There is something for the host to remember. A host that keeps memories
    /// asks when the connection is established and when it is over.
    fn has_learnt(&self) -> bool {
        false
    }

    /// Writes down what was learnt of the peer since the last call.
    fn remember(&mut self, _memory: &mut PeerMemory) {}

    /// Octets that the endpoint takes: its state, and what it keeps of both streams
    /// (counted octets as if they were there).
    fn memory(&self) -> u64 {
        size_of_val(self) as u64
    }

    /// Nothing is left of the connection but its TIME-WAIT (RFC 9293 §3.6).
    fn lingers(&self) -> bool {
        false
    }

    /// One that [lingers](Self::lingers) may be dropped for the connection that this packet
    /// opens (RFC 6191 §2).
    fn gives_way_to(&self, _packet: &Packet) -> bool {
        false
    }

    /// Key of the packets that this endpoint sends; of a transport with several
    /// subflows that of the first.
    fn flow_key(&self) -> FlowKey;

    /// It sends packets with this key: at present, of one with several subflows.
    fn has_flow(&self, key: FlowKey) -> bool {
        self.flow_key() == key
    }

    /// What names it in a SYN that opens a further subflow (RFC 8684 §3.2), of a
    /// transport with several.
    fn join_token(&self) -> Option<u32> {
        None
    }
}

/// Commands of a reliable byte stream. Lengths stand for octets determined by
/// their position in the stream, unless real octets are written.
pub trait ByteStream: Endpoint {
    /// Actively opens the connection.
    fn connect(&mut self, now: Time);

    /// Appends `len` octets that are only counted; returns how many were
    /// taken. A stream of counted octets has no buffer limit.
    fn write(&mut self, len: u64) -> u64;

    /// Appends real octets; returns how many fitted into the send buffer.
    /// A stream is of one kind: mixing with [`write`](Self::write) panics.
    fn write_octets(&mut self, octets: &[u8]) -> usize;

    /// At most so many octets fit into the send buffer now, as far as that is
    /// known: what is beyond need not be made for
    /// [`write_octets`](Self::write_octets).
    fn room(&self) -> u64 {
        u64::MAX
    }

    /// Takes up to `max` octets that arrived in order; returns how many.
    /// Frees receive-buffer space.
    fn read(&mut self, max: u64) -> u64;

    /// Takes octets that arrived in order into `buf`; returns how many.
    /// Requires a peer that sent real octets; counted octets come as zeros.
    fn read_octets(&mut self, buf: &mut [u8]) -> usize;

    /// No more data from this side: the end of the stream follows the data
    /// already written.
    fn close(&mut self);

    /// What the peer writes after [`close`](Self::close) still arrives. Not so
    /// in SCTP, whose applications close when they expect no more.
    fn has_half_close(&self) -> bool {
        true
    }

    /// Messages, of a transport that has them; used instead of `write` and
    /// `read`.
    fn messages(&mut self) -> Option<&mut dyn Messages> {
        None
    }

    /// Drops the connection at once and tells the peer.
    fn abort(&mut self);
}
