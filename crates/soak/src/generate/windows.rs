//! Window algorithms and recoveries with their options.

use crate::draw::{Draw, Options, bytes, number, packets, table};
use anabranch_congestion::{ALGORITHMS, Algorithm};
use toml::Value;

/// A name, or a table with some options.
pub(super) fn window(draw: &mut Draw) -> Value {
    let name = draw.pick(ALGORITHMS).name;
    if draw.chance(0.5) {
        return name.into();
    }
    let mut o = Options::new(draw, 0.25);
    o.put("algorithm", name);
    let mut algorithm = Algorithm::from_name(name).expect("a name of the catalogue");
    let ack_driven = algorithm.common_mut().is_some();
    if ack_driven {
        o.word("ssthresh_from", &["in-flight", "cwnd", "ns2"]);
        o.number("slow_start_limit", 1, 255);
        o.word("slow_start_exit", &["standard", "limited", "hystart", "hystart++", "search"]);
        o.switches(&["validation", "pacing", "whole_segments"]);
        o.maybe("careful_resume", careful_resume);
    }
    match name {
        "cubic" => {
            o.switches(&["fast_convergence", "reno_friendly"]);
            o.switches(&["count_limited_time"]);
            o.word("reno_increase", &["whole", "kept"])
                .word("reno_step", &["at-once", "in-a-round"]);
            o.word("lookahead", &["srtt", "min-rtt"]).number("least_first_growth", 0, 100);
            o.maybe("update_interval", |draw| draw.time(1, 100_000));
        }
        "vegas" => {
            o.maybe("gamma", |draw| number(draw.spread(1, 1000) - 1));
            o.maybe("loss_beta", |draw| draw.probability(1.0).into());
        }
        "bbr" | "coupled-bbr" => {
            if name == "coupled-bbr" {
                o.number("likeness", 0, 100);
            }
            o.maybe("rtprop_filter", |draw| draw.time(1000, 20_000_000));
            o.maybe("probe_rtt", |draw| draw.time(1000, 1_000_000));
            o.switches(&["ack_aggregation"]);
        }
        "dctcp" => {
            o.maybe("g", |draw| draw.probability(1.0).into());
            o.maybe("initial_alpha", |draw| draw.probability(1.0).into());
        }
        "mcubic" => {
            o.switches(&["fast_convergence"]).number("floor_tenths", 0, 100);
            o.word("k_beta", &["given-up", "left"]).word("k_after_timeout", &["kept", "zero"]);
        }
        "mcubic-share" => drop(o.switches(&["fast_convergence"]).number("least_share", 0, 100)),
        "wvegas" => {
            o.number("total_alpha", 2, 100).number("gamma", 0, 10);
            o.word("drain", &["holding", "always", "never"]);
        }
        "westwood" => {
            o.maybe("filter", |draw| draw.probability(1.0).into());
        }
        _ => {}
    }
    if ack_driven && !algorithm.answers_marks() {
        o.maybe("ecn_beta", |draw| (0.1 + draw.probability(0.8)).into());
    }
    o.table.into()
}

/// What was saved of an earlier flow, which the path may be like or not.
fn careful_resume(draw: &mut Draw) -> Value {
    let saved = [
        ("saved_cwnd", bytes(draw.spread(1, 10_000_000))),
        ("saved_rtt", draw.time(1, 2_000_000)),
        ("beta", (0.5 + draw.probability(0.5)).into()),
    ];
    table(saved).into()
}

/// A recovery scheme; without SACK one that needs none.
pub(super) fn recovery(draw: &mut Draw, sack: bool) -> Value {
    let all: &[&str] = match sack {
        true => {
            &["tahoe", "reno", "newreno", "sack", "fack", "rack", "decoupled", "decoupled-rack"]
        }
        false => &["tahoe", "reno", "newreno"],
    };
    let scheme = draw.pick(all);
    if draw.chance(0.5) {
        return scheme.into();
    }
    let mut o = Options::new(draw, 0.4);
    o.put("scheme", scheme);
    match scheme {
        "reno" => drop(o.switches(&["exit_growth"])),
        "newreno" => drop(o.switches(&["impatient", "exit_growth"])),
        "sack" => {
            o.word("pipe", &["rfc6675", "ns2", "ns2-old"]);
            if !o.table.contains_key("pipe") {
                o.switches(&["prr"]);
            }
        }
        "fack" => drop(o.switches(&["prr"])),
        "decoupled" => drop(o.switches(&["opens_late"])),
        "decoupled-rack" => {
            o.switches(&["fast_retransmit", "tlp", "reduce_again"]);
            o.maybe("max_ack_delay", |draw| draw.time(1000, 500_000));
        }
        "rack" => {
            o.switches(&["prr", "prr_in_segments", "tlp", "linux_probes", "reduce_again"]);
            o.maybe("max_ack_delay", |draw| draw.time(1000, 500_000));
        }
        _ => {}
    }
    o.table.into()
}

/// `"2 packets"`, or the rule of an RFC.
pub(super) fn initial_window(draw: &mut Draw, rules: &[&str]) -> Value {
    if draw.chance(0.5) { draw.pick(rules).into() } else { packets(draw.spread(1, 64)) }
}
