//! Retransmission policies, streams and messages of SCTP.

use super::{PATHS, both_ways, config, play, two_hosts};
use anabranch_scenario::{Scenario, run_batch};
use anabranch_sctp::policy::DESTINATIONS;
use proptest::prelude::*;

/// Impairments of one direction.
fn trouble() -> impl Strategy<Value = String> {
    // An outage has a length: 0 ms is refused.
    let kinds = (0.0..0.1, 0.0..0.05, 0.0..0.1, 0_u32..4000, 1_u32..3000);
    kinds.prop_map(|(loss, copies, late, at, length)| {
        format!(
            "{{ kind = \"bernoulli\", rate = {loss} }}, \
             {{ kind = \"duplicate\", probability = {copies} }}, \
             {{ kind = \"reorder\", probability = {late}, extra = \"30 ms\" }}, \
             {{ kind = \"outage\", intervals = [{{ at = \"{at} ms\", for = \"{length} ms\" }}] }}"
        )
    })
}

const QUEUES: [&str; 5] = [
    "{ kind = \"droptail\", limit = \"5 packets\" }",
    "{ kind = \"droptail\", limit = \"64 KiB\" }",
    "{ kind = \"red\", limit = \"30 packets\" }",
    "{ kind = \"codel\" }",
    "{ kind = \"fq-codel\" }",
];

const WORKLOADS: [&str; 6] = [
    "size = \"150 kB\"",
    "size = \"60 kB\"\nreverse_size = \"80 kB\"",
    "traffic = { kind = \"requests\", request = \"300 B\", response = \"9 kB\", count = 6 }",
    "size = \"150 kB\"\ntraffic = { kind = \"messages\", streams = 3, \
     size = { law = \"exponential\", mean = \"2 kB\" } }",
    "traffic = { kind = \"messages\", streams = 5, order = \"unordered\", count = 80, \
     interval = \"5 ms\" }",
    "traffic = { kind = \"messages\", size = \"4 kB\", rate = \"2 Mbit/s\", count = 40 }",
];

fn sctp() -> impl Strategy<Value = String> {
    let switches = any::<(bool, bool, bool, bool)>();
    let window = prop_oneof![Just("standard"), Just("cubic"), Just("vegas"), Just("highspeed")];
    let preset = prop_oneof![Just("rfc2960"), Just("rfc4960"), Just("rfc9260")];
    let concurrent = prop_oneof![
        3 => Just("false"),
        1 => Just("true"),
        1 => Just("{ split_fast_retransmit = false, delayed_ack = false, buffer_split = true }"),
    ];
    let numbers = (0_u32..3, 6_u32..100);
    (preset, 0..DESTINATIONS.len(), window, switches, numbers, concurrent).prop_map(
        |(preset, destination, window, switches, (retrans, buffer), concurrent)| {
            format!(
                "preset = \"{preset}\"\ndestination = \"{}\"\nwindow = \"{window}\"\n\
                 multiple_fast_retransmit = {}\ntimestamps = {}\nheartbeat_after_rto = {}\n\
                 {}path_max_retrans = {retrans}\nassociation_max_retrans = 1000\n\
                 max_init_retransmits = 100\nreceive_buffer = \"{buffer} KiB\"\n\
                 heartbeat_interval = \"1 s\"\nconcurrent = {concurrent}\n",
                DESTINATIONS[destination].0,
                switches.0,
                switches.1,
                switches.2,
                if switches.3 { "potentially_failed = 0\n" } else { "" },
            )
        },
    )
}

/// A scenario of two or three paths and two flows, one of which has the paths
/// the other way.
fn scenario(
    workloads: [usize; 2],
    trouble: &[String],
    queue: usize,
    sctp: &str,
    rate: u32,
) -> String {
    let mut text = two_hosts(trouble.len() / 2);
    for (i, pair) in trouble.chunks(2).enumerate() {
        let name = PATHS[i];
        text += &format!(
            "[[links]]\nends = [\"a.{name}\", \"b.{name}\"]\nrate = \"{rate} Mbit/s\"\n\
             delay = \"{} ms\"\nqueue = {}\nimpairments = [{}]\nreverse = {{ impairments = [{}] }}\n",
            5 + 20 * i,
            QUEUES[queue],
            pair[0],
            pair[1],
        );
    }
    for (name, from, to, workload) in [("f", "a", "b", workloads[0]), ("g", "b", "a", workloads[1])]
    {
        text += &format!(
            "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nprotocol = \"sctp\"\n\
             octets = true\n{}\n[flows.sctp]\n{sctp}",
            WORKLOADS[workload]
        );
    }
    text
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn octets_arrive_and_packets_are_conserved(
        workloads in (0..WORKLOADS.len(), 0..WORKLOADS.len()),
        trouble in both_ways(trouble),
        queue in 0..QUEUES.len(),
        sctp in sctp(),
        rate in 1_u32..20,
        seed in 0..i64::MAX as u64,
    ) {
        let workloads = [workloads.0, workloads.1];
        let text = scenario(workloads, &trouble, queue, &sctp, rate);
        let result = play(&text, seed)?;
        for (row, workload) in result.flows.iter().zip(workloads) {
            let expected = match workload {
                0 | 3 => (150_000, 0),
                1 => (60_000, 80_000),
                2 => (1800, 54_000),
                4 => (80_000, 0),
                _ => (160_000, 0),
            };
            prop_assert_eq!((row.bytes, row.reverse_bytes), expected);
        }
        for messages in &result.messages {
            prop_assert_eq!(messages.made, messages.delivered);
        }
    }
}

#[test]
fn threads_change_nothing() {
    let loss = |rate| format!("{{ kind = \"bernoulli\", rate = {rate} }}");
    let trouble = [loss(0.05), loss(0.01), loss(0.02), loss(0.0)];
    let text = scenario([3, 1], &trouble, 1, "preset = \"rfc4960\"\n", 4);
    let scenario = Scenario::from_toml(&text, "t").unwrap();
    let hashes = |jobs| -> Vec<_> {
        let all = run_batch(&scenario, Some(7), 0..6, jobs, true);
        all.into_iter().map(|item| item.unwrap().run.trace_hash).collect()
    };
    let one = hashes(1);
    assert_eq!(one, hashes(2));
    assert!((1..6).all(|i| one[i] != one[0]), "replications differ: {one:?}");
}
