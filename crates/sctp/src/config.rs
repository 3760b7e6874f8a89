//! The settings of an association are here, and the presets that name a standard.
//!
//! | topic | file |
//! |---|---|
//! | the congestion window | [`window`] |
//! | concurrent multipath transfer | [`concurrent`] |
//! | when data asks for a SACK at once | [`immediate`] |
//! | heartbeats | [`heartbeat`] |
//! | path MTUs | [`mtu`] |
//! | what ns-2's module does | [`ns2`] |
//! | authenticated chunks | [`authentication`] |
//! | UDP encapsulation | [`encapsulation`] |
//! | spurious reductions | [`undo`] |
//! | the presets | [`presets`] |
//! | what no association can have | [`validate`] |

pub(crate) mod authentication;
mod concurrent;
mod encapsulation;
mod heartbeat;
mod immediate;
mod mtu;
mod ns2;
mod presets;
mod undo;
mod validate;
mod window;

#[cfg(test)]
mod tests;

pub use authentication::Authentication;
pub use concurrent::Concurrent;
pub use encapsulation::Encapsulation;
pub use heartbeat::{Jitter, Probe, Probing};
pub use immediate::ImmediateSacks;
pub use mtu::MtuProbing;
pub(crate) use mtu::Sizes;
pub use ns2::Ns2Rules;
pub use presets::PRESETS;
pub use undo::UndoOptions;
pub use validate::ConfigError;
pub use window::{InitialWindow, PartialAcked, Window, WindowUnit};

use crate::failover::Failover;
use crate::policy::Destination;
use crate::scheduler::Scheduler;
use anabranch_endpoint::RtoBounds;
use anabranch_units::Span;
use std::sync::Arc;

/// A `Config` holds the settings of one side of an association. Sizes are in octets.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The largest IP packet on any path has this many octets (the MTU of the interface, RFC 9260
    /// §7.3), within [`Config::MTU`].
    pub mtu: u32,
    /// Differentiated services code point of all packets (RFC 2474 §3).
    pub dscp: u8,
    /// Path MTUs are found out by probing in these cases (DPLPMTUD, RFC 8899).
    pub mtu_probing: MtuProbing,
    /// Probing begins with packets of this many octets of SCTP, their header of UDP counted, that
    /// of IP not (BASE_PLPMTU, RFC 8899 §5.1.2: 1200), within [`Config::MTU_PROBE_BASE`]; no less
    /// than 1240 counts over IPv6.
    pub mtu_probe_base: u32,
    /// A probe without an answer is lost after this time (PROBE_TIMER, RFC 8899 §5.1.1), within
    /// [`Config::MTU_TIMER`]; `None` is the path's RTO, at least 1 s.
    pub mtu_probe_timer: Option<Span>,
    /// This long after a search has ended below `mtu` the next begins (PMTU_RAISE_TIMER, RFC 8899
    /// §5.1.1: 600 s), within [`Config::MTU_TIMER`].
    pub mtu_raise_timer: Span,
    /// The IP header takes this many octets of the MTU: 20 with IPv4, 40 with IPv6.
    pub ip_header: u32,
    /// A message of the byte-stream interface has at most this many octets, from 1 to what fits a
    /// packet; `None` is what fits a packet.
    pub message_size: Option<u32>,
    /// INIT and INIT ACK ask for this many streams to send on (RFC 9260 §3.3.2), not 0.
    pub outbound_streams: u16,
    /// The peer may send on at most this many streams (RFC 9260 §3.3.2), not 0.
    pub inbound_streams: u16,
    /// The receive buffer has this many octets, which bound a_rwnd (RFC 9260 §6.2.1), within
    /// [`Config::BUFFER`].
    pub receive_buffer: u32,
    /// The send buffer has this many octets for real octets and messages, within
    /// [`Config::BUFFER`]; counted octets need none.
    pub send_buffer: u64,
    /// A message with this many octets in a row is delivered in parts (RFC 6458 §8.1.21). With
    /// `None` that happens only when half of the receive buffer is taken and nothing can be read.
    pub partial_delivery_point: Option<u32>,
    /// A message that is received in parts and put together may have this many octets; the peer of
    /// a larger one gets an ABORT.
    pub largest_message: u64,
    /// The window of each path follows this algorithm (RFC 9260 §7.2).
    pub window: Window,
    /// The window of a new path follows this rule (RFC 9260 §7.2.1).
    pub initial_window: InitialWindow,
    /// The slow-start threshold of a new path has this many octets; `None` is the peer's receive
    /// window (RFC 9260 §7.2.1 allows any), or no bound with an algorithm that is shared with TCP.
    pub initial_ssthresh: Option<u64>,
    /// Windows are counted in this unit (RFC 9260 §7.2).
    pub window_unit: WindowUnit,
    /// Congestion avoidance counts acknowledged octets in this way (RFC 9260 §7.2.2).
    pub partial_acked: PartialAcked,
    /// True: a window grows only with a SACK that advances the cumulative TSN (RFC 2960 and RFC
    /// 4960 §7.2.1, §7.2.2). False: with any that newly acknowledges chunks, by gap blocks too (RFC
    /// 9260).
    pub growth_needs_advance: bool,
    /// True: a chunk's padding counts in what is outstanding and in windows (RFC 9260 §7.2).
    pub count_padding: bool,
    /// True: before a window decays because nothing was sent for an RTO its threshold becomes the
    /// window (RFC 9260 §7.2.1). False: the threshold stays (RFC 4960 §7.2.1).
    pub rest_sets_ssthresh: bool,
    /// Losses are treated as ns-2's module does; `None` is what the RFCs say.
    pub ns2_rules: Option<Ns2Rules>,
    /// True: a window that equals the threshold is in slow start (RFC 9260 §7.2.1). False: it is in
    /// congestion avoidance, as in TCP.
    pub slow_start_at_threshold: bool,
    /// The threshold after a loss is at least this many units (RFC 2960 §7.2.3: 2, RFC 4960 §7.2.3:
    /// 4), within [`Config::SSTHRESH_FLOOR`].
    pub ssthresh_floor: u32,
    /// This many reports of a missing chunk cause its fast retransmit (RFC 2960 §7.2.4: 4, RFC 4960
    /// §7.2.4: 3), within [`Config::MISSING_REPORTS`].
    pub missing_reports: u8,
    /// True: a SACK reports a chunk as missing only if it newly acknowledges a later TSN (RFC 4960
    /// §7.2.4, "HTNA"). False: every SACK with a later gap block does (RFC 2960 §7.2.4).
    pub highest_newly_acked: bool,
    /// True: fast recovery is explicit, so that a window is reduced once for all that was
    /// outstanding (RFC 4960 §7.2.4).
    pub fast_recovery: bool,
    /// An event releases at most this many packets of new data (Max.Burst, RFC 9260 §6.1 D),
    /// within [`Config::MAX_BURST`]; `None` is no limit.
    pub max_burst: Option<u32>,
    /// True: Max.Burst limits packets and leaves the window as it is (RFC 9260 §6.1 D, RFC 8540
    /// §3.31). False: it lowers the window (RFC 4960 §6.1 D as it reads, FreeBSD).
    pub burst_keeps_window: bool,
    /// Every this many packets with data have a SACK (RFC 9260 §6.2: 2), within
    /// [`Config::SACK_FREQUENCY`].
    pub sack_frequency: u32,
    /// A SACK is delayed at most this long (RFC 9260 §6.2), within
    /// [`Config::SACK_DELAY`].
    pub sack_delay: Span,
    /// Data asks for its SACK at once in these cases; with `None` only where the user of a message
    /// does (RFC 9260 §6.1, a MAY; RFC 2960 and RFC 4960 have no such bit).
    pub immediate_sacks: Option<ImmediateSacks>,
    /// True: the SACK after the last gap was filled is not delayed, as FreeBSD has it (RFC 9260
    /// §6.7 asks that only while there is a gap).
    pub prompt_fill: bool,
    /// True: a window that was found closed is probed as soon as nothing is outstanding, as FreeBSD
    /// has it. False: an RTO later (RFC 9260 §6.1 A).
    pub prompt_probes: bool,
    /// The retransmission timeout has these bounds: RTO.Initial, RTO.Min, RTO.Max, and the clock's
    /// granularity (RFC 9260 §6.3.1, §16).
    pub rto: RtoBounds,
    /// More than this many errors in a row make a path inactive (Path.Max.Retrans, RFC 9260 §8.2).
    pub path_max_retrans: u32,
    /// More than this many errors in a row of all paths end the association
    /// (Association.Max.Retrans, RFC 9260 §8.1).
    pub association_max_retrans: u32,
    /// INIT and COOKIE ECHO are each sent again at most this often (Max.Init.Retransmits, RFC 9260
    /// §5.1.6).
    pub max_init_retransmits: u32,
    /// More than this many errors in a row make a path potentially failed (PFMR, RFC 7829 §3): up
    /// to `path_max_retrans`; with `None` there is no such state.
    pub potentially_failed: Option<u32>,
    /// A path that is idle is probed after this time and an RTO (HB.interval, RFC 9260 §8.3): at
    /// least 1 ms; with `None` idle paths have no heartbeats.
    pub heartbeat_interval: Option<Span>,
    /// The period of heartbeats has this random part (RFC 9260 §8.3).
    pub heartbeat_jitter: Jitter,
    /// True: addresses other than the primary carry data only after a heartbeat has been answered
    /// (RFC 4960 §5.4).
    pub confirm_paths: bool,
    /// True: addresses that the user gave to the side that calls are confirmed from the start (RFC
    /// 9260 §5.4 rule 1). False: they are probed like those that the peer names, which also
    /// measures their RTT before data needs it.
    pub trust_given: bool,
    /// True: the side that calls keeps the address that its INIT went to as its primary path,
    /// wherever the INIT ACK came from. False: the source of the INIT ACK is the primary if the
    /// user gave that address too. RFC 9260 leaves the choice among the peer's addresses to the
    /// endpoint (§5.1.2).
    pub keep_primary: bool,
    /// True: a SACK that reports duplicates goes to another active address than the one that they
    /// came from, since the way back there may be broken (RFC 9260 §6.4, a MAY).
    pub vary_sack_path: bool,
    /// All unconfirmed addresses together get this many packets with heartbeats in one RTO
    /// (HB.Max.Burst, RFC 9260 §5.4), within [`Config::HEARTBEAT_BURST`].
    pub heartbeat_burst: u32,
    /// Retransmissions go where this policy says (RFC 9260 §6.4.1).
    pub destination: Destination,
    /// New data goes where this rule says while the primary does not work (RFC 9260 §6.4, §8.2).
    pub failover: Failover,
    /// Alternates are probed in this way while data is outstanding.
    pub probing: Probing,
    /// True: a chunk may be fast retransmitted more than once, for missing reports by data that was
    /// sent after it (Caro et al. 2006 §5.1).
    pub multiple_fast_retransmit: bool,
    /// True: each packet with data has a timestamp, which its SACK echoes, so that retransmissions
    /// give RTT samples (Caro et al. 2006 §5.2).
    pub timestamps: bool,
    /// Reductions of a window that turn out to be spurious are taken back where one of these tells.
    pub undo: UndoOptions,
    /// True: a path gets a heartbeat as soon as its timer has expired (Caro et al. 2006 §5.3).
    pub heartbeat_after_rto: bool,
    /// A cookie is valid for this time (Valid.Cookie.Life, RFC 9260 §5.1.3), not 0 s.
    pub cookie_life: Span,
    /// True: partial reliability is offered (FORWARD-TSN, RFC 3758), so that messages may have a
    /// [`Reliability`](crate::Reliability).
    pub partial_reliability: bool,
    /// True: message interleaving is offered (I-DATA, RFC 8260 §2).
    pub interleaving: bool,
    /// This scheduler says which stream the next message comes from (RFC 8260 §3).
    pub scheduler: Scheduler,
    /// True: stream reconfiguration is offered and taken (RE-CONFIG, RFC 6525).
    pub reconfiguration: bool,
    /// New data goes to all active paths at once, with these remedies; with `None` it goes to one.
    pub concurrent: Option<Concurrent>,
    /// Authenticated chunks are offered, with these keys (AUTH, RFC 4895).
    pub authentication: Option<Arc<Authentication>>,
    /// True: changes of addresses are offered and taken (ASCONF, RFC 5061), which need
    /// `authentication` of types 0xC1 and 0x80.
    pub dynamic_addresses: bool,
    /// True: the layer below SCTP finds errors at least as surely as CRC32c would, as DTLS does
    /// (RFC 9653 §3, §6): packets with a checksum of zero are accepted, and sent to a peer that
    /// accepts them.
    pub zero_checksum: bool,
    /// Packets are UDP datagrams between these ports (RFC 6951); with `None` they are SCTP's own.
    pub udp: Option<Encapsulation>,
    /// True: INIT lists the types of addresses that this side can use, which it need not (RFC 9260
    /// §3.3.2.1).
    pub list_address_types: bool,
    /// True: ECN is offered (RFC 4960 Appendix A).
    pub ecn: bool,
    /// True: messages that will not be delivered are kept for
    /// [`Association::poll_undelivered`](crate::Association::poll_undelivered) (RFC 9260 §11.2.2).
    pub keep_undelivered: bool,
    /// True: INIT ACK names ECN and FORWARD-TSN only if the INIT did, and FORWARD-TSN has its
    /// parameter alone, no place in the list of chunk types, as Linux has it.
    pub brief_offers: bool,
    /// The peer's user gets this adaptation code point (RFC 5061 §4.2.6).
    pub adaptation: Option<u32>,
    /// True: less than a packet of new data waits while any is outstanding (Nagle's rule, RFC 6458
    /// §8.1.5).
    pub nagle: bool,
    /// True: an association that fails tells the peer by an ABORT, as kernels do; RFC 9260 §8.1
    /// says only that it ends.
    pub abort_on_failure: bool,
}

impl Default for Config {
    /// The default is [`Config::rfc9260`].
    fn default() -> Config {
        Config::rfc9260()
    }
}

impl Config {
    /// Returns how alternates are probed while data is outstanding; `None` when they are not.
    #[inline]
    pub(crate) fn probes(&self) -> Option<Probe> {
        match self.probing {
            Probing::Off => None,
            Probing::On(probe) => Some(probe),
            Probing::AsPolicy => {
                let compares = self.destination.keeps_fresh() || self.failover.keeps_fresh();
                compares.then_some(Probe { interval: self.rto.initial, burst: 1 })
            }
        }
    }

    /// Returns the failover rule in force, which is never [`Failover::Destination`].
    pub(crate) fn standby_rule(&self) -> Failover {
        match (self.failover, &self.destination) {
            (Failover::Destination, Destination::BestPath) => Failover::HighestRate,
            (Failover::Destination, _) => Failover::Next,
            (rule, _) => rule,
        }
    }

    /// Returns how many octets of user data fit a packet with one DATA chunk and nothing else, a
    /// multiple of four.
    pub fn max_payload(&self) -> u32 {
        self.max_chunk() - anabranch_wire::sctp::DataChunk::HEADER - self.timestamp_room()
    }

    /// Returns the size of the largest DATA chunk of a packet, in octets (PMDCS of RFC 9260 §2.3).
    pub(crate) fn max_chunk(&self) -> u32 {
        self.max_chunk_of(self.mtu)
    }

    /// Returns the same for packets of `mtu` octets.
    pub(crate) fn max_chunk_of(&self, mtu: u32) -> u32 {
        let udp = if self.udp.is_some() { 8 } else { 0 };
        (mtu - self.ip_header - udp - anabranch_wire::SctpPacket::HEADER) & !3
    }

    /// Returns the unit in which windows are counted on a path with this MTU, in octets.
    pub(crate) fn window_unit_of(&self, mtu: u32) -> u32 {
        match self.window_unit {
            WindowUnit::Chunk => self.max_chunk_of(mtu),
            WindowUnit::Mtu => mtu,
        }
    }

    /// Returns how many octets the timestamp takes in each packet; 0 where there is none.
    pub(crate) fn timestamp_room(&self) -> u32 {
        if self.timestamps { crate::timestamp::CHUNK } else { 0 }
    }

    /// Returns the congestion window of a new path, in octets.
    pub fn initial_window(&self) -> u64 {
        self.initial_window_of(self.first_mtu())
    }

    /// Returns the congestion window of a new path with this path MTU, in octets.
    pub(crate) fn initial_window_of(&self, mtu: u32) -> u64 {
        let (mtu, chunk) = (mtu as u64, self.max_chunk_of(mtu) as u64);
        match self.initial_window {
            InitialWindow::Rfc2960 => 2 * mtu,
            InitialWindow::Rfc4960 => (4 * mtu).min((2 * mtu).max(4380)),
            InitialWindow::Rfc9260 => {
                let least = if self.ip_header < 40 { 4404 } else { 4344 };
                (4 * chunk).min((2 * chunk).max(least))
            }
            InitialWindow::Mtus(n) => n as u64 * mtu,
        }
    }
}
