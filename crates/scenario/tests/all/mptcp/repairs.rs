//! What one subflow sends again under random loss, beside TCP on the same link.

use super::{PAIRS, both_ways, flow, play, two_paths};

/// A subflow in a repair prefers new data as TCP does whose data waits (RFC 6675 §4,
/// `NextSeg`): of both next to nothing is sent again that was not lost.
#[test]
fn one_subflow_sends_again_what_was_lost() {
    let loss = "impairments = [{ kind = \"bernoulli\", rate = 0.01 }]";
    for recovery in ["sack", "rack"] {
        for protocol in ["tcp", "mptcp"] {
            let (mut lost, mut again) = (0, 0);
            for seed in 1..=5 {
                let fields = format!("size = \"20 MB\"\ntcp = {{ recovery = \"{recovery}\" }}\n");
                let flow = match protocol {
                    "tcp" => flow(&fields).replace("\"mptcp\"", "\"tcp\""),
                    _ => flow(&format!("{fields}mptcp = {{ path_manager = \"single\" }}")),
                };
                let result = play(&format!("seed = {seed}\n{}", two_paths(loss, "", &flow)));
                assert_eq!(result.flows[0].bytes, 20_000_000);
                let counters = result.links[0].counters;
                lost += counters.dropped_loss + counters.dropped_queue;
                again += result.flows[0].retransmitted_packets;
            }
            assert!(lost > 500, "{lost}");
            let ratio = again as f64 / lost as f64;
            assert!(ratio < 1.02, "{protocol}, {recovery}: {lost} lost, {again} sent again");
        }
    }
}

/// Both subflows have had a timeout, and one has died: what the other must carry does not wait
/// behind what it carries already.
#[test]
fn what_a_dead_path_had_is_sent_at_the_other_s_pace() {
    let flow = flow(&format!("size = \"4 MB\"\n{PAIRS}"));
    for at in ["0.8 s", "1 s", "1.3 s"] {
        let cut =
            format!("{{ kind = \"outage\", intervals = [{{ at = \"{at}\", for = \"1 h\" }}] }}");
        let result = play(&two_paths(&both_ways(&cut), "", &flow));
        let timeouts: Vec<_> = result.paths.iter().map(|path| path.timeouts).collect();
        assert!(timeouts.iter().all(|timeout| *timeout > 0), "{timeouts:?}");
        // 3.4 s over one path from the first.
        let finish = result.flows[0].finish_s.expect("it ends");
        assert!(finish < 5.0, "dead at {at}: {finish} s");
    }
}

/// RFC 8684 §3.1: keys whose first two packets are lost leave again with the first data, in
/// a packet that the links carry. An outage of 20 ms is over after one timeout.
#[test]
fn a_first_flight_that_is_lost_with_the_keys_costs_one_timeout() {
    let outage = "impairments = [{ kind = \"outage\", \
                  intervals = [{ at = \"15 ms\", for = \"20 ms\" }] }]";
    for long in [false, true] {
        let fields = "size = \"1 MB\"\nmptcp = { path_manager = \"single\", long_numbers = ";
        let result = play(&two_paths(outage, "", &flow(&format!("{fields}{long} }}"))));
        let row = &result.flows[0];
        assert_eq!((row.bytes, row.timeouts, row.fallback), (1_000_000, 1, Some(false)));
        assert!(row.finish_s.is_some_and(|finish| finish < 2.5), "{row:?}");
    }
}
