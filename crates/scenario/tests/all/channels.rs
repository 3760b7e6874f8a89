//! Explicit rates: links that share a channel's capacity, against the max-min
//! shares and the dates at which they hold.

use anabranch_scenario::{RunOptions, RunResult, Scenario, run};
use anabranch_testkit::marks::record;

/// Hosts with virtual channels of one capacity to a switch, and what they send
/// to the host behind it.
fn text(hosts: &[(&str, &str)], flows: &str) -> String {
    let mut text =
        "routers = [\"sw\"]\nobserve = [{ what = \"received\" }]\nhosts = [\"z\"".to_owned();
    for (name, _) in hosts {
        text += &format!(", \"{name}\"");
    }
    text += "]\n[[channels]]\nname = \"vc\"\ncapacity = \"12 Mbit/s\"\ninterval = \"1 s\"\n\
             feedback = \"500 ms\"\n\
             [[links]]\nends = [\"sw\", \"z\"]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n";
    for (name, peak) in hosts {
        text += &format!(
            "[[links]]\nends = [\"{name}\", \"sw\"]\nrate = {{ explicit = \"vc\"{peak} }}\n\
             delay = \"1 ms\"\nqueue = {{ limit = \"unlimited\" }}\n\
             reverse = {{ rate = \"1 Gbit/s\" }}\n"
        );
    }
    text + flows
}

fn flow(from: &str, rest: &str) -> String {
    format!(
        "[[flows]]\nname = \"{from}\"\nfrom = \"{from}\"\nto = \"z\"\n{rest}\n\
         tcp = {{ receive_buffer = \"100 kB\", timestamps = false }}\n"
    )
}

fn result(text: &str) -> RunResult {
    let scenario = Scenario::from_toml(text, "test.toml").unwrap_or_else(|e| panic!("{e}"));
    let again = Scenario::from_toml(&scenario.resolved_toml(), "again").unwrap();
    assert_eq!(again, scenario);
    let options = RunOptions { check: true, ..RunOptions::default() };
    run(&scenario, &options).unwrap_or_else(|e| panic!("{e}"))
}

/// Mbit/s on the line, headers included, of data that arrived between dates.
fn rate(result: &RunResult, flow: &str, from: f64, to: f64) -> f64 {
    let name = format!("{flow}.received");
    let series = result.series.iter().find(|series| series.name == name).expect("it is observed");
    let at = |date: f64| match series.time_s.partition_point(|time| *time <= date) {
        0 => 0.0,
        after => series.value[after - 1],
    };
    (at(to) - at(from)) / 1460.0 * 1500.0 * 8.0 / (to - from) / 1e6
}

#[test]
fn rates_follow_who_is_in_use_after_interval_and_feedback() {
    let flows = flow("a", "") + &flow("b", "start = \"10.2 s\"\nduration = \"10 s\"");
    let result =
        result(&("duration = \"30 s\"\n".to_owned() + &text(&[("a", ""), ("b", "")], &flows)));
    // Until the first grant an equal share of all links; it is measured at 1 s
    // and holds from 1.5 s on. b comes at 10.2 s, with the rate that it would
    // get beside a, which is seen at 11 s and known at 11.5 s. It stops at
    // 20.2 s, but its queue and what is unacknowledged are sent still.
    for (flow, from, to, expected) in [
        ("a", 0.5, 1.49, 6.0),
        ("a", 1.6, 11.49, 12.0),
        ("b", 10.4, 11.49, 6.0),
        ("a", 11.6, 20.0, 6.0),
        ("b", 11.6, 20.0, 6.0),
        ("a", 22.6, 30.0, 12.0),
    ] {
        let measured = rate(&result, flow, from, to);
        let quantity = format!("Mbit/s of {flow}, {from} s to {to} s");
        record("channel", &quantity, expected, format!("{measured:.3}"), "1 %");
        assert!((measured / expected - 1.0).abs() < 0.01, "{flow} {from} to {to}: {measured}");
    }
    // The change comes at 11.5 s to a packet.
    let step = rate(&result, "a", 11.45, 11.55);
    assert!((step / 9.0 - 1.0).abs() < 0.03, "{step}");
}

#[test]
fn peaks_bound_the_shares() {
    let hosts = [
        ("a", ", peak = \"1 Mbit/s\""),
        ("b", ", peak = \"4 Mbit/s\""),
        ("c", ", peak = \"10 Mbit/s\""),
        ("idle", ""),
    ];
    let flows: String = ["a", "b", "c"].iter().map(|name| flow(name, "")).collect();
    let result = result(&("duration = \"10 s\"\n".to_owned() + &text(&hosts, &flows)));
    for (flow, expected) in [("a", 1.0), ("b", 4.0), ("c", 7.0)] {
        let measured = rate(&result, flow, 2.0, 10.0);
        let quantity = format!("Mbit/s of {flow}, 12 among peaks of 1, 4 and 10");
        record("channel", &quantity, expected, format!("{measured:.3}"), "1 %");
        assert!((measured / expected - 1.0).abs() < 0.01, "{flow}: {measured}");
    }
}

/// One link alone has the channel to itself, and is the link of that rate, with
/// any discipline. The run ends when the transfers do.
#[test]
fn a_channel_of_one_link_is_a_link() {
    let scenario = |rate: &str, queue: &str| {
        format!(
            "hosts = [\"a\", \"b\"]\n[[channels]]\nname = \"vc\"\ncapacity = \"10 Mbit/s\"\n\
             reverse_capacity = \"1 Mbit/s\"\n\
             [[links]]\nends = [\"a\", \"b\"]\n{rate}\ndelay = \"5 ms\"\nqueue = {{ kind = \"{queue}\" }}\n\
             [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nsize = \"2 MB\"\nreverse_size = \"300 kB\"\n"
        )
    };
    for queue in ["droptail", "codel", "fq-codel", "dualpi2", "priority", "drr"] {
        let plain = result(&scenario("rate = \"10 Mbit/s\"\nreverse.rate = \"1 Mbit/s\"", queue));
        let channel = result(&scenario("rate = { explicit = \"vc\" }", queue));
        assert_eq!(plain.flows, channel.flows, "{queue}");
        // A rate that is told has no capacity to be used.
        let counters = |result: &RunResult| -> Vec<_> {
            result.links.iter().map(|link| (link.name.clone(), link.counters)).collect()
        };
        assert_eq!(counters(&plain), counters(&channel), "{queue}");
    }
}

/// The ACK bucket sees the rate that a channel grants: its buffer stays as short
/// when another link takes half of the capacity.
#[test]
fn a_regulator_follows_the_granted_rate() {
    let text = |regulator: &str| {
        format!(
            "hosts = [\"a\", \"b\", \"z\"]\nrouters = [\"ra\", \"rb\"]\nduration = \"20 s\"\n\
             observe = [{{ what = \"received\" }}, {{ what = \"queue\", link = \"ra-z\" }}]\n\
             [[channels]]\nname = \"vc\"\ncapacity = \"12 Mbit/s\"\ninterval = \"100 ms\"\n\
             [[links]]\nends = [\"a\", \"ra\"]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
             [[links]]\nends = [\"b\", \"rb\"]\nrate = \"1 Gbit/s\"\ndelay = \"1 ms\"\n\
             [[links]]\nends = [\"ra\", \"z\"]\nrate = {{ explicit = \"vc\" }}\ndelay = \"10 ms\"\n\
             queue = {{ limit = \"400 packets\" }}\n{regulator}\n\
             [[links]]\nends = [\"rb\", \"z\"]\nrate = {{ explicit = \"vc\" }}\ndelay = \"10 ms\"\n\
             {}{}",
            flow("a", "").replace("100 kB", "400 kB"),
            flow("b", "start = \"10 s\"")
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
    for (from, to, expected) in [(5.0, 10.0, 12.0), (10.5, 20.0, 6.0)] {
        let measured = rate(&regulated, "a", from, to);
        assert!((measured / expected - 1.0).abs() < 0.01, "{from} s to {to} s: {measured}");
    }
}

#[test]
fn wrong_channels_are_named() {
    let good = text(&[("a", "")], &flow("a", "size = \"1 kB\""));
    for (old, new, expected) in [
        (
            "explicit = \"vc\"",
            "explicit = \"cv\"",
            "field `links[1].rate.explicit`: value `cv`: allowed: the name of a channel: vc",
        ),
        (
            "explicit = \"vc\"",
            "granted = \"vc\"",
            "field `links[1].rate.explicit` is required: the name of a channel",
        ),
        (
            "queue = { limit = \"unlimited\" }",
            "queue = { kind = \"red\" }",
            "field `links[1].queue`: value `at an explicit rate`: allowed: drop-tail",
        ),
        (
            "queue = { limit = \"unlimited\" }",
            "queue = { limit = \"0 packets\" }",
            "field `links[1].queue`: value `at an explicit rate`: allowed: drop-tail of at least",
        ),
        (
            "interval = \"1 s\"",
            "interval = \"0 s\"",
            "field `channels[0].interval`: value `0 s`: allowed: at least 1 us",
        ),
        ("capacity = \"12 Mbit/s\"", "", "field `channels[0].capacity` is required: a rate"),
        (
            "[[links]]\nends = [\"a\"",
            "[[channels]]\nname = \"vc\"\ncapacity = \"1 Mbit/s\"\n[[links]]\nends = [\"a\"",
            "field `channels[1].name`: value `vc`: allowed: a name of its own",
        ),
        (
            "rate = { explicit = \"vc\" }",
            "rate = { explicit = \"vc\" }\nschedule = { steps = [{ at = \"0 s\", rate = \"1 Mbit/s\" }] }",
            "field `links[1].rate`: value `{ explicit = \"vc\" }`: allowed: a rate, where there is",
        ),
        (
            "rate = { explicit = \"vc\" }",
            "rate = 7",
            "field `links[1].rate`: value `7`: allowed: a rate",
        ),
    ] {
        assert!(good.contains(old), "{old}");
        let text = good.replacen(old, new, 1);
        let said = Scenario::from_toml(&text, "t").unwrap_err().to_string();
        assert!(said.contains(expected), "{said}\n{expected}");
    }
}
