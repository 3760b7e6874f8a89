//! Schedulers, path managers and windows of Multipath TCP: what the paths brought
//! is what the stream brought.

use super::{PATHS, both_ways, config, play_to_any_end, two_hosts};
use anabranch_congestion::ALGORITHMS;
use anabranch_mptcp::path_manager::PATH_MANAGERS;
use anabranch_mptcp::scheduler::SCHEDULERS;
use proptest::prelude::*;

/// Impairments of one direction. A connection that dies before both sides know
/// the keys is dead: outages come later.
fn trouble() -> impl Strategy<Value = String> {
    let kinds = (0.0..0.08, 0.0..0.05, 0.0..0.1, 2000_u32..6000, 1_u32..3000, 0.0..0.02);
    kinds.prop_map(|(loss, copies, late, at, length, damage)| {
        format!(
            "{{ kind = \"bernoulli\", rate = {loss} }}, \
             {{ kind = \"duplicate\", probability = {copies} }}, \
             {{ kind = \"reorder\", probability = {late}, extra = \"30 ms\" }}, \
             {{ kind = \"corrupt\", probability = {damage} }}, \
             {{ kind = \"outage\", intervals = [{{ at = \"{at} ms\", for = \"{length} ms\" }}] }}"
        )
    })
}

const QUEUES: [&str; 4] = [
    "{ kind = \"droptail\", limit = \"5 packets\" }",
    "{ kind = \"droptail\", limit = \"64 KiB\" }",
    "{ kind = \"codel\" }",
    "{ kind = \"fq-codel\" }",
];

const WORKLOADS: [(&str, (u64, u64)); 4] = [
    ("size = \"150 kB\"", (150_000, 0)),
    ("size = \"60 kB\"\nreverse_size = \"80 kB\"", (60_000, 80_000)),
    (
        "traffic = { kind = \"requests\", request = \"300 B\", response = \"9 kB\", count = 6 }",
        (1800, 54_000),
    ),
    (
        "size = \"90 kB\"\ntraffic = { kind = \"constant\", rate = \"1 Mbit/s\", chunk = \"3 kB\" }",
        (90_000, 0),
    ),
];

fn options() -> impl Strategy<Value = String> {
    let switches = any::<[bool; 7]>();
    let of = (0..SCHEDULERS.len(), 0..PATH_MANAGERS.len(), 0..ALGORITHMS.len());
    (of, switches, 6_u32..100, 3_u32..9).prop_map(
        |((scheduler, manager, window), on, buffer, retries)| {
            format!(
                "tcp = {{ window = \"{}\", receive_buffer = \"{buffer} KiB\", timestamps = {}, \
                 dsack = {}, syn_retries = 100, syn_ack_retries = 100, \
                 max_retries = {} }}\n\
                 mptcp = {{ scheduler = \"{}\", path_manager = \"{}\", checksum = {}, \
                 long_numbers = {}, opportunistic_retransmission = {}, penalisation = {}, \
                 linger = \"50000 s\" }}\n",
                ALGORITHMS[window].name,
                on[0],
                on[1],
                // Where there is one subflow alone its end is that of the stream.
                if on[6] && PATH_MANAGERS[manager].name == "pairs" { retries } else { 100 },
                SCHEDULERS[scheduler].name,
                PATH_MANAGERS[manager].name,
                on[2],
                on[3],
                on[4],
                on[5],
            )
        },
    )
}

fn scenario(workloads: [usize; 2], trouble: &[String], queue: usize, options: &str) -> String {
    let mut text = two_hosts(trouble.len() / 2);
    text += "routers = [\"r\", \"s\"]\n\
             [[links]]\nends = [\"r\", \"s\"]\nrate = \"50 Mbit/s\"\ndelay = \"1 ms\"\n";
    for (i, pair) in trouble.chunks(2).enumerate() {
        let name = PATHS[i];
        for (ends, trouble) in
            [(format!("\"a.{name}\", \"r\""), &pair[0]), (format!("\"s\", \"b.{name}\""), &pair[1])]
        {
            text += &format!(
                "[[links]]\nends = [{ends}]\nrate = \"{} Mbit/s\"\ndelay = \"{} ms\"\n\
                 queue = {}\nimpairments = [{trouble}]\nreverse = {{ impairments = [{trouble}] }}\n",
                2 + 7 * i,
                3 + 10 * i,
                QUEUES[queue],
            );
        }
    }
    for (name, from, to, workload) in [("f", "a", "b", workloads[0]), ("g", "b", "a", workloads[1])]
    {
        text += &format!(
            "[[flows]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
             protocol = \"mptcp\"\noctets = true\n{}\n{options}",
            WORKLOADS[workload].0
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
        options in options(),
        seed in 0..i64::MAX as u64,
    ) {
        let workloads = [workloads.0, workloads.1];
        let text = scenario(workloads, &trouble, queue, &options);
        let result = play_to_any_end(&text, seed)?;
        let patient = options.contains("max_retries = 100");
        for (row, workload) in result.flows.iter().zip(workloads) {
            // Nor is there another before the peer has told its addresses, or after the
            // fallback.
            let alone = result.paths.iter().filter(|path| path.flow == row.flow).count() == 1;
            if row.finish_s.is_none() && !patient && alone {
                continue;
            }
            prop_assert!(row.finish_s.is_some(), "{:?}\n{}", row, text);
            prop_assert_eq!((row.bytes, row.reverse_bytes), WORKLOADS[workload].1);
            let its = result.paths.iter().filter(|path| path.flow == row.flow);
            let new: u64 = its.filter_map(|its| its.new_bytes).sum();
            let sent = if workload == 2 { row.reverse_bytes } else { row.bytes };
            prop_assert_eq!(new, sent, "{}", text);
        }
    }
}
