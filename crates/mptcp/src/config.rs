//! Settings of a connection.

use crate::path_manager::PathManager;
use crate::scheduler::SchedulerKind;
use anabranch_endpoint::Bounds;
pub use anabranch_endpoint::ConfigError;
use anabranch_units::{Bytes, Span};
use anabranch_wire::{Addr, AddressBook};
use std::sync::Arc;

/// One side of a connection has these settings.
#[derive(Clone, PartialEq, Debug)]
pub struct Config {
    /// Every subflow has these settings. Its buffers are those of the stream; its window
    /// algorithm is that of every subflow, coupled or not.
    pub subflow: anabranch_tcp::Config,
    /// Subflows over IPv6, by the book's address of their own end, have this `mss`, in octets;
    /// `None` for that of the others.
    pub ipv6_mss: Option<u32>,
    /// Whether this side asks for Multipath TCP and answers it; otherwise the connection is TCP.
    pub enabled: bool,
    /// Whether this side asks for checksums of the data (RFC 8684 §3.1, flag A).
    pub checksum: bool,
    /// Data sequence numbers and DATA_ACKs have 64 bits in place of 32.
    pub long_numbers: bool,
    /// ADD_ADDR leaves on an ACK of its own, without a DSS, as on Linux.
    pub lone_addresses: bool,
    /// A small segment waits while another is on its way on its subflow (Nagle's algorithm).
    pub nagle: bool,
    /// Addresses with these numbers are announced with these ports (RFC 8684 §3.4.1), in place of the port of
    /// the connection.
    pub announced_ports: Vec<(u8, u16)>,
    /// The packet scheduler, which chooses the subflow of each segment.
    pub scheduler: SchedulerKind,
    /// The path manager that says which subflows the active side opens.
    pub path_manager: PathManager,
    /// The path manager that says which subflows the passive side opens itself, from ports of its
    /// own: none for [`PathManager::Single`], as on Linux. Where it wants further addresses of the
    /// active side, that announces them.
    pub passive_path_manager: PathManager,
    /// Most subflows at a time, within [`Config::MAX_SUBFLOWS`].
    pub max_subflows: u32,
    /// Whether a subflow that the receive window keeps from sending sends again what blocks the
    /// window and another subflow carries (Raiciu et al., NSDI 2012, section 4.2).
    pub opportunistic_retransmission: bool,
    /// Then the other subflow's congestion window is halved, too, once in a round
    /// trip of it.
    pub penalisation: bool,
    /// Number of SYNs with MP_CAPABLE before one is sent without it (RFC 8684 §3.1 leaves the
    /// number open; 0: all have it).
    pub capable_syns: u32,
    /// A subflow is opened again so long after its end, which doubles each time up to
    /// 64 times as much. `None`: not at all.
    pub reopen: Option<Span>,
    /// The connection lives so long without any subflow, and, when both
    /// streams have ended, waits so long for the ends of its subflows.
    pub linger: Span,
    /// Addresses look like this on the wire, where ADD_ADDR carries them.
    pub book: Arc<AddressBook>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            subflow: anabranch_tcp::Config::default(),
            ipv6_mss: None,
            enabled: true,
            checksum: false,
            long_numbers: false,
            lone_addresses: false,
            nagle: false,
            announced_ports: Vec::new(),
            scheduler: SchedulerKind::MinRtt,
            path_manager: PathManager::FullMesh,
            passive_path_manager: PathManager::Single,
            max_subflows: 8,
            opportunistic_retransmission: true,
            penalisation: true,
            capable_syns: 3,
            reopen: Some(Span::from_secs(1)),
            linger: Span::from_secs(60),
            book: Arc::new(AddressBook::new()),
        }
    }
}

/// Multipath TCP's options take so many octets of a segment: a DSS with a DATA_ACK, a
/// mapping and a checksum, padded.
pub(crate) fn option_room(long: bool) -> u32 {
    if long { 28 } else { 20 }
}

/// Octets by which an MP_CAPABLE with data is longer than that.
pub(crate) fn capable_more(long: bool) -> u32 {
    if long { 0 } else { 4 }
}

/// The settings of a subflow whose own end is `addr`, where `usual` are those of
/// a subflow.
pub(crate) fn of_address(
    config: &Config,
    usual: &Arc<anabranch_tcp::Config>,
    addr: Addr,
) -> Arc<anabranch_tcp::Config> {
    match config.ipv6_mss {
        Some(mss) if config.book.is_ipv6(addr) => {
            Arc::new(anabranch_tcp::Config { mss, ..usual.as_ref().clone() })
        }
        _ => usual.clone(),
    }
}

/// The settings of the first subflow: it alone opens with data (RFC 8684 app. B).
pub(crate) fn of_first(
    config: &Config,
    usual: &Arc<anabranch_tcp::Config>,
    addr: Addr,
) -> Arc<anabranch_tcp::Config> {
    let usual = of_address(config, usual, addr);
    match config.subflow.fast_open {
        Some(_) => {
            let fast_open = config.subflow.fast_open;
            Arc::new(anabranch_tcp::Config { fast_open, ..usual.as_ref().clone() })
        }
        None => usual,
    }
}

/// What each setting may be by itself; [`Config::validate`] also knows what they may be together.
impl Config {
    /// `max_subflows`.
    pub const MAX_SUBFLOWS: Bounds<u32> = Bounds::of(1, 32);
    /// `mss` of subflows and `ipv6_mss`: there must be room for the options beside some data.
    pub const MSS: Bounds<Bytes> = Bounds::at_least(Bytes(128));
    /// `capable_syns`.
    pub const CAPABLE_SYNS: Bounds<u32> = Bounds::of(0, 100);
    /// `reopen`.
    pub const REOPEN: Bounds<Span> = Bounds::more_than(Span::ZERO);
}

impl Config {
    /// Refuses settings that no connection can have.
    ///
    /// ```
    /// use anabranch_mptcp::Config;
    /// let config = Config { max_subflows: 0, ..Config::default() };
    /// assert_eq!(config.validate().unwrap_err().field, "max_subflows");
    /// ```
    ///
    /// # Errors
    /// The first field that is wrong.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.subflow.validate().map_err(|inner| {
            ConfigError::new(format!("subflow.{}", inner.field), inner.value, inner.allowed)
        })?;
        Self::MAX_SUBFLOWS.check("max_subflows", self.max_subflows)?;
        Self::CAPABLE_SYNS.check("capable_syns", self.capable_syns)?;
        match &self.scheduler {
            SchedulerKind::Blest(o) => ConfigError::probability("scheduler.delta", o.delta)?,
            SchedulerKind::Ecf(o) => ConfigError::probability("scheduler.beta", o.beta)?,
            _ => {}
        }
        for (field, manager) in [
            ("path_manager.ports", self.path_manager),
            ("passive_path_manager.ports", self.passive_path_manager),
        ] {
            if let PathManager::NDiffports(count) = manager {
                PathManager::PORTS.check(field, count)?;
            }
        }
        let mss = Bytes(self.subflow.mss.into());
        Self::MSS.check("subflow.mss", mss)?;
        if let Some(ipv6) = self.ipv6_mss {
            let most = Self::MSS.lowered_to(mss).because("the mss of subflows over IPv4");
            most.check("ipv6_mss", Bytes(ipv6.into()))?;
        }
        for (field, given) in [
            ("subflow.keep_alive", self.subflow.keep_alive.is_some()),
            ("subflow.receive_buffer_max", self.subflow.receive_buffer_max.is_some()),
        ] {
            if given {
                return Err(ConfigError::new(field, "given", "none over Multipath TCP"));
            }
        }
        self.reopen.map_or(Ok(()), |reopen| Self::REOPEN.check("reopen", reopen))
    }

    /// The settings of a subflow as it gets them: what the connection decides
    /// itself is off. A subflow may carry as much again as the window of the
    /// stream: what others carry, too, and octets that wait for their mapping.
    /// Small segments wait in the subflow where data does (`keeps_data`).
    pub(crate) fn of_subflow(&self, keeps_data: bool) -> anabranch_tcp::Config {
        anabranch_tcp::Config {
            nagle: Self::nagle_of_subflow(keeps_data && self.nagle),
            send_buffer: 1 << 30,
            fast_open: None,
            receive_buffer: (2 * self.subflow.receive_buffer).min(1 << 30),
            ..self.subflow.clone()
        }
    }

    /// Nagle's algorithm of a subflow, on or off.
    pub(crate) fn nagle_of_subflow(on: bool) -> anabranch_tcp::Nagle {
        if on { anabranch_tcp::Nagle::Minshall } else { anabranch_tcp::Nagle::Off }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_field_value_and_range() {
        let ports = PathManager::NDiffports(33);
        let config = Config { path_manager: ports, ..Config::default() };
        let expected = "path_manager.ports is 33; allowed: 1 to 32";
        assert_eq!(config.validate().unwrap_err().to_string(), expected);
        let mut config = Config::default();
        config.validate().unwrap();
        config.subflow.mss = 10;
        assert_eq!(config.validate().unwrap_err().field, "subflow.mss");
        let mut config = Config::default();
        config.subflow.keep_alive = Some(anabranch_tcp::KeepAlive::default());
        assert_eq!(config.validate().unwrap_err().field, "subflow.keep_alive");
    }
}
