//! Queues, transmitters, delays and impairments in scenarios: what is read,
//! what is refused, what is written.

use crate::{RunOptions, Scenario, run};
use anabranch_network::{IMPAIRMENTS, QUEUES, QueueConfig, RedConfig, TransmitterConfig};

/// Two hosts and a link with these fields.
fn text(fields: &str) -> String {
    format!(
        "duration = \"20 s\"\nhosts = [\"a\", \"b\"]\n[[links]]\nends = [\"a\", \"b\"]\n{fields}\n\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nsize = \"2 MB\"\n"
    )
}

const PLAIN: &str = "rate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n";

fn scenario(fields: &str) -> Scenario {
    Scenario::from_toml(&text(fields), "link.toml").unwrap_or_else(|e| panic!("{fields}: {e}"))
}

fn refused(fields: &str) -> String {
    match Scenario::from_toml(&text(fields), "link.toml") {
        Ok(_) => panic!("{fields} was accepted"),
        Err(error) => error.to_string(),
    }
}

/// Links of every kind, as people write them.
const LINKS: &[&str] = &[
    "queue = { kind = \"threshold\", mark = \"20 packets\" }",
    "queue = { kind = \"red\", ecn = true }",
    "queue = { kind = \"red\", min = \"9 kB\", max = \"30 kB\", limit = \"200 kB\", wait = false, by_size = true }",
    "queue = { kind = \"red\", adaptive = true, target_delay = \"10 ms\" }",
    "queue = { kind = \"pie\", ecn = true, delay = \"rate\", derandomize = true, cap = true, activate = 0.1 }",
    "queue = { kind = \"codel\", target = \"10 ms\", ecn = true }",
    "queue = { kind = \"codel\", ce_threshold = \"1 ms\" }",
    "queue = { kind = \"fq-codel\", queues = 64, limit = \"600 packets\", drop_batch = 1, ce_threshold = \"2 ms\" }",
    "queue = { kind = \"dualpi2\", coupling = 2.5 }",
    "queue = { kind = \"priority\", bands = [[46, 48], [10]] }",
    "queue = { kind = \"priority\", key = \"pure-ack\" }",
    "queue = { kind = \"drr\", key = \"dscp\", quantum = \"3000 B\", weights = [[46, 4], [10, 2]] }",
    "queue = { kind = \"cake\", rate = \"6 Mbit/s\", tins = \"diffserv4\", overhead = 44, framing = \"atm\", ack_filter = \"aggressive\" }",
    "queue = { kind = \"cake\", autorate = true, ingress = true, wash = true, isolation = \"dual-srchost\", mpu = \"84 B\", rtt = \"30 ms\", limit = \"1 MB\" }",
    "queue = { kind = \"htb\", default = \"rest\", classes = [{ name = \"root\", rate = \"8 Mbit/s\" }, { name = \"voice\", parent = \"root\", rate = \"1 Mbit/s\", ceil = \"2 Mbit/s\", dscp = [\"ef\"], hosts = [\"a\"], prio = 1, quantum = \"3000 B\" }, { name = \"rest\", parent = \"root\", rate = \"7 Mbit/s\", ceil = \"8 Mbit/s\", burst = \"20 kB\", queue = { kind = \"red\" } }] }",
    "queue = { kind = \"ack-filter\", aggressive = true, limit = \"60 packets\" }",
    "token_bucket = { rate = \"4 Mbit/s\", burst = \"20 kB\", peak = \"8 Mbit/s\" }",
    "impairments = [{ kind = \"reorder-distance\", probability = 0.02, distance = 5 }]",
    "impairments = [{ kind = \"jitter\", mean = \"5 ms\", deviation = \"2 ms\", law = \"pareto\", correlation = 0.25, keep_order = true }]",
    "impairments = [{ kind = \"corrupt\", probability = 0.01 }]",
    "impairments = [{ kind = \"outage\", intervals = [{ at = \"1 s\", for = \"200 ms\" }], period = \"10 s\" }]",
    "impairments = [{ kind = \"police\", rate = \"5 Mbit/s\", burst = \"30 kB\" }]",
];

/// Links that say their rates or delays otherwise.
const CHANGING: &[&str] = &[
    "delay = \"10 ms\"\nschedule = { steps = [{ at = \"0 s\", rate = \"8 Mbit/s\" }, { at = \"300 ms\", rate = \"0 bit/s\" }], period = \"400 ms\" }",
    "delay = \"10 ms\"\ntrace = { millis = [1, 1, 2, 5, 5, 9] }",
    "rate = \"10 Mbit/s\"\ndelays = { steps = [{ at = \"0 s\", delay = \"40 ms\" }, { at = \"1 s\", delay = \"10 ms\" }], keep_order = false, period = \"2 s\" }",
];

fn all() -> Vec<String> {
    let plain = LINKS.iter().map(|fields| format!("{PLAIN}{fields}"));
    plain.chain(CHANGING.iter().map(|fields| (*fields).to_owned())).collect()
}

#[test]
fn every_link_reads_back_and_runs_to_its_end_alike() {
    for fields in all() {
        let s = scenario(&fields);
        let resolved = s.resolved_toml();
        let again = Scenario::from_toml(&resolved, "resolved").unwrap();
        assert_eq!(again, s, "{fields}");
        let options = RunOptions { trace_hash: true, check: true, ..RunOptions::default() };
        let (first, second) = (run(&s, &options).unwrap(), run(&again, &options).unwrap());
        assert_eq!(first.run.trace_hash, second.run.trace_hash, "{fields}");
        assert_eq!(first.flows[0].bytes, 2_000_000, "{fields}");
    }
}

#[test]
fn every_name_of_the_catalogues_is_read() {
    for info in QUEUES {
        scenario(&format!("{PLAIN}queue = {{ kind = \"{}\" }}", info.name));
    }
    let said = refused(&format!("{PLAIN}impairments = [{{ kind = \"x\" }}]"));
    for info in IMPAIRMENTS {
        let fields = format!("{PLAIN}impairments = [{{ kind = \"{}\" }}]", info.name);
        let own = Scenario::from_toml(&text(&fields), "t").err().map(|e| e.field);
        // Fields that are missing are refused, the name is not.
        assert_ne!(own.as_deref(), Some("links[0].impairments[0].kind"), "{}", info.name);
        assert!(said.contains(info.name), "{said}");
    }
}

#[test]
fn defaults_are_those_of_the_sources() {
    let queue = |kind: &str| {
        scenario(&format!("{PLAIN}queue = {{ kind = \"{kind}\" }}")).links[0].forward.queue.clone()
    };
    assert_eq!(queue("red"), QueueConfig::Red(RedConfig::default()));
    assert_eq!(queue("codel"), QueueConfig::CoDel(Default::default()));
    assert_eq!(queue("cobalt"), QueueConfig::Cobalt(Default::default()));
    assert_eq!(queue("fq-codel"), QueueConfig::FqCoDel(Default::default()));
    assert_eq!(queue("fq-pie"), QueueConfig::FqPie(Default::default()));
    assert_eq!(queue("pie"), QueueConfig::Pie(Default::default()));
    assert_eq!(queue("choke"), QueueConfig::Choke(Default::default()));
    assert_eq!(queue("blue"), QueueConfig::Blue(Default::default()));
    assert_eq!(queue("pi2"), QueueConfig::Pi2(Default::default()));
    assert_eq!(queue("dualpi2"), QueueConfig::DualPi2(Default::default()));
    assert_eq!(queue("priority"), QueueConfig::Priority(Default::default()));
    assert_eq!(queue("sfq"), QueueConfig::Sfq(Default::default()));
    assert_eq!(queue("cake"), QueueConfig::Cake(Default::default()));
    assert_eq!(queue("htb"), QueueConfig::Htb(Default::default()));
    assert_eq!(queue("drr"), QueueConfig::Drr(Default::default()));
    assert_eq!(queue("threshold"), QueueConfig::Threshold(Default::default()));
}

#[test]
fn the_other_direction_takes_over_what_it_does_not_say() {
    let trace = "delay = \"10 ms\"\ntrace = { millis = [1, 4] }\nqueue = { kind = \"codel\" }";
    let both = scenario(trace);
    assert_eq!(both.links[0].reverse.transmitter, both.links[0].forward.transmitter);
    let own = scenario(&format!("{trace}\nreverse = {{ rate = \"1 Mbit/s\" }}"));
    assert_eq!(own.links[0].reverse.transmitter, TransmitterConfig::Constant);
    assert_eq!(own.links[0].reverse.rate.to_string(), "1 Mbit/s");
    assert_eq!(own.links[0].reverse.queue, own.links[0].forward.queue);
}

#[test]
fn errors_name_file_field_value_and_what_is_allowed() {
    for (fields, expected) in [
        (
            "queue = { kind = \"rem\" }",
            "link.toml: field `links[0].queue.kind`: value `rem`: allowed: droptail, threshold, red, choke, blue, pie, pi2, codel, cobalt, fq-codel, fq-pie, dualpi2, priority, drr, sfq, cake, htb, ack-filter",
        ),
        (
            "queue = { kind = \"red\", max_p = 2 }",
            "field `links[0].queue.max_p`: value `2`: allowed: a probability",
        ),
        (
            "queue = { kind = \"red\", min = \"20 packets\", max = \"5 packets\" }",
            "field `links[0].queue.max`: value `5`: allowed: more than `min`",
        ),
        (
            "queue = { kind = \"red\", min = \"20 packets\", max = \"5 kB\" }",
            "field `links[0].queue.max`: value `5 kB`: allowed: an amount in the unit of `min`",
        ),
        (
            "queue = { kind = \"codel\", limit = \"0 packets\" }",
            "field `links[0].queue.limit`: value `0 packets`: allowed: at least 1 packet",
        ),
        (
            "queue = { kind = \"pie\", alpha = -1 }",
            "field `links[0].queue.alpha`: value `-1`: allowed: a number from 0 to 1000",
        ),
        (
            "queue = { kind = \"pie\", update = \"1 ps\" }",
            "field `links[0].queue.update`: value `0.000000000001 s`: allowed: at least 1 us",
        ),
        (
            "queue = { kind = \"choke\", max = \"80 packets\" }",
            "field `links[0].queue.max`: value `80 packets`: allowed: more than `min`, 100 packets",
        ),
        (
            "queue = { kind = \"blue\", increment = 1.5 }",
            "field `links[0].queue.increment`: value `1.5`: allowed: a probability",
        ),
        (
            "queue = { kind = \"pi2\", coupling = 0.5 }",
            "field `links[0].queue.coupling`: value `0.5`: allowed: a number from 1 to 100",
        ),
        (
            "queue = { kind = \"dualpi2\", update = \"999 ns\" }",
            "field `links[0].queue.update`: value `0.000000999 s`: allowed: at least 1 us",
        ),
        (
            "queue = { kind = \"red\", interval = \"1 ns\" }",
            "field `links[0].queue.interval`: value `0.000000001 s`: allowed: at least 1 us",
        ),
        (
            "queue = { kind = \"codel\", interval = \"0 s\" }",
            "field `links[0].queue.interval`: value `0 s`: allowed: more than 0",
        ),
        (
            "queue = { kind = \"cobalt\", decrement = 2 }",
            "field `links[0].queue.decrement`: value `2`: allowed: a probability",
        ),
        (
            "queue = { kind = \"codel\", quantum = \"1 B\" }",
            "field `links[0].queue.quantum`: value `1 B`: allowed: no field of this name",
        ),
        (
            "queue = { kind = \"priority\", key = \"pure-ack\", bands = [[1]] }",
            "link.toml: field `links[0].queue.bands`: value `[[1]]`: allowed: no bands",
        ),
        (
            "queue = { kind = \"fq-codel\", drop_batch = 0 }",
            "field `links[0].queue.drop_batch`: value `0`: allowed: a whole number from 1",
        ),
        (
            "queue = { kind = \"fq-pie\", activate = 0.3 }",
            "field `links[0].queue.activate`: value `0.3`: allowed: no field of this name",
        ),
        (
            "queue = { kind = \"sfq\", depth = \"0 packets\" }",
            "field `links[0].queue.depth`: value `0 packets`: allowed: at least 1 packet",
        ),
        (
            "queue = { kind = \"cake\", tins = \"diffserv5\" }",
            "field `links[0].queue.tins`: value `diffserv5`: allowed: besteffort, diffserv3",
        ),
        (
            "queue = { kind = \"cake\", overhead = 300 }",
            "field `links[0].queue.overhead`: value `300`: allowed: a whole number from -64 to 256",
        ),
        (
            "queue = { kind = \"cake\", mpu = \"1 kB\" }",
            "field `links[0].queue.mpu`: value `1 kB`: allowed: at most 256 B",
        ),
        (
            "queue = { kind = \"cake\", rate = \"100 bit/s\" }",
            "field `links[0].queue.rate`: value `100 bit/s`: allowed: at least 512 bit/s",
        ),
        (
            "queue = { kind = \"htb\", classes = [{ name = \"x\", rate = \"1 Mbit/s\", flows = [\"g\"] }] }",
            "field `links[0].queue.classes[0].flows`: value `g`: allowed: a flow: f",
        ),
        (
            "queue = { kind = \"htb\", classes = [{ name = \"x\", rate = \"1 Mbit/s\", hosts = [\"z\"] }] }",
            "field `links[0].queue.classes[0].hosts`: value `z`: allowed: a host: ",
        ),
        (
            "queue = { kind = \"htb\", classes = [{ name = \"x\" }] }",
            "field `links[0].queue.classes[0].rate`",
        ),
        (
            "queue = { kind = \"htb\", classes = [{ name = \"x\", rate = \"1 Mbit/s\", ceil = \"1 kbit/s\" }] }",
            "field `links[0].queue.classes`: value `x: ceil 1 kbit/s`: allowed: a ceil",
        ),
        (
            "queue = { kind = \"htb\", classes = [{ name = \"x\", rate = \"1 Mbit/s\", queue = { kind = \"htb\" } }] }",
            "field `links[0].queue.classes[0].queue.kind`: value `htb`: allowed: droptail",
        ),
        (
            "queue = { kind = \"sfq\", perturb = true }",
            "field `links[0].queue.perturb`: value `true`: allowed: false, or",
        ),
        (
            "queue = { kind = \"drr\", key = \"dscp\", weights = [[64, 2]] }",
            "field `links[0].queue.weights`: value `[[64, 2]]`: allowed: code points from 0 to 63 with weights",
        ),
        (
            "queue = { kind = \"drr\", weights = [[46, 2]] }",
            "field `links[0].queue.weights`: value `weights of code points`: allowed: none with key = \"flow\"",
        ),
        (
            "queue = { kind = \"priority\", bands = [[64]] }",
            "field `links[0].queue.bands`: value `[[64]]`: allowed: lists of code points",
        ),
        (
            "queue = { kind = \"priority\", bands = [[1], [1]] }",
            "field `links[0].queue.bands`: value `1`: allowed: each code point once",
        ),
        (
            "schedule = { steps = [{ at = \"1 s\", rate = \"1 Mbit/s\" }] }",
            "field `links[0].schedule.steps`: value `its first step`: allowed: a step at 0 s",
        ),
        (
            "schedule = { steps = [{ at = \"0 s\", rate = \"fast\" }] }",
            "field `links[0].schedule.steps[0].rate`: value `fast`: allowed: a rate such as",
        ),
        (
            "trace = { millis = [3, 1] }",
            "field `links[0].trace.millis`: value `its dates`: allowed: dates that do not descend",
        ),
        ("trace = { millis = [1] }\nschedule = { steps = [] }", "field `links[0].trace`"),
        (
            "token_bucket = { rate = \"1 Mbit/s\", burst = \"100 B\" }",
            "field `links[0].token_bucket.burst`: value `100 B`: allowed: 1500 B to 1 TiB (the MTU at least)",
        ),
        (
            "impairments = [{ kind = \"jitter\", mean = \"1 ms\", correlation = 1.5 }]",
            "field `links[0].impairments[0].correlation`: value `1.5`: allowed: a number from 0, below 1",
        ),
        (
            "impairments = [{ kind = \"outage\", intervals = [{ at = \"2 s\", for = \"0 s\" }] }]",
            "field `links[0].impairments[0].intervals`: value `2 s`: allowed: intervals with a length",
        ),
        (
            "impairments = [{ kind = \"reorder-distance\", probability = 0.1, distance = 0 }]",
            "field `links[0].impairments[0].distance`: value `0`: allowed: a whole number from 1",
        ),
    ] {
        let said = refused(&format!("{PLAIN}{fields}"));
        assert!(said.contains(expected), "{fields}\n  said     {said}\n  expected {expected}");
    }
}

#[test]
fn hosts_drop_what_their_checksum_shows_to_be_damaged() {
    let corrupt = "impairments = [{ kind = \"corrupt\", probability = 0.02 }]";
    let s = scenario(&format!("{PLAIN}{corrupt}")).set("flows.f.octets", "true").unwrap();
    let result = run(&s, &RunOptions { check: true, ..RunOptions::default() }).unwrap();
    let (flow, link) = (&result.flows[0], &result.links[0].counters);
    assert_eq!((flow.bytes, flow.wrong_octets), (2_000_000, 0));
    // Of some 1400 packets 28 are hit, one in 75 of these in the IP header.
    let hit = result.run.dropped_checksum + link.dropped_corrupt;
    assert!((12..=50).contains(&hit) && result.run.dropped_checksum > 10, "{hit}");
    assert_eq!(link.dropped(), link.dropped_corrupt + link.dropped_queue);
}

#[test]
fn queues_mark_drop_and_are_observed() {
    let red = "queue = { kind = \"red\", limit = \"60 packets\" }";
    let s = scenario(&format!("{PLAIN}{red}"));
    let result = run(&s, &RunOptions { check: true, ..RunOptions::default() }).unwrap();
    let counters = result.links[0].counters;
    assert!(counters.dropped_aqm > 0 && counters.marked == 0, "{counters:?}");

    let observed = text(&format!("{PLAIN}queue = {{ kind = \"fq-codel\" }}"))
        + "[[observe]]\nwhat = \"queue\"\nlink = \"a-b\"\n";
    let s = Scenario::from_toml(&observed, "t").unwrap();
    let result = run(&s, &RunOptions::default()).unwrap();
    let series = &result.series[0];
    assert!(series.value.iter().any(|n| *n > 10.0), "{:?}", series.value.len());
    assert_eq!(series.value.last(), Some(&0.0));
}
