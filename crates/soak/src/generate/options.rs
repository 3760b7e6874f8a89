//! Options of the transports.

use super::network::{Network, Temper};
use super::windows::{initial_window, recovery, window};
use crate::draw::{Draw, Options, bytes, micros, number, table};
use anabranch_mptcp::path_manager::PATH_MANAGERS;
use anabranch_mptcp::scheduler::SCHEDULERS;
use anabranch_sctp::PRESETS;
use anabranch_sctp::failover::FAILOVERS;
use anabranch_sctp::policy::DESTINATIONS;
use toml::{Table, Value};

/// Draws the probability with which each option is given: most scenarios have few, some many.
fn density(draw: &mut Draw) -> f64 {
    draw.pick(&[0.0, 0.04, 0.08, 0.15, 0.3])
}

/// A buffer from `least` octets on.
fn buffer(draw: &mut Draw, least: u64) -> u64 {
    match draw.between(0, 3) {
        0 => least + draw.between(0, 3),
        1 => draw.between(least, 4 * least),
        _ => draw.spread(least, 1 << 20),
    }
}

fn rto(draw: &mut Draw, of_tcp: bool) -> Value {
    let mut o = Options::new(draw, 0.5);
    o.maybe("initial", |draw| draw.time(10_000, 3_000_000));
    o.maybe("min", |draw| draw.time(50_000, 1_000_000));
    o.maybe("max", |draw| draw.time(1_000_000, 60_000_000));
    if of_tcp {
        o.maybe("min_variation", |draw| draw.time(1000, 200_000));
        o.maybe("slop", |draw| draw.time(1000, 200_000));
    }
    o.maybe("granularity", |draw| draw.time(1, 100_000));
    o.table.into()
}

/// The table `tcp`; of a subflow where `multipath`. The second is the smallest amount that one
/// round trip may move.
pub(super) fn tcp(draw: &mut Draw, network: &Network, multipath: bool) -> (Table, u64) {
    let gentle = network.temper == Temper::Gentle;
    let p = density(draw);
    let mut o = Options::new(draw, p);
    o.word("profile", &["rfc", "linux", "freebsd", "ns2"]);
    // What fits the path, of either family, and sometimes what does not.
    let fits = network.mtu.saturating_sub(60).clamp(64, 65_495);
    let least = if multipath { 128 } else { 64 };
    let mss = match o.draw.between(0, 9) {
        0 => Some(o.draw.between(least, fits.max(least))),
        1 => Some(least),
        _ if fits < 1440 || (network.mtu > 1500 && o.draw.chance(0.7)) => Some(fits.max(least)),
        2 if !gentle => Some(o.draw.between(least, 9000)),
        _ => None,
    };
    if let Some(mss) = mss {
        o.put("mss", bytes(mss));
    }
    let mss = mss.unwrap_or(1460);
    let mut receive = 4 << 20;
    if o.draw.chance(0.3) {
        receive = buffer(o.draw, mss);
        o.put("receive_buffer", bytes(receive));
    }
    let mut least = mss.min(receive);
    if o.draw.chance(0.3) {
        let send = buffer(o.draw, mss);
        o.put("send_buffer", bytes(send));
    }
    if o.draw.chance(p) {
        let first = if o.draw.chance(0.4) {
            (0.05 + o.draw.probability(0.95)).into()
        } else {
            bytes(o.draw.between(mss, receive.max(mss)).min(65_535))
        };
        o.put("initial_receive_window", first);
    }
    if !multipath {
        o.maybe("receive_buffer_max", |draw| bytes(receive * draw.between(1, 8)));
    }
    o.maybe("window", window);
    let sack = !o.draw.chance(p / 2.0);
    if !sack {
        o.put("sack", false);
    }
    if !sack || o.draw.chance(p) {
        let scheme = recovery(o.draw, sack);
        o.put("recovery", scheme);
    }
    o.maybe("initial_window", |draw| initial_window(draw, &["rfc6928", "rfc3390", "rfc2581"]));
    o.maybe("initial_ssthresh", |draw| bytes(mss * draw.spread(2, 64)));
    let timestamps = !o.draw.chance(p);
    o.put("timestamps", timestamps);
    o.switches(&[
        "window_scale",
        "limited_transmit",
        "adaptive_acks",
        "idle_restart",
        "segmentation_offload",
    ]);
    o.switches(&["go_back_n"]);
    o.switches(&["soft_errors_end_opening", "path_mtu_discovery", "black_hole_detection"]);
    o.switches(&["paws", "require_timestamps", "protect_time_wait", "ecn_control", "ecn_wait"]);
    let dsack = sack && o.draw.chance(p);
    if dsack {
        o.put("dsack", true);
    }
    o.maybe("undo", |draw| {
        let of = |on: bool, draw: &mut Draw| Value::from(on && draw.chance(0.5));
        let (frto, eifel) = (of(true, draw), of(timestamps, draw));
        table([("frto", frto), ("eifel", eifel), ("dsack", of(dsack, draw))]).into()
    });
    o.maybe("delayed_ack", |draw| {
        let count = number(draw.spread(1, 255));
        table([("count", count), ("delay", micros(draw.spread(1, 499_999)))]).into()
    });
    o.maybe("rto", |draw| rto(draw, true));
    o.word("rto_restart", &["acks", "first-resent"]).word("rtt_samples", &["timed", "every-ack"]);
    o.number("dupack_threshold", 1, 20);
    o.maybe("max_dupack_threshold", |draw| number(draw.between(20, 1000)));
    o.word("counting", &["bytes", "acks", "delivered"]);
    o.word("window_probe", &["octet", "empty"]).word("window_use", &["blocked", "outstanding"]);
    o.word("ecn", &["off", "passive", "on", "dctcp", "accurate"]);
    o.word("reset_timestamps", &["none", "aborts", "all"]);
    o.word("ecn_codepoint", &["ect0", "ect1"]);
    o.number("ttl", 32, 255).number("dscp", 0, 63).number("quick_acks", 0, 32);
    o.number("syn_linear_timeouts", 0, 5);
    o.maybe("time_wait", |draw| draw.time(1, 60_000_000));
    o.word("mtu_probing", &["off", "black-hole", "always"]);
    o.maybe("min_path_mtu", |draw| bytes(draw.between(104, 1500)));
    o.number("pacing_burst", 1, 20);
    o.number("stalled_after", 0, 5).number("challenge_acks", 0, 20);
    if !multipath {
        o.word("nagle", &["off", "rfc", "minshall"]);
        o.maybe("fast_open", fast_open);
        o.maybe("keep_alive", |draw| {
            let idle = draw.time(1_000_000, 100_000_000);
            let interval = draw.time(1_000_000, 75_000_000);
            let probes = number(draw.between(2, 9));
            table([("idle", idle), ("interval", interval), ("probes", probes)]).into()
        });
    }
    if !gentle {
        o.number("syn_retries", 0, 10).number("syn_ack_retries", 0, 10).number(
            "max_retries",
            0,
            20,
        );
        o.maybe("user_timeout", |draw| draw.time(100_000, 100_000_000));
    }
    let table = o.table;
    if let Some(Value::Boolean(true)) = table.get("adaptive_acks") {
        least = least.min(mss);
    }
    (table, least)
}

fn fast_open(draw: &mut Draw) -> Value {
    if draw.chance(0.5) {
        return true.into();
    }
    let mut o = Options::new(draw, 0.5);
    o.switches(&["client", "server", "cookieless", "experimental"]);
    o.maybe("key_lifetime", |draw| draw.time(1_000_000, 100_000_000));
    o.maybe("retry_after", |draw| draw.time(1_000_000, 100_000_000));
    o.table.into()
}

/// Draws the table `mptcp`.
pub(super) fn mptcp(draw: &mut Draw) -> Table {
    let p = density(draw).max(0.1);
    let mut o = Options::new(draw, p);
    o.maybe("scheduler", |draw| match draw.between(0, 7) {
        0 => table([("kind", "blest".into()), ("delta", draw.probability(1.0).into())]).into(),
        1 => table([("kind", "ecf".into()), ("beta", draw.probability(1.0).into())]).into(),
        _ => draw.pick(SCHEDULERS).name.into(),
    });
    for field in ["path_manager", "passive_path_manager"] {
        o.maybe(field, |draw| match draw.between(0, 7) {
            0 => {
                let ports = number(draw.between(1, 6));
                table([("kind", "n-diffports".into()), ("ports", ports)]).into()
            }
            _ => draw.pick(PATH_MANAGERS).name.into(),
        });
    }
    o.number("max_subflows", 1, 32).number("capable_syns", 0, 5);
    o.switches(&["checksum", "long_numbers", "opportunistic_retransmission", "penalisation"]);
    if o.draw.chance(0.05) {
        o.put("enabled", false);
    }
    o.maybe("reopen", |draw| match draw.chance(0.3) {
        true => false.into(),
        false => draw.time(100_000, 10_000_000),
    });
    o.maybe("linger", |draw| draw.time(1_000_000, 200_000_000));
    o.table
}

/// The table `sctp`, and the smallest amount that one round trip may move.
pub(super) fn sctp(draw: &mut Draw, network: &Network) -> (Table, u64) {
    let gentle = network.temper == Temper::Gentle;
    let p = density(draw);
    let mut o = Options::new(draw, p);
    o.word("preset", &PRESETS);
    let fits = network.mtu.clamp(512, 65_535);
    let mtu = match o.draw.between(0, 5) {
        0 => o.draw.between(512, fits),
        1 if !gentle => o.draw.between(512, 9000),
        _ => fits,
    };
    if mtu != 1500 {
        o.put("mtu", bytes(mtu));
    }
    let largest = mtu - 100;
    let mut least = largest;
    if o.draw.chance(0.2) {
        least = o.draw.spread(1, largest);
        o.put("message_size", bytes(least));
    }
    for field in ["receive_buffer", "send_buffer"] {
        if o.draw.chance(0.3) {
            // What cannot hold a message is refused.
            let octets = buffer(o.draw, mtu.max(1500));
            o.put(field, bytes(octets));
        }
    }
    o.number("outbound_streams", 1, 40).number("inbound_streams", 1, 40);
    o.maybe("window", |draw| if draw.chance(0.3) { "standard".into() } else { window(draw) });
    o.maybe("initial_window", |draw| initial_window(draw, &["rfc9260", "rfc4960", "rfc2960"]));
    o.maybe("initial_ssthresh", |draw| bytes(draw.spread(1, 100_000)));
    o.switches(&["slow_start_at_threshold", "highest_newly_acked", "fast_recovery", "ns2_rules"]);
    o.switches(&["growth_needs_advance", "count_padding", "rest_sets_ssthresh", "ecn"]);
    o.word("window_unit", &["mtu", "chunk"]).word("partial_acked", &["all", "capped"]);
    o.switches(&["burst_keeps_window", "confirm_paths", "trust_given", "keep_primary"]);
    o.switches(&["vary_sack_path", "multiple_fast_retransmit", "timestamps"]);
    o.switches(&["heartbeat_after_rto", "partial_reliability", "interleaving", "zero_checksum"]);
    o.switches(&["reconfiguration", "authentication", "immediate_sacks"]);
    o.number("ssthresh_floor", 1, 10).number("missing_reports", 1, 10);
    o.maybe("max_burst", |draw| match draw.chance(0.3) {
        true => false.into(),
        false => number(draw.between(1, 20)),
    });
    o.maybe("sack_frequency", |draw| number(draw.spread(1, 255)));
    o.maybe("sack_delay", |draw| micros(draw.spread(1, 500_000)));
    o.maybe("rto", |draw| rto(draw, false));
    if !gentle {
        o.number("path_max_retrans", 0, 8).number("association_max_retrans", 0, 12);
        o.number("max_init_retransmits", 0, 10);
    }
    o.number("potentially_failed", 0, 3);
    o.maybe("heartbeat_interval", |draw| match draw.chance(0.2) {
        true => false.into(),
        false => draw.time(200_000, 60_000_000),
    });
    o.word("heartbeat_jitter", &["rto", "interval", "none"]).number("heartbeat_burst", 1, 5);
    o.maybe("destination", |draw| draw.pick(&DESTINATIONS).0.into());
    o.maybe("failover", |draw| draw.pick(&FAILOVERS).0.into());
    o.maybe("probing", |draw| match draw.between(0, 3) {
        0 => true.into(),
        1 => false.into(),
        2 => "policy".into(),
        _ => {
            let mut o = Options::new(draw, 0.5);
            o.maybe("interval", |draw| draw.time(200_000, 5_000_000)).number("burst", 1, 20);
            o.table.into()
        }
    });
    o.maybe("concurrent", |draw| match draw.chance(0.5) {
        true => true.into(),
        false => {
            let mut o = Options::new(draw, 0.5);
            o.switches(&["split_fast_retransmit", "window_update", "delayed_ack", "buffer_split"]);
            o.table.into()
        }
    });
    o.maybe("cookie_life", |draw| draw.time(1_000_000, 60_000_000));
    let schedulers = anabranch_sctp::Scheduler::ALL.map(|item| item.name());
    o.word("scheduler", &schedulers);
    if network.paths > 1 && o.draw.chance(0.15) {
        o.put("dynamic_addresses", true);
        o.table.remove("authentication");
        let changes = address_changes(o.draw, network.paths as u64);
        o.put("address_changes", changes);
    }
    (o.table, least)
}

/// Addresses that go, come back and become primary ones.
fn address_changes(draw: &mut Draw, paths: u64) -> Value {
    let mut at = 0;
    let mut all = Vec::new();
    for _ in 0..draw.between(1, 4) {
        at += draw.spread(1000, 5_000_000);
        let interface = format!("{}.i{}", draw.pick(&["a", "b"]), draw.between(0, paths - 1));
        let what = draw.pick(&["add", "delete", "primary"]);
        all.push(table([("at", micros(at)), (what, interface.into())]).into());
    }
    Value::Array(all)
}
