//! Settings that no association can have are refused here.

use super::{Config, InitialWindow, Probe, Probing};
pub use anabranch_endpoint::ConfigError;
use anabranch_endpoint::{Bounds, DSCP};
use anabranch_units::{Bytes, Span};
use anabranch_wire::sctp::kind;
use std::fmt::Display;

/// Returns an error unless the value is `ok`.
fn check(
    ok: bool,
    field: &'static str,
    value: &dyn Display,
    allowed: &str,
) -> Result<(), ConfigError> {
    if ok { Ok(()) } else { Err(ConfigError::new(field, value, allowed)) }
}

/// These constants say what each setting may be by itself; [`Config::validate`] also knows what
/// they may be together.
impl Config {
    /// `MTU` is for `mtu`.
    pub const MTU: Bounds<Bytes> = Bounds::of(Bytes(Self::LEAST_MTU as u64), Bytes(65_535));
    /// `MTU_PROBE_BASE` is for `mtu_probe_base`.
    pub const MTU_PROBE_BASE: Bounds<Bytes> = Bounds::of(Bytes(472), Bytes(65_495));
    /// `MTU_TIMER` is for `mtu_probe_timer` and `mtu_raise_timer`.
    pub const MTU_TIMER: Bounds<Span> =
        Bounds::at_least(Span::from_secs(1)).because("RFC 8899 §5.1.1");
    /// `IP_HEADERS` are the sizes that `ip_header` may have: of IPv4 and of IPv6.
    pub const IP_HEADERS: [u32; 2] = [20, 40];
    /// `STREAMS` is for `outbound_streams` and `inbound_streams`.
    pub const STREAMS: Bounds<u16> = Bounds::of(1, u16::MAX);
    /// `BUFFER` is for `receive_buffer` and `send_buffer`: a receive window of less than 1500 octets
    /// is no value of a_rwnd (RFC 9260 §3.3.2).
    pub const BUFFER: Bounds<Bytes> =
        Bounds::of(Bytes(1500), Bytes(1 << 30)).because("RFC 9260 §3.3.2");
    /// `SSTHRESH_FLOOR` is for `ssthresh_floor`.
    pub const SSTHRESH_FLOOR: Bounds<u32> = Bounds::of(1, 100).counted_in("units of the window");
    /// `MISSING_REPORTS` is for `missing_reports`.
    pub const MISSING_REPORTS: Bounds<u8> = Bounds::of(1, 100);
    /// `MAX_BURST` is for `max_burst`.
    pub const MAX_BURST: Bounds<u32> = Bounds::of(1, 1000).counted_in("packets");
    /// `SACK_FREQUENCY` is for `sack_frequency`.
    pub const SACK_FREQUENCY: Bounds<u32> = Bounds::of(1, 255);
    /// `SACK_DELAY` is for `sack_delay`.
    pub const SACK_DELAY: Bounds<Span> =
        Bounds::at_most(Span::from_millis(500)).because("RFC 9260 §6.2");
    /// `RETRANSMISSIONS` is for `path_max_retrans`, `association_max_retrans`,
    /// `max_init_retransmits` and `potentially_failed`, which is no more than the first. The RFCs
    /// have no most; this is more than any run has time for.
    pub const RETRANSMISSIONS: Bounds<u32> = Bounds::of(0, 1_000_000);
    /// `HEARTBEAT_INTERVAL` is for `heartbeat_interval`.
    pub const HEARTBEAT_INTERVAL: Bounds<Span> = Bounds::at_least(Span::from_millis(1));
    /// `HEARTBEAT_BURST` is for `heartbeat_burst`.
    pub const HEARTBEAT_BURST: Bounds<u32> = Bounds::of(1, 100);
    /// `COOKIE_LIFE` is for `cookie_life`.
    pub const COOKIE_LIFE: Bounds<Span> = Bounds::more_than(Span::ZERO);
}

impl InitialWindow {
    /// `MTUS` is for a number of MTUs.
    pub const MTUS: Bounds<u32> = Bounds::of(1, 1_000_000).counted_in("MTUs");
}

impl Probe {
    /// `INTERVAL` is for `interval`.
    pub const INTERVAL: Bounds<Span> = Bounds::at_least(Span::from_millis(1));
    /// `BURST` is for `burst`.
    pub const BURST: Bounds<u32> = Bounds::of(1, 100);
}

impl Config {
    /// Returns an error for the first setting that no association can have.
    ///
    /// ```
    /// use anabranch_sctp::Config;
    /// let config = Config { mtu: 100, ..Config::rfc9260() };
    /// assert_eq!(config.validate().unwrap_err().field, "mtu");
    /// ```
    ///
    /// # Errors
    /// The first field that is wrong.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_sizes()?;
        self.check_windows()?;
        self.check_timing()?;
        let echoes = !self.undo.timestamps || self.timestamps;
        check(echoes, "undo.timestamps", &self.undo.timestamps, "false without `timestamps`")?;
        self.check_paths()?;
        self.check_authentication()?;
        Self::COOKIE_LIFE.check("cookie_life", self.cookie_life)
    }

    /// Checks the sizes of packets and buffers, and the numbers of streams.
    fn check_sizes(&self) -> Result<(), ConfigError> {
        Self::MTU.check("mtu", Bytes(self.mtu.into()))?;
        DSCP.check("dscp", self.dscp)?;
        Self::MTU_PROBE_BASE.check("mtu_probe_base", Bytes(self.mtu_probe_base.into()))?;
        let (header, [v4, v6]) = (self.ip_header, Self::IP_HEADERS);
        let allowed = format!("{v4} (IPv4) or {v6} (IPv6)");
        check(Self::IP_HEADERS.contains(&header), "ip_header", &header, &allowed)?;
        let most = self.max_payload();
        if let Some(size) = self.message_size {
            let fits = Bounds::of(Bytes(1), Bytes(most.into())).because("what fits a packet");
            fits.check("message_size", Bytes(size.into()))?;
        }
        Self::STREAMS.check("outbound_streams", self.outbound_streams)?;
        Self::STREAMS.check("inbound_streams", self.inbound_streams)?;
        let buffer = Bytes(self.receive_buffer.into());
        Self::BUFFER.check("receive_buffer", buffer)?;
        // A larger chunk would be refused and sent again for ever.
        let chunk = Bytes(self.message_size.unwrap_or(most).into());
        let holds = Bounds::at_least(chunk).because("one chunk of such packets may carry it");
        holds.check("receive_buffer", buffer)?;
        Self::BUFFER.check("send_buffer", Bytes(self.send_buffer))
    }

    /// Checks the settings of windows and losses.
    fn check_windows(&self) -> Result<(), ConfigError> {
        if let InitialWindow::Mtus(n) = self.initial_window {
            InitialWindow::MTUS.check("initial_window", n)?;
        }
        Self::SSTHRESH_FLOOR.check("ssthresh_floor", self.ssthresh_floor)?;
        Self::MISSING_REPORTS.check("missing_reports", self.missing_reports)?;
        self.max_burst.map_or(Ok(()), |burst| Self::MAX_BURST.check("max_burst", burst))
    }

    /// Checks the settings of SACKs, of retransmission timeouts and of the timers of path MTU
    /// probing.
    fn check_timing(&self) -> Result<(), ConfigError> {
        if let Some(timer) = self.mtu_probe_timer {
            Self::MTU_TIMER.check("mtu_probe_timer", timer)?;
        }
        Self::MTU_TIMER.check("mtu_raise_timer", self.mtu_raise_timer)?;
        Self::SACK_FREQUENCY.check("sack_frequency", self.sack_frequency)?;
        Self::SACK_DELAY.check("sack_delay", self.sack_delay)?;
        self.rto.validate()
    }

    /// Checks the settings of heartbeats and of failures of paths.
    fn check_paths(&self) -> Result<(), ConfigError> {
        if let Some(interval) = self.heartbeat_interval {
            Self::HEARTBEAT_INTERVAL.check("heartbeat_interval", interval)?;
        }
        Self::HEARTBEAT_BURST.check("heartbeat_burst", self.heartbeat_burst)?;
        if let Probing::On(probe) = &self.probing {
            Probe::INTERVAL.check("probing.interval", probe.interval)?;
            Probe::BURST.check("probing.burst", probe.burst)?;
        }
        for (field, errors) in [
            ("path_max_retrans", self.path_max_retrans),
            ("association_max_retrans", self.association_max_retrans),
            ("max_init_retransmits", self.max_init_retransmits),
        ] {
            Self::RETRANSMISSIONS.check(field, errors)?;
        }
        let Some(errors) = self.potentially_failed else { return Ok(()) };
        let most = Self::RETRANSMISSIONS.lowered_to(self.path_max_retrans);
        most.because("path_max_retrans").check("potentially_failed", errors)
    }

    /// Checks the keys, and the settings that need them.
    fn check_authentication(&self) -> Result<(), ConfigError> {
        if let Some(authentication) = &self.authentication {
            let wrong = authentication.check().err().unwrap_or_default();
            let allowed = "keys with the active one, no INIT, INIT ACK, \
                           SHUTDOWN COMPLETE or AUTH chunks, HMACs 1 and 3 with 1";
            check(wrong.is_empty(), "authentication", &wrong, allowed)?;
        }
        let signs = |kind| self.authentication.as_ref().is_some_and(|a| a.chunks.contains(&kind));
        let safe = !self.dynamic_addresses || (signs(kind::ASCONF) && signs(kind::ASCONF_ACK));
        let allowed = "with authentication of chunk types 0xC1 and 0x80 (RFC 5061 §4)";
        check(safe, "dynamic_addresses", &self.dynamic_addresses, allowed)
    }
}
