//! Queues of every kind, from one packet to as many as come.

use super::network::Temper;
use crate::draw::{Draw, Options, bytes, micros, number, packets, table};
use toml::{Table, Value};

/// A queue for packets of up to `mtu` octets.
pub(super) fn queue(draw: &mut Draw, temper: Temper, mtu: u64) -> Table {
    let kinds = [
        "droptail",
        "droptail",
        "threshold",
        "red",
        "choke",
        "blue",
        "pie",
        "pi2",
        "codel",
        "cobalt",
        "fq-codel",
        "fq-pie",
        "dualpi2",
        "priority",
        "drr",
        "sfq",
        "cake",
        "htb",
        "ack-filter",
    ];
    let kind = draw.pick(&kinds);
    let least = if temper == Temper::Gentle { 20 } else { 1 };
    let in_packets = matches!(kind, "fq-codel" | "fq-pie" | "sfq");
    let limit = match draw.between(0, 5) {
        0 if !in_packets => bytes(mtu * draw.spread(least, 300)),
        1 if !in_packets && !matches!(kind, "red" | "threshold" | "pie" | "pi2" | "dualpi2") => {
            "unlimited".into()
        }
        _ => packets(draw.spread(least, 300)),
    };
    let mut o = Options::new(draw, 0.3);
    o.put("kind", kind);
    if kind != "htb" {
        o.put("limit", limit);
    }
    match kind {
        "threshold" => {
            let mark = o.draw.between(1, 30);
            o.put("mark", packets(mark));
        }
        "red" => {
            if o.draw.chance(0.5) {
                let least = o.draw.between(1, 20);
                let most = least + o.draw.between(1, 40);
                o.put("min", packets(least)).put("max", packets(most));
            }
            o.maybe("max_p", |draw| (0.01 + draw.probability(0.9)).into());
            o.maybe("weight", |draw| (0.001 + draw.probability(0.5)).into());
            o.switches(&["gentle", "wait", "by_size", "ecn", "adaptive"]);
        }
        "choke" => {
            if o.draw.chance(0.5) {
                let least = o.draw.between(1, 50);
                let most = least + o.draw.between(1, 100);
                o.put("min", packets(least)).put("max", packets(most));
            }
            o.maybe("max_p", |draw| (0.01 + draw.probability(0.9)).into());
            o.maybe("weight", |draw| (0.001 + draw.probability(0.5)).into());
            o.number("candidates", 1, 4).switches(&["ecn"]);
        }
        "blue" => {
            // A probability that soon is large stays so while nothing comes through.
            o.maybe("increment", |draw| (draw.probability(0.02)).into());
            o.maybe("decrement", |draw| (0.0001 + draw.probability(0.02)).into());
            o.maybe("freeze_time", |draw| draw.time(1000, 1_000_000));
            o.maybe("threshold", |draw| packets(draw.spread(least, 300)));
            o.switches(&["ecn"]);
        }
        "pie" => {
            pie(&mut o);
            o.maybe("activate", |draw| draw.probability(0.9).into());
        }
        "pi2" => {
            o.maybe("target", |draw| draw.time(1000, 100_000));
            o.maybe("update", |draw| draw.time(1000, 100_000));
            o.word("scalable", &["none", "ect1", "ect"]);
            o.maybe("coupling", |draw| (1.0 + draw.probability(3.0)).into());
            o.switches(&["ecn"]);
        }
        "codel" => {
            codel(&mut o);
        }
        "cobalt" => {
            codel(&mut o);
            o.maybe("increment", |draw| draw.probability(0.02).into());
            o.maybe("decrement", |draw| (0.0001 + draw.probability(0.02)).into());
            o.maybe("blue_threshold", |draw| draw.time(1000, 1_000_000));
        }
        "fq-codel" => {
            o.number("queues", 1, 64).maybe("quantum", |draw| bytes(draw.spread(64, 9000)));
            o.number("drop_batch", 1, 64);
            codel(&mut o);
        }
        "fq-pie" => {
            o.number("queues", 1, 64).maybe("quantum", |draw| bytes(draw.spread(64, 9000)));
            pie(&mut o);
        }
        "dualpi2" => {
            o.maybe("target", |draw| draw.time(1000, 100_000));
            o.maybe("update", |draw| draw.time(1000, 100_000));
            o.maybe("ramp_start", |draw| draw.time(1, 5000));
            o.maybe("ramp", |draw| draw.time(1, 5000));
        }
        "priority" => drop(o.word("key", &["dscp", "pure-ack"])),
        "drr" => {
            o.number("queues", 1, 64).maybe("quantum", |draw| bytes(draw.spread(64, 9000)));
            if o.draw.chance(0.3) {
                let pair = vec![number(46), number(o.draw.between(1, 1000))];
                o.put("key", "dscp").put("weights", Value::Array(vec![pair.into()]));
            }
        }
        "sfq" => {
            o.number("queues", 1, 64).maybe("quantum", |draw| bytes(draw.spread(64, 9000)));
            o.maybe("depth", |draw| packets(draw.spread(least, 300)));
            o.maybe("perturb", |draw| draw.time(10_000, 60_000_000)).switches(&["head_drop"]);
        }
        "cake" => {
            o.maybe("rate", |draw| crate::draw::rate(draw.spread(100_000, 100_000_000)));
            o.word("tins", &["besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence"]);
            let isolations = [
                "flowblind",
                "srchost",
                "dsthost",
                "hosts",
                "flows",
                "dual-srchost",
                "dual-dsthost",
                "triple-isolate",
            ];
            o.word("isolation", &isolations);
            o.maybe("rtt", |draw| draw.time(1000, 1_000_000));
            o.number("overhead", 0, 64).maybe("mpu", |draw| bytes(draw.between(0, 256)));
            o.word("framing", &["none", "atm", "ptm"]);
            o.word("ack_filter", &["off", "conservative", "aggressive"]);
            o.switches(&["ingress", "wash", "autorate"]);
        }
        "htb" => {
            let classes = classes(o.draw);
            o.put("classes", Value::Array(classes));
            if o.draw.chance(0.7) {
                o.put("default", "rest");
            }
        }
        "ack-filter" => drop(o.switches(&["aggressive"])),
        _ => {}
    }
    o.table
}

/// A root with two leaves, of which the second has what no class names, and perhaps a class between.
fn classes(draw: &mut Draw) -> Vec<Value> {
    let rates = [0; 4].map(|_| draw.spread(100_000, 50_000_000));
    let class = |name: &str, parent: &str, bps: u64, draw: &mut Draw| {
        let mut o = Options::new(draw, 0.3);
        o.put("name", name).put("rate", crate::draw::rate(bps));
        if !parent.is_empty() {
            o.put("parent", parent);
        }
        o.maybe("ceil", |draw| crate::draw::rate(bps * draw.between(1, 10)));
        o.maybe("burst", |draw| bytes(draw.spread(100, 20_000)));
        o.maybe("cburst", |draw| bytes(draw.spread(100, 20_000)));
        o.number("prio", 0, 7).maybe("quantum", |draw| bytes(draw.spread(64, 20_000)));
        o.table
    };
    let middle = if draw.chance(0.3) { "middle" } else { "root" };
    let mut first = class("first", middle, rates[0], draw);
    first.insert("dscp".into(), Value::Array(vec![number(0), number(46)]));
    if draw.chance(0.5) {
        let kind = draw.pick(&["red", "pie", "codel", "fq-codel", "cake", "sfq", "drr"]);
        first.insert("queue".into(), table([("kind", kind.into())]).into());
    }
    let mut all = vec![first, class("rest", "root", rates[1], draw)];
    if middle == "middle" {
        all.push(class("middle", "root", rates[2], draw));
    }
    all.push(class("root", "", rates[3], draw));
    all.into_iter().map(Value::from).collect()
}

fn pie(o: &mut Options<'_>) {
    o.maybe("target", |draw| draw.time(1000, 100_000));
    o.maybe("update", |draw| draw.time(1000, 100_000));
    o.maybe("burst", |draw| draw.time(1000, 300_000));
    o.word("delay", &["timestamps", "rate"]);
    o.switches(&["ecn", "derandomize", "cap"]);
}

fn codel(o: &mut Options<'_>) {
    o.maybe("target", |draw| draw.time(100, 100_000));
    o.maybe("interval", |draw| draw.time(1000, 1_000_000));
    o.maybe("ce_threshold", |draw| draw.time(100, 100_000));
    o.switches(&["ecn"]);
}

/// What holds ACKs that come back to a router.
pub(super) fn regulator(draw: &mut Draw) -> Table {
    let law = draw.pick(&["threshold-linear", "ack-bucket"]);
    let mut o = Options::new(draw, 0.3);
    o.put("law", law);
    match law {
        "threshold-linear" => {
            let low = o.draw.probability(0.5);
            let high = low + 0.1 + o.draw.probability(0.4);
            o.put("low", low).put("high", high);
            o.maybe("max_delay", |draw| draw.time(1000, 300_000));
        }
        _ => {
            o.maybe("depth", |draw| packets(draw.between(1, 20)));
        }
    }
    o.switches(&["piggybacked"]).maybe("limit", |draw| packets(draw.spread(1, 1000)));
    o.word("overflow", &["drop-tail", "drop-head", "release"]);
    o.maybe("recheck", |draw| draw.time(1000, 100_000));
    o.table
}

/// Rates that change, and come back from nothing: a schedule, a trace or a token bucket beside
/// `bps`.
pub(super) fn changing_rate(draw: &mut Draw, bps: u64, mtu: u64, into: &mut Table) {
    let (name, value) = match draw.between(0, 3) {
        0 | 1 => ("schedule", schedule(draw, bps)),
        2 => {
            let n = draw.between(1, 20);
            let mut at = 0;
            let mut millis = Vec::new();
            for _ in 0..n {
                at += draw.between(0, 40);
                millis.push(number(at));
            }
            *millis.last_mut().expect("one at least") = number(at + 1);
            ("trace", table([("millis", Value::Array(millis))]))
        }
        _ => {
            let shaped = (bps / draw.between(1, 10)).max(1000);
            let burst = mtu * draw.between(1, 20);
            let rate = crate::draw::rate;
            ("token_bucket", table([("rate", rate(shaped)), ("burst", bytes(burst))]))
        }
    };
    into.insert(name.into(), value.into());
}

/// The last rate of a schedule without a period is not zero: the network works again.
fn schedule(draw: &mut Draw, bps: u64) -> Table {
    let n = draw.between(1, 5);
    let mut at = 0;
    let mut steps = Vec::new();
    for i in 0..=n {
        let idle = i < n && draw.chance(0.4);
        let bps = if idle { 0 } else { (bps / draw.spread(1, 30)).max(1000) };
        steps.push(table([("at", micros(at)), ("rate", crate::draw::rate(bps))]).into());
        at += draw.spread(1000, 20_000_000);
    }
    let mut table = table([("steps", Value::Array(steps))]);
    if draw.chance(0.3) {
        table.insert("period".into(), micros(at));
    }
    table
}

/// Draws propagation delays that change with time.
pub(super) fn delays(draw: &mut Draw) -> Table {
    let n = draw.between(1, 4);
    let mut at = 0;
    let mut steps = Vec::new();
    for _ in 0..n {
        steps.push(table([("at", micros(at)), ("delay", draw.time(1, 500_000))]).into());
        at += draw.spread(1000, 10_000_000);
    }
    let mut table = table([("steps", Value::Array(steps))]);
    if draw.chance(0.3) {
        table.insert("period".into(), micros(at));
    }
    if draw.chance(0.3) {
        table.insert("keep_order".into(), draw.chance(0.5).into());
    }
    table
}
