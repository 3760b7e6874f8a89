//! ATM with ABR: links that are virtual channels, against the rates that their lines leave and the
//! dates at which RM cells bring them.

use anabranch_scenario::{PortRow, RunOptions, RunResult, Scenario, run};
use anabranch_testkit::marks::record;

/// Hosts a and b over a switch to z; lines of 20,000 cells a second with this allocation.
fn text(allocation: &str, links: &str, flows: &str) -> String {
    let mut text = "duration = \"20 s\"\nhosts = [\"a\", \"b\", \"z\"]\n\
         observe = [{ what = \"received\" }, { what = \"cells\", link = \"port\" }, { what = \"cell-rate\" }]\n"
        .to_owned();
    for (name, ends, delay) in [
        ("a", "[\"a\", \"switch\"]", 2),
        ("b", "[\"b\", \"switch\"]", 20),
        ("port", "[\"switch\", \"z\"]", 5),
    ] {
        text += &format!(
            "[[channels]]\nname = \"{name}\"\nkind = \"abr\"\nends = {ends}\n\
             capacity = \"8480 kbit/s\"\ndelay = \"{delay} ms\"\n{allocation}\n"
        );
    }
    for name in ["a", "b"] {
        text += &format!(
            "[[links]]\nname = \"{name}-z\"\nends = [\"{name}\", \"z\"]\n\
             rate = {{ explicit = [\"{name}\", \"port\"] }}\n\
             queue = {{ limit = \"unlimited\" }}\n{links}\n"
        );
    }
    text + flows
}

const MAX_MIN: &str = "allocation = \"max-min\"\ntarget = 1.0";
const ERICA: &str = "allocation = \"erica\"\ntarget = 0.9";

fn flow(from: &str, rest: &str) -> String {
    format!(
        "[[flows]]\nname = \"{from}\"\nfrom = \"{from}\"\nto = \"z\"\n{rest}\n\
         tcp = {{ receive_buffer = \"200 kB\", timestamps = false }}\n"
    )
}

fn run_with(text: &str, options: &RunOptions) -> RunResult {
    let scenario = Scenario::from_toml(text, "test.toml").unwrap_or_else(|e| panic!("{e}"));
    let again = Scenario::from_toml(&scenario.resolved_toml(), "again").unwrap();
    assert_eq!(again, scenario);
    run(&scenario, options).unwrap_or_else(|e| panic!("{e}"))
}

fn result(text: &str) -> RunResult {
    run_with(text, &RunOptions { check: true, ..RunOptions::default() })
}

fn port<'a>(result: &'a RunResult, name: &str) -> &'a PortRow {
    result.lines.iter().find(|line| line.name == name).expect("a port of this name")
}

fn at(result: &RunResult, name: &str, date: f64) -> f64 {
    let series = result.series.iter().find(|series| series.name == name).expect("it is observed");
    match series.time_s.partition_point(|time| *time <= date) {
        0 => 0.0,
        after => series.value[after - 1],
    }
}

/// Cells of data a second that arrived between dates: a segment of 1500 octets takes 32.
fn cells(result: &RunResult, flow: &str, from: f64, to: f64) -> f64 {
    let name = format!("{flow}.received");
    (at(result, &name, to) - at(result, &name, from)) / 1460.0 * 32.0 / (to - from)
}

/// TCP gets the line less RM cells and what the ACKs' RM cells are answered with.
#[test]
fn one_connection_gets_what_cells_leave() {
    for (allocation, target) in [(MAX_MIN, 1.0), (ERICA, 0.9)] {
        let result = result(&text(allocation, "", &flow("a", "")));
        // 31 of 32 cells are data or answers to the far end's RM cells. Those come one for 31 ACKs,
        // each of a cell and for two segments, and as the far end's answers.
        let other = 1.0 / 32.0 + 1.0 / (64.0 * 31.0) + 1.0 / (32.0 * 31.0);
        let expected = 20_000.0 * target * (1.0 - other);
        let measured = cells(&result, "a", 5.0, 20.0);
        let quantity = format!("cells of data a second, target {target}");
        record("abr", &quantity, format!("{expected:.0}"), format!("{measured:.0}"), "1 %");
        assert!((measured / expected - 1.0).abs() < 0.01, "{measured} {expected}");
        let port = port(&result, "port").counters;
        assert_eq!(port.dropped, 0);
        let part = port.forward_rm as f64 / port.received as f64;
        assert!((part - 1.0 / 32.0).abs() < 0.001, "{part}");
    }
}

/// Two connections with round trips of 14 and 50 ms get the same, and the first gives way when the
/// second begins: by ERICA and by exact rates.
#[test]
fn rates_are_carried_to_both() {
    let flows = flow("a", "") + &flow("b", "start = \"8 s\"");
    for (allocation, target, close) in [(MAX_MIN, 1.0, 0.02), (ERICA, 0.9, 0.05)] {
        let result = result(&text(allocation, "", &flows));
        for (flow, from, to, expected) in [
            ("a", 4.0, 8.0, 20_000.0 * target),
            ("a", 12.0, 20.0, 10_000.0 * target),
            ("b", 12.0, 20.0, 10_000.0 * target),
        ] {
            let measured = cells(&result, flow, from, to) * 32.0 / 31.0;
            let quantity = format!("cells of {flow} a second, {from} s to {to} s, target {target}");
            record(
                "abr",
                &quantity,
                expected,
                format!("{measured:.0}"),
                &format!("{} %", close * 100.0),
            );
            assert!((measured / expected - 1.0).abs() < close, "{flow} {from}: {measured}");
        }
        // The source itself says so.
        let rate = at(&result, "a-z.cell-rate", 15.0);
        assert!((rate / (10_000.0 * target) - 1.0).abs() < close, "{rate}");
    }
}

/// A run is the same whoever watches it, although watched cells go on by themselves between other
/// events.
#[test]
fn observers_change_nothing() {
    let flows = flow("a", "") + &flow("b", "start = \"1 s\"");
    let text = text(ERICA, "", &flows).replace("duration = \"20 s\"", "duration = \"3 s\"");
    let bare = text.lines().filter(|line| !line.starts_with("observe")).collect::<Vec<_>>();
    let hash = |text: &str, check| {
        let options = RunOptions { check, trace_hash: true, ..RunOptions::default() };
        let result = run_with(text, &options);
        (result.run.trace_hash.expect("it is asked for"), result.lines, result.run.events)
    };
    let seen = hash(&text, true);
    assert_eq!(seen, hash(&bare.join("\n"), false));
}

/// Small queues at a switch without explicit rates drop cells, and TCP sends the packets again; the run ends with the
/// transfer, when no cell is left.
#[test]
fn lost_cells_are_lost_packets() {
    let flow = flow("a", "size = \"300 kB\"");
    let text = text("allocation = \"efci\"\nthreshold = 1000\ncells = 100", "", &flow)
        .replace("duration = \"20 s\"\n", "");
    let text = text.replacen("capacity = \"8480 kbit/s\"", "capacity = \"84800 kbit/s\"", 1);
    let result = result(&text);
    assert_eq!(result.flows[0].bytes, 300_000);
    assert!(result.flows[0].retransmitted_packets > 0);
    let dropped = port(&result, "port").counters.dropped;
    let lost = result.links.iter().find(|link| link.name == "a-z").unwrap().counters.dropped_queue;
    assert!(dropped >= lost && lost > 0, "{dropped} {lost}");
    assert_eq!(port(&result, "port").counters.most_waiting, 100);
}

/// With any discipline that decides at the head; losses and delays after the line go with it.
#[test]
fn queues_and_impairments_of_a_link() {
    for queue in ["codel", "fq-codel", "dualpi2", "priority", "drr"] {
        let links = format!(
            "reverse = {{ queue = {{ kind = \"{queue}\" }} }}\n\
             impairments = [{{ kind = \"bernoulli\", rate = 0.01 }}]"
        );
        let text = text(ERICA, &links, &flow("a", "size = \"1 MB\"\nreverse_size = \"1 MB\""));
        let result = result(&text.replace("duration = \"20 s\"\n", ""));
        assert_eq!(result.flows[0].bytes, 1_000_000, "{queue}");
        assert_eq!(result.flows[0].reverse_bytes, 1_000_000, "{queue}");
    }
}

/// Rates that are told and rates that are carried, in one network.
#[test]
fn lines_and_channels_stand_side_by_side() {
    let told = "[[channels]]\nname = \"told\"\ncapacity = \"1 Mbit/s\"\n\
        [[links]]\nname = \"told\"\nends = [\"a\", \"b\"]\nrate = { explicit = \"told\" }\ndelay = \"1 ms\"\n\
        queue = { limit = \"unlimited\" }\n\
        [[flows]]\nname = \"told\"\nfrom = \"a\"\nto = \"b\"\n\
        tcp = { receive_buffer = \"20 kB\", timestamps = false }\n";
    let result = result(&text(MAX_MIN, "", &(told.to_owned() + &flow("a", ""))));
    let measured = cells(&result, "told", 5.0, 20.0) / 32.0 * 1500.0 * 8.0;
    assert!((measured / 1e6 - 1.0).abs() < 0.02, "{measured}");
    assert!(cells(&result, "a", 5.0, 20.0) > 19_000.0);
}

/// The ACK bucket sees a virtual channel's allowed rate: the packets in front of it stay few.
#[test]
fn a_regulator_follows_the_allowed_rate() {
    let text = |regulator: &str| {
        format!(
            "hosts = [\"a\", \"z\"]\nrouters = [\"ra\"]\nduration = \"10 s\"\n\
             observe = [{{ what = \"received\" }}, {{ what = \"queue\", link = \"ra-z\" }}]\n\
             [[channels]]\nname = \"line\"\nkind = \"abr\"\nends = [\"ra\", \"z\"]\n\
             capacity = \"8480 kbit/s\"\ndelay = \"10 ms\"\n\
             [[links]]\nends = [\"a\", \"ra\"]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
             [[links]]\nends = [\"ra\", \"z\"]\nrate = {{ explicit = \"line\" }}\n\
             queue = {{ limit = \"400 packets\" }}\n{regulator}\n{}",
            flow("a", "").replace("200 kB", "400 kB")
        )
    };
    let longest = |result: &RunResult| {
        let series =
            result.series.iter().find(|series| series.name == "ra-z.queue").expect("observed");
        let steady = series.time_s.iter().zip(&series.value).filter(|item| *item.0 > 5.0);
        steady.map(|rate| *rate.1).fold(0.0, f64::max)
    };
    let plain = result(&text(""));
    let regulated = result(&text("regulator = { law = \"ack-bucket\" }"));
    assert!(longest(&plain) > 200.0, "{}", longest(&plain));
    assert!(longest(&regulated) < 20.0, "{}", longest(&regulated));
    let (with, without) = (cells(&regulated, "a", 5.0, 10.0), cells(&plain, "a", 5.0, 10.0));
    assert!((with / without - 1.0).abs() < 0.03, "{with} {without}");
}

#[test]
fn wrong_lines_are_named() {
    let good = text(ERICA, "", &flow("a", "size = \"1 kB\""));
    for (old, new, expected) in [
        (
            "explicit = [\"a\", \"port\"]",
            "explicit = [\"port\", \"a\"]",
            "field `links[0].rate.explicit`: value `port`: allowed: lines on a way from a to z: it is at a",
        ),
        (
            "explicit = [\"a\", \"port\"]",
            "explicit = [\"a\"]",
            "field `links[0].rate.explicit`: value `(end)`: allowed: lines on a way from a to z: it is at switch",
        ),
        (
            "explicit = [\"a\", \"port\"]",
            "explicit = [\"a\", \"prt\"]",
            "field `links[0].rate.explicit`: value `prt`: allowed: the name of a channel: a, b, port",
        ),
        (
            "explicit = [\"a\", \"port\"]",
            "explicit = []",
            "value `[]`: allowed: the name of a channel",
        ),
        (
            "rate = { explicit = [\"a\", \"port\"] }",
            "rate = { explicit = [\"a\", \"port\"] }\ndelay = \"3 ms\"",
            "field `links[0].delay`: value `0.003 s`: allowed: no delay; lines of ATM have theirs",
        ),
        (
            "\"port\"] }",
            "\"port\"], peak = \"9 Mbit/s\" }",
            "field `links[0].rate.peak`: value `9 Mbit/s`: allowed: at most the first line's 8480 kbit/s",
        ),
        (
            "\"port\"] }",
            "\"port\"], initial = \"9 Mbit/s\" }",
            "field `links[0].rate.initial`: value `9 Mbit/s`: allowed: at most 8480 kbit/s",
        ),
        (
            "\"port\"] }",
            "\"port\"], cells_per_rm = 1 }",
            "field `links[0].rate.cells_per_rm`: value `1`: allowed",
        ),
        (
            "\"port\"] }",
            "\"port\"] }\nmtu = \"70 kB\"",
            "field `links[0].mtu`: value `70000 B`: allowed: at most 65535 B in AAL5",
        ),
        (
            "target = 0.9",
            "target = 1.5",
            "field `channels[0].target`: value `1.5`: allowed: a number above 0, at most 1 of the line",
        ),
        (
            "target = 0.9",
            "threshold = 3",
            "field `channels[0].threshold`: value `3`: allowed: no field",
        ),
        (
            "allocation = \"erica\"",
            "allocation = \"eric\"",
            "field `channels[0].allocation`: value `eric`: allowed: erica, max-min",
        ),
        (
            "ends = [\"switch\", \"z\"]",
            "",
            "field `channels[2].ends` is required: two different ends",
        ),
        (
            "what = \"cells\", link = \"port\"",
            "what = \"cells\", link = \"a-z\"",
            "field `observe[1].link`: value `a-z`: allowed: a direction of a line of ATM: a, a-reverse",
        ),
    ] {
        assert!(good.contains(old), "{old}");
        let text = good.replacen(old, new, 1);
        let said = Scenario::from_toml(&text, "t").unwrap_err().to_string();
        assert!(said.contains(expected), "{said}\n{expected}");
    }
}
