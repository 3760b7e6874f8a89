//! A run that is divided over threads has the results of one that is not, bit for bit.

use crate::runs::examples;
use anabranch_endpoint::Seed;
use anabranch_scenario::build::build;
use anabranch_scenario::schema::What;
use anabranch_scenario::{RunInfo, RunOptions, RunResult, Scenario, run};
use anabranch_sim::parallel::Plan;
use anabranch_units::Span;

/// A run on so many threads, if it can be divided at all, whether it gains by that or not.
fn on(cores: usize, scenario: &Scenario) -> RunResult {
    let options = RunOptions { cores, divide_always: true, ..RunOptions::default() };
    run(scenario, &options).unwrap()
}

/// Asserts that nothing differs but how long it took and on how many threads.
fn assert_same(one: &RunResult, other: &RunResult, what: &str) {
    assert_eq!(one.flows, other.flows, "{what}");
    assert_eq!(one.links, other.links, "{what}");
    assert_eq!(one.paths, other.paths, "{what}");
    assert_eq!(one.messages, other.messages, "{what}");
    assert_eq!(one.datagrams, other.datagrams, "{what}");
    assert_eq!(one.videos, other.videos, "{what}");
    assert_eq!(one.loads, other.loads, "{what}");
    assert_eq!(one.series, other.series, "{what}");
    let facts = |run: &RunInfo| {
        (run.events, run.packet_hops, run.dropped_checksum, run.icmp_withheld, run.end_s, run.ended)
    };
    assert_eq!(facts(&one.run), facts(&other.run), "{what}");
}

/// Parts that meet so seldom that a test is short, be the machine as busy as it may.
fn meets_seldom(scenario: &Scenario, cores: usize) -> bool {
    let simulation = build(scenario, Seed { seed: 1, replication: 0 }).unwrap().simulation;
    Plan::new(&simulation, cores).is_ok_and(|plan| plan.lookahead() >= Span::from_millis(2))
}

#[test]
fn each_example_is_the_same_on_several_threads() {
    let mut divided = 0;
    for (path, mut scenario) in examples() {
        // Who watches packets or queues watches all of them.
        scenario.observe.retain(|observe| is_of_states(observe.what));
        let cores: Vec<_> = [2, 5].into_iter().filter(|n| meets_seldom(&scenario, *n)).collect();
        if cores.is_empty() {
            continue;
        }
        let alone = on(1, &scenario);
        for cores in cores {
            let several = on(cores, &scenario);
            assert!(several.run.cores > 1, "{}: {:?}", path.display(), several.run.one_core);
            assert_same(&alone, &several, &format!("{} on {cores}", path.display()));
            divided += 1;
        }
    }
    assert!(divided >= 25, "{divided} runs were divided");
}

/// Whether it is the state of an endpoint or of its paths, or kept by an application.
fn is_of_states(what: What) -> bool {
    use What::*;
    !matches!(
        what,
        Packets | Events | Queue | Queueing | Regulator | Cells | CellRate | AckCompression
    )
}

/// Six routers in a ring with three hosts each, 20 ms apart; flows of all kinds between them.
fn ring() -> Scenario {
    let mut text = String::from(
        "duration = \"8 s\"\nrouters = [\"r0\", \"r1\", \"r2\", \"r3\", \"r4\", \"r5\"]\n",
    );
    let hosts: Vec<String> = (0..18).map(|n| format!("\"h{n}\"")).collect();
    text += &format!("hosts = [{}]\n", hosts.join(", "));
    for n in 0..6 {
        let next = (n + 1) % 6;
        text += &format!(
            "[[links]]\nends = [\"r{n}\", \"r{next}\"]\nrate = \"20 Mbit/s\"\ndelay = \"20 ms\"\n\
             queue = {{ limit = \"60 packets\" }}\n"
        );
    }
    for n in 0..18 {
        let impairments = match n % 3 {
            0 => "impairments = [{ kind = \"bernoulli\", rate = 0.005 }]\n",
            1 => {
                "queue = { kind = \"red\", limit = \"50 packets\", min = \"5 packets\", max = \"20 packets\" }\n"
            }
            _ => "",
        };
        text += &format!(
            "[[links]]\nends = [\"h{n}\", \"r{}\"]\nrate = \"{} Mbit/s\"\ndelay = \"1 ms\"\n{impairments}",
            n / 3,
            10 + n
        );
    }
    for n in 0..18 {
        let kind = match n % 6 {
            0 => "size = \"3 MB\"",
            1 => "tcp = { window = \"reno\" }",
            2 => "protocol = \"sctp\"\nsize = \"2 MB\"",
            3 => "protocol = \"mptcp\"\nsize = \"2 MB\"",
            4 => {
                "traffic = { kind = \"requests\", request = \"400 B\", response = \"20 kB\", think = { mean = \"80 ms\", law = \"exponential\" } }"
            }
            _ => "traffic = { kind = \"constant\", rate = \"2 Mbit/s\", chunk = \"1200 B\" }",
        };
        text += &format!(
            "[[flows]]\nname = \"f{n}\"\nfrom = \"h{n}\"\nto = \"h{}\"\nstart = \"{} ms\"\n{kind}\n",
            (n * 7 + 8) % 18,
            n * 37
        );
    }
    for what in
        ["cwnd", "srtt\"\ninterval = \"30 ms", "path_cwnd", "path_srtt\"\ninterval = \"7 ms"]
    {
        text += &format!("[[observe]]\nwhat = \"{what}\"\n");
    }
    Scenario::from_toml(&text, "ring").unwrap_or_else(|error| panic!("{error}\n{text}"))
}

#[test]
fn a_wide_area_network_is_the_same_in_two_to_six_parts() {
    let scenario = ring();
    let alone = on(1, &scenario);
    assert!(alone.flows.iter().all(|flow| flow.bytes > 0));
    for cores in 2..=6 {
        let several = on(cores, &scenario);
        assert!(several.run.cores > 1, "{:?}", several.run.one_core);
        assert_same(&alone, &several, &format!("up to {cores} parts"));
    }
}

/// The run ends with the event that gives the last reader what it waits for, and no event of another part
/// is beyond it.
#[test]
fn it_ends_at_the_same_event_where_transfers_decide() {
    let text = r#"
        routers = ["l", "r"]
        hosts = ["a", "b", "c", "d"]
        links = [
            { ends = ["a", "l"], rate = "100 Mbit/s", delay = "1 ms" },
            { ends = ["b", "l"], rate = "100 Mbit/s", delay = "1 ms" },
            { ends = ["l", "r"], rate = "10 Mbit/s", delay = "10 ms", queue = { limit = "20 packets" } },
            { ends = ["r", "c"], rate = "100 Mbit/s", delay = "1 ms" },
            { ends = ["r", "d"], rate = "100 Mbit/s", delay = "1 ms" },
        ]
        flows = [
            { name = "there", from = "a", to = "c", size = "SIZE kB" },
            { name = "back", from = "d", to = "b", size = "700 kB" },
            { name = "endless", from = "b", to = "d", start = "50 ms", duration = "2 s" },
        ]
        observe = [{ what = "received", interval = "3 ms" }, { what = "in_flight" }]
    "#;
    for size in ["1", "20", "100", "699", "700", "701", "3000"] {
        let scenario = Scenario::from_toml(&text.replace("SIZE", size), "two-way").unwrap();
        let (alone, several) = (on(1, &scenario), on(2, &scenario));
        assert_eq!(several.run.cores, 2, "{:?}", several.run.one_core);
        assert_same(&alone, &several, size);
    }
}

/// Found by random scenarios: a packet that was damaged before it came to another part was whole there.
#[test]
fn what_was_damaged_stays_so_in_another_part() {
    let text = r#"
        hosts = ["a", "b"]
        routers = ["r"]
        links = [
            { ends = ["a", "r"], rate = "1 Mbit/s", delay = "0 us", impairments = [{ kind = "corrupt", probability = 0.2 }] },
            { ends = ["r", "b"], rate = "1 Mbit/s", delay = "50 ms" },
        ]
        flows = [{ name = "f", from = "a", to = "b", size = "100 kB" }]
    "#;
    let scenario = Scenario::from_toml(text, "damaged").unwrap();
    let (alone, several) = (on(1, &scenario), on(2, &scenario));
    assert!(alone.run.dropped_checksum > 0);
    assert_eq!(several.run.cores, 2, "{:?}", several.run.one_core);
    assert_same(&alone, &several, "damaged");
}

/// Datagrams that are on their way into another part when the run ends are there once, not twice.
#[test]
fn datagrams_under_way_between_parts_are_counted_once() {
    let text = r#"
        duration = "2003 ms"
        routers = ["r"]
        hosts = ["a", "b", "c", "d"]
        links = [
            { ends = ["a", "r"], rate = "10 Mbit/s", delay = "20 ms" },
            { ends = ["b", "r"], rate = "10 Mbit/s", delay = "20 ms" },
            { ends = ["c", "r"], rate = "50 Mbit/s", delay = "20 ms" },
            { ends = ["d", "r"], rate = "50 Mbit/s", delay = "20 ms" },
        ]

        [[flows]]
        name = "udp"
        from = "a"
        to = "b"
        protocol = "udp"
        traffic = { kind = "constant", rate = "5 Mbit/s" }

        [[flows]]
        name = "tcp"
        from = "c"
        to = "d"
    "#;
    let scenario = Scenario::from_toml(text, "udp").unwrap();
    let alone = on(1, &scenario);
    for cores in 2..=4 {
        let several = on(cores, &scenario);
        assert!(several.run.cores > 1, "{:?}", several.run.one_core);
        assert_same(&alone, &several, &format!("up to {cores} parts"));
    }
}

/// The last reader waits no more when its peer's reset arrives, and nothing had foretold that: the parts have gone
/// beyond the end of the run, which is made again on one thread.
#[test]
fn a_run_whose_last_transfer_is_given_up_is_made_again() {
    let text = r#"
        hosts = ["a", "b"]
        routers = ["r"]
        [[links]]
        ends = ["a", "r"]
        rate = "5 kbit/s"
        delay = "0 s"
        impairments = [{ kind = "duplicate", probability = 1 }]
        [[links]]
        ends = ["r", "b"]
        rate = "20 kbit/s"
        delay = "50 ms"
        [[flows]]
        name = "f"
        from = "a"
        to = "b"
        size = "5 kB"
        tcp = { mss = "2 kB" }
    "#;
    let scenario = Scenario::from_toml(text, "given-up.toml").unwrap();
    let (alone, several) = (on(1, &scenario), on(3, &scenario));
    assert_same(&alone, &several, "given up");
    assert_eq!(alone.flows[0].closed, Some("timed-out"));
    let why = several.run.one_core.unwrap_or_default();
    assert!(why.contains("reset or a timeout"), "{why}");
}
