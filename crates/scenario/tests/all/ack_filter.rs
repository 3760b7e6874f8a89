//! ACK filtering in front of a slow way back (RFC 3449).

use anabranch_scenario::{RunOptions, RunResult, Scenario, run};

/// 20 Mbit/s down, 64 kbit/s up, 10 ms each way; a full segment in two is
/// acknowledged, so that ACKs need some 330 kbit/s.
fn asymmetric(queue: &str) -> RunResult {
    let text = format!(
        r#"
        duration = "30 s"
        hosts = ["a", "b"]
        links = [{{ ends = ["a", "b"], rate = "20 Mbit/s", delay = "10 ms", queue = {{ limit = "200 packets" }}, reverse = {{ rate = "64 kbit/s", queue = {queue} }} }}]
        flows = [{{ name = "f", from = "a", to = "b", tcp = {{ window = "reno" }} }}]
        observe = [{{ what = "srtt", interval = "10 ms" }}]
        "#
    );
    let scenario = Scenario::from_toml(&text, "asymmetric.toml").unwrap();
    run(&scenario, &RunOptions { check: true, ..RunOptions::default() }).unwrap()
}

fn mean_srtt(result: &RunResult) -> f64 {
    let values = &result.series[0].value;
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn filters_shorten_the_queue_of_acks_and_raise_the_throughput() {
    let plain = asymmetric("{ limit = \"100 packets\" }");
    let conservative = asymmetric("{ kind = \"ack-filter\" }");
    let aggressive = asymmetric("{ kind = \"ack-filter\", aggressive = true }");
    let rates = [&plain, &conservative, &aggressive].map(|item| item.flows[0].goodput_bps / 1e6);
    let delays = [&plain, &conservative, &aggressive].map(mean_srtt);
    let filtered = |run_result: &RunResult| run_result.links[1].counters.dropped_aqm;
    assert_eq!(filtered(&plain), 0);
    assert!(filtered(&conservative) > 1000 && filtered(&aggressive) > 1000);
    assert!(rates[1] > 1.2 * rates[0] && rates[2] > 1.2 * rates[0], "{rates:?} Mbit/s");
    assert!(delays[1] < 0.3 * delays[0] && delays[2] < 0.3 * delays[0], "{delays:?} s");
}
