//! Fast Open between hosts that remember each other, over whole runs.

use anabranch_scenario::{FlowRow, RunOptions, RunResult, Scenario, run, run_batch};

/// Requests of 300 octets and responses of 1000, a connection every three
/// seconds, over 50 ms each way.
fn requests(n: usize, tcp: &str, links: &str) -> Scenario {
    let mut text = format!(
        "hosts = [\"a\", \"b\"]\nduration = \"100 s\"\n[[links]]\nends = [\"a\", \"b\"]\n\
         rate = \"100 Mbit/s\"\ndelay = \"50 ms\"\n{links}\n"
    );
    for i in 0..n {
        let start = 3 * i;
        text += &format!(
            "[[flows]]\nname = \"f{i}\"\nfrom = \"a\"\nto = \"b\"\nstart = \"{start} s\"\n\
             traffic = {{ kind = \"requests\", request = \"300 B\", response = \"1 kB\", count = 1 }}\n\
             tcp = {{ {tcp} }}\n"
        );
    }
    Scenario::from_toml(&text, "requests").unwrap()
}

fn play(scenario: &Scenario) -> RunResult {
    run(scenario, &RunOptions { trace_hash: true, ..RunOptions::default() }).unwrap()
}

/// How long each flow took, in round trips of 100 ms.
fn round_trips(result: &RunResult) -> Vec<f64> {
    let taken = |row: &FlowRow| (row.finish_s.unwrap() - row.start_s) / 0.1;
    result.flows.iter().map(|row| (taken(row) * 100.0).round() / 100.0).collect()
}

/// RFC 7413 §2: the first connection takes two round trips, the others one.
#[test]
fn later_connections_of_two_hosts_save_a_round_trip() {
    assert_eq!(round_trips(&play(&requests(4, "", ""))), [2.0; 4]);
    let fast = play(&requests(4, "fast_open = true", ""));
    assert_eq!(round_trips(&fast), [2.0, 1.0, 1.0, 1.0]);
    assert!(fast.flows.iter().all(|row| row.retransmitted_packets == 0));
}

#[test]
fn a_server_that_does_not_take_part_costs_nothing() {
    let result = play(&requests(3, "fast_open = { server = false }", ""));
    assert_eq!(round_trips(&result), [2.0; 3]);
    assert!(result.flows.iter().all(|row| row.retransmitted_packets == 0));
}

/// Each answer brings a cookie of the next key; the first cookie is good no more
/// after two lifetimes.
#[test]
fn cookies_end_with_their_keys() {
    let result = play(&requests(4, "fast_open = { key_lifetime = \"3 s\" }", ""));
    assert_eq!(round_trips(&result), [2.0, 1.0, 1.0, 1.0], "replaced while still good");
    let mut scenario = requests(4, "fast_open = { key_lifetime = \"3 s\" }", "");
    scenario.flows.remove(1);
    scenario.flows.remove(1);
    let result = play(&scenario);
    assert_eq!(round_trips(&result), [2.0, 2.0], "three lifetimes old");
}

/// A path that loses SYNs with data, as some firewalls do: the client pays the
/// timeout once, and then opens as usual until `retry_after` is over.
#[test]
fn a_path_that_swallows_syns_with_data_is_left_alone_for_a_time() {
    // Data packets that the link counts: the request, the SYN with data, ...
    let swallows = "impairments = [{ kind = \"packets\", flow = \"f1\", numbers = [1] }]";
    let result = play(&requests(5, "fast_open = { retry_after = \"4 s\" }", swallows));
    assert_eq!(round_trips(&result), [2.0, 12.0, 2.0, 1.0, 1.0]);
}

/// One seed, one result: alone, in a batch, on any number of threads.
#[test]
fn memories_belong_to_a_run() {
    let scenario = requests(6, "fast_open = true", "");
    let hash = play(&scenario).run.trace_hash;
    assert_eq!(play(&scenario).run.trace_hash, hash);
    let hashes = |jobs| -> Vec<_> {
        let results = run_batch(&scenario, None, 0..3, jobs, true);
        results.into_iter().map(|result| result.unwrap().run.trace_hash).collect()
    };
    let alone = hashes(1);
    assert_eq!((alone[0], &alone), (hash, &hashes(3)));
}
