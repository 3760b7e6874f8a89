//! One side of an SCTP association.
//!
//! The procedures are in files of their own: [`handshake`] (opening, with
//! collisions and restarts in [`collision`]), [`input`] (which packets count,
//! and what their chunks call), [`data`] (receiving), [`acknowledge`] (SACKs
//! of the peer), [`output`] (what leaves), [`timeout`], [`heartbeat`],
//! [`shutdown`]; of extensions in [`partial`] (messages that are given up),
//! [`reconfig`] (changes of streams), [`addresses`] (of addresses) and [`concurrent`]
//! (all paths at once).
//! This file holds the state they share, the user's commands and
//! the contract with the host.

mod acknowledge;
mod addresses;
mod collision;
mod concurrent;
mod data;
mod handshake;
mod heartbeat;
mod icmp;
mod input;
mod messages;
mod output;
mod partial;
mod reconfig;
mod shutdown;
mod timeout;

#[cfg(test)]
mod tests;

use crate::auth::Auth;
use crate::config::{Config, Encapsulation};
use crate::extensions::Extensions;
use crate::flight::Flight;
use crate::outgoing::{Message, Outgoing};
use crate::path::{Path, PathObservation, PathState};
use crate::reassembly::Reassembly;
use crate::reliability::{Abandoned, Reliability};
use crate::state::State;
use crate::tsn_map::TsnMap;
pub use addresses::AddressError;
use addresses::Addresses;
use anabranch_endpoint::{
    ByteStream, CloseReason, Endpoint, Event, Generator, Messages, Observation, PendingEvents,
    Timer,
};
use anabranch_units::{Serial32, Span, Time};
use anabranch_wire::sctp::{Chunk, Chunks, SctpPacket};
use anabranch_wire::{Addr, Body, FlowKey, Packet};
use handshake::Handshake;
use partial::Partial;
use reconfig::Reconfig;
pub use reconfig::ReconfigError;
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

/// What happened beside the events of the contract.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Notification {
    /// A path changed its state.
    Path {
        /// Its index.
        path: usize,
        /// The new state.
        state: PathState,
    },
    /// The peer has restarted: what was not acknowledged is lost (RFC 9260
    /// §5.2.4.1).
    Restarted,
    /// The peer took, or refused, a change of our addresses (RFC 5061).
    AddressChanged {
        /// Our address.
        address: Addr,
        /// It is one more, not one less or the peer's new primary.
        added: bool,
        /// The peer took it.
        accepted: bool,
    },
    /// The peer has an address more or less; indices of paths may have changed.
    PathsChanged,
    /// A stream started anew: its next message has the number 0 (RFC 6525).
    StreamReset {
        /// Stream identifier.
        stream: u16,
        /// It is a stream of the peer's.
        incoming: bool,
    },
    /// There are more streams.
    StreamsAdded {
        /// How many more.
        count: u16,
        /// They are streams of the peer's.
        incoming: bool,
    },
    /// The peer refused to change the streams.
    ReconfigurationFailed {
        /// Result code (RFC 6525 §4.4).
        result: u32,
    },
}

/// Why a message was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendError {
    /// The association ends, or has ended.
    Closing,
    /// There is no such stream; this many there are.
    NoSuchStream(u16),
    /// A message without octets cannot be sent (RFC 9260 §3.3.1).
    Empty,
    /// The message is larger than the send buffer.
    TooLong(u64),
    /// The send buffer is full for now; [`Event::Writable`] follows.
    Full,
    /// The stream is about to start anew; [`Notification::StreamReset`] follows.
    Resetting,
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::Closing => f.write_str("the association ends"),
            SendError::NoSuchStream(count) => write!(f, "there are {count} streams"),
            SendError::Empty => f.write_str("a message has at least one octet"),
            SendError::TooLong(most) => write!(f, "the send buffer has {most} octets"),
            SendError::Full => f.write_str("the send buffer is full"),
            SendError::Resetting => f.write_str("the stream is about to start anew"),
        }
    }
}
impl std::error::Error for SendError {}

/// Notifications kept at most; older ones are dropped.
const MAX_NOTIFICATIONS: usize = 64;

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

/// Totals since the start.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    packets: u64,
    retransmitted: u64,
    acked: u64,
}

/// One side of an SCTP association (RFC 9260), without I/O.
///
/// Drive it through [`Endpoint`] and either [`ByteStream`] or
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
    handshake: Option<Box<Handshake>>,
    timers: [Timer; 4],
    /// Failures in a row, of all paths.
    errors: u32,
    outgoing: Outgoing,
    flight: Flight,
    /// a_rwnd of the last SACK.
    peer_rwnd: u64,
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
    /// The path that data came on last.
    sack_path: usize,
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
    /// A write was cut short.
    write_blocked: bool,
    /// Paths to which Max.Burst has been applied since the last event, a bit
    /// each.
    burst_limited: u32,
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
    /// What partial reliability needs, once a message was given up.
    partial: Option<Box<Partial>>,
    /// What changes of streams need, once there was one.
    reconfig: Option<Box<Reconfig>>,
    /// What changes of addresses need, once there was one.
    addresses: Option<Box<Addresses>>,
    /// Keys, where chunks are authenticated.
    auth: Option<Box<Auth>>,
}

impl Association {
    /// The active side: opens with [`ByteStream::connect`], to the first of
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
    /// [`Endpoint::flow_key`] points until one has come.
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
            handshake: None,
            timers: [Timer::IDLE; 4],
            errors: 0,
            outgoing: Outgoing::new(config.scheduler),
            flight: Flight::starting_at(1),
            peer_rwnd: 0,
            heard: false,
            fast_due: false,
            timed_out: false,
            await_sack: false,
            map: TsnMap::starting_at(1),
            reassembly: Reassembly::default(),
            duplicates: Vec::new(),
            unsacked: 0,
            sack_now: false,
            sack_path: 0,
            turn: 0,
            echo: None,
            advertised: config.receive_buffer,
            control: Vec::new(),
            outbox: VecDeque::new(),
            write_blocked: false,
            burst_limited: 0,
            shutdown_due: false,
            pending: PendingEvents::default(),
            notifications: VecDeque::new(),
            counters: Counters::default(),
            extensions: Extensions::default(),
            extended: false,
            mtu: config.mtu,
            max_chunk: config.max_chunk(),
            max_payload: config.max_payload(),
            partial: None,
            reconfig: None,
            addresses: None,
            auth: None,
            config,
        };
        association.set_paths(remote.0, remote.0[0]);
        association
    }

    /// Packets to the first address of each pair leave from the second, as a
    /// host with a routing table has it. To addresses that are not there they
    /// leave from the own address with the same place in its list.
    #[must_use]
    pub fn with_sources(mut self, pairs: &[(Addr, Addr)]) -> Association {
        self.sources = pairs.to_vec();
        let remote: Vec<_> = self.paths.iter().map(|path| path.remote).collect();
        self.set_paths(&remote, remote[self.primary]);
        self
    }

    /// Takes a message for sending.
    ///
    /// # Errors
    /// See [`SendError`]; nothing is taken.
    pub fn send(&mut self, message: Message) -> Result<(), SendError> {
        self.send_with(message, Reliability::Reliable)
    }

    /// Takes a message that may be given up (RFC 3758). Where the peer does not
    /// know FORWARD-TSN it is reliable.
    ///
    /// # Errors
    /// See [`SendError`]; nothing is taken.
    pub fn send_with(&mut self, message: Message, limit: Reliability) -> Result<(), SendError> {
        if self.ended || !self.state.accepts_user_data() || self.is_closing() {
            return Err(SendError::Closing);
        }
        if message.stream >= self.outbound {
            return Err(SendError::NoSuchStream(self.outbound));
        }
        if message.payload.is_empty() {
            return Err(SendError::Empty);
        }
        if self.reconfig.is_some() && self.is_resetting(message.stream) {
            return Err(SendError::Resetting);
        }
        let (len, buffer) = (message.payload.len() as u64, self.config.send_buffer);
        if len > buffer {
            return Err(SendError::TooLong(buffer));
        }
        if self.held() + len > buffer && !self.make_room(len, limit) {
            self.write_blocked = true;
            return Err(SendError::Full);
        }
        self.outgoing.push(message, limit);
        Ok(())
    }

    /// The next message that has arrived. Frees receive-buffer space.
    pub fn receive(&mut self) -> Option<Message> {
        self.receive_with_wait().map(|(message, _)| message)
    }

    /// The same, and how long the message was complete and waited for earlier
    /// ones of its stream (head-of-line blocking).
    pub fn receive_with_wait(&mut self) -> Option<(Message, Span)> {
        let received = self.reassembly.receive()?;
        self.update_window();
        Some(received)
    }

    /// The next notification.
    pub fn poll_notification(&mut self) -> Option<Notification> {
        self.notifications.pop_front()
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

    /// Octets that the send buffer holds: not sent, or not acknowledged.
    fn held(&self) -> u64 {
        self.outgoing.held() + self.flight.payload
    }

    fn timer(&mut self, due: Due) -> &mut Timer {
        &mut self.timers[due as usize]
    }

    /// The user has closed before the association was established.
    fn is_closing(&self) -> bool {
        self.handshake.as_ref().is_some_and(|handshake| handshake.close)
    }

    /// Paths to the given addresses; the first packet went to `primary`.
    fn set_paths(&mut self, addresses: &[Addr], primary: Addr) {
        let state = match self.config.confirm_paths {
            true => PathState::Unconfirmed,
            false => PathState::Active,
        };
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
                let state = if *remote == primary { PathState::Active } else { state };
                Path::new(&self.config, local, *remote, state)
            })
            .collect();
        self.primary = list.iter().position(|addr| *addr == primary).unwrap_or(0);
        self.sack_path = self.primary;
    }

    /// What fits a packet.
    fn measure(&mut self) {
        let auth = self.auth.as_ref().map_or(0, |auth| auth.room());
        self.max_chunk = self.config.max_chunk_of(self.mtu) - auth;
        let header = self.flight.header() + self.config.timestamp_room();
        self.max_payload = (self.max_chunk - header) & !3;
    }

    fn path_of(&self, remote: Addr) -> Option<usize> {
        self.paths.iter().position(|path| path.remote == remote)
    }

    fn notify(&mut self, notification: Notification) {
        if self.notifications.len() == MAX_NOTIFICATIONS {
            self.notifications.pop_front();
        }
        self.notifications.push_back(notification);
    }

    /// A packet on `path` with the peer's tag.
    fn packet(&self, path: usize, chunks: impl Into<Chunks>) -> Packet {
        let path = &self.paths[path];
        self.packet_with(path.local, path.remote, self.peer_port, self.peer_tag, chunks)
    }

    fn packet_with(
        &self,
        src: Addr,
        dst: Addr,
        dst_port: u16,
        tag: u32,
        chunks: impl Into<Chunks>,
    ) -> Packet {
        let chunks = chunks.into();
        let udp = match self.config.udp {
            None => None,
            Some(udp) => self.udp_ports(udp, dst),
        };
        let sctp = SctpPacket { src_port: self.local_port, dst_port, tag, udp, chunks };
        Packet::new(src, dst, Body::Sctp(Box::new(sctp)))
    }

    #[cold]
    fn udp_ports(&self, udp: Encapsulation, dst: Addr) -> Option<(u16, u16)> {
        let path = self.paths.iter().find(|path| path.remote == dst);
        let port = path.map_or(Some(udp.remote), |path| path.udp_port);
        port.map(|port| (udp.local, port))
    }

    /// A packet with the AUTH chunk that the peer wants.
    #[cold]
    fn signed(&self, auth: &Auth, mut packet: Packet) -> Packet {
        if let (Body::Sctp(sctp), Some(config)) = (&mut packet.body, &self.config.authentication) {
            auth.sign(config, sctp);
        }
        packet
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
        self.flight = Flight::starting_at(self.flight.next());
        self.outgoing.restart();
        self.control.clear();
        self.sack_now = false;
        self.reconfig = None;
        self.addresses = None;
        self.pending.closed = Some(reason);
    }
}

impl ByteStream for Association {
    fn connect(&mut self, now: Time) {
        if self.state == State::Closed && !self.ended {
            self.associate(now);
        }
    }

    fn write(&mut self, len: u64) -> u64 {
        if self.ended || !self.state.accepts_user_data() || self.is_closing() {
            return 0;
        }
        self.outgoing.write(len);
        len
    }

    fn write_octets(&mut self, octets: &[u8]) -> usize {
        if self.ended || !self.state.accepts_user_data() || self.is_closing() {
            return 0;
        }
        let space = self.config.send_buffer.saturating_sub(self.held());
        let taken = (octets.len() as u64).min(space) as usize;
        self.outgoing.write_octets(&octets[..taken]);
        self.write_blocked = taken < octets.len();
        taken
    }

    fn read(&mut self, max: u64) -> u64 {
        let read = self.reassembly.read(max, |_, _, _| ());
        self.update_window();
        read
    }

    fn read_octets(&mut self, buf: &mut [u8]) -> usize {
        let mut filled = 0;
        let read = self.reassembly.read(buf.len() as u64, |payload, at, len| {
            let target = &mut buf[filled..filled + len];
            match payload.octets() {
                Some(octets) => target.copy_from_slice(&octets[at..at + len]),
                None => target.fill(0),
            }
            filled += len;
        });
        self.update_window();
        read as usize
    }

    /// SCTP has no half-closed state: the peer's unsent data is lost too
    /// (RFC 9260 §1.5.1), what it has sent is delivered.
    fn close(&mut self) {
        self.shut_down();
    }

    fn has_half_close(&self) -> bool {
        false
    }

    fn messages(&mut self) -> Option<&mut dyn Messages> {
        Some(self)
    }

    fn abort(&mut self) {
        self.abort_with(Vec::new(), CloseReason::Aborted);
    }
}

impl Endpoint for Association {
    fn handle_input(&mut self, now: Time, packet: &Packet) {
        if let Body::Icmp(icmp) = &packet.body {
            return self.on_icmp(icmp);
        }
        if let Body::Sctp(sctp) = &packet.body {
            self.burst_limited = 0;
            self.reassembly.set_now(now);
            self.on_packet(now, packet, sctp);
        }
    }

    fn handle_timeout(&mut self, now: Time) {
        self.on_timeout(now);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Packet> {
        let packet = self.next_packet(now);
        match &self.auth {
            None => packet,
            Some(auth) => packet.map(|packet| self.signed(auth, packet)),
        }
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.pending.take()
    }

    fn poll_timeout(&self) -> Time {
        let own = self.timers.iter().map(Timer::deadline).min().unwrap_or(Time::NEVER);
        let own = match &self.reconfig {
            None => own,
            Some(reconfig) => own.min(reconfig.timer.deadline()),
        };
        let own = match &self.addresses {
            None => own,
            Some(addresses) => own.min(addresses.timer.deadline()),
        };
        let paths = self.paths.iter().map(|path| path.t3.deadline().min(path.heartbeat.deadline()));
        paths.fold(own, Time::min)
    }

    /// Windows are those of the primary path; [`Association::observe_paths`]
    /// has all.
    fn observe(&self) -> Observation {
        let path = &self.paths[self.primary];
        Observation {
            cwnd: path.window.cwnd(),
            ssthresh: path.window.ssthresh(),
            in_flight: path.flight,
            srtt: path.rtt.srtt(),
            latest_rtt: path.rtt.latest(),
            rto: path.rtt.rto(),
            pacing_rate: None,
            in_recovery: path.recovery.is_some(),
            dupacks: 0,
            bytes_acked: self.counters.acked,
            bytes_received: self.reassembly.delivered(),
            packets_sent: self.counters.packets,
            retransmitted_packets: self.counters.retransmitted,
            fast_retransmits: self.paths.iter().map(|path| path.fast_retransmits).sum(),
            timeouts: self.paths.iter().map(|path| path.timeouts).sum(),
            ..Observation::default()
        }
    }

    fn observe_path(&self, path: usize) -> Option<PathObservation> {
        self.paths.get(path).map(Path::observe)
    }

    fn flow_key(&self) -> FlowKey {
        let path = &self.paths[self.primary];
        FlowKey {
            src: path.local,
            dst: path.remote,
            protocol: SctpPacket::PROTOCOL,
            src_port: self.local_port,
            dst_port: self.peer_port,
        }
    }
}
