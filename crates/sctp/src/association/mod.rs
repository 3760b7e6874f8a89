//! One side of an SCTP association.
//!
//! The procedures are in files of their own: [`handshake`] (opening; the side
//! that answers in [`answer`], collisions and restarts in [`collision`]),
//! [`input`] (which packets count, and what their chunks call), [`data`]
//! (receiving), [`acknowledge`] (SACKs of the peer), [`output`] (what leaves), [`standby`] (where
//! new data goes), [`timeout`], [`heartbeat`], [`shutdown`]; of extensions in [`partial`]
//! (messages that are given up), [`reconfig`] and [`renumber`] (changes of streams),
//! [`addresses`] (of addresses), [`concurrent`] (all paths at once) and
//! [`immediate`] (SACKs at once). The
//! user's messages are in [`messages`], what else the user hears in
//! [`notification`], the contract with the host in [`contract`]; [`packets`]
//! puts chunks into packets.
//! This file holds the state they share, and how it begins and ends.

mod acknowledge;
mod addresses;
mod answer;
mod candidates;
mod collision;
mod concurrent;
mod contract;
mod data;
mod ecn;
mod handshake;
mod heartbeat;
mod icmp;
mod immediate;
mod input;
mod messages;
mod notification;
mod output;
mod packets;
mod partial;
mod reconfig;
mod renumber;
mod shutdown;
mod standby;
mod timeout;
mod tuning;
mod undelivered;

#[cfg(test)]
mod tests;

use crate::auth::Auth;
use crate::config::Config;
use crate::extensions::Extensions;
use crate::failover::Standby;
use crate::flight::Flight;
use crate::outgoing::Outgoing;
use crate::parts::Parts;
use crate::path::{Path, PathObservation, PathState};
use crate::reassembly::Reassembly;
use crate::reliability::Abandoned;
use crate::state::State;
use crate::tsn_map::TsnMap;
pub use addresses::AddressError;
use addresses::Addresses;
use anabranch_endpoint::{CloseReason, Generator, PendingEvents, Timer};
use anabranch_units::{Serial32, Time};
use anabranch_wire::sctp::Chunk;
use anabranch_wire::{Addr, Packet};
use handshake::Handshake;
pub use messages::SendError;
pub use notification::Notification;
use partial::Partial;
use reconfig::Reconfig;
pub use reconfig::ReconfigError;
use std::collections::VecDeque;
use std::sync::Arc;
pub use undelivered::Undelivered;

/// Timers of the association; T3-rtx and heartbeats are the paths'.
#[derive(Clone, Copy, Debug)]
enum Due {
    /// T1-init or T1-cookie.
    T1,
    /// T2-shutdown.
    T2,
    /// T5-shutdown-guard.
    T5,
    /// Delayed SACK.
    Sack,
}

impl Due {
    const ALL: [Due; 4] = [Due::T1, Due::T2, Due::T5, Due::Sack];
}

/// Where an answer goes, and which own address it leaves from: what came to an address is answered
/// from there. That of the path may be another, whose link is why the peer does not use it.
#[derive(Clone, Copy, Debug)]
struct Way {
    path: usize,
    from: Addr,
}

/// Totals since the start.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    packets: u64,
    retransmitted: u64,
    acked: u64,
}

/// One side of an SCTP association (RFC 9260), without I/O.
///
/// Drive it through [`Endpoint`](anabranch_endpoint::Endpoint) and either
/// [`ByteStream`](anabranch_endpoint::ByteStream) or
/// [`Association::send`] and [`Association::receive`]; see the first for the
/// order of polling. `now` never decreases. Path `i` goes from the `i`-th local
/// address (around, where there are fewer) to the `i`-th address of the peer.
#[derive(Debug)]
pub struct Association {
    config: Arc<Config>,
    state: State,
    /// The association is over: it lives once.
    ended: bool,
    /// Answers INIT.
    passive: bool,
    local: Vec<Addr>,
    /// Addresses of the peer, each with the own address that packets to it
    /// leave from.
    sources: Vec<(Addr, Addr)>,
    local_port: u16,
    peer_port: u16,
    generator: Generator,
    /// Signs cookies.
    key: [u8; 32],
    local_tag: u32,
    peer_tag: u32,
    /// Offset 1 is the first TSN: these are one before.
    local_origin: Serial32,
    peer_origin: Serial32,
    /// Streams that this side may send on, and the peer.
    outbound: u16,
    inbound: u16,
    paths: Vec<Path>,
    primary: usize,
    /// Carries new data while the primary does not work.
    standby: Standby,
    handshake: Option<Box<Handshake>>,
    timers: [Timer; 4],
    /// Failures in a row, of all paths.
    errors: u32,
    outgoing: Outgoing,
    flight: Flight,
    /// Where retransmissions go, where that is the user's own.
    own_policy: Option<Box<dyn crate::policy::Policy>>,
    /// a_rwnd of the last SACK.
    peer_rwnd: u64,
    /// The largest a_rwnd that the peer has advertised.
    largest_rwnd: u64,
    /// What the peer said its user is (RFC 5061 §4.2.6).
    peer_adaptation: Option<u32>,
    /// A SACK came since T3-rtx expired last.
    heard: bool,
    /// The first packet of a fast retransmit ignores the window.
    fast_due: bool,
    /// T3-rtx expired, and nothing was sent again yet.
    timed_out: bool,
    /// One packet was sent again since: the others wait for a SACK (§6.3.3
    /// E3), or for the next expiry.
    await_sack: bool,
    map: TsnMap,
    reassembly: Reassembly,
    duplicates: Vec<Serial32>,
    /// Packets with data since the last SACK.
    unsacked: u32,
    sack_now: bool,
    /// A SACK has left.
    has_sacked: bool,
    /// The last one had gap blocks.
    told_gaps: bool,
    /// The way back of the packet at hand, and of the last one with data.
    arrival: Way,
    sack_way: Way,
    /// Among the control chunks that wait is an answer, which goes this way.
    answer_way: Option<Way>,
    /// The path that SHUTDOWN or SHUTDOWN ACK left on last.
    shutdown_path: usize,
    /// Of concurrent transfer: the path whose turn it is.
    turn: usize,
    /// The timestamp to echo.
    echo: Option<u64>,
    /// a_rwnd that was advertised last.
    advertised: u32,
    /// Control chunks that leave with the next packet.
    control: Vec<Chunk>,
    /// Packets that are complete.
    outbox: VecDeque<Packet>,
    /// When the next unconfirmed address may be probed.
    next_confirmation: Time,
    /// A write was cut short.
    write_blocked: bool,
    /// Paths to which Max.Burst has been applied since the last event, a bit
    /// each.
    burst_limited: u32,
    /// New data has left since the last event, when nothing was outstanding:
    /// Nagle's rule does not hold up the rest.
    nagle_passed: bool,
    /// The user has closed since the last packet.
    shutdown_due: bool,
    pending: PendingEvents,
    notifications: VecDeque<Notification>,
    counters: Counters,
    /// What both sides offer; `extended` where that is anything.
    extensions: Extensions,
    extended: bool,
    /// The largest packet: the configuration's, or what a router said.
    mtu: u32,
    /// Room for chunks in a packet, and for user data in one with a chunk of it.
    max_chunk: u32,
    max_payload: u32,
    /// Messages that arrive in parts, for a user who wants them whole.
    parts: Option<Box<Parts>>,
    /// What partial reliability needs, once a message was given up.
    partial: Option<Box<Partial>>,
    /// What changes of streams need, once there was one.
    reconfig: Option<Box<Reconfig>>,
    /// What changes of addresses need, once there was one.
    addresses: Option<Box<Addresses>>,
    /// Keys, where chunks are authenticated.
    auth: Option<Box<Auth>>,
    /// Marks of routers, once there was one.
    ecn: Option<Box<ecn::Ecn>>,
    /// Messages that will not be delivered, once there was one.
    undelivered: Option<Box<undelivered::List>>,
}

impl Association {
    /// The active side: opens with
    /// [`ByteStream::connect`](anabranch_endpoint::ByteStream::connect), to the first of
    /// the peer's addresses.
    ///
    /// # Panics
    /// Without a local and a remote address.
    pub fn client(
        config: impl Into<Arc<Config>>,
        local: (&[Addr], u16),
        remote: (&[Addr], u16),
        generator: Generator,
    ) -> Association {
        Association::new(config.into(), false, local, remote, generator)
    }

    /// The passive side: answers INIT from any peer. `remote` is where
    /// [`Endpoint::flow_key`](anabranch_endpoint::Endpoint::flow_key) points until one has come.
    ///
    /// # Panics
    /// Without a local and a remote address.
    pub fn server(
        config: impl Into<Arc<Config>>,
        local: (&[Addr], u16),
        remote: (&[Addr], u16),
        generator: Generator,
    ) -> Association {
        Association::new(config.into(), true, local, remote, generator)
    }

    fn new(
        config: Arc<Config>,
        passive: bool,
        local: (&[Addr], u16),
        remote: (&[Addr], u16),
        mut generator: Generator,
    ) -> Association {
        assert!(!local.0.is_empty() && !remote.0.is_empty(), "both sides have an address");
        let mut key = [0; 32];
        for octets in key.chunks_exact_mut(8) {
            octets.copy_from_slice(&generator.next_u64().to_be_bytes());
        }
        let mut association = Association {
            state: State::Closed,
            ended: false,
            passive,
            local: local.0.to_vec(),
            sources: Vec::new(),
            local_port: local.1,
            peer_port: remote.1,
            generator,
            key,
            local_tag: 0,
            peer_tag: 0,
            local_origin: Serial32(0),
            peer_origin: Serial32(0),
            outbound: config.outbound_streams,
            inbound: config.inbound_streams,
            paths: Vec::new(),
            primary: 0,
            standby: Standby::default(),
            handshake: None,
            timers: [Timer::IDLE; 4],
            errors: 0,
            outgoing: Outgoing::new(config.scheduler),
            flight: Flight::starting_at(1),
            own_policy: config.destination.build_own(),
            peer_rwnd: 0,
            largest_rwnd: 0,
            peer_adaptation: None,
            heard: false,
            fast_due: false,
            timed_out: false,
            await_sack: false,
            map: TsnMap::starting_at(1),
            reassembly: Reassembly::default(),
            duplicates: Vec::new(),
            unsacked: 0,
            sack_now: false,
            has_sacked: false,
            told_gaps: false,
            arrival: Way { path: 0, from: local.0[0] },
            sack_way: Way { path: 0, from: local.0[0] },
            answer_way: None,
            shutdown_path: 0,
            turn: 0,
            echo: None,
            advertised: config.receive_buffer,
            control: Vec::new(),
            outbox: VecDeque::new(),
            next_confirmation: Time::ZERO,
            write_blocked: false,
            burst_limited: 0,
            nagle_passed: false,
            shutdown_due: false,
            pending: PendingEvents::default(),
            notifications: VecDeque::new(),
            counters: Counters::default(),
            extensions: Extensions::default(),
            extended: false,
            mtu: config.mtu,
            max_chunk: config.max_chunk(),
            max_payload: config.max_payload(),
            parts: None,
            partial: None,
            reconfig: None,
            addresses: None,
            auth: None,
            ecn: None,
            undelivered: None,
            config,
        };
        let (point, buffer) =
            (association.config.partial_delivery_point, association.config.receive_buffer);
        association.reassembly.set_limits(point, buffer);
        association.set_paths(remote.0, remote.0[0], &remote.0[..1]);
        association
    }

    /// Packets to the first address of each pair leave from the second, as a
    /// host with a routing table has it. To addresses that are not there they
    /// leave from the own address with the same place in its list.
    #[must_use]
    pub fn with_sources(mut self, pairs: &[(Addr, Addr)]) -> Association {
        self.sources = pairs.to_vec();
        let remote: Vec<_> = self.paths.iter().map(|path| path.remote).collect();
        let primary = remote[self.primary];
        self.set_paths(&remote, primary, &[primary]);
        self
    }

    /// Where the association is in RFC 9260's diagram.
    pub fn state(&self) -> State {
        self.state
    }

    /// Streams that this side may send on.
    pub fn outbound_streams(&self) -> u16 {
        self.outbound
    }

    /// Index of the primary path.
    pub fn primary(&self) -> usize {
        self.primary
    }

    /// Sends new data to path `path` from now on, if there is one (RFC 9260
    /// §11.1, SETPRIMARY).
    pub fn set_primary(&mut self, path: usize) {
        if path < self.paths.len() {
            self.primary = path;
        }
    }

    /// The priority (the lowest is first) or the weight of a stream, for the
    /// schedulers that ask for one; 1 at first (RFC 8260 §4.3.3).
    pub fn set_stream_value(&mut self, stream: u16, value: u16) {
        self.outgoing.set_value(stream, value);
    }

    /// Messages that were given up (RFC 7496 §4.3).
    pub fn abandoned(&self) -> Abandoned {
        self.partial.as_ref().map_or(Abandoned::default(), |partial| partial.abandoned)
    }

    /// The association sends I-DATA (RFC 8260): both sides offered it.
    pub fn interleaves(&self) -> bool {
        self.extensions.has(Extensions::INTERLEAVING)
    }

    /// Signs with another of the keys of the configuration from now on (RFC 4895
    /// §5); false when there is none.
    pub fn use_key(&mut self, id: u16) -> bool {
        let Some(config) = &self.config.authentication else { return false };
        let known = config.keys.iter().any(|(key, _)| *key == id);
        if let Some(auth) = self.auth.as_mut().filter(|_| known) {
            auth.active_key = id;
            return true;
        }
        false
    }

    /// The largest packet that this side makes, in octets: the configuration's
    /// MTU, or less where a router said so.
    pub fn mtu(&self) -> u32 {
        self.mtu
    }

    /// Chunks are authenticated: both sides offered it (RFC 4895).
    pub fn authenticates(&self) -> bool {
        self.auth.as_ref().is_some_and(|auth| auth.is_agreed())
    }

    /// The paths for observers, in order.
    pub fn observe_paths(&self) -> impl Iterator<Item = PathObservation> + '_ {
        self.paths.iter().map(Path::observe)
    }

    fn timer(&mut self, due: Due) -> &mut Timer {
        &mut self.timers[due as usize]
    }

    /// The user has closed before the association was established.
    fn is_closing(&self) -> bool {
        self.handshake.as_ref().is_some_and(|handshake| handshake.close)
    }

    /// Paths to the given addresses. Those that are not `confirmed` must answer a
    /// heartbeat first, where that is wanted.
    fn set_paths(&mut self, addresses: &[Addr], primary: Addr, confirmed: &[Addr]) {
        let mut list = addresses.to_vec();
        if !list.contains(&primary) {
            list.insert(0, primary);
        }
        list.truncate(crate::cookie::MAX_ADDRESSES);
        self.paths = list
            .iter()
            .enumerate()
            .map(|(i, remote)| {
                let source = self.sources.iter().find(|pair| pair.0 == *remote);
                let local = source.map_or(self.local[i % self.local.len()], |pair| pair.1);
                let state = match self.config.confirm_paths && !confirmed.contains(remote) {
                    true => PathState::Unconfirmed,
                    false => PathState::Active,
                };
                Path::new(&self.config, local, *remote, state)
            })
            .collect();
        self.primary = list.iter().position(|addr| *addr == primary).unwrap_or(0);
        self.standby.forget();
        self.sack_way = self.way(self.primary);
        self.answer_way = None;
    }

    /// What fits a packet.
    fn measure(&mut self) {
        let auth = self.auth.as_ref().map_or(0, |auth| auth.room());
        self.max_chunk = self.config.max_chunk_of(self.mtu) - auth;
        let header = self.flight.header() + self.config.timestamp_room();
        self.max_payload = (self.max_chunk - header) & !3;
    }

    /// What this side sends on a path by itself.
    fn way(&self, path: usize) -> Way {
        Way { path, from: self.paths[path].local }
    }

    fn path_of(&self, remote: Addr) -> Option<usize> {
        self.paths.iter().position(|path| path.remote == remote)
    }

    /// Ends the association: nothing is sent or expected any more, except
    /// packets that are complete.
    fn finish(&mut self, reason: CloseReason) {
        self.state = State::Closed;
        self.ended = true;
        self.handshake = None;
        self.timers = [Timer::IDLE; 4];
        for path in &mut self.paths {
            path.t3.stop();
            path.heartbeat.stop();
        }
        self.keep_all();
        self.flight = Flight::starting_at(self.flight.next());
        self.outgoing.restart();
        self.control.clear();
        self.sack_now = false;
        self.reconfig = None;
        self.addresses = None;
        self.pending.closed = Some(reason);
    }
}
