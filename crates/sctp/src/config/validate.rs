//! Settings that no association can have are refused here.

use super::{Config, InitialWindow, Probing};
pub use anabranch_endpoint::ConfigError;
use anabranch_units::Span;
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

impl Config {
    /// Returns an error for the first setting that no association can have.
    ///
    /// use anabranch_sctp::Config;
    /// let config = Config { mtu: 100, ..Config::rfc9260() };
    /// assert_eq!(config.validate().unwrap_err().field, "mtu");
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_sizes()?;
        self.check_windows()?;
        self.check_timing()?;
        let echoes = !self.undo.timestamps || self.timestamps;
        check(echoes, "undo.timestamps", &self.undo.timestamps, "false without `timestamps`")?;
        self.check_paths()?;
        self.check_authentication()?;
        let life = &self.cookie_life;
        check(*life > Span::ZERO, "cookie_life", life, "more than 0 s")
    }

    /// Checks the sizes of packets and buffers, and the numbers of streams.
    fn check_sizes(&self) -> Result<(), ConfigError> {
        check((512..=65_535).contains(&self.mtu), "mtu", &self.mtu, "512 B to 65535 B")?;
        check(self.dscp < 64, "dscp", &self.dscp, "0 to 63")?;
        let base = &self.mtu_probe_base;
        check((472..=65_495).contains(base), "mtu_probe_base", base, "472 B to 65495 B")?;
        let header = self.ip_header;
        check(matches!(header, 20 | 40), "ip_header", &header, "20 (IPv4) or 40 (IPv6)")?;
        let most = self.max_payload();
        if let Some(size) = self.message_size {
            check((1..=most).contains(&size), "message_size", &size, "1 B to what fits a packet")?;
        }
        let (outbound, inbound) = (self.outbound_streams, self.inbound_streams);
        check(outbound >= 1, "outbound_streams", &outbound, "1 to 65535")?;
        check(inbound >= 1, "inbound_streams", &inbound, "1 to 65535")?;
        let buffer = &self.receive_buffer;
        let allowed = "1500 B to 1 GiB (RFC 9260 §3.3.2)";
        check((1500..=1 << 30).contains(buffer), "receive_buffer", buffer, allowed)?;
        // A larger chunk would be refused and sent again for ever.
        let chunk = self.message_size.unwrap_or(most);
        let allowed = format!("at least {chunk} B, which one chunk of such packets may carry");
        check(chunk <= *buffer, "receive_buffer", buffer, &allowed)?;
        let buffer = &self.send_buffer;
        check((1500..=1 << 30).contains(buffer), "send_buffer", buffer, "1500 B to 1 GiB")
    }

    /// Checks the settings of windows and losses.
    fn check_windows(&self) -> Result<(), ConfigError> {
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
        Ok(())
    }

    /// Checks the settings of SACKs, of retransmission timeouts and of the timers of path MTU
    /// probing.
    fn check_timing(&self) -> Result<(), ConfigError> {
        let (second, allowed) = (Span::from_secs(1), "at least 1 s (RFC 8899 §5.1.1)");
        if let Some(timer) = self.mtu_probe_timer {
            check(timer >= second, "mtu_probe_timer", &timer, allowed)?;
        }
        let timer = &self.mtu_raise_timer;
        check(*timer >= second, "mtu_raise_timer", timer, allowed)?;
        let frequency = self.sack_frequency;
        check((1..=255).contains(&frequency), "sack_frequency", &frequency, "1 to 255")?;
        let half = Span::from_millis(500);
        let allowed = "at most 500 ms (RFC 9260 §6.2)";
        check(self.sack_delay <= half, "sack_delay", &self.sack_delay, allowed)?;
        let rto = &self.rto;
        check(rto.min > Span::ZERO, "rto.min", &rto.min, "more than 0 s")?;
        check(rto.initial > Span::ZERO, "rto.initial", &rto.initial, "more than 0 s")?;
        check(rto.max >= rto.min, "rto.max", &rto.max, "at least rto.min")
    }

    /// Checks the settings of heartbeats and of failures of paths.
    fn check_paths(&self) -> Result<(), ConfigError> {
        let (least, allowed) = (Span::from_millis(1), "at least 1 ms");
        if let Some(interval) = self.heartbeat_interval {
            check(interval >= least, "heartbeat_interval", &interval, allowed)?;
        }
        let burst = self.heartbeat_burst;
        check((1..=100).contains(&burst), "heartbeat_burst", &burst, "1 to 100")?;
        if let Probing::On(probe) = &self.probing {
            check(probe.interval >= least, "probing.interval", &probe.interval, allowed)?;
            let (burst, allowed) = (probe.burst, "1 to 100");
            check((1..=100).contains(&burst), "probing.burst", &burst, allowed)?;
        }
        if let Some(errors) = self.potentially_failed {
            let allowed = "at most path_max_retrans";
            check(errors <= self.path_max_retrans, "potentially_failed", &errors, allowed)?;
        }
        Ok(())
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
