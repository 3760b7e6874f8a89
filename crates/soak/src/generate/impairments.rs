//! What goes wrong on a direction of a link.

use super::Transport;
use super::network::Temper;
use crate::draw::{Draw, bytes, micros, number, rate, table};
use toml::{Table, Value};

/// Impairments of a direction; none of them breaks a gentle network.
pub(super) fn impairments(draw: &mut Draw, temper: Temper, of: Transport) -> Vec<Table> {
    let most = match temper {
        Temper::Gentle => 1,
        Temper::Rough => 2,
        Temper::Hostile => 4,
    };
    let n = draw.between(0, most);
    (0..n).map(|_| with_place(draw, temper, of)).collect()
}

fn with_place(draw: &mut Draw, temper: Temper, of: Transport) -> Table {
    let mut one = impairment(draw, temper, of);
    if draw.chance(0.2) {
        one.insert("at".into(), draw.pick(&["ingress", "egress"]).into());
    }
    one
}

fn impairment(draw: &mut Draw, temper: Temper, of: Transport) -> Table {
    let loss = match temper {
        Temper::Gentle => 0.03,
        Temper::Rough => 0.3,
        Temper::Hostile => 0.8,
    };
    let kinds: &[&str] = match temper {
        Temper::Gentle => &["bernoulli", "duplicate", "reorder", "reorder-distance", "jitter"],
        _ => &[
            "bernoulli",
            "gilbert-elliott",
            "bit-errors",
            "packets",
            "periodic",
            "reorder",
            "reorder-distance",
            "jitter",
            "duplicate",
            "corrupt",
            "outage",
            "police",
            "middlebox",
        ],
    };
    let kind = draw.pick(kinds);
    let mut table = table([("kind", kind.into())]);
    let mut put = |name: &str, value: Value| {
        table.insert(name.to_owned(), value);
    };
    match kind {
        "bernoulli" => put("rate", draw.probability(loss).into()),
        "gilbert-elliott" => {
            put("p", draw.probability(loss / 2.0).into());
            put("r", (0.05 + draw.probability(0.95)).into());
            put("k", (1.0 - draw.probability(loss / 4.0)).into());
            put("h", draw.probability(1.0).into());
        }
        "bit-errors" => put("ber", (draw.between(1, 1000) as f64 * 1e-7).into()),
        "packets" => {
            put("flow", "f0".into());
            let n = draw.between(1, 5);
            put("numbers", Value::Array((0..n).map(|_| number(draw.spread(1, 64))).collect()));
            put("reverse_data", draw.chance(0.3).into());
        }
        "periodic" => {
            put("every", number(draw.between(2, 40)));
            put("first", number(draw.between(1, 40)));
        }
        "reorder" => {
            put("probability", draw.probability(1.0).into());
            put("extra", draw.time(10, 500_000));
        }
        "reorder-distance" => {
            put("probability", draw.probability(0.7).into());
            put("distance", number(draw.spread(1, 60)));
            put("longest", draw.time(1000, 1_000_000));
        }
        "jitter" => {
            put("mean", draw.time(10, 200_000));
            put("deviation", draw.time(10, 100_000));
            put("law", draw.pick(&["uniform", "normal", "pareto"]).into());
            put("correlation", draw.probability(0.9).into());
            put("keep_order", draw.chance(0.5).into());
        }
        "duplicate" => put("probability", draw.probability(1.0).into()),
        "corrupt" => {
            put("probability", draw.probability(loss / 2.0).into());
            // Two bits may cancel out in the checksum of TCP, not in that of SCTP.
            let most = if of == Transport::Sctp || draw.chance(0.1) { 30 } else { 1 };
            put("bits", number(draw.spread(1, most)));
        }
        "outage" => outage(draw, &mut put),
        "police" => {
            put("rate", rate(draw.spread(20_000, 20_000_000)));
            put("burst", bytes(draw.spread(1500, 100_000)));
        }
        _ => middlebox(draw, of, &mut put),
    }
    table
}

/// One outage or several, or one in each period.
fn outage(draw: &mut Draw, put: &mut dyn FnMut(&str, Value)) {
    let mut at = 0;
    let mut intervals = Vec::new();
    for _ in 0..draw.between(1, 3) {
        at += draw.spread(1000, 10_000_000);
        let length = draw.spread(1000, 20_000_000);
        intervals.push(Value::Table(table([("at", micros(at)), ("for", micros(length))])));
        at += length;
    }
    put("intervals", Value::Array(intervals));
    if draw.chance(0.2) {
        put("period", micros(at + draw.spread(100_000, 10_000_000)));
    }
}

/// What middleboxes do to segments of TCP; SCTP passes by.
fn middlebox(draw: &mut Draw, of: Transport, put: &mut dyn FnMut(&str, Value)) {
    let all = [
        "mss",
        "window-scale",
        "sack-permitted",
        "sack",
        "timestamps",
        "fast-open",
        "accecn",
        "mptcp",
    ];
    let mut strip = vec![draw.pick(&all)];
    if of == Transport::Mptcp && draw.chance(0.6) {
        strip = vec!["mptcp"];
    }
    if draw.chance(0.3) {
        strip.push(draw.pick(&all));
    }
    // Options of the handshake that only later segments lose are no agreement that was broken.
    put("strip", Value::Array(strip.into_iter().map(Value::from).collect()));
    put("segments", draw.pick(&["all", "syn", "not-syn"]).into());
    if draw.chance(0.5) {
        put("after", number(draw.spread(1, 100)));
    }
    if draw.chance(0.1) {
        put("change_every", bytes(draw.spread(1000, 100_000)));
    }
}
