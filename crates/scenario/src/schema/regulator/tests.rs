//! Regulators in scenarios: what is read, refused, written and observed.

use crate::{RunOptions, Scenario, run};
use anabranch_network::REGULATORS;

fn text(fields: &str) -> String {
    format!(
        "duration = \"5 s\"\nhosts = [\"a\", \"b\"]\nrouters = [\"r\"]\n\
         [[links]]\nends = [\"a\", \"r\"]\nrate = \"100 Mbit/s\"\ndelay = \"1 ms\"\n\
         [[links]]\nends = [\"r\", \"b\"]\nrate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n{fields}\n\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n"
    )
}

fn scenario(fields: &str) -> Scenario {
    Scenario::from_toml(&text(fields), "r.toml").unwrap_or_else(|e| panic!("{fields}: {e}"))
}

const REGULATED: &[&str] = &[
    "regulator = { law = \"threshold-linear\" }",
    "regulator = { law = \"threshold-linear\", low = 0.1, high = 0.9, max_delay = \"50 ms\", \
     piggybacked = true, limit = \"20 packets\", overflow = \"drop-head\", recheck = \"1 ms\" }",
    "regulator = { law = \"threshold-linear\", low = \"5 packets\", high = \"50 packets\" }",
    "queue = { limit = \"150 kB\" }\n\
     regulator = { law = \"threshold-linear\", low = \"15 kB\", high = 0.8, limit = \"8 kB\" }",
    "regulator = { law = \"ack-bucket\" }",
    "queue = { kind = \"fq-codel\" }\n\
     regulator = { law = \"ack-bucket\", depth = \"4500 B\", overflow = \"release\" }",
    "schedule = { steps = [{ at = \"0 s\", rate = \"8 Mbit/s\" }, { at = \"300 ms\", \
     rate = \"0 bit/s\" }], period = \"400 ms\" }\nregulator = { law = \"ack-bucket\" }",
];

#[test]
fn what_is_resolved_reads_back_runs_and_conserves() {
    for fields in REGULATED {
        let s = scenario(fields);
        let resolved = s.resolved_toml();
        assert_eq!(Scenario::from_toml(&resolved, "resolved").unwrap(), s, "{resolved}");
        let result = run(&s, &RunOptions { check: true, ..RunOptions::default() }).unwrap();
        assert!(result.flows[0].bytes > 1_000_000, "{fields}");
        let [row] = &result.regulators[..] else { panic!("one regulator") };
        assert_eq!((row.name.as_str(), row.counters.is_conserved()), ("r-b", true));
        assert!(row.counters.received > 500);
    }
    for info in REGULATORS {
        assert!(REGULATED.iter().any(|fields| fields.contains(info.name)), "{}", info.name);
    }
}

#[test]
fn a_regulator_belongs_to_its_direction_alone() {
    let s = scenario(REGULATED[0]);
    assert!(s.links[1].forward.regulator.is_some() && s.links[1].reverse.regulator.is_none());
    let off = s.set("links.r-b.regulator", "false").unwrap();
    assert!(off.links[1].forward.regulator.is_none());
    let changed = s.set("links.r-b.regulator.max_delay", "70 ms").unwrap();
    assert!(changed.resolved_toml().contains("max_delay = \"70 ms\""));
}

#[test]
fn errors_name_field_value_and_what_is_allowed() {
    for (fields, expected) in [
        (
            "regulator = { law = \"threshold-linear\", low = 0.8, high = 0.2 }",
            "field `links[1].regulator.low`: value `0.8`: allowed: less than `high`, which is 0.2",
        ),
        (
            "queue = { limit = \"unlimited\" }\nregulator = { law = \"threshold-linear\" }",
            "field `links[1].regulator.low`: value `0.2`: allowed: packets or octets; a queue \
             without a limit has no shares",
        ),
        (
            "queue = { limit = \"1400 B\" }\nregulator = { law = \"ack-bucket\" }",
            "field `links[1].queue.limit`: value `1400 B`: allowed: room for a packet of the MTU",
        ),
        (
            "queue = { limit = \"0 packets\" }\nregulator = { law = \"ack-bucket\" }",
            "field `links[1].queue.limit`: value `0 packets`: allowed: room for a packet",
        ),
        (
            "regulator = { law = \"linear\" }",
            "field `links[1].regulator.law`: value `linear`: allowed: threshold-linear, ack-bucket",
        ),
        ("regulator = { }", "field `links[1].regulator.law` is required: threshold"),
        (
            "regulator = { law = \"threshold-linear\", low = \"soon\" }",
            "field `links[1].regulator.low`: value `soon`: allowed: a share of the queue's limit",
        ),
        (
            "regulator = { law = \"threshold-linear\", high = 1.5 }",
            "field `links[1].regulator.high`: value `1.5`: allowed: a share of the queue, from 0",
        ),
        (
            "regulator = { law = \"ack-bucket\", low = 0.1 }",
            "field `links[1].regulator.low`: value `0.1`: allowed: no field of this name",
        ),
        (
            "regulator = { law = \"ack-bucket\", limit = \"0 packets\" }",
            "field `links[1].regulator.limit`: value `0 packets`: allowed: at least 1 packet",
        ),
        (
            "reverse = { regulator = { law = \"ack-bucket\" } }",
            "field `links[1].reverse.regulator`: value `of b, a host`: allowed: a direction that \
             leaves a router",
        ),
        (
            "[[observe]]\nwhat = \"regulator\"\nlink = \"r-b\"",
            "field `observe[0].link`: value `r-b`: allowed: a direction of a link with a regulator",
        ),
    ] {
        let said = match Scenario::from_toml(&text(fields), "r.toml") {
            Ok(_) => panic!("{fields} was accepted"),
            Err(error) => error.to_string(),
        };
        assert!(said.contains(expected), "{fields}\n  said     {said}\n  expected {expected}");
    }
}

#[test]
fn held_acks_and_their_delays_are_observed() {
    let observed = text(REGULATED[0]) + "[[observe]]\nwhat = \"regulator\"\n";
    let s = Scenario::from_toml(&observed, "t").unwrap();
    assert_eq!(Scenario::from_toml(&s.resolved_toml(), "r").unwrap(), s);
    let result = run(&s, &RunOptions::default()).unwrap();
    let names: Vec<_> = result.series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["r-b.regulator", "r-b.regulator.delay"]);
    let counters = &result.regulators[0].counters;
    assert!(counters.most_held > 10, "{counters:?}");
    let most = result.series[0].value.iter().copied().fold(0.0, f64::max);
    assert_eq!(most as u64, counters.most_held);
    assert_eq!(result.series[1].value.len() as u64, counters.released);
}

#[test]
fn topologies_put_regulators_into_their_routers() {
    let link = "{ rate = \"10 Mbit/s\", delay = \"1 ms\", regulator = { law = \"ack-bucket\" }, \
                reverse = { regulator = { law = \"ack-bucket\" } } }";
    let plain = "{ rate = \"10 Mbit/s\", delay = \"1 ms\" }";
    for (topology, from, to, regulators) in [
        // At the edge alone, on one side, everywhere.
        (
            format!("kind = \"dumbbell\", pairs = 2, access = {link}, bottleneck = {plain}"),
            "c0",
            "s0",
            vec!["left-c0", "right-s0", "left-c1", "right-s1"],
        ),
        (
            format!("kind = \"dumbbell\", pairs = 2, access = {plain}, bottleneck = {link}"),
            "c0",
            "s0",
            vec!["bottleneck", "bottleneck-reverse"],
        ),
        (
            format!("kind = \"star\", hosts = 2, access = {link}"),
            "h0",
            "h1",
            vec!["hub-h0", "hub-h1"],
        ),
    ] {
        let text = format!(
            "topology = {{ {topology} }}\n[[flows]]\nname = \"f\"\nfrom = \"{from}\"\n\
             to = \"{to}\"\nsize = \"1 MB\"\n"
        );
        let s = Scenario::from_toml(&text, "t.toml").unwrap_or_else(|e| panic!("{text}: {e}"));
        let result = run(&s, &RunOptions { check: true, ..RunOptions::default() }).unwrap();
        let names: Vec<_> =
            result.regulators.iter().map(|regulator| regulator.name.as_str()).collect();
        assert_eq!(names, regulators);
        assert!(result.flows[0].finish_s.is_some());
    }
}
