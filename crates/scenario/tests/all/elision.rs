//! Results do not depend on whether somebody watches, though more arrivals are events then.

use anabranch_scenario::{RunOptions, RunResult, Scenario, run};

/// The results of a run, without what tells of the run itself but its events.
fn results(text: &str, duration: &str, watched: bool) -> (RunResult, [u64; 3]) {
    let scenario = Scenario::from_toml(text, "elision").unwrap();
    let scenario = scenario.set("duration", duration).unwrap();
    let options = RunOptions { trace_hash: watched, check: watched, ..RunOptions::default() };
    let mut result = run(&scenario, &options).unwrap();
    let events = [result.run.events, result.run.packet_hops, result.run.end_s.to_bits()];
    (result.run.wall_s, result.run.cpu_s, result.run.trace_hash) = (0.0, 0.0, None);
    (result, events)
}

/// a - r - s - b: r-s is the slowest, so that s-b gets what it sends, and it drops.
fn line(flow: &str) -> String {
    let link = |a, b, rate, delay| {
        format!(
            "[[links]]\nends = [\"{a}\", \"{b}\"]\nrate = \"{rate} Mbit/s\"\ndelay = \"{delay} ms\"\n\
             queue = {{ limit = \"30 packets\" }}\n"
        )
    };
    let links = link("a", "r", 100, 1) + &link("r", "s", 20, 10) + &link("s", "b", 50, 2);
    format!(
        "duration = \"1 s\"\nhosts = [\"a\", \"b\"]\nrouters = [\"r\", \"s\"]\n{links}\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    )
}

#[test]
fn runs_are_the_same_watched_or_not() {
    let flows = [
        "",
        "size = \"1 MB\"",
        "tcp = { ttl = 3 }",
        "tcp = { ttl = 2 }",
        "tcp = { ttl = 1 }",
        "protocol = \"sctp\"",
        "size = \"2 MB\"\nreverse_size = \"1 MB\"",
    ];
    for flow in flows {
        for duration in ["30 ms", "123.4567 ms", "1 s", "5 s"] {
            let text = line(flow);
            let (plain, watched) =
                (results(&text, duration, false), results(&text, duration, true));
            assert_eq!(plain, watched, "{flow}, {duration}");
        }
    }
}
