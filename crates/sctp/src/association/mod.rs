//! One side of an SCTP association is here: the machines that it is made of, and how it begins and
//! ends.
//!
//! An association is a few machines. Each is a type that owns its state and is tested alone; what
//! it needs of another is an argument:
//!
//! | machine | what it owns |
//! |---|---|
//! | [`Phase`] | the state of RFC 9260's diagram, with what exists only there |
//! | [`Identity`] | ports, verification tags, the key of cookies, the generator |
//! | [`Paths`] | the peer's addresses and the own ones, and all that is kept for each path |
//! | [`Sender`] | what waits, what is outstanding, what is sent again, the peer's window |
//! | [`Receiver`] | which TSNs have arrived, messages, SACKs that are due |
//! | [`Control`] | chunks that wait, complete packets, changes of streams and addresses, keys |
//!
//! The procedures of RFC 9260, which use several of them, are in files of their own:
//!
//! | section | | file |
//! |---|---|---|
//! | §5.1 | the side that opens | [`handshake`] |
//! | §5.1 | the side that answers | [`answer`] |
//! | §5.2 | collisions and restarts | [`collision`] |
//! | §6.1, §6.10 | what leaves | [`output`] |
//! | §6.2 | data that arrives | [`data`] |
//! | §6.2.1 | SACKs that arrive | [`acknowledge`] |
//! | §6.3.3, §8.1, §8.2 | timers, errors | [`timeout`] |
//! | §5.4, §8.3 | heartbeats | [`heartbeat`] |
//! | §8.4, §3.2 | which packets count, and what their chunks call | [`input`] |
//! | §9 | the end | [`shutdown`] |
//! | §7.3, RFC 8899 | path MTUs | [`mtu`] |
//! | §10 | ICMP | [`icmp`] |
//! | RFC 3758 | messages that are given up | [`partial`] |
//! | RFC 6525 | changes of streams | [`streams`], [`renumber`] |
//! | RFC 5061 | changes of addresses | [`addresses`] |
//! | RFC 4960 A | ECN | [`ecn`] |
//! | RFC 9653 | packets without a checksum | [`checksum`] |
//!
//! The user's messages are in [`messages`], what else the user hears in [`notification`], settings
//! that change in [`tuning`], the contract with the host in [`contract`]; [`packets`] puts chunks
//! into packets.

mod acknowledge;
mod addresses;
mod answer;
mod checksum;
mod collision;
mod contract;
mod data;
mod ecn;
mod handshake;
mod heartbeat;
mod icmp;
mod input;
mod messages;
mod mtu;
mod notification;
mod output;
mod packets;
mod partial;
mod renumber;
mod shutdown;
mod streams;
mod timeout;
mod tuning;

#[cfg(test)]
mod tests;

use crate::config::Config;
use crate::control::Control;
use crate::extensions::Extensions;
use crate::identity::Identity;
use crate::paths::Paths;
use crate::paths::path::{Path, PathObservation};
use crate::paths::room::Overhead;
use crate::phase::Phase;
use crate::receiver::Receiver;
use crate::reliability::Abandoned;
use crate::sender::Sender;
use crate::state::State;
use anabranch_endpoint::{CloseReason, Generator, PendingEvents};
use anabranch_wire::Addr;
pub use messages::SendError;
pub use notification::{Notification, Reconfiguration};
use std::collections::VecDeque;
use std::sync::Arc;

/// An `Association` is one side of an SCTP association (RFC 9260), without I/O.
///
/// Drive it through [`Endpoint`](anabranch_endpoint::Endpoint) and either
/// [`ByteStream`](anabranch_endpoint::ByteStream) or
/// [`Association::send`] and [`Association::receive`]; see the first for the
/// order of polling. `now` never decreases. Path `i` goes from the `i`-th local
/// address (around, where there are fewer) to the `i`-th address of the peer.
#[derive(Debug)]
pub struct Association {
    /// `config` holds the settings; [`Association::tune`] changes them.
    config: Arc<Config>,
    /// `phase` is where the association is in RFC 9260's diagram, with what exists only there.
    phase: Phase,
    /// `identity` tells its packets from others: ports, tags, the key of cookies.
    identity: Identity,
    /// `paths` lead to the peer's addresses.
    paths: Paths,
    /// `sender` is the sending half.
    sender: Sender,
    /// `receiver` is the receiving half.
    receiver: Receiver,
    /// `control` is what is said beside user data and SACKs.
    control: Control,
    /// `extensions` are those that both sides offer; none before that is known.
    extensions: Extensions,
    /// `peer_adaptation` is what the peer said its user is (RFC 5061 §4.2.6).
    peer_adaptation: Option<u32>,
    /// `abort_reason` is what the peer's user gave as the reason of an ABORT.
    abort_reason: Option<Box<[u8]>>,
    /// `pending` are the events that the application has not heard.
    pending: PendingEvents,
    /// `notifications` are those that the user has not taken.
    notifications: VecDeque<Notification>,
}

impl Association {
    /// `client` makes the active side, which opens with
    /// [`ByteStream::connect`](anabranch_endpoint::ByteStream::connect), to the first of the peer's
    /// addresses.
    ///
    /// # Panics
    /// It panics if `local` or `remote` has no address.
    pub fn client(
        config: impl Into<Arc<Config>>,
        local: (&[Addr], u16),
        remote: (&[Addr], u16),
        generator: Generator,
    ) -> Association {
        Association::new(config.into(), Phase::Idle, local, remote, generator)
    }

    /// `server` makes the passive side, which answers INIT from any peer. `remote` is where
    /// [`Demultiplex::flow_key`](anabranch_endpoint::Demultiplex::flow_key) points until one has
    /// come.
    ///
    /// # Panics
    /// It panics if `local` or `remote` has no address.
    pub fn server(
        config: impl Into<Arc<Config>>,
        local: (&[Addr], u16),
        remote: (&[Addr], u16),
        generator: Generator,
    ) -> Association {
        Association::new(config.into(), Phase::Listening, local, remote, generator)
    }

    fn new(
        config: Arc<Config>,
        phase: Phase,
        local: (&[Addr], u16),
        remote: (&[Addr], u16),
        generator: Generator,
    ) -> Association {
        assert!(!local.0.is_empty() && !remote.0.is_empty(), "both sides have an address");
        let paths = Paths::new(&config, local.0, remote.0);
        let route = paths.route(0);
        let (streams, buffer) = (config.inbound_streams, config.receive_buffer);
        Association {
            phase,
            identity: Identity::new(local.1, remote.1, generator),
            paths,
            sender: Sender::new(&config),
            receiver: Receiver::new(streams, buffer, config.partial_delivery_point, route),
            control: Control::new(route),
            extensions: Extensions::default(),
            peer_adaptation: None,
            abort_reason: None,
            pending: PendingEvents::default(),
            notifications: VecDeque::new(),
            config,
        }
    }

    /// Makes packets to the first address of each pair leave from the second, as a host with a
    /// routing table has it. To addresses that are not there they leave from the own address with
    /// the same place in its list.
    #[must_use]
    pub fn with_sources(mut self, pairs: &[(Addr, Addr)]) -> Association {
        self.paths.set_sources(&self.config, pairs);
        self.go_back_to_primary();
        self
    }

    /// Returns where the association is in RFC 9260's diagram.
    #[inline]
    pub fn state(&self) -> State {
        self.phase.state()
    }

    /// Returns how many streams this side may send on.
    pub fn outbound_streams(&self) -> u16 {
        self.sender.streams
    }

    /// Returns the index of the primary path.
    pub fn primary(&self) -> usize {
        self.paths.primary
    }

    /// Sends new data to path `path` from now on (RFC 9260 §11.1, SETPRIMARY), and elsewhere while
    /// it does not work. Returns false when there is no such path.
    pub fn set_primary(&mut self, path: usize) -> bool {
        self.paths.set_primary(path)
    }

    /// Sets the priority (the lowest is first) or the weight of a stream, for the schedulers that
    /// ask for one; it is 1 at first (RFC 8260 §4.3.3).
    pub fn set_stream_value(&mut self, stream: u16, value: u16) {
        self.sender.outgoing.set_value(stream, value);
    }

    /// Returns how many messages were given up (RFC 7496 §4.3).
    pub fn abandoned(&self) -> Abandoned {
        self.sender.abandoned()
    }

    /// Returns whether the association sends I-DATA (RFC 8260), which both sides offered.
    pub fn interleaves(&self) -> bool {
        self.extensions.has(Extensions::INTERLEAVING)
    }

    /// Signs with another of the keys of the configuration from now on (RFC 4895 §5). Returns false
    /// when there is none.
    pub fn use_key(&mut self, id: u16) -> bool {
        let Some(config) = &self.config.authentication else { return false };
        let known = config.keys.iter().any(|(key, _)| *key == id);
        if let Some(auth) = self.control.auth.as_mut().filter(|_| known) {
            auth.active_key = id;
            return true;
        }
        false
    }

    /// Returns the smallest path MTU of all the peer's addresses, in octets: messages are cut so
    /// that their chunks fit it (RFC 9260 §7.3).
    pub fn mtu(&self) -> u32 {
        self.paths.room.mtu
    }

    /// Returns the path MTU of path `path`, in octets: that of the configuration, or what was found
    /// out since. It is `None` when there is no such path.
    pub fn path_mtu(&self, path: usize) -> Option<u32> {
        Some(self.paths.get(path)?.room.mtu)
    }

    /// Returns whether chunks are authenticated, which both sides offered (RFC 4895).
    pub fn authenticates(&self) -> bool {
        self.control.authenticates()
    }

    /// Returns what observers see of the paths, in order.
    pub fn observe_paths(&self) -> impl Iterator<Item = PathObservation> + '_ {
        self.paths.iter().map(Path::observe)
    }

    /// Makes the paths to these addresses. Those that are not `confirmed` must answer a heartbeat
    /// before they carry data, where the settings want that.
    fn set_paths(&mut self, addresses: &[Addr], primary: Addr, confirmed: &[Addr]) {
        self.paths.set(&self.config, addresses, primary, confirmed);
        self.go_back_to_primary();
    }

    /// Makes what is to be answered go to the primary, as paths have changed.
    fn go_back_to_primary(&mut self) {
        self.receiver.sacks.route = self.paths.route(self.paths.primary);
        self.control.waiting.answer_nobody();
    }

    /// Computes what fits a packet.
    fn measure(&mut self) {
        let overhead =
            Overhead { auth: self.control.auth_room(), header: self.sender.flight.header() };
        self.paths.measure(&self.config, overhead);
    }

    /// Ends the association: nothing is sent or expected any more, except that complete packets
    /// still leave.
    fn finish(&mut self, reason: CloseReason) {
        self.phase = Phase::Ended;
        self.paths.stop_timers();
        self.sender.stop(&self.config);
        self.control.stop();
        self.receiver.sacks.stop();
        self.pending.closed = Some(reason);
    }
}
