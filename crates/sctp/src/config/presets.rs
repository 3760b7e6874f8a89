//! Each preset names a standard, or a program.

use super::{
    Config, InitialWindow, Jitter, MtuProbing, Ns2Rules, PartialAcked, Probing, UndoOptions,
    Window, WindowUnit,
};
use crate::failover::Failover;
use crate::policy::Destination;
use crate::scheduler::Scheduler;
use anabranch_endpoint::RtoBounds;
use anabranch_units::Span;

/// `PRESETS` are the names that [`Config::preset`] knows.
pub const PRESETS: [&str; 4] = ["rfc2960", "rfc4960", "rfc9260", "ns2"];

impl Config {
    /// Returns the settings of RFC 9260 (2022), with the parameters of its §16.
    pub fn rfc9260() -> Config {
        Config {
            mtu: 1500,
            mtu_probing: MtuProbing::Off,
            mtu_probe_base: 1200,
            mtu_probe_timer: None,
            mtu_raise_timer: Span::from_secs(600),
            dscp: 0,
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
            growth_needs_advance: false,
            count_padding: true,
            rest_sets_ssthresh: true,
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
            prompt_probes: false,
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
            undo: UndoOptions::default(),
            heartbeat_after_rto: false,
            cookie_life: Span::from_secs(60),
            partial_reliability: false,
            interleaving: false,
            scheduler: Scheduler::Fcfs,
            reconfiguration: false,
            concurrent: None,
            authentication: None,
            dynamic_addresses: false,
            zero_checksum: false,
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

    /// Returns the settings of RFC 4960 (2007), which has another initial window, an RTO of 3 s
    /// before the first sample, and a window that Max.Burst lowers.
    pub fn rfc4960() -> Config {
        let config = Config::rfc9260();
        Config {
            initial_window: InitialWindow::Rfc4960,
            window_unit: WindowUnit::Mtu,
            partial_acked: PartialAcked::All,
            growth_needs_advance: true,
            count_padding: false,
            rest_sets_ssthresh: false,
            rto: RtoBounds { initial: Span::from_secs(3), ..config.rto },
            destination: Destination::AllAlternate,
            burst_keeps_window: false,
            ..config
        }
    }

    /// Returns the settings of RFC 2960 (2000), which is older than explicit fast recovery, path
    /// confirmation and the fourth MTU of the initial window.
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

    /// Returns the settings of the module of ns-2.35: RFC 4960 with the fourth missing report, as
    /// the multihoming paper has it (the module's own default is the third), and with what the
    /// module does otherwise.
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

    /// Returns the preset called `name`, one of [`PRESETS`]; `None` when there is none.
    pub fn preset(name: &str) -> Option<Config> {
        match name {
            "rfc2960" => Some(Config::rfc2960()),
            "rfc4960" => Some(Config::rfc4960()),
            "rfc9260" => Some(Config::rfc9260()),
            "ns2" => Some(Config::ns2()),
            _ => None,
        }
    }
}
