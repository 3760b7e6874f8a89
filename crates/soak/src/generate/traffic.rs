//! Flows: who sends what to whom, and how much of it.

use super::Transport;
use super::network::{Network, Temper};
use super::options::{mptcp, sctp, tcp};
use crate::draw::{Draw, Options, bytes, micros, number, rate, table};
use toml::{Table, Value};

/// Most segments of a transfer, about.
const SEGMENTS: u64 = 300;

/// The flows of a scenario, most of them over `transport`.
pub(super) fn flows(draw: &mut Draw, transport: Transport, network: &Network) -> Vec<Value> {
    let n = draw.pick(&[1, 1, 1, 1, 2, 3]);
    let all = (0..n).map(|i| {
        let mixed = draw.pick(&[Transport::Tcp, Transport::Sctp, Transport::Mptcp]);
        let transport = if i > 0 && draw.chance(0.2) { mixed } else { transport };
        Value::Table(flow(draw, i, transport, network))
    });
    all.collect()
}

fn flow(draw: &mut Draw, i: u64, transport: Transport, network: &Network) -> Table {
    let pair = &network.pairs[draw.between(0, network.pairs.len() as u64 - 1) as usize];
    let mut found = table([
        ("name", format!("f{i}").into()),
        ("from", pair[0].as_str().into()),
        ("to", pair[1].as_str().into()),
    ]);
    if draw.chance(0.3) {
        found.insert("start".into(), draw.time(1, 5_000_000));
    }
    let least = match transport {
        Transport::Tcp => {
            let (options, least) = tcp(draw, network, false);
            found.insert("tcp".into(), options.into());
            least
        }
        Transport::Mptcp => {
            let (options, least) = tcp(draw, network, true);
            found.insert("protocol".into(), "mptcp".into());
            found.insert("tcp".into(), options.into());
            found.insert("mptcp".into(), mptcp(draw).into());
            least
        }
        Transport::Sctp => {
            let (options, least) = sctp(draw, network);
            found.insert("protocol".into(), "sctp".into());
            found.insert("sctp".into(), options.into());
            least
        }
    };
    if transport == Transport::Mptcp || draw.chance(0.6) {
        // Checksums over counted octets need numbers that nobody rewrites.
        found.insert("octets".into(), true.into());
    }
    let most = (least * SEGMENTS).clamp(1, 300_000);
    traffic(draw, transport, network, most, &mut found);
    // The first is one, whose packets an impairment may drop by their numbers.
    if i > 0 && draw.chance(0.3) {
        found.insert("count".into(), number(draw.between(2, 4)));
        match draw.between(0, 2) {
            0 => drop(found.insert("start_spread".into(), draw.time(1, 1_000_000))),
            1 => {
                let arrivals = table([("per_second", number(draw.spread(1, 100)))]);
                found.insert("arrivals".into(), arrivals.into());
            }
            _ => {}
        }
        if transport != Transport::Sctp && draw.chance(0.3) {
            found.insert("port".into(), number(draw.between(1, 40_000)));
        }
    }
    found
}

/// Puts what is written, of `most` octets in all.
fn traffic(draw: &mut Draw, transport: Transport, network: &Network, most: u64, item: &mut Table) {
    let kind = match draw.between(0, if transport == Transport::Sctp { 12 } else { 9 }) {
        0..5 => "bulk",
        5 => "constant",
        6 => "on-off",
        7 => "requests",
        8 => "pages",
        9 => "endless",
        _ => "messages",
    };
    let size = draw.spread(1, most);
    match kind {
        "bulk" => {
            if draw.chance(0.1) {
                item.insert("sizes".into(), sizes(draw, most));
            } else {
                item.insert("size".into(), bytes(size));
            }
            if draw.chance(0.3) {
                item.insert("reverse_size".into(), bytes(draw.spread(1, most)));
            }
        }
        "endless" => {
            // As much as the slowest link carries, and not more than a short transfer.
            let longest = (most * 8_000_000 / network.bps).clamp(1000, 30_000_000);
            item.insert("duration".into(), micros(draw.spread(1000, longest)));
        }
        "requests" | "pages" => {
            item.insert("traffic".into(), asking(draw, kind, most));
            if network.temper != Temper::Gentle && draw.chance(0.2) {
                item.insert("duration".into(), draw.time(1000, 20_000_000));
            }
        }
        "messages" => messages(draw, most, item),
        _ => {
            item.insert("size".into(), bytes(size));
            let rate = rate(draw.spread(10_000, 10_000_000));
            let mut traffic = table([("kind", kind.into()), ("rate", rate)]);
            traffic.insert("chunk".into(), bytes(draw.spread(100, 20_000)));
            if kind == "on-off" {
                traffic.insert("on".into(), draw.time(10_000, 1_000_000));
                traffic.insert("off".into(), draw.time(1000, 3_000_000));
            }
            item.insert("traffic".into(), traffic.into());
        }
    }
}

fn sizes(draw: &mut Draw, most: u64) -> Value {
    let mean = bytes(draw.spread(1, most.div_ceil(8)));
    match draw.between(0, 2) {
        0 => table([("law", "constant".into()), ("mean", mean)]),
        1 => table([("law", "exponential".into()), ("mean", mean)]),
        _ => {
            let (min, max) = (bytes(draw.spread(1, most)), bytes(most + 1));
            table([("law", "pareto".into()), ("min", min), ("max", max), ("shape", 1.2.into())])
        }
    }
    .into()
}

/// Requests or pages, of `most` octets in all.
fn asking(draw: &mut Draw, kind: &str, most: u64) -> Value {
    let count = draw.spread(1, 30);
    let each = (most / count).max(1);
    let mut table = table([("kind", kind.into()), ("count", number(count))]);
    table.insert("request".into(), bytes(draw.spread(1, each.min(2000))));
    if kind == "requests" {
        table.insert("response".into(), bytes(draw.spread(1, each)));
    } else {
        let objects = draw.between(0, 6);
        table.insert("main".into(), bytes(draw.spread(1, each)));
        table.insert("objects".into(), number(objects));
        table.insert("object".into(), bytes(draw.spread(1, each.div_ceil(objects + 1))));
        table.insert("pipelined".into(), draw.chance(0.5).into());
    }
    if draw.chance(0.5) {
        table.insert("think".into(), draw.time(1, 2_000_000));
    }
    table.into()
}

/// Messages of SCTP in one direction or both.
fn messages(draw: &mut Draw, most: u64, table: &mut Table) {
    let partly = table["sctp"].get("partial_reliability") == Some(&true.into());
    let streams = |name| {
        let given = table["sctp"].get(name).and_then(Value::as_integer);
        given.map_or(10, |n| n.unsigned_abs())
    };
    let streams = streams("outbound_streams").min(streams("inbound_streams"));
    let one = |draw: &mut Draw| {
        let size = draw.spread(1, 6000);
        let count = (most / size).clamp(1, SEGMENTS);
        let mut o = Options::new(draw, 0.3);
        o.put("size", bytes(size))
            .number("streams", 1, streams)
            .word("order", &["ordered", "unordered"]);
        let count = o.draw.spread(1, count);
        o.put("count", number(count));
        match o.draw.between(0, 3) {
            0 => drop(o.maybe("rate", |draw| rate(draw.spread(10_000, 10_000_000)))),
            1 => drop(o.maybe("interval", |draw| draw.time(1, 500_000))),
            _ => {}
        }
        if partly && o.draw.chance(0.5) {
            match o.draw.chance(0.5) {
                true => o.maybe("lifetime", |draw| draw.time(1000, 5_000_000)),
                false => o.number("retransmissions", 0, 5),
            };
        }
        o.table
    };
    let mut traffic = one(draw);
    traffic.insert("kind".into(), "messages".into());
    if draw.chance(0.3) {
        traffic.insert("reverse".into(), one(draw).into());
    }
    table.insert("traffic".into(), traffic.into());
}
