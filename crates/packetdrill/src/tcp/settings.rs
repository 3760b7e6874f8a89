//! What profiles and sysctls mean to TCP.

use super::freebsd;
use crate::profile::Profile;
use crate::stack::Configured;
use anabranch_congestion::Algorithm;
use anabranch_socket::{FastOpen, Settings};
use anabranch_tcp::recovery::{RackOptions, Recovery};
use anabranch_tcp::{Config, EcnMode, InitialWindow, MtuProbing, SynCookies};
use anabranch_wire::{Packet, TcpSegment};

/// Settings of TCP connections under `profile`.
pub(super) fn config(profile: Profile) -> Config {
    match profile {
        Profile::Linux => {
            let mut config = Config::linux();
            with_rack(&mut config, |rack| rack.prr_in_segments = true);
            config
        }
        Profile::Rfc => Config::default(),
        Profile::FreeBsd => Config::freebsd(),
    }
}

/// Settings of a host under `profile`.
pub(super) fn defaults(profile: Profile, settings: &mut Settings) {
    if profile == Profile::FreeBsd {
        freebsd::defaults(settings);
    }
}

/// The version of IP: its header is taken off the MTU, and a peer that announces no MSS has another
/// (RFC 9293 §3.7.1). Addresses make no difference otherwise.
fn ip_version(config: &mut Config, value: &str) -> Configured {
    match value {
        "ipv4" | "ipv4-mapped-ipv6" => {}
        "ipv6" => {
            config.mss = config.mss.saturating_sub(Packet::IPV6_LONGER);
            config.default_mss = 1220;
        }
        _ => return Configured::Unknown,
    }
    freebsd::on_ip_version(config);
    Configured::Done
}

/// Octets of the headers of IP and TCP.
fn headers(config: &Config) -> u32 {
    let longer = if config.default_mss == 1220 { Packet::IPV6_LONGER } else { 0 };
    Packet::IP_HEADER + longer + TcpSegment::HEADER
}

/// Sysctls that change nothing that a script can see here: offloading, pacing
/// of what is not paced, caches, accounting, and limits that are never met.
const WITHOUT_EFFECT: [&str; 18] = [
    "net.ipv4.tcp_tso_win_divisor",
    "net.ipv4.tcp_pacing_ss_ratio",
    "net.ipv4.tcp_pacing_ca_ratio",
    "net.ipv4.tcp_no_metrics_save",
    "net.ipv4.tcp_metrics_save",
    "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_invalid_ratelimit",
    "net.ipv4.tcp_limit_output_bytes",
    "net.ipv4.tcp_autocorking",
    "net.ipv4.tcp_rate_halving",
    "net.ipv4.tcp_init_cwnd",
    "net.ipv4.tcp_max_orphans",
    "net.ipv4.tcp_fastopen_key",
    "net.ipv4.tcp_fastopen_blackhole_timeout_sec",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.core.optmem_max",
    "qdisc",
];

/// Applies the setting `name` of a script to the settings.
pub(super) fn configure(settings: &mut Settings, name: &str, value: &str) -> Configured {
    if let Some(configured) = freebsd::configure(settings, name, value) {
        return configured;
    }
    let config = &mut settings.config;
    if name == "ip_version" {
        return ip_version(config, value);
    }
    let numbers: Vec<u64> = value.split_whitespace().filter_map(parse).collect();
    let Some(first) = numbers.first().copied() else {
        return by_word(config, name, value);
    };
    let on = first != 0;
    match name.strip_prefix("net.ipv4.").unwrap_or(name) {
        "tcp_rmem" => match numbers[..] {
            [_, _, most] => config.receive_buffer = most,
            _ => return Configured::Unknown,
        },
        "tcp_wmem" => match numbers[..] {
            [_, _, most] => settings.send_buffer = most,
            _ => return Configured::Unknown,
        },
        "tcp_fastopen" => {
            settings.fast_open = FastOpen {
                client: first & 1 != 0,
                server: first & 2 != 0,
                all_listeners: first & 0x400 != 0,
                client_cookieless: first & 4 != 0,
                server_cookieless: first & 0x200 != 0,
            };
        }
        "tcp_min_tso_segs" => settings.min_burst = first.max(1) as u32,
        "tcp_timestamps" => config.timestamps = on,
        "tcp_sack" => config.sack = on,
        "tcp_dsack" => config.dsack = on,
        "tcp_window_scaling" => config.window_scale = on,
        "tcp_ecn" => {
            config.ecn = match first {
                0 => EcnMode::Off,
                1 => EcnMode::On,
                2 => EcnMode::Passive,
                _ => return Configured::NotApplicable(format!("tcp_ecn = {first}")),
            }
        }
        "tcp_syn_linear_timeouts" => config.syn_linear_timeouts = first as u32,
        "tcp_syn_retries" => config.syn_retries = first as u32,
        "tcp_synack_retries" => config.syn_ack_retries = first as u32,
        "tcp_retries1" => config.stalled_after = first as u32,
        "tcp_retries2" => config.max_retries = first as u32,
        "tcp_frto" => config.undo.frto = on,
        "tcp_reordering" => config.dupack_threshold = first as u32,
        "tcp_max_reordering" => config.max_dupack_threshold = Some(first as u32),
        "tcp_slow_start_after_idle" => config.idle_restart = on,
        "tcp_rfc1337" => config.protect_time_wait = on,
        "tcp_early_retrans" => with_rack(config, |rack| rack.tlp = first >= 3),
        "tcp_recovery" if !on => {
            config.recovery = Recovery::Sack { pipe: Default::default(), prr: true };
        }
        "tcp_recovery" => with_rack(config, |_| {}),
        "tcp_mtu_probing" => {
            config.mtu_probing = match first {
                0 => MtuProbing::Off,
                1 => MtuProbing::BlackHole,
                _ => MtuProbing::Always,
            };
        }
        "tcp_base_mss" => config.mtu_probe_base = first.clamp(88, 65_535) as u32,
        "tcp_mtu_probe_floor" | "tcp_min_snd_mss" => {}
        "tcp_notsent_lowat" if first >= u32::MAX as u64 => {}
        "tcp_syncookies" => {
            settings.backlog.cookies = match first {
                0 => SynCookies::Off,
                1 => SynCookies::WhenFull,
                _ => SynCookies::Always,
            }
        }
        "ip_no_pmtu_disc" => config.path_mtu_discovery = !on,
        "min_pmtu" => config.min_path_mtu = first as u32,
        "route.min_pmtu" => config.min_path_mtu = first as u32,
        "tcp_challenge_ack_limit" => {
            config.challenge_acks = if first > 1 << 30 { 0 } else { first as u32 };
        }
        "route.initcwnd" => config.initial_window = InitialWindow::Segments(first as u32),
        "route.advmss" => config.mss = first as u32,
        "route.mtu" => config.mss = (first as u32).saturating_sub(headers(config)),
        "route.quickack" => config.quick_acks = if on { u32::MAX } else { 0 },
        "sys.module.tcp_cubic.parameters.hystart_detect" => {}
        _ if WITHOUT_EFFECT.contains(&name) => {}
        _ => return Configured::Unknown,
    }
    Configured::Done
}

fn by_word(config: &mut Config, name: &str, value: &str) -> Configured {
    match name {
        "net.ipv4.tcp_congestion_control" | "net.ipv4.tcp_default_congestion_control" => {
            let same = config.window.name() == value;
            match Algorithm::from_name(value) {
                _ if same => {}
                Some(algorithm) => config.window = algorithm,
                None => return Configured::NotApplicable(format!("the window algorithm {value}")),
            }
            Configured::Done
        }
        _ if WITHOUT_EFFECT.contains(&name) => Configured::Done,
        _ => Configured::Unknown,
    }
}

fn with_rack(config: &mut Config, change: impl FnOnce(&mut RackOptions)) {
    if !matches!(config.recovery, Recovery::Rack(_)) {
        let options = RackOptions { prr_in_segments: true, ..RackOptions::default() };
        config.recovery = anabranch_tcp::Profile::Linux.recovery(Recovery::Rack(options));
    }
    if let Recovery::Rack(options) = &mut config.recovery {
        change(options);
    }
}

/// The number that a value begins with.
pub(super) fn number(value: &str) -> Option<u64> {
    value.split_whitespace().next().and_then(parse)
}

fn parse(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok(),
        None => word.parse().ok(),
    }
}
