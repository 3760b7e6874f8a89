//! The contract between a transport endpoint and whoever hosts it, in
//! simulated or in real time, and the small machines that endpoints share.
//!
//! [`Endpoint`] is the contract: five methods, by which any host drives any endpoint.
//! Everything else that a host may want of an endpoint is a capability, a trait of its
//! own with one subject, and a host asks for those that it uses:
//!
//! | trait | subject | who calls |
//! |---|---|---|
//! | [`ByteStream`] | a reliable stream of octets: open, write, read, close | applications |
//! | [`HalfClose`] | whether the two streams end one by one | applications |
//! | [`MessageOriented`] | messages with boundaries | applications |
//! | [`Service`] | the three above together | hosts that run applications |
//! | [`Observe`] | state of the connection and its paths | observers, results |
//! | [`Demultiplex`] | which packets are of the endpoint | hosts with several endpoints |
//! | [`TemporalSharing`] | what a host remembers of a peer | hosts with several connections |
//! | [`TimeWait`] | a connection of which TIME-WAIT is left | listening ports |
//! | [`Progress`] | whether the connection goes on by itself | watchdogs |
//!
//! A program that has one endpoint and a thread for it calls [`turn`] in a loop, with what it has of
//! sockets behind [`Wire`].
//!
//! An endpoint never reads a clock, a socket or a global: `now` is an
//! argument and never decreases, random draws come from a seeded generator
//! given to the constructor, and output is pulled.

/// The example of the README compiles and runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod bounds;
mod config_error;
mod demux;
mod event;
mod listen;
pub mod mac;
mod memory;
pub mod message;
mod observe;
mod path;
mod pending;
mod progress;
mod rtt;
mod seed;
mod stream;
mod time_wait;
mod timer;
mod turn;
mod written;

pub use bounds::{Bounds, DSCP};
pub use config_error::ConfigError;
pub use demux::{Demultiplex, Demux, Taken};
pub use event::{CloseReason, Event};
pub use listen::{Attacker, Listen, ListenReport};
pub use memory::{PeerMemory, TemporalSharing};
pub use message::{MessageOriented, Messages};
pub use observe::{Observation, Observe};
pub use path::{PathId, PathObservation, PathState};
pub use pending::PendingEvents;
pub use progress::Progress;
pub use rtt::{RtoBounds, RttEstimator};
pub use seed::{GENERATOR, Generator, Seed};
pub use stream::{ByteStream, HalfClose, Service};
pub use time_wait::TimeWait;
pub use timer::Timer;
pub use turn::{Wire, turn};
pub use written::Written;

use anabranch_units::Time;
use anabranch_wire::Packet;

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

    /// Returns when to call [`handle_timeout`](Self::handle_timeout) if nothing else happens;
    /// [`Time::NEVER`] when nothing is pending.
    fn poll_timeout(&self) -> Time;
}
