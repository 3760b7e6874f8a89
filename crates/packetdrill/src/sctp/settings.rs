//! Profiles, and what sysctls mean to us.

use crate::constants;
use crate::profile::Profile;
use crate::stack::Configured;
use anabranch_endpoint::RtoBounds;
use anabranch_sctp::{Config, ImmediateSacks, InitialWindow, WindowUnit};
use anabranch_units::Span;
use anabranch_wire::Packet;

/// FreeBSD asks for SACKs of its own accord in SHUTDOWN-PENDING alone, as captures of usrsctp show.
const AT_THE_END: ImmediateSacks = ImmediateSacks {
    window_full: false,
    shutdown_pending: true,
    reconfiguration: false,
    last: false,
    messages: false,
};

/// What a system's associations begin with.
pub(super) fn config(profile: Profile) -> Config {
    let rfc = Config::rfc9260();
    match profile {
        Profile::Rfc => Config { partial_reliability: true, reconfiguration: true, ..rfc },
        // FreeBSD 14: sys/netinet/sctp_sysctl.h.
        Profile::FreeBsd => Config {
            partial_reliability: true,
            reconfiguration: true,
            ecn: true,
            list_address_types: true,
            nagle: true,
            abort_on_failure: true,
            prompt_fill: true,
            prompt_probes: true,
            immediate_sacks: Some(AT_THE_END),
            burst_keeps_window: false,
            // Its window grows where the Cumulative TSN Ack Point advances, as RFC 4960 §7.2.1 had it.
            growth_needs_advance: true,
            initial_window: InitialWindow::Mtus(3),
            window_unit: WindowUnit::Mtu,
            receive_buffer: 1_864_135,
            ..rfc
        },
        // Linux 6: Documentation/networking/ip-sysctl.rst.
        Profile::Linux => Config {
            partial_reliability: true,
            ecn: true,
            list_address_types: true,
            nagle: true,
            abort_on_failure: true,
            brief_offers: true,
            inbound_streams: u16::MAX,
            receive_buffer: 106_496,
            rto: RtoBounds { initial: Span::from_secs(3), ..rfc.rto },
            ..rfc
        },
    }
}

/// Sysctls that change nothing that a script can see here: what we do not have
/// is off, and limits that are never met.
const WITHOUT_EFFECT: [&str; 12] = [
    "net.inet.sctp.blackhole",
    "net.inet.sctp.logging",
    "net.inet.sctp.sendspace",
    "net.inet.sctp.auth_disable",
    "net.inet.sctp.cwnd_maxburst",
    "net.inet.sctp.strict_sacks",
    "net.inet.sctp.peer_chkoh",
    "net.inet.sctp.outgoing_streams_max",
    "net.sctp.sctp_mem",
    "net.sctp.sctp_rmem",
    "net.sctp.sctp_wmem",
    "net.sctp.auth_enable",
];

/// Features that we do not offer: turning one off is done.
const MISSING: [(&str, &str); 6] = [
    ("net.inet.sctp.asconf_enable", "changes of addresses by sockets"),
    ("net.inet.sctp.auth_enable", "authenticated chunks by sockets"),
    ("net.inet.sctp.nrsack_enable", "NR-SACK, an expired draft"),
    ("net.inet.sctp.nrsack_on_off", "NR-SACK, an expired draft"),
    ("net.inet.sctp.pktdrop_enable", "PKTDROP, an expired draft"),
    ("net.sctp.addip_enable", "changes of addresses by sockets"),
];

/// Applies the setting `name` of a script to the configuration.
pub(super) fn configure(config: &mut Config, name: &str, value: &str) -> Configured {
    let Some(short) = name.strip_prefix("net.inet.sctp.").or(name.strip_prefix("net.sctp.")) else {
        return match name {
            "route.mtu" => mtu(config, value),
            // The engine counts packets from IPv4's header: one of IPv6 leaves less of the MTU.
            "ip_version" if value == "ipv6" => {
                config.mtu = config.mtu.saturating_sub(Packet::IPV6_LONGER as _);
                Configured::Done
            }
            "ip_version" => Configured::Done,
            _ => Configured::Unknown,
        };
    };
    let Ok(n) = value.split_whitespace().next().unwrap_or_default().parse::<u64>() else {
        return Configured::Unknown;
    };
    if let Some((_, what)) = MISSING.iter().find(|(missing, _)| *missing == name) {
        return match n {
            0 => Configured::Done,
            _ => Configured::NotApplicable((*what).into()),
        };
    }
    let (on, millis) = (n != 0, constants::millis(i64::try_from(n).unwrap_or(i64::MAX)));
    match short {
        "pr_enable" | "prsctp_enable" => config.partial_reliability = on,
        "ecn_enable" => config.ecn = on,
        "reconfig_enable" | "reconf_enable" => config.reconfiguration = on,
        "idata_enable" | "intl_enable" => config.interleaving = on,
        "rto_min" => config.rto.min = millis,
        "rto_max" => config.rto.max = millis,
        "rto_initial" | "init_rto_max" => config.rto.initial = millis,
        "initial_cwnd" => {
            config.window_unit = WindowUnit::Mtu;
            config.initial_window = match n {
                0 => InitialWindow::Rfc4960,
                n => InitialWindow::Mtus(n as u32),
            }
        }
        "heartbeat_interval" | "hb_interval" => {
            config.heartbeat_interval = on.then_some(millis);
        }
        "delayed_sack_time" | "sack_timeout" => config.sack_delay = millis,
        "sack_freq" => config.sack_frequency = n as u32,
        "max_burst" => config.max_burst = on.then_some(n as u32),
        "init_rtx_max" | "max_init_retransmits" => config.max_init_retransmits = n as u32,
        "assoc_rtx_max" | "association_max_retrans" => config.association_max_retrans = n as u32,
        "path_rtx_max" | "path_max_retrans" => config.path_max_retrans = n as u32,
        "pf_retrans" | "path_pf_threshold" => {
            config.potentially_failed = (n <= config.path_max_retrans as u64).then_some(n as u32);
        }
        "valid_cookie_life" => config.cookie_life = millis,
        "incoming_streams" => config.inbound_streams = n as u16,
        "outgoing_streams" => config.outbound_streams = n as u16,
        "recvspace" => config.receive_buffer = n as u32,
        _ if WITHOUT_EFFECT.contains(&name) => {}
        _ => return Configured::Unknown,
    }
    Configured::Done
}

fn mtu(config: &mut Config, value: &str) -> Configured {
    match value.parse() {
        Ok(mtu) => {
            config.mtu = mtu;
            Configured::Done
        }
        Err(_) => Configured::Unknown,
    }
}
