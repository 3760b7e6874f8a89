//! One side of a Multipath TCP connection: the machines that it is made of. The user's
//! commands and all that a host may call are in [`contract`].
//!
//! A connection is a few machines. Each is a type that owns its state and is tested alone; what
//! it needs of another is an argument:
//!
//! | machine | what it owns |
//! |---|---|
//! | [`Session`] | the keys, what was agreed, and whether this is Multipath TCP or TCP |
//! | [`Sender`] | the sending half of the stream: data sequence numbers, the peer's window, reinjections, DATA_FIN out |
//! | [`Receiver`] | the receiving half: reassembly, DATA_ACK, the window, DATA_FIN in |
//! | [`Subflows`] | the set of subflows, their addresses, identifiers and counts |
//! | [`Readiness`] | which subflows may have packets, news or room, and the first deadline |
//! | [`Scheduling`] | the packet scheduler and what it sees |
//! | [`PathManagement`] | addresses, announcements, subflows to be opened again |
//! | [`Timers`] | the connection's timers |
//!
//! The procedures of RFC 8684, which use several of them, are in files of their own:
//!
//! | section | | file |
//! |---|---|---|
//! | §3.1 | MP_CAPABLE | [`handshake`] |
//! | §3.2 | MP_JOIN | [`join`] |
//! | §3.3 | what a segment carries: DSS | [`options`] |
//! | §3.3 | checksums | [`checksum`] |
//! | §3.3.1 | mappings that arrive, octets that become the stream | [`receive`] |
//! | §3.3.2, §3.3.5 | DATA_ACK, the peer's window | [`data_ack`] |
//! | §3.3.3 | DATA_FIN | [`data_fin`] |
//! | §3.3.6 | sending again on another subflow | [`reinject`] |
//! | §3.3.8 | backups, MP_PRIO | [`priority`] |
//! | §3.4 | ADD_ADDR, REMOVE_ADDR | [`announce`] |
//! | §3.5 | MP_FASTCLOSE | [`fast_close`] |
//! | §3.6 | the end of a subflow, MP_TCPRST | [`subflow_end`] |
//! | §3.7 | back to TCP: [`Fallback`](fallback::Fallback) | [`fallback`] |
//! | §3.7 | MP_FAIL, the infinite mapping | [`fail`] |
//! | app. B | Fast Open | [`fast_open`] |
//!
//! Of TCP as a whole: small segments that wait for more ([`holding`]).
//!
//! A segment goes through [`input`] and then [`collect`]; a packet comes from the loop in
//! [`output`], which asks [`schedule`] for data. [`paths`] opens the
//! subflows that there should be, [`timeout`] does what happens by itself.

mod announce;
mod checksum;
mod collect;
mod contract;
mod data_ack;
mod data_fin;
mod fail;
mod fallback;
mod fast_close;
mod fast_open;
mod handshake;
mod holding;
mod input;
mod join;
mod options;
mod output;
mod path_management;
mod paths;
mod priority;
mod readiness;
mod receive;
mod reinject;
mod schedule;
mod scheduling;
mod session;
mod subflow_end;
mod subflows;
mod timeout;
mod timers;

#[cfg(test)]
mod tests;

use crate::config::{self, Config, option_room};
use crate::key::Key;
use crate::receiver::{Receiver, Tell};
use crate::sender::Sender;
use crate::subflow::{Stage, Subflow};
use anabranch_endpoint::{CloseReason, Demultiplex, Generator, PathObservation, PendingEvents};
use anabranch_tcp::{Connection as Tcp, State as TcpState};
use anabranch_wire::{Addr, Body, FlowKey, Packet};
use holding::Holding;
use path_management::PathManagement;
use readiness::Readiness;
use scheduling::Scheduling;
use session::Session;
use std::collections::VecDeque;
use std::sync::Arc;
use subflows::Subflows;
use timers::{Due, Timers};

/// Whether a connection is what it was meant to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// The first handshake is not over.
    Opening,
    /// The connection is Multipath TCP.
    Multipath,
    /// The connection is TCP: the peer, or the network between, does not let it be more (RFC 8684
    /// §3.7).
    Fallback,
}

/// Whether a connection goes on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lifetime {
    /// The connection goes on; neither reset nor asked to end.
    Open,
    /// Both streams have ended, and the subflows were asked to close.
    Closing,
    /// The connection is over; only resets may still have to leave.
    Ended,
}

/// What a connection did that its subflows do not know; totals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Segments of data that were sent again on another subflow.
    pub reinjected: u64,
    /// Of the reinjected segments, those by opportunistic retransmission.
    pub opportunistic: u64,
    /// Congestion windows that penalisation has halved.
    pub penalties: u64,
    /// Copies that the redundant scheduler has made.
    pub copies: u64,
    /// Mappings with a wrong checksum.
    pub bad_checksums: u64,
    /// Subflows that became ready, the first included.
    pub subflows: u64,
}

/// One side of a Multipath TCP connection (RFC 8684), without I/O.
///
/// Drive it through [`Endpoint`](anabranch_endpoint::Endpoint) and
/// [`ByteStream`](anabranch_endpoint::ByteStream); see the former for the order of polling. `now`
/// never decreases. The host gives it every packet for any of its addresses and ports.
#[derive(Debug)]
pub struct Connection {
    /// The user's settings.
    config: Arc<Config>,
    /// The subflows are given these settings.
    subflow_config: Arc<anabranch_tcp::Config>,
    /// Keys, random numbers and the subflows' sequence numbers are drawn from it.
    generator: Generator,
    /// The hosts have agreed on this: keys, checksums, Multipath TCP or TCP.
    session: Session,
    /// The connection goes on, closes or is over.
    lifetime: Lifetime,
    /// The sending half of the stream numbers data, keeps the peer's window, and sends again.
    sender: Sender,
    /// The receiving half of the stream puts data together and acknowledges it.
    receiver: Receiver,
    /// The subflows, which carry the stream.
    subflows: Subflows,
    /// Which subflows may act, so that they need not be asked.
    readiness: Readiness,
    /// The choice of the subflow for new data.
    scheduling: Scheduling,
    /// The reasons for which a small segment waits.
    holding: Holding,
    /// Both hosts' addresses, and which subflows there should be.
    paths: PathManagement,
    /// The timers of the connection, beside those of its subflows.
    timers: Timers,
    /// Packets that belong to no subflow and wait to be sent: resets of strangers' packets.
    outbox: VecDeque<Packet>,
    /// The application has not heard of these events yet.
    pending: PendingEvents,
    /// Totals of what the connection did beside its subflows.
    counters: Counters,
}

impl Connection {
    /// The active side: opens with [`ByteStream::connect`](anabranch_endpoint::ByteStream::connect), from the first of
    /// the addresses.
    ///
    /// # Panics
    /// Without an own address.
    pub fn client(
        config: impl Into<Arc<Config>>,
        local: (&[Addr], u16),
        remote: (Addr, u16),
        generator: Generator,
    ) -> Connection {
        Connection::new(config.into(), false, local, remote, generator)
    }

    /// The passive side: listens for a SYN from `remote` to the first of the
    /// addresses. Its others are announced, where the path manager does so.
    ///
    /// # Panics
    /// Without an own address.
    pub fn server(
        config: impl Into<Arc<Config>>,
        local: (&[Addr], u16),
        remote: (Addr, u16),
        generator: Generator,
    ) -> Connection {
        Connection::new(config.into(), true, local, remote, generator)
    }

    fn new(
        config: Arc<Config>,
        passive: bool,
        (addresses, port): (&[Addr], u16),
        remote: (Addr, u16),
        mut generator: Generator,
    ) -> Connection {
        let first = *addresses.first().expect("a connection has an address");
        let scheduling = Scheduling::new(&config.scheduler);
        let subflow_config = Arc::new(config.of_subflow(scheduling.assigns()));
        let local = (first, port);
        let key = Key(generator.next_u64());
        let open = if passive { Tcp::server } else { Tcp::client };
        let own = config::of_first(&config, &subflow_config, first);
        let mut tcp = open(own, local, remote, generator.clone());
        if config.enabled {
            tcp.reserve_options(option_room(config.long_numbers));
            tcp.scale_windows_for(config.subflow.receive_buffer);
        }
        Connection {
            session: Session::new(key, passive, config.checksum),
            lifetime: Lifetime::Open,
            sender: Sender::new(key.idsn(), config.long_numbers),
            receiver: Receiver::new(config.subflow.receive_buffer),
            subflows: Subflows::of_first(Subflow::new(tcp, 0, 0, Stage::First)),
            readiness: Readiness::of_first(),
            scheduling,
            holding: Holding { nagle: config.nagle, corked: false },
            paths: PathManagement::new(addresses, remote),
            timers: Timers::default(),
            outbox: VecDeque::new(),
            pending: PendingEvents::default(),
            counters: Counters::default(),
            subflow_config,
            generator,
            config,
        }
    }

    /// Returns how the connection stands: in its handshake, Multipath TCP or TCP.
    pub fn phase(&self) -> Phase {
        self.session.phase()
    }

    /// Nothing is left of it but TIME-WAIT of its subflows.
    pub fn is_in_time_wait(&self) -> bool {
        let mut states = self.subflows.iter().map(|subflow| subflow.tcp.state());
        !self.subflows.is_empty() && states.all(|state| state == TcpState::TimeWait)
    }

    /// Returns this side's token, which names the connection in MP_JOINs to it.
    pub fn token(&self) -> u32 {
        self.session.key().token()
    }

    /// Draws another key, before the first packet, as long as the token is that of another
    /// connection of the host (RFC 8684 §3.1).
    pub fn avoid_tokens(&mut self, mut is_taken: impl FnMut(u32) -> bool) {
        while is_taken(self.token()) {
            let key = Key(self.generator.next_u64());
            self.set_key(key);
        }
    }

    /// The packet is one of its subflows', reports trouble of one, or asks to join
    /// it.
    pub fn is_for(&self, packet: &Packet) -> bool {
        let key = match &packet.body {
            Body::Icmp(icmp) => icmp.quote.flow_key(),
            _ => packet.flow_key().reversed(),
        };
        self.has_flow(key)
            || matches!(&packet.body, Body::Tcp(segment) if self.is_joined_by(segment))
    }

    /// Returns this side's key.
    pub fn key(&self) -> Key {
        self.session.key()
    }

    /// Returns totals of what the connection did beside its subflows.
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The subflows that there are, the oldest first.
    pub fn subflows(&self) -> impl Iterator<Item = PathObservation> + '_ {
        self.subflows.iter().map(Subflow::observe)
    }

    /// The packets that the subflows send have these keys, the oldest subflow's first.
    pub fn flow_keys(&self) -> impl Iterator<Item = FlowKey> + '_ {
        self.subflows.iter().map(Subflow::key)
    }

    /// Returns how many octets wait in the receiver for something before them.
    pub fn out_of_order(&self) -> u64 {
        self.receiver.waiting()
    }

    /// Something happened to a subflow that may let it send.
    #[inline]
    fn touch(&mut self, i: usize) {
        self.readiness.touch(self.subflows[i].id);
    }

    /// Subflows whose octets and events are to be collected. After the fallback
    /// octets may wait for room; before the handshake's end, for what they are.
    #[inline]
    fn uncollected(&self) -> u64 {
        self.readiness.uncollected(!self.session.is_multipath())
    }

    /// Gives this side another key, before the first packet.
    fn set_key(&mut self, key: Key) {
        self.session.set_key(key);
        self.sender.renumber(key.idsn());
    }

    /// The application has read: the peer hears of the window where that is news.
    #[inline]
    fn tell_of_window(&mut self, tell: Tell) {
        match tell {
            Tell::None => {}
            Tell::One => self.subflows.ask_best_for_ack(&mut self.readiness),
            Tell::Reopened => {
                self.subflows.ask_best_for_ack(&mut self.readiness);
                self.subflows.tell_of_window(self.receiver.free(), &mut self.readiness);
            }
        }
    }

    /// The connection is over.
    #[inline]
    fn has_ended(&self) -> bool {
        self.lifetime == Lifetime::Ended
    }

    /// The subflows were asked to close, and have not all done so.
    #[inline]
    fn is_closing(&self) -> bool {
        self.lifetime == Lifetime::Closing
    }

    /// Nothing is sent or expected any more but what the subflows still say.
    fn finish(&mut self, reason: CloseReason) {
        if !self.has_ended() {
            self.lifetime = Lifetime::Ended;
            self.timers.stop_all();
            self.pending.closed = Some(reason);
        }
    }
}
