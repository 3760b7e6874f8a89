//! The contract of a port that listens to strangers, and of what attacks one.
//!
//! A host gives a listening port every packet for it that belongs to no
//! connection that it has; connections that the port makes of them are endpoints
//! like any other once they are accepted.

use anabranch_units::Time;
use anabranch_wire::Packet;

/// A port of a host where anybody may open a connection.
///
/// After each `handle_*` call the host takes what can be accepted
/// ([`accept`](Self::accept)), then polls
/// [`poll_transmit`](Self::poll_transmit) until `None`, then asks
/// [`poll_timeout`](Self::poll_timeout) once.
pub trait Listen<E> {
    /// A packet for the port arrived, of no accepted connection. False when it is
    /// for nobody and the host should refuse it.
    fn handle_input(&mut self, now: Time, packet: &Packet) -> bool;

    /// A deadline may have passed; early calls are harmless.
    fn handle_timeout(&mut self, now: Time);

    /// The next packet to send; call until `None`.
    fn poll_transmit(&mut self, now: Time) -> Option<Packet>;

    /// Returns when to call [`handle_timeout`](Self::handle_timeout); [`Time::NEVER`] when nothing
    /// is pending.
    fn poll_timeout(&self) -> Time;

    /// The connection that has waited longest, whose packets are the host's to
    /// deliver from now on.
    fn accept(&mut self) -> Option<E>;

    /// `old` lingers and gives way to the packet that comes next ([`TimeWait::gives_way_to`]).
    ///
    /// [`TimeWait::gives_way_to`]: crate::TimeWait::gives_way_to
    fn succeed(&mut self, _old: &E) {}

    /// Tells the token of a connection that the host has accepted or has let go of:
    /// no other may have it (RFC 8684 §3.1).
    fn note_token(&mut self, _token: u32, _taken: bool) {}

    /// Returns what the port holds and has counted.
    fn report(&self) -> ListenReport;
}

/// What a listening port holds, and what it has seen since the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ListenReport {
    /// Connections whose handshake has begun and is not complete.
    pub half_open: usize,
    /// Connections that wait to be accepted.
    pub waiting: usize,
    /// Octets of memory that half-open and waiting connections take.
    pub held: u64,
    /// Connection requests dropped for want of room.
    pub dropped: u64,
    /// Requests that were answered without being remembered (RFC 4987 §3.6, RFC
    /// 9260 §5.1.3).
    pub cookies_sent: u64,
    /// Connections made of cookies that came back.
    pub cookies_accepted: u64,
    /// Handshakes that were complete and found no room to wait in.
    pub overflows: u64,
}

/// A source of packets that keeps no protocol's rules.
///
/// Its host gives it what arrives there for no endpoint, and, where it watches a
/// connection, the last packet of each direction before each call of
/// [`handle_timeout`](Self::handle_timeout).
pub trait Attacker {
    /// A packet for the attacker's host that no endpoint there takes, or an answer
    /// to an address that it forged.
    fn handle_input(&mut self, _now: Time, _packet: &Packet) {}

    /// The packet that an end of the connection that it watches sent last: `side` 0
    /// is the client.
    fn overhear(&mut self, _side: usize, _packet: &Packet) {}

    /// Does what is due at `now`; early calls are harmless.
    fn handle_timeout(&mut self, now: Time);

    /// The next packet to send; call until `None`.
    fn poll_transmit(&mut self, now: Time) -> Option<Packet>;

    /// Returns when to call [`handle_timeout`](Self::handle_timeout); [`Time::NEVER`] when nothing
    /// is left to do.
    fn poll_timeout(&self) -> Time;
}
