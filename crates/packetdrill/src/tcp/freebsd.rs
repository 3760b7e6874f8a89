//! What FreeBSD's sysctls mean to TCP, and what a host of FreeBSD begins with: tcp(4), and
//! `sys/netinet/tcp_*.c` where that says nothing.

use super::settings::number;
use crate::stack::Configured;
use anabranch_congestion::Algorithm;
use anabranch_endpoint::RtoBounds;
use anabranch_socket::{BlackHole, Flavor, Settings, UdpTunnel};
use anabranch_tcp::{Config, EcnMode, KeepAlive, OpeningErrors, SynCookies};
use anabranch_units::Span;

/// What new sockets of FreeBSD have (`net.inet.tcp.*`, `kern.ipc.maxsockbuf`).
pub(super) fn defaults(settings: &mut Settings) {
    settings.flavor = Flavor::FreeBsd;
    settings.send_buffer = 32_768; // sendspace
    settings.keep_alive =
        KeepAlive { idle: Span::from_secs(7200), interval: Span::from_secs(75), probes: 8 };
    let config = &mut settings.config;
    config.receive_buffer = 65_536; // recvspace
    config.window_scale_buffer = Some(2 << 20); // maxsockbuf
    on_ip_version(config);
}

/// MTUs that let segments of the default size pass are heard of in IPv6 alone while a connection
/// is opened: there it is ICMP itself that keeps them (`icmp6_mtudisc_update`).
pub(super) fn on_ip_version(config: &mut Config) {
    config.manners.believes_small_mtu_alone = config.default_mss == 536;
}

/// Sysctls that change nothing that a script can see here: limits that are never met, caches that
/// are not kept, and answers that are not limited.
const WITHOUT_EFFECT: [&str; 22] = [
    "hostcache.purgenow",
    "hostcache.purge",
    "hostcache.enable",
    "hostcache.expire",
    "udp_tunneling_overhead.check",
    "blackhole_local",
    "icmp_rate",
    "ack_war_cnt",
    "ack_war_timewindow",
    "msl_local",
    "nolocaltimewait",
    "log_debug",
    "log_in_vain",
    "path_mtu_discovery_cache",
    "reass.maxsegments",
    "reass.maxqueuelen",
    "recvbuf_auto",
    "sendbuf_auto",
    "recvbuf_max",
    "sendbuf_max",
    "tso",
    "isn_reseed_interval",
];

/// Makes a setting; `None` for one that is none of FreeBSD's.
pub(super) fn configure(settings: &mut Settings, name: &str, value: &str) -> Option<Configured> {
    let short = match name {
        "kern.ipc.maxsockbuf" => "maxsockbuf",
        _ => name.strip_prefix("net.inet.tcp.")?,
    };
    if short == "cc.algorithm" {
        return Some(window(&mut settings.config, value));
    }
    let Some(n) = number(value) else { return Some(Configured::Unknown) };
    let (on, millis) = (n != 0, Span::from_millis(n));
    let small = u32::try_from(n).unwrap_or(u32::MAX);
    let Settings { config, udp, .. } = settings;
    match short {
        "maxsockbuf" => config.window_scale_buffer = Some(n),
        "recvspace" => config.receive_buffer = n,
        "sendspace" => settings.send_buffer = n,
        "rfc1323" => (config.window_scale, config.timestamps) = (on, on),
        "sack.enable" => config.sack = on,
        "rfc3042" => config.limited_transmit = on,
        "delayed_ack" => config.delayed_ack.count = if on { 2 } else { 1 },
        "delacktime" => config.delayed_ack.delay = millis,
        "mssdflt" if config.default_mss != 1220 => config.default_mss = small.min(65_535) as u16,
        "v6mssdflt" if config.default_mss == 1220 => config.default_mss = small.min(65_535) as u16,
        "mssdflt" | "v6mssdflt" => {}
        "minmss" => config.min_path_mtu = small.saturating_add(40),
        "path_mtu_discovery" => config.path_mtu_discovery = on,
        "pmtud_blackhole_detection" => config.black_hole_detection = on,
        "initcwnd_segments" => {
            config.initial_window = match small {
                10 => anabranch_tcp::InitialWindow::Rfc6928,
                n => anabranch_tcp::InitialWindow::Segments(n.max(1)),
            };
        }
        "ecn.enable" => {
            config.ecn = match n {
                0 => EcnMode::Off,
                1 => EcnMode::On,
                2 => EcnMode::Passive,
                3 => EcnMode::Accurate,
                _ => return Some(Configured::NotApplicable(format!("{name} = {n}"))),
            };
        }
        "ecn.maxretries" => config.ecn_syn_retries = small,
        "rexmit_initial" => config.rto.initial = millis,
        "rexmit_min" => config.rto.min = millis,
        "rexmit_slop" => config.rto = RtoBounds { slop: millis, ..config.rto },
        "rexmit_drop_options" => config.manners.plain_last_syns = on,
        "keepinit" => config.opening_timeout = on.then_some(millis),
        "keepidle" => settings.keep_alive.idle = millis,
        "keepintvl" => settings.keep_alive.interval = millis,
        "keepcnt" => settings.keep_alive.probes = small,
        "msl" => config.time_wait = millis.saturating_mul(2),
        "insecure_rst" => config.manners.any_reset_in_window = on,
        "insecure_syn" => config.manners.resets_for_syns = on,
        "insecure_ack" if !on => {}
        "drop_synfin" => config.manners.drops_syn_fin = on,
        "tolerate_missing_ts" => config.require_timestamps = !on,
        "icmp_may_rst" => {
            config.manners.opening_errors =
                if on { OpeningErrors::HardInSynSent } else { OpeningErrors::Nothing };
        }
        "blackhole" => {
            settings.black_hole = match n {
                0 => BlackHole::Off,
                1 => BlackHole::Syns,
                _ => BlackHole::All,
            };
        }
        "syncookies" if !on => settings.backlog.cookies = SynCookies::Off,
        "syncookies" if settings.backlog.cookies == SynCookies::Off => {
            settings.backlog.cookies = SynCookies::WhenFull
        }
        "syncookies" => {}
        "syncookies_only" => {
            settings.backlog.cookies = if on { SynCookies::Always } else { SynCookies::WhenFull };
        }
        "syncache.rexmtlimit" => config.syn_ack_retries = small,
        "fastopen.client_enable" => settings.fast_open.client = on,
        "fastopen.server_enable" => settings.fast_open.server = on,
        "udp_tunneling_port" => udp.port = u16::try_from(n).unwrap_or(0),
        "udp_tunneling_overhead" => *udp = UdpTunnel { overhead: small, ..*udp },
        _ if WITHOUT_EFFECT.contains(&short) => {}
        _ => return Some(Configured::Unknown),
    }
    Some(Configured::Done)
}

fn window(config: &mut Config, value: &str) -> Configured {
    match Algorithm::from_name(if value == "newreno" { "reno" } else { value }) {
        Some(algorithm) => {
            config.window = algorithm;
            Configured::Done
        }
        None => Configured::NotApplicable(format!("the window algorithm {value}")),
    }
}
