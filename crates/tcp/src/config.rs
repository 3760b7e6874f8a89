//! Settings of a connection.

use crate::fast_open::FastOpenOptions;
use crate::manners::Manners;
use crate::recovery::catalogue::Recovery;
use anabranch_congestion::{Algorithm, Congestion};
pub use anabranch_endpoint::ConfigError;
use anabranch_endpoint::{Bounds, DSCP, RtoBounds};
use anabranch_units::{Bytes, Span};
use anabranch_wire::{Body, Ecn, Packet};

/// The rule for the initial congestion window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InitialWindow {
    /// RFC 2581 §3.1: two segments.
    Rfc2581,
    /// RFC 3390: min(4 MSS, max(2 MSS, 4380 octets)).
    Rfc3390,
    /// RFC 6928: min(10 MSS, max(2 MSS, 14600 octets)).
    Rfc6928,
    /// The window is that many segments.
    Segments(u32),
}

impl InitialWindow {
    /// What a number of segments may be.
    pub const SEGMENTS: Bounds<u32> = Bounds::of(1, 1_000_000).counted_in("packets");

    /// Returns the window in octets for segments of `mss` octets.
    pub fn octets(self, mss: u64) -> u64 {
        match self {
            InitialWindow::Rfc2581 => 2 * mss,
            InitialWindow::Rfc3390 => (4 * mss).min((2 * mss).max(4380)),
            InitialWindow::Rfc6928 => (10 * mss).min((2 * mss).max(14_600)),
            InitialWindow::Segments(n) => n as u64 * mss,
        }
    }
}

/// What an ACK adds to the window.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Counting {
    /// The octets that it acknowledges (RFC 5681 §3.1, RFC 3465).
    Bytes,
    /// One segment, however much it acknowledges.
    Acks,
    /// The octets that it newly tells to have arrived: without those that SACK
    /// blocks had told before or, without SACK, duplicate ACKs stood for. As
    /// Linux counts.
    Delivered,
}

/// What probes a closed window (RFC 9293 §3.8.6.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowProbe {
    /// The first octet beyond the window, as the RFC has it.
    Octet,
    /// No data, below the window: a number that was acknowledged, so that the
    /// peer answers. As Linux does.
    Empty,
}

/// What makes the window count as used, so that ACKs may open it further (RFC 7661 §4.1 has the
/// problem, RFC 9438 §5.8 the rule that it must not grow otherwise).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WindowUse {
    /// It, not the user or the receiver, stopped the last sending opportunity.
    Blocked,
    /// It was full at a sending opportunity of the last window of data; or, in
    /// slow start, it is less than twice what was outstanding then. As Linux
    /// has it.
    Outstanding,
}

/// The acknowledgments that measure the round-trip time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RttSamples {
    /// The acknowledgment of a segment that is being timed, one at a time (RFC 6298 §3); where that
    /// was sent again, the echo of a timestamp.
    Timed,
    /// Each that newly acknowledges or SACKs what was sent once, as in Linux:
    /// from the first segment that it acknowledges, or where one of these was
    /// sent again, that it SACKs. RTTVAR then falls once a round trip.
    EveryAck,
}

/// What restarts the retransmission timer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RtoRestart {
    /// Acknowledgments of new data (RFC 6298 §5.3), and the beginning of a repair.
    Acks,
    /// The first outstanding segment when it is sent again, too (RFC 6675 §6
    /// allows it for each segment), and from then on each SACK of what was
    /// sent before: it tells nothing yet of that one. As Linux has it.
    FirstResent,
}

/// The window that is advertised at first.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum InitialReceiveWindow {
    /// All of the receive buffer.
    Whole,
    /// That many octets of the receive buffer.
    Octets(u64),
    /// This share of the receive buffer, from 0 to 1.
    Share(f64),
}

impl InitialReceiveWindow {
    /// What a share may be.
    pub const SHARE: Bounds<f64> = Bounds::above_up_to(0.0, 1.0).counted_in("of receive_buffer");

    /// In octets, of a buffer of `buffer`; `None` where that is all of it.
    ///
    /// ```
    /// use anabranch_tcp::InitialReceiveWindow::{Octets, Share, Whole};
    /// assert_eq!(Share(0.8).of(1000), Some(800));
    /// assert_eq!(Octets(2000).of(1000), Some(1000));
    /// assert_eq!(Whole.of(1000), None);
    /// ```
    pub fn of(self, buffer: u64) -> Option<u64> {
        match self {
            InitialReceiveWindow::Whole => None,
            InitialReceiveWindow::Octets(n) => Some(n.min(buffer)),
            InitialReceiveWindow::Share(x) => Some((buffer as f64 * x) as u64),
        }
    }
}

/// Delayed acknowledgments (RFC 5681 §4.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DelayedAck {
    /// An ACK leaves with every `count`-th data segment; 1 switches delaying
    /// off.
    pub count: u32,
    /// It leaves at the latest after this (less than 0.5 s).
    pub delay: Span,
}

impl DelayedAck {
    /// What `count` may be.
    pub const COUNT: Bounds<u32> = Bounds::of(1, 255);
    /// What `delay` may be.
    pub const DELAY: Bounds<Span> =
        Bounds::less_than(Span::from_millis(500)).because("RFC 9293 §3.8.6.3");

    fn validate(&self) -> Result<(), ConfigError> {
        Self::COUNT.check("delayed_ack.count", self.count)?;
        Self::DELAY.check("delayed_ack.delay", self.delay)
    }
}

/// Explicit congestion notification (RFC 3168).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EcnMode {
    /// Neither asked for nor agreed to.
    Off,
    /// Agreed to when the peer asks, as Linux does by default.
    Passive,
    /// Asked for, with the echo of RFC 3168.
    On,
    /// Asked for, with the echo of DCTCP (RFC 8257 §3.2) at both ends.
    Dctcp,
    /// Accurate feedback is asked for (RFC 9768), and agreed to; with a peer that
    /// knows RFC 3168 alone, that.
    Accurate,
}

/// The codepoint of ECN-capable packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Ect {
    /// Packets carry ECT(0) (RFC 3168).
    #[default]
    Zero,
    /// ECT(1), which asks the network for low latency (RFC 9331 §4.1).
    One,
}

impl Ect {
    /// Returns the codepoint for the ECN field of the IP header.
    pub fn codepoint(self) -> Ecn {
        match self {
            Ect::Zero => Ecn::Ect0,
            Ect::One => Ecn::Ect1,
        }
    }
}

/// Probing for the path's MTU (RFC 4821), as Linux's `tcp_mtu_probing`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MtuProbing {
    /// The path's MTU is not probed for.
    Off,
    /// Once two timeouts in a row have made the segments smaller.
    BlackHole,
    /// Probing begins with the connection, with segments of 1024 octets.
    Always,
}

/// What makes less than a full segment wait (RFC 9293 §3.7.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Nagle {
    /// Never, as with `TCP_NODELAY`.
    Off,
    /// It waits while anything is unacknowledged.
    Rfc,
    /// It waits while a segment that was not full is unacknowledged.
    Minshall,
}

/// The resets that carry timestamps, where timestamps are in use (RFC 7323 §3.2 and §5.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResetTimestamps {
    /// No reset carries timestamps.
    None,
    /// Resets by which a side ends its connection carry them, as in Linux.
    Aborts,
    /// Those, and answers to segments that carry them.
    All,
}

/// Keep-alives (RFC 9293 §3.8.4).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeepAlive {
    /// Silence before the first probe.
    pub idle: Span,
    /// Time between two probes without an answer.
    pub interval: Span,
    /// Probes without an answer before the connection is reset: two at least (RFC 9293 §3.8.4,
    /// MUST-29).
    pub probes: u32,
}

impl Default for KeepAlive {
    /// Two hours, as RFC 9293 asks (MUST-28); 75 s and 9 probes, as in BSD and
    /// Linux.
    fn default() -> KeepAlive {
        let (idle, interval) = (Span::from_secs(7200), Span::from_secs(75));
        KeepAlive { idle, interval, probes: 9 }
    }
}

impl KeepAlive {
    /// What `idle` and `interval` may be.
    pub const TIME: Bounds<Span> = Bounds::at_least(Span::from_millis(1));
    /// What `probes` may be.
    pub const PROBES: Bounds<u32> =
        Bounds::of(2, 1000).because("RFC 9293 §3.8.4: one without an answer proves nothing");

    fn validate(&self) -> Result<(), ConfigError> {
        Self::TIME.check("keep_alive.idle", self.idle)?;
        Self::TIME.check("keep_alive.interval", self.interval)?;
        Self::PROBES.check("keep_alive.probes", self.probes)
    }
}

/// The ways in which a spurious reduction of the window is found out, and then undone (RFC 4015).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UndoOptions {
    /// F-RTO after timeouts (RFC 5682).
    pub frto: bool,
    /// Undoes a reduction when the echo of a timestamp shows that the original arrived (RFC 3522).
    pub eifel: bool,
    /// Undoes a reduction when the peer reports as duplicate all that was sent again (RFC 3708).
    pub dsack: bool,
}

/// Settings of one side of a connection. Sizes are in octets.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// The MSS option that is sent: the largest segment payload accepted,
    /// before options are subtracted (RFC 6691).
    pub mss: u32,
    /// Announce the MSS (RFC 9293 §3.7.1, MUST-14: a host should); a user of BSD stacks may ask for
    /// segments without options (`TCP_NOOPT`).
    pub offers_mss: bool,
    /// The MSS of a peer that announces none (RFC 9293 §3.7.1, MUST-15): 536 octets over IPv4, 1220
    /// over IPv6.
    pub default_mss: u16,
    /// The rule for the congestion window after the handshake.
    pub initial_window: InitialWindow,
    /// Initial slow-start threshold; `None` is infinite.
    pub initial_ssthresh: Option<u64>,
    /// Receive buffer, which bounds the advertised window.
    pub receive_buffer: u64,
    /// Where the receive buffer grows with what is received, up to this:
    /// dynamic right-sizing (Fisk and Feng, 2001), doubling each round in
    /// which the window was used up and read. `None` leaves it as it is. Its
    /// scale is that of the largest window (RFC 7323).
    pub receive_buffer_max: Option<u64>,
    /// The shift that is offered suits a buffer of so many octets, which the receive buffer may
    /// grow to; `None`: that of `receive_buffer_max`, or else of `receive_buffer`.
    pub window_scale_buffer: Option<u64>,
    /// The window that is advertised at first. Where that is less than
    /// `receive_buffer` it grows up to there with the data that comes, as in
    /// Linux: by two segments for each that comes, and each by which it grows is
    /// acknowledged at once.
    pub initial_receive_window: InitialReceiveWindow,
    /// Send buffer for real octets; counted octets need none.
    pub send_buffer: u64,
    /// Offer window scaling (RFC 7323).
    pub window_scale: bool,
    /// Offer timestamps (RFC 7323).
    pub timestamps: bool,
    /// Offer selective acknowledgments (RFC 2018).
    pub sack: bool,
    /// Report duplicates that arrive (RFC 2883), where SACK is agreed on.
    pub dsack: bool,
    /// Differentiated services code point of what is sent (RFC 2474).
    pub dscp: u8,
    /// Time to live, or hop limit, of what is sent (RFC 9293 §3.9.2, MUST-49).
    pub ttl: u8,
    /// Explicit congestion notification.
    pub ecn: EcnMode,
    /// How often a SYN that asks for ECN by RFC 3168 is sent again as it was; the next go without
    /// (RFC 3168 §6.1.1.1: at once).
    pub ecn_syn_retries: u32,
    /// The codepoint of ECN-capable packets.
    pub ect: Ect,
    /// ECN-capable control packets too: SYNs, ACKs, retransmissions.
    pub ecn_control: bool,
    /// An echo of congestion that finds a window of one segment holds new data until the
    /// retransmission timer expires (RFC 3168 §6.1.2).
    pub ecn_wait: bool,
    /// Full segments that leave together where the window algorithm paces.
    pub pacing_burst: u32,
    /// Fast Open (RFC 7413); `None`: neither asked for nor accepted.
    pub fast_open: Option<FastOpenOptions>,
    /// The rule by which ACKs wait for more data (RFC 5681 §4.2).
    pub delayed_ack: DelayedAck,
    /// Bounds of the retransmission timeout.
    pub rto: RtoBounds,
    /// What restarts the retransmission timer.
    pub rto_restart: RtoRestart,
    /// The acknowledgments that measure the round-trip time.
    pub rtt_samples: RttSamples,
    /// Duplicate ACKs that signal a loss.
    pub dupack_threshold: u32,
    /// Up to where reordering raises it; `None`: it stays.
    pub max_dupack_threshold: Option<u32>,
    /// Sends a new segment on each of the first two duplicate ACKs (RFC 3042).
    pub limited_transmit: bool,
    /// After a timeout what was SACKed is sent again too, and no SACK is heard until all that was
    /// outstanding is acknowledged: the most cautious reading of RFC 2018 §8, which turns the SACKed
    /// bits off at a timeout, and what ns-2's `Sack1` does. RFC 6675 §5.1 goes on using what ACKs
    /// report. RACK-TLP has its own way back. Schemes without SACK send all of it again anyway; for them the first two duplicate
    /// ACKs release a segment each on the way back too, as in ns-2 (RFC 3042 speaks of new data).
    pub go_back_n: bool,
    /// The rule by which ACKs open the window.
    pub counting: Counting,
    /// What makes the window count as used, so that ACKs may open it further.
    pub window_use: WindowUse,
    /// The loss-recovery scheme with its options.
    pub recovery: Recovery,
    /// What finds out and undoes spurious reductions.
    pub undo: UndoOptions,
    /// The window algorithm with its options.
    pub window: Algorithm,
    /// What makes less than a full segment wait for more data.
    pub nagle: Nagle,
    /// Full segments at the start of the stream that are acknowledged at once,
    /// whatever `delayed_ack` says.
    pub quick_acks: u32,
    /// Decides by the peer's pace and the application's answers which acknowledgments wait, and for
    /// how long, as Linux does; `quick_acks` is then how many segments are acknowledged at once
    /// whenever the peer starts, and `delayed_ack` makes no difference.
    pub adaptive_acks: bool,
    /// What leaves together is one packet until the device cuts it into segments, and the last of
    /// several has PSH, as on Linux with segmentation offload.
    pub segmentation_offload: bool,
    /// Restart from the initial window after idle time (RFC 5681 §4.1).
    pub idle_restart: bool,
    /// What probes a closed window.
    pub window_probe: WindowProbe,
    /// Keep-alives; `None` for none.
    pub keep_alive: Option<KeepAlive>,
    /// Time that data may go unacknowledged (RFC 5482); `None` for no limit but `max_retries`.
    pub user_timeout: Option<Span>,
    /// An attempt to open a connection ends when a router reports trouble of any
    /// kind (RFC 5461 §4.1).
    pub soft_errors_end_opening: bool,
    /// Smaller segments when a router says that they are too big (RFC 1191,
    /// RFC 8201).
    pub path_mtu_discovery: bool,
    /// The smallest path MTU that is believed, in octets (RFC 5927 §7).
    pub min_path_mtu: u32,
    /// Smaller segments after two timeouts in a row (RFC 8899 §4.2).
    pub black_hole_detection: bool,
    /// Probing for the path's MTU (RFC 4821).
    pub mtu_probing: MtuProbing,
    /// The MSS with which [`MtuProbing::Always`] begins, headers apart (Linux's `tcp_base_mss`).
    pub mtu_probe_base: u32,
    /// PAWS (RFC 7323 §5), where timestamps are agreed on.
    pub paws: bool,
    /// A segment without timestamps where they were agreed on is dropped
    /// (RFC 7323 §3.2, SHOULD).
    pub require_timestamps: bool,
    /// The resets that carry timestamps.
    pub reset_timestamps: ResetTimestamps,
    /// Remembers the timestamp of a segment that comes again and lies wholly before what was
    /// acknowledged last, too (RFC 7323 §4.3, rule 2).
    pub echo_old_segments: bool,
    /// Challenge ACKs in 5 s (RFC 5961 §7); 0 for no limit.
    pub challenge_acks: u32,
    /// Resets do not end TIME-WAIT (RFC 1337).
    pub protect_time_wait: bool,
    /// Retransmissions of a SYN-ACK before giving up.
    pub syn_ack_retries: u32,
    /// Retransmissions of one segment before the user is told (RFC 9293
    /// §3.8.3, R1).
    pub stalled_after: u32,
    /// Retransmissions of a SYN before giving up, without the linear ones.
    pub syn_retries: u32,
    /// Retransmissions of a SYN before its timeout doubles, besides `syn_retries`.
    pub syn_linear_timeouts: u32,
    /// Time that an attempt to open a connection may take; `None` for as long as SYNs are sent
    /// again. FreeBSD has 75 s (`net.inet.tcp.keepinit`).
    pub opening_timeout: Option<Span>,
    /// Retransmissions of one segment before giving up (RFC 9293 §3.8.3, R2).
    pub max_retries: u32,
    /// Length of TIME-WAIT: 2 MSL.
    pub time_wait: Span,
    /// Habits in which stacks differ.
    pub manners: Manners,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            mss: 1460,
            offers_mss: true,
            default_mss: Config::DEFAULT_MSS,
            initial_window: InitialWindow::Rfc6928,
            initial_ssthresh: None,
            receive_buffer: 4 << 20,
            receive_buffer_max: None,
            window_scale_buffer: None,
            initial_receive_window: InitialReceiveWindow::Whole,
            send_buffer: 4 << 20,
            window_scale: true,
            timestamps: true,
            sack: true,
            dsack: false,
            dscp: 0,
            ttl: Packet::TTL,
            ecn: EcnMode::Off,
            ecn_syn_retries: 0,
            ect: Ect::Zero,
            ecn_control: false,
            ecn_wait: true,
            pacing_burst: 2,
            fast_open: None,
            delayed_ack: DelayedAck { count: 2, delay: Span::from_millis(40) },
            rto: RtoBounds::default(),
            rto_restart: RtoRestart::Acks,
            rtt_samples: RttSamples::Timed,
            dupack_threshold: 3,
            max_dupack_threshold: None,
            limited_transmit: true,
            go_back_n: false,
            counting: Counting::Bytes,
            window_use: WindowUse::Blocked,
            recovery: Recovery::Sack { pipe: Default::default(), prr: false },
            undo: UndoOptions::default(),
            window: Algorithm::from_name("cubic").expect("cubic is registered"),
            nagle: Nagle::Off,
            quick_acks: 0,
            adaptive_acks: false,
            segmentation_offload: false,
            idle_restart: true,
            window_probe: WindowProbe::Octet,
            keep_alive: None,
            user_timeout: None,
            soft_errors_end_opening: false,
            path_mtu_discovery: true,
            min_path_mtu: 552,
            black_hole_detection: false,
            mtu_probing: MtuProbing::Off,
            mtu_probe_base: 1024,
            paws: true,
            require_timestamps: true,
            reset_timestamps: ResetTimestamps::All,
            echo_old_segments: true,
            challenge_acks: 10,
            protect_time_wait: false,
            syn_ack_retries: 7,
            stalled_after: 3,
            // RFC 9293 §3.8.3 (MUST-23): three minutes at least.
            syn_retries: 7,
            syn_linear_timeouts: 0,
            opening_timeout: None,
            max_retries: 15,
            time_wait: Span::from_secs(60),
            manners: Manners::default(),
        }
    }
}

/// What each setting may be by itself; [`Config::validate`] also knows what they may be together.
impl Config {
    /// `mss`: with the largest headers of IPv4 and TCP a segment is 65535 octets.
    pub const MSS: Bounds<Bytes> = Bounds::of(Bytes(64), Bytes(65_495));
    /// `receive_buffer`, `receive_buffer_max` and `send_buffer`, which have one segment at least.
    pub const BUFFER: Bounds<Bytes> = Bounds::at_most(Bytes(1 << 30));
    /// `ttl`.
    pub const TTL: Bounds<u8> = Bounds::of(1, 255);
    /// `pacing_burst`.
    pub const PACING_BURST: Bounds<u32> = Bounds::of(1, 1000).counted_in("packets");
    /// `dupack_threshold`.
    pub const DUPACK_THRESHOLD: Bounds<u32> = Bounds::of(1, 100);
    /// `max_dupack_threshold`, which is no less than `dupack_threshold`.
    pub const MAX_DUPACK_THRESHOLD: Bounds<u32> = Bounds::of(1, 1000);
    /// `quick_acks`.
    pub const QUICK_ACKS: Bounds<u32> = Bounds::of(0, 1000);
    /// `user_timeout` and `opening_timeout`.
    pub const PATIENCE: Bounds<Span> = Bounds::more_than(Span::ZERO);
    /// `min_path_mtu`.
    pub const MIN_PATH_MTU: Bounds<Bytes> = Bounds::of(Bytes(104), Bytes(65_535));
    /// `mtu_probe_base`.
    pub const MTU_PROBE_BASE: Bounds<Bytes> = Bounds::of(Bytes(88), Bytes(65_535));
    /// `max_retries` and `stalled_after`, R2 and R1 of RFC 9293 §3.8.3. An application may want R2
    /// to be infinite (MUST-21): the most is more than any run has time for.
    pub const RETRIES: Bounds<u32> = Bounds::of(1, 1_000_000);
    /// `syn_retries`, `syn_linear_timeouts`, `syn_ack_retries` and `ecn_syn_retries`.
    pub const SYN_RETRIES: Bounds<u32> = Bounds::of(0, 1_000_000);
    /// `challenge_acks`.
    pub const CHALLENGE_ACKS: Bounds<u32> = Bounds::of(0, 1_000_000);
}

impl Config {
    /// The MSS of a peer that announces none, over IPv4.
    pub const DEFAULT_MSS: u16 = 536;
    /// The MSS of a peer that announces none, over IPv6.
    pub const DEFAULT_MSS_V6: u16 = 1220;

    /// Refuses settings that no connection can have.
    ///
    /// ```
    /// use anabranch_tcp::Config;
    /// let config = Config { sack: false, ..Config::default() };
    /// assert_eq!(config.validate().unwrap_err().field, "recovery");
    /// ```
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_sizes()?;
        self.check_timing()?;
        self.check_losses()?;
        DSCP.check("dscp", self.dscp)?;
        Self::TTL.check("ttl", self.ttl)?;
        Self::PACING_BURST.check("pacing_burst", self.pacing_burst)?;
        Self::QUICK_ACKS.check("quick_acks", self.quick_acks)?;
        Self::CHALLENGE_ACKS.check("challenge_acks", self.challenge_acks)
    }

    /// Segments, windows and buffers.
    fn check_sizes(&self) -> Result<(), ConfigError> {
        Self::MSS.check("mss", Bytes(self.mss.into()))?;
        if let InitialWindow::Segments(n) = self.initial_window {
            InitialWindow::SEGMENTS.check("initial_window", n)?;
        }
        if let Some(ssthresh) = self.initial_ssthresh {
            let two = Bounds::at_least(Bytes(2 * u64::from(self.mss))).because("two segments");
            two.check("initial_ssthresh", Bytes(ssthresh))?;
        }
        let segment = Bytes(self.mss.into());
        let buffer = Self::BUFFER.raised_to(segment).because("one segment at least");
        let receive = Bytes(self.receive_buffer);
        buffer.check("receive_buffer", receive)?;
        buffer.check("send_buffer", Bytes(self.send_buffer))?;
        if let Some(most) = self.receive_buffer_max {
            let growing = Self::BUFFER.raised_to(receive).because("receive_buffer at least");
            growing.check("receive_buffer_max", Bytes(most))?;
        }
        match self.initial_receive_window {
            InitialReceiveWindow::Whole => {}
            InitialReceiveWindow::Octets(n) => buffer.check("initial_receive_window", Bytes(n))?,
            InitialReceiveWindow::Share(share) => {
                InitialReceiveWindow::SHARE.check("initial_receive_window", share)?;
            }
        }
        Self::MIN_PATH_MTU.check("min_path_mtu", Bytes(self.min_path_mtu.into()))?;
        Self::MTU_PROBE_BASE.check("mtu_probe_base", Bytes(self.mtu_probe_base.into()))
    }

    /// How long is waited, and how often tried again.
    fn check_timing(&self) -> Result<(), ConfigError> {
        self.delayed_ack.validate()?;
        self.rto.validate()?;
        if let Some(span) = self.fast_open.and_then(|options| options.key_lifetime) {
            FastOpenOptions::KEY_LIFETIME.check("fast_open.key_lifetime", span)?;
        }
        if let Some(keep_alive) = self.keep_alive {
            keep_alive.validate()?;
        }
        for (field, timeout) in
            [("opening_timeout", self.opening_timeout), ("user_timeout", self.user_timeout)]
        {
            timeout.map_or(Ok(()), |timeout| Self::PATIENCE.check(field, timeout))?;
        }
        Self::RETRIES.check("stalled_after", self.stalled_after)?;
        Self::RETRIES.check("max_retries", self.max_retries)?;
        for (field, retries) in [
            ("syn_retries", self.syn_retries),
            ("syn_linear_timeouts", self.syn_linear_timeouts),
            ("syn_ack_retries", self.syn_ack_retries),
            ("ecn_syn_retries", self.ecn_syn_retries),
        ] {
            Self::SYN_RETRIES.check(field, retries)?;
        }
        Ok(())
    }

    /// What finds a loss and repairs it.
    fn check_losses(&self) -> Result<(), ConfigError> {
        let threshold = self.dupack_threshold;
        Self::DUPACK_THRESHOLD.check("dupack_threshold", threshold)?;
        if let Some(most) = self.max_dupack_threshold {
            let raised = Self::MAX_DUPACK_THRESHOLD.raised_to(threshold);
            raised.because("dupack_threshold at least").check("max_dupack_threshold", most)?;
        }
        if let Err((field, allowed)) = self.recovery.validate() {
            return Err(ConfigError::new(field, true, allowed));
        }
        if !self.sack && self.recovery.needs_sack() {
            let allowed = "with sack = false: reno, newreno";
            return Err(ConfigError::new("recovery", self.recovery.name(), allowed));
        }
        Ok(())
    }

    /// Returns the reset by which a host with these settings answers a segment of no connection;
    /// `None` for a packet that is answered by none.
    pub fn refusal(&self, packet: &Packet) -> Option<Packet> {
        let mut reset = packet.refusal()?;
        if let Body::Tcp(segment) = &mut reset.body
            && self.reset_timestamps != ResetTimestamps::All
        {
            segment.options.timestamps = None;
        }
        Some(reset)
    }

    pub(crate) fn build_congestion(&self, mss: u64) -> Congestion {
        let ssthresh = self.initial_ssthresh.unwrap_or(u64::MAX);
        self.window.build(self.initial_window.octets(mss), ssthresh)
    }
}

/// The window scale that a receive buffer needs (RFC 7323 §2.2, at most 14).
pub(crate) fn window_shift(receive_buffer: u64) -> u8 {
    (0..14).find(|shift| receive_buffer >> shift <= 0xFFFF).unwrap_or(14)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initial_windows_follow_their_rfcs() {
        // RFC 3390 §1 and RFC 6928 §2 by MSS.
        for (mss, two, four, ten) in
            [(536, 1072, 2144, 5360), (1460, 2920, 4380, 14_600), (9000, 18_000, 18_000, 18_000)]
        {
            assert_eq!(InitialWindow::Rfc2581.octets(mss), two);
            assert_eq!(InitialWindow::Rfc3390.octets(mss), four);
            assert_eq!(InitialWindow::Rfc6928.octets(mss), ten);
        }
    }

    #[test]
    fn the_default_is_valid() {
        Config::default().validate().unwrap();
    }

    #[test]
    fn errors_name_field_value_and_range() {
        let config = Config { mss: 10, ..Config::default() };
        assert_eq!(
            config.validate().unwrap_err().to_string(),
            "mss is 10 B; allowed: 64 B to 65495 B"
        );
    }

    /// RFC 9293 §3.8.6.3 (MUST-40) and §3.8.4 (MUST-29).
    #[test]
    fn an_ack_waits_for_less_than_half_a_second_and_no_keep_alive_decides_alone() {
        let field = |config: Config| config.validate().err().map(|error| error.field.into_owned());
        let delay = |ms| Config {
            delayed_ack: DelayedAck { count: 2, delay: Span::from_millis(ms) },
            ..Config::default()
        };
        assert_eq!(field(delay(499)), None);
        assert_eq!(field(delay(500)).as_deref(), Some("delayed_ack.delay"));
        let probes = |probes| Config {
            keep_alive: Some(KeepAlive { probes, ..KeepAlive::default() }),
            ..Config::default()
        };
        for (n, refused) in
            [(0, Some("keep_alive.probes")), (1, Some("keep_alive.probes")), (2, None)]
        {
            assert_eq!(field(probes(n)).as_deref(), refused, "{n} probes");
        }
    }

    #[test]
    fn the_scale_covers_the_buffer() {
        let shifts = [65_535, 65_536, 1 << 30].map(window_shift);
        assert_eq!(shifts, [0, 1, 14]);
    }
}
