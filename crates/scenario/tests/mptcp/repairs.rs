//! What one subflow sends again under random loss, beside TCP on the same link.

use super::{flow, play, two_paths};

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
