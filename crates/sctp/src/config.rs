//! Settings of an association, and the presets that name a standard.

use crate::auth::Authentication;
use crate::failover::Failover;
use crate::policy::Destination;
use crate::scheduler::Scheduler;
use anabranch_congestion::Algorithm;
use anabranch_endpoint::RtoBounds;
use anabranch_units::Span;
use anabranch_wire::sctp::UDP_PORT;
use std::fmt;
use std::sync::Arc;

/// The rule for the initial congestion window of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitialWindow {
    /// RFC 2960 §7.2.1: two MTUs.
    Rfc2960,
    /// RFC 4960 §7.2.1: min(4 MTU, max(2 MTU, 4380 octets)).
    Rfc4960,
    /// RFC 9260 §7.2.1: the same with the largest DATA chunk of a packet and
    /// 4404 octets.
    Rfc9260,
    /// That many MTUs.
    Mtus(u32),
}

/// What a path's window is counted in: by how much it grows, what a timeout leaves, and the unit of
/// [`Config::ssthresh_floor`] and of Max.Burst.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowUnit {
    /// The path MTU (RFC 2960, RFC 4960 §7.2).
    Mtu,
    /// The largest DATA chunk of a packet (PMDCS, RFC 9260 §7.2; ns-2).
    Chunk,
}

/// When acknowledged octets count for growth in congestion avoidance (partial_bytes_acked).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PartialAcked {
    /// Always (RFC 4960 §7.2.2).
    All,
    /// Always, but no more than the window stays while the window is not used up (RFC 9260 §7.2.2,
    /// RFC 8540 §3.12).
    Capped,
}

/// What the module of ns-2.35 (University of Delaware) does at losses and the RFCs do not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ns2Rules {
    /// One recovery point for the association, the highest TSN sent at the last reduction. Timeouts
    /// leave it alone: no window grows before it is cumulatively acknowledged, and only the loss of a
    /// later chunk reduces one. Else fast recovery is a path's own and ends with its timeout (RFC
    /// 9260 §7.2.4 is silent; Linux agrees).
    pub recovery_point: bool,
    /// Chunks that T3-rtx has marked and that wait to be sent again count as outstanding where it is
    /// judged whether a window is used up, and are reported missing like others: a fast retransmit
    /// may come before they have left. RFC 9260 §6.3.3 E3 marks them, and they are not in flight.
    pub marked_outstanding: bool,
    /// A SACK that finds chunks missing lets one packet of retransmissions leave; what else is marked
    /// waits for the next SACK, and new data for that.
    pub one_packet: bool,
    /// INIT is sent again to the primary path. Else the addresses take turns, and with
    /// [`Config::keep_primary`] the one whose INIT was answered is the primary.
    pub init_to_primary: bool,
    /// What was newly acknowledged last is remembered until more is: SACKs with nothing new report
    /// chunks below it missing, too. RFC 9260 §7.2.4 looks at each SACK alone.
    pub remembers_highest: bool,
}

impl Default for Ns2Rules {
    /// All of them.
    fn default() -> Ns2Rules {
        Ns2Rules {
            recovery_point: true,
            marked_outstanding: true,
            one_packet: true,
            init_to_primary: true,
            remembers_highest: true,
        }
    }
}

/// What the heartbeat interval's random part is a part of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Jitter {
    /// Half of the RTO to either side (RFC 9260 §8.3).
    Rto,
    /// Half of HB.interval to either side, as the ns-2 module of the
    /// University of Delaware has it.
    Interval,
    /// None.
    None,
}

/// Heartbeats that keep what is known of the alternates fresh while data is outstanding. With
/// HB.interval alone (RFC 9260 §8.3) an alternate is measured every half minute.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Probing {
    /// Single ones, every RTO.Initial at the latest, where the retransmission destination or the
    /// failover compares paths by what changes while they are idle; else none.
    #[default]
    AsPolicy,
    /// None beside those of HB.interval.
    Off,
    /// These, whatever the policies are.
    On(Probe),
}

/// How an alternate is probed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Probe {
    /// From a measurement to the next, with half of it to either side; an RTO where that is less.
    pub interval: Span,
    /// Heartbeats that leave together. One that is answered shows that the path works; each that
    /// is not is a loss.
    ///
    /// Deviation: RFC 9260 §8.3 has one for each expiry of the timer; more are what its user may
    /// ask for (§8.3 D).
    pub burst: u32,
}

impl Default for Probe {
    /// One, about once a second.
    fn default() -> Probe {
        Probe { interval: Span::from_secs(1), burst: 1 }
    }
}

/// The congestion window of a path.
#[derive(Clone, PartialEq, Debug)]
pub enum Window {
    /// The rules of RFC 9260 §7.2, with the switches of [`Config`].
    Standard,
    /// A window algorithm shared with TCP.
    Algorithm(Algorithm),
}

/// Concurrent multipath transfer: new data goes to all active paths (Iyengar, Amer
/// and Stewart, IEEE/ACM Transactions on Networking 14(5), 2006). Its three
/// remedies against the reordering that this causes, and a split of the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Concurrent {
    /// Split fast retransmit (§III-A): missing reports are counted within a
    /// path.
    pub split_fast_retransmit: bool,
    /// Congestion window update (§III-B): a window grows when the earliest
    /// outstanding chunk of its path is acknowledged, not the earliest of all.
    pub window_update: bool,
    /// Delayed acknowledgments (§III-C): the receiver delays SACKs in spite of
    /// gaps and says how many packets each answers; the sender counts as many
    /// missing reports.
    pub delayed_ack: bool,
    /// A path has no more outstanding than its share of the peer's receive
    /// buffer (Adhari et al., "Evaluation of concurrent multipath transfer over
    /// dissimilar paths", 2011).
    pub buffer_split: bool,
}

impl Default for Concurrent {
    /// The three remedies, and the buffer for all.
    fn default() -> Concurrent {
        Concurrent {
            split_fast_retransmit: true,
            window_update: true,
            delayed_ack: true,
            buffer_split: false,
        }
    }
}

/// When a packet with new data asks for its SACK at once (the I bit, RFC 9260 §3.3.1, RFC 7053 §4),
/// besides messages whose user asks for it ([`Message::immediate`](crate::Message::immediate)). A
/// chunk that is sent again asks as it did the first time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImmediateSacks {
    /// Something waits, and no more of it may leave on the path until a SACK comes: its window is
    /// full, or the limit of Max.Burst or the peer's receive window is reached, or T3-rtx has left
    /// one packet (RFC 7053 §5.1, "fills the congestion or receiver window"). What is sent again
    /// asks here too.
    pub window_full: bool,
    /// The user has closed, and the end waits for SACKs (RFC 7053 §5.1, SHUTDOWN-PENDING).
    pub shutdown_pending: bool,
    /// A change of the streams waits to be asked for (RFC 7053 §4.2).
    pub reconfiguration: bool,
    /// Nothing more waits to be sent. The RFCs do not name this case; they allow any.
    pub last: bool,
    /// Each message's last chunk, as if its user asked for it (RFC 7053 §7, the flag as a default).
    pub messages: bool,
}

impl Default for ImmediateSacks {
    /// The cases that RFC 7053 leaves to SCTP.
    fn default() -> ImmediateSacks {
        ImmediateSacks {
            window_full: true,
            shutdown_pending: true,
            reconfiguration: true,
            last: false,
            messages: false,
        }
    }
}

/// Settings of one side of an association. Sizes are in octets.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Largest IP packet, on all paths (PMTU).
    pub mtu: u32,
    /// Length of IP header that is reserved in the MTU: 20, or 40 with IPv6.
    pub ip_header: u32,
    /// Largest message that the byte-stream interface makes; at most what fits
    /// a packet, which is also the default.
    pub message_size: Option<u32>,
    /// Streams asked for.
    pub outbound_streams: u16,
    /// Streams accepted.
    pub inbound_streams: u16,
    /// Receive buffer, which bounds a_rwnd.
    pub receive_buffer: u32,
    /// Send buffer for real octets and messages; counted octets need none.
    pub send_buffer: u64,
    /// A message with so many octets in a row is delivered in parts (RFC 6458
    /// §8.1.21); `None`: only when half of the receive buffer is taken and
    /// nothing can be read.
    pub partial_delivery_point: Option<u32>,
    /// Octets that a message may have which is received in parts and put
    /// together; the peer of a larger one gets an ABORT.
    pub largest_message: u64,
    /// Window algorithm.
    pub window: Window,
    /// Initial window rule.
    pub initial_window: InitialWindow,
    /// Initial slow-start threshold; `None` is the peer's receive window
    /// (RFC 9260 §7.2.1 allows any).
    pub initial_ssthresh: Option<u64>,
    /// What windows are counted in.
    pub window_unit: WindowUnit,
    /// What counts for growth in congestion avoidance.
    pub partial_acked: PartialAcked,
    /// What ns-2's module does at losses; `None`: what the RFCs say.
    pub ns2_rules: Option<Ns2Rules>,
    /// A window equal to the threshold is in slow start (RFC 9260 §7.2.1;
    /// false as in TCP).
    pub slow_start_at_threshold: bool,
    /// Least threshold after a loss, in MTUs (RFC 2960: 2, RFC 4960: 4).
    pub ssthresh_floor: u32,
    /// Reports of a missing chunk that cause its fast retransmit (RFC 2960:
    /// 4, RFC 4960: 3).
    pub missing_reports: u8,
    /// Only a SACK that newly acknowledges a later TSN reports a chunk as
    /// missing (RFC 4960 §7.2.4, "HTNA"); else every SACK with a later gap
    /// block does (RFC 2960).
    pub highest_newly_acked: bool,
    /// Explicit fast recovery (RFC 4960 §7.2.4): one reduction per window.
    pub fast_recovery: bool,
    /// Max.Burst, in packets; `None` for no limit.
    pub max_burst: Option<u32>,
    /// Max.Burst limits packets and leaves the window as it is (RFC 9260 §6.1 D, RFC 8540 §3.31);
    /// false: it lowers the window (RFC 4960 §6.1 D as it reads, FreeBSD).
    pub burst_keeps_window: bool,
    /// SACK with every that many packets with data; 1 for each.
    pub sack_frequency: u32,
    /// It leaves at the latest after this (at most 500 ms).
    pub sack_delay: Span,
    /// When data asks for a SACK at once; `None`: only where the user of a message does (RFC 9260
    /// §6.1, a MAY; RFC 2960 and RFC 4960 have no such bit).
    pub immediate_sacks: Option<ImmediateSacks>,
    /// The SACK after the last gap was filled is not delayed, as FreeBSD has it
    /// (RFC 9260 §6.7 asks that only while there is a gap).
    pub prompt_fill: bool,
    /// RTO.Initial, RTO.Min, RTO.Max and clock granularity.
    pub rto: RtoBounds,
    /// Path.Max.Retrans.
    pub path_max_retrans: u32,
    /// Association.Max.Retrans.
    pub association_max_retrans: u32,
    /// Max.Init.Retransmits.
    pub max_init_retransmits: u32,
    /// Errors above which a path is potentially failed (PFMR, RFC 7829 §3);
    /// `None` for no such state.
    pub potentially_failed: Option<u32>,
    /// HB.interval; `None` for no heartbeats on idle paths.
    pub heartbeat_interval: Option<Span>,
    /// Random part of the heartbeat period.
    pub heartbeat_jitter: Jitter,
    /// Addresses other than the primary carry data only after a heartbeat has
    /// been answered (RFC 4960 §5.4).
    pub confirm_paths: bool,
    /// Addresses that the user gave to the side that calls are confirmed from
    /// the start (RFC 9260 §5.4 rule 1). Else they are probed like those that
    /// the peer names, which also measures their RTT before data needs it.
    pub trust_given: bool,
    /// The side that calls keeps the address that its INIT went to as its primary
    /// path, wherever the INIT ACK came from. Else the source of the INIT ACK is
    /// the primary if the user gave that address too. RFC 9260 leaves the choice
    /// among the peer's addresses to the endpoint (§5.1.2).
    pub keep_primary: bool,
    /// A SACK that reports duplicates goes to another active address than the
    /// one that they came from, since the way back there may be broken (RFC 9260
    /// §6.4, a MAY).
    pub vary_sack_path: bool,
    /// HB.Max.Burst: packets with heartbeats that all unconfirmed addresses
    /// together get in one RTO (RFC 9260 §5.4).
    pub heartbeat_burst: u32,
    /// Where retransmissions go.
    pub destination: Destination,
    /// Where new data goes while the primary does not work (RFC 9260 §6.4, §8.2).
    pub failover: Failover,
    /// Heartbeats to the alternates while data is outstanding.
    pub probing: Probing,
    /// Multiple fast retransmit: a chunk may be fast retransmitted again, for
    /// missing reports by data sent after it (Caro et al. 2006 §5.1).
    pub multiple_fast_retransmit: bool,
    /// A timestamp in each packet with data, echoed with its SACK, so that
    /// retransmissions give RTT samples (Caro et al. 2006 §5.2).
    pub timestamps: bool,
    /// A heartbeat to a path as soon as its timer has expired (Caro et al.
    /// 2006 §5.3).
    pub heartbeat_after_rto: bool,
    /// Valid.Cookie.Life.
    pub cookie_life: Span,
    /// Offers partial reliability (FORWARD-TSN, RFC 3758): messages may then
    /// have a [`Reliability`](crate::Reliability).
    pub partial_reliability: bool,
    /// Offers message interleaving (I-DATA, RFC 8260 §2).
    pub interleaving: bool,
    /// Which stream the next message comes from (RFC 8260 §3).
    pub scheduler: Scheduler,
    /// Offers and takes stream reconfiguration (RE-CONFIG, RFC 6525).
    pub reconfiguration: bool,
    /// New data goes to all active paths at once.
    pub concurrent: Option<Concurrent>,
    /// Offers authenticated chunks (AUTH, RFC 4895).
    pub authentication: Option<Arc<Authentication>>,
    /// Offers and takes changes of addresses (ASCONF, RFC 5061), which need
    /// `authentication` of types 0xC1 and 0x80.
    pub dynamic_addresses: bool,
    /// Packets are UDP datagrams (RFC 6951).
    pub udp: Option<Encapsulation>,
    /// INIT lists the types of addresses that this side can use (RFC 9260
    /// §3.3.2.1), which it need not.
    pub list_address_types: bool,
    /// Offers ECN (RFC 4960 Appendix A).
    pub ecn: bool,
    /// Messages that will not be delivered are kept for
    /// [`Association::poll_undelivered`](crate::Association::poll_undelivered).
    pub keep_undelivered: bool,
    /// INIT ACK names ECN and FORWARD-TSN only if the INIT did, and FORWARD-TSN
    /// has its parameter alone, no place in the list of chunk types: as Linux has
    /// it.
    pub brief_offers: bool,
    /// Adaptation code point for the peer's user (RFC 5061 §4.2.6).
    pub adaptation: Option<u32>,
    /// Nagle's rule: less than a packet of new data waits while any is
    /// outstanding (RFC 6458 §8.1.5).
    pub nagle: bool,
    /// An association that fails tells the peer by an ABORT, as kernels do; RFC
    /// 9260 §8.1 says only that it ends.
    pub abort_on_failure: bool,
}

/// UDP ports of an association (RFC 6951).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Encapsulation {
    /// The port of this side.
    pub local: u16,
    /// The peer's port, until a packet of the peer shows another (§5.4), as a
    /// translator of addresses may make it.
    pub remote: u16,
}

impl Default for Encapsulation {
    /// 9899, the registered port, on both sides.
    fn default() -> Encapsulation {
        Encapsulation { local: UDP_PORT, remote: UDP_PORT }
    }
}

impl Default for Config {
    /// [`Config::rfc9260`].
    fn default() -> Config {
        Config::rfc9260()
    }
}

/// The names that [`Config::preset`] knows.
pub const PRESETS: [&str; 4] = ["rfc2960", "rfc4960", "rfc9260", "ns2"];

/// A setting out of its range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// The field of [`Config`].
    pub field: &'static str,
    /// The value it has.
    pub value: String,
    /// What is allowed.
    pub allowed: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}: allowed: {}", self.field, self.value, self.allowed)
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// RFC 9260 (2022), with its parameters of §16.
    pub fn rfc9260() -> Config {
        Config {
            mtu: 1500,
            ip_header: 20,
            message_size: None,
            outbound_streams: 10,
            inbound_streams: 2048,
            receive_buffer: 1 << 20,
            send_buffer: 4 << 20,
            partial_delivery_point: None,
            largest_message: 64 << 20,
            window: Window::Standard,
            initial_window: InitialWindow::Rfc9260,
            initial_ssthresh: None,
            window_unit: WindowUnit::Chunk,
            partial_acked: PartialAcked::Capped,
            ns2_rules: None,
            slow_start_at_threshold: true,
            ssthresh_floor: 4,
            missing_reports: 3,
            highest_newly_acked: true,
            fast_recovery: true,
            max_burst: Some(4),
            burst_keeps_window: true,
            sack_frequency: 2,
            sack_delay: Span::from_millis(200),
            immediate_sacks: None,
            prompt_fill: false,
            rto: RtoBounds::default(),
            path_max_retrans: 5,
            association_max_retrans: 10,
            max_init_retransmits: 8,
            potentially_failed: None,
            heartbeat_interval: Some(Span::from_secs(30)),
            heartbeat_jitter: Jitter::Rto,
            confirm_paths: true,
            trust_given: false,
            keep_primary: false,
            vary_sack_path: false,
            heartbeat_burst: 1,
            destination: Destination::FrSameRtoAlt,
            failover: Failover::Destination,
            probing: Probing::AsPolicy,
            multiple_fast_retransmit: false,
            timestamps: false,
            heartbeat_after_rto: false,
            cookie_life: Span::from_secs(60),
            partial_reliability: false,
            interleaving: false,
            scheduler: Scheduler::Fcfs,
            reconfiguration: false,
            concurrent: None,
            authentication: None,
            dynamic_addresses: false,
            udp: None,
            list_address_types: false,
            ecn: false,
            keep_undelivered: false,
            brief_offers: false,
            adaptation: None,
            nagle: false,
            abort_on_failure: false,
        }
    }

    /// RFC 4960 (2007): another initial window, an RTO of 3 s before the first
    /// sample, and a window that Max.Burst lowers.
    pub fn rfc4960() -> Config {
        let config = Config::rfc9260();
        Config {
            initial_window: InitialWindow::Rfc4960,
            window_unit: WindowUnit::Mtu,
            partial_acked: PartialAcked::All,
            rto: RtoBounds { initial: Span::from_secs(3), ..config.rto },
            destination: Destination::AllAlternate,
            burst_keeps_window: false,
            ..config
        }
    }

    /// RFC 2960 (2000): before explicit fast recovery, path confirmation and
    /// the fourth MTU.
    pub fn rfc2960() -> Config {
        Config {
            initial_window: InitialWindow::Rfc2960,
            ssthresh_floor: 2,
            missing_reports: 4,
            highest_newly_acked: false,
            fast_recovery: false,
            confirm_paths: false,
            ..Config::rfc4960()
        }
    }

    /// The module of ns-2.35: RFC 4960 with the fourth missing report, as the multihoming paper has
    /// it (the module's own default is the third), and what the module does otherwise.
    pub fn ns2() -> Config {
        Config {
            window_unit: WindowUnit::Chunk,
            ns2_rules: Some(Ns2Rules::default()),
            missing_reports: 4,
            burst_keeps_window: true,
            heartbeat_jitter: Jitter::Interval,
            keep_primary: true,
            ..Config::rfc4960()
        }
    }

    /// The preset called `name`, one of [`PRESETS`].
    pub fn preset(name: &str) -> Option<Config> {
        match name {
            "rfc2960" => Some(Config::rfc2960()),
            "rfc4960" => Some(Config::rfc4960()),
            "rfc9260" => Some(Config::rfc9260()),
            "ns2" => Some(Config::ns2()),
            _ => None,
        }
    }

    /// Refuses settings that no association can have.
    ///
    /// ```
    /// use anabranch_sctp::Config;
    /// let config = Config { mtu: 100, ..Config::rfc9260() };
    /// assert_eq!(config.validate().unwrap_err().field, "mtu");
    /// ```
    pub fn validate(&self) -> Result<(), ConfigError> {
        let check = |ok: bool, field, value: &dyn fmt::Display, allowed: &str| {
            let error = || ConfigError { field, value: value.to_string(), allowed: allowed.into() };
            if ok { Ok(()) } else { Err(error()) }
        };
        check((512..=65_535).contains(&self.mtu), "mtu", &self.mtu, "512 B to 65535 B")?;
        let header = self.ip_header;
        check(matches!(header, 20 | 40), "ip_header", &header, "20 (IPv4) or 40 (IPv6)")?;
        let most = self.max_payload();
        if let Some(size) = self.message_size {
            check((1..=most).contains(&size), "message_size", &size, "1 B to what fits a packet")?;
        }
        check(
            self.outbound_streams >= 1,
            "outbound_streams",
            &self.outbound_streams,
            "1 to 65535",
        )?;
        check(self.inbound_streams >= 1, "inbound_streams", &self.inbound_streams, "1 to 65535")?;
        let buffer = &self.receive_buffer;
        let allowed = "1500 B to 1 GiB (RFC 9260 §3.3.2)";
        check((1500..=1 << 30).contains(buffer), "receive_buffer", buffer, allowed)?;
        // A larger chunk would be refused and sent again for ever.
        let chunk = self.message_size.unwrap_or(most);
        let allowed = format!("at least {chunk} B, which one chunk of such packets may carry");
        check(chunk <= *buffer, "receive_buffer", buffer, &allowed)?;
        let buffer = &self.send_buffer;
        check((1500..=1 << 30).contains(buffer), "send_buffer", buffer, "1500 B to 1 GiB")?;
        if let InitialWindow::Mtus(n) = self.initial_window {
            check((1..=1_000_000).contains(&n), "initial_window", &n, "1 to 1000000 MTUs")?;
        }
        let floor = self.ssthresh_floor;
        check((1..=100).contains(&floor), "ssthresh_floor", &floor, "1 to 100 MTUs")?;
        let reports = self.missing_reports;
        check((1..=100).contains(&reports), "missing_reports", &reports, "1 to 100")?;
        if let Some(burst) = self.max_burst {
            check((1..=1000).contains(&burst), "max_burst", &burst, "1 to 1000 packets")?;
        }
        let frequency = self.sack_frequency;
        check((1..=255).contains(&frequency), "sack_frequency", &frequency, "1 to 255")?;
        let half = Span::from_millis(500);
        let allowed = "at most 500 ms (RFC 9260 §6.2)";
        check(self.sack_delay <= half, "sack_delay", &self.sack_delay, allowed)?;
        let rto = &self.rto;
        check(rto.min > Span::ZERO, "rto.min", &rto.min, "more than 0 s")?;
        check(rto.initial > Span::ZERO, "rto.initial", &rto.initial, "more than 0 s")?;
        check(rto.max >= rto.min, "rto.max", &rto.max, "at least rto.min")?;
        if let Some(interval) = self.heartbeat_interval {
            let allowed = "at least 1 ms";
            let least = Span::from_millis(1);
            check(interval >= least, "heartbeat_interval", &interval, allowed)?;
        }
        let burst = self.heartbeat_burst;
        check((1..=100).contains(&burst), "heartbeat_burst", &burst, "1 to 100")?;
        if let Probing::On(probe) = &self.probing {
            let (least, allowed) = (Span::from_millis(1), "at least 1 ms");
            check(probe.interval >= least, "probing.interval", &probe.interval, allowed)?;
            let (burst, allowed) = (probe.burst, "1 to 100");
            check((1..=100).contains(&burst), "probing.burst", &burst, allowed)?;
        }
        if let Some(errors) = self.potentially_failed {
            let allowed = "at most path_max_retrans";
            check(errors <= self.path_max_retrans, "potentially_failed", &errors, allowed)?;
        }
        if let Some(authentication) = &self.authentication {
            let wrong = authentication.check().err().unwrap_or_default();
            let allowed = "keys with the active one, no INIT, INIT ACK, COOKIE ECHO, \
                           SHUTDOWN COMPLETE or AUTH chunks, HMACs 1 and 3 with 1";
            check(wrong.is_empty(), "authentication", &wrong, allowed)?;
        }
        let signs = |kind| self.authentication.as_ref().is_some_and(|a| a.chunks.contains(&kind));
        let safe = !self.dynamic_addresses || (signs(0xc1) && signs(0x80));
        let allowed = "with authentication of chunk types 0xC1 and 0x80 (RFC 5061 §4)";
        check(safe, "dynamic_addresses", &self.dynamic_addresses, allowed)?;
        let life = &self.cookie_life;
        check(*life > Span::ZERO, "cookie_life", life, "more than 0 s")
    }

    /// How alternates are probed while data is outstanding, if they are.
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

    /// The failover rule in force.
    pub(crate) fn standby_rule(&self) -> Failover {
        match (self.failover, &self.destination) {
            (Failover::Destination, Destination::BestPath) => Failover::HighestRate,
            (Failover::Destination, _) => Failover::Next,
            (rule, _) => rule,
        }
    }

    /// Octets of user data that fit a packet with one DATA chunk and nothing
    /// else, a multiple of four.
    pub fn max_payload(&self) -> u32 {
        self.max_chunk() - anabranch_wire::sctp::DataChunk::HEADER - self.timestamp_room()
    }

    /// The largest DATA chunk of a packet (PMDCS of RFC 9260 §2.3).
    pub(crate) fn max_chunk(&self) -> u32 {
        self.max_chunk_of(self.mtu)
    }

    /// The same with another MTU.
    pub(crate) fn max_chunk_of(&self, mtu: u32) -> u32 {
        let udp = if self.udp.is_some() { 8 } else { 0 };
        (mtu - self.ip_header - udp - anabranch_wire::SctpPacket::HEADER) & !3
    }

    /// Room that the timestamp takes in each packet.
    pub(crate) fn timestamp_room(&self) -> u32 {
        if self.timestamps { crate::timestamp::CHUNK } else { 0 }
    }

    /// The window of a new path, in octets.
    pub fn initial_window(&self) -> u64 {
        let (mtu, chunk) = (self.mtu as u64, self.max_chunk() as u64);
        match self.initial_window {
            InitialWindow::Rfc2960 => 2 * mtu,
            InitialWindow::Rfc4960 => (4 * mtu).min((2 * mtu).max(4380)),
            InitialWindow::Rfc9260 => (4 * chunk).min((2 * chunk).max(4404)),
            InitialWindow::Mtus(n) => n as u64 * mtu,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_are_valid_and_named() {
        for name in PRESETS {
            Config::preset(name).expect(name).validate().expect(name);
        }
        assert_eq!(Config::preset("rfc1"), None);
    }

    /// RFC 2960 §7.2.1, RFC 4960 §7.2.1, RFC 9260 §7.2.1.
    #[test]
    fn initial_windows_follow_their_rfcs() {
        let window =
            |preset, mtu| Config { mtu, ..Config::preset(preset).unwrap() }.initial_window();
        for (mtu, rfc2960, rfc4960, rfc9260) in
            [(576, 1152, 2304, 2176), (1500, 3000, 4380, 4404), (9000, 18_000, 18_000, 17_936)]
        {
            assert_eq!(window("rfc2960", mtu), rfc2960);
            assert_eq!(window("rfc4960", mtu), rfc4960);
            assert_eq!(window("rfc9260", mtu), rfc9260);
        }
    }

    #[test]
    fn errors_name_field_value_and_range() {
        let config = Config { mtu: 10, ..Config::default() };
        let error = config.validate().unwrap_err();
        assert_eq!(error.to_string(), "mtu = 10: allowed: 512 B to 65535 B");
        let config = Config { potentially_failed: Some(6), ..Config::default() };
        assert_eq!(config.validate().unwrap_err().field, "potentially_failed");
        let probing = Probing::On(Probe { burst: 0, ..Probe::default() });
        let config = Config { probing, ..Config::default() };
        let text = "probing.burst = 0: allowed: 1 to 100";
        assert_eq!(config.validate().unwrap_err().to_string(), text);
    }
}
