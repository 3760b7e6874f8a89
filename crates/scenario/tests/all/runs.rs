//! Whole runs: the examples, determinism, and what the options do.

use anabranch_scenario::{
    CaptureEnd, CaptureOptions, RunError, RunOptions, RunResult, Scenario, Snap, load, run,
    run_batch, run_watched,
};
use std::path::{Path, PathBuf};

pub(crate) fn examples() -> Vec<(PathBuf, Scenario)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    let read = |path: PathBuf| {
        let text = load(&path).unwrap();
        let scenario = Scenario::from_toml(&text, &path.display().to_string());
        (path, scenario.unwrap())
    };
    files.into_iter().map(read).collect()
}

fn traced(scenario: &Scenario, replication: u64) -> RunResult {
    let options = RunOptions { trace_hash: true, replication, ..RunOptions::default() };
    run(scenario, &options).unwrap()
}

fn two_hosts(flow: &str) -> Scenario {
    let text = format!(
        "hosts = [\"a\", \"b\"]\n[[links]]\nends = [\"a\", \"b\"]\nrate = \"10 Mbit/s\"\n\
         delay = \"5 ms\"\nimpairments = [{{ kind = \"bernoulli\", rate = 0.01 }}]\n\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\n{flow}\n[[observe]]\nwhat = \"packets\"\n"
    );
    Scenario::from_toml(&text, "two-hosts").unwrap()
}

#[test]
fn each_example_runs_alike_twice_and_from_its_resolved_form() {
    for (path, scenario) in examples() {
        let first = traced(&scenario, 0);
        assert!(first.flows.iter().all(|flow| flow.bytes > 0), "{}", path.display());
        let again = Scenario::from_toml(&first.run.resolved, "resolved").unwrap();
        assert_eq!(again, scenario);
        let second = traced(&again, 0);
        assert_eq!(first.run.trace_hash, second.run.trace_hash, "{}", path.display());
        assert_eq!((first.flows, first.series), (second.flows, second.series));
    }
}

#[test]
fn replications_differ_and_threads_change_nothing() {
    let scenario = two_hosts("size = \"200 kB\"");
    let rows = |jobs| -> Vec<_> {
        let results = run_batch(&scenario, None, 0..8, jobs, true);
        let outcome = |result: RunResult| (result.run.trace_hash.unwrap(), result.flows);
        results.into_iter().map(|result| outcome(result.unwrap())).collect()
    };
    let alone = rows(1);
    assert_eq!(alone, rows(3));
    let sixth = traced(&scenario, 5);
    assert_eq!(alone[5], (sixth.run.trace_hash.unwrap(), sixth.flows));
    // Of 138 packets with 1 % loss about one transfer in four is lossless.
    assert!(alone.iter().any(|(_, flows)| flows != &alone[0].1));
}

#[test]
fn packets_are_conserved_and_real_octets_arrive_as_sent() {
    let scenario = two_hosts("size = \"300 kB\"\nreverse_size = \"100 kB\"\noctets = true");
    let result = run(&scenario, &RunOptions { check: true, ..RunOptions::default() }).unwrap();
    let flow = &result.flows[0];
    assert_eq!((flow.bytes, flow.reverse_bytes, flow.wrong_octets), (300_000, 100_000, 0));
    assert!(result.links[0].counters.dropped_loss > 0);
    assert_eq!(result.links[1].counters.dropped_loss, 0);
    let names: Vec<_> = result.series.iter().map(|series| series.name.as_str()).collect();
    let expected = ["f.sends", "f.acks", "f.receives", "f.sacks", "f.drops"];
    assert_eq!(names[..5], expected);
    assert_eq!(names[5..], expected.map(|name| name.replace("f.", "f.reverse.")));
}

#[test]
fn a_flow_without_a_size_ends_after_its_duration() {
    let result = traced(&two_hosts("start = \"1 s\"\nduration = \"2 s\""), 0);
    assert!(result.run.end_s >= 3.0 && result.run.end_s < 4.0, "{}", result.run.end_s);
    let flow = &result.flows[0];
    assert_eq!(flow.finish_s, None);
    let goodput = flow.bytes as f64 * 8.0 / 2.0;
    assert!((flow.goodput_bps - goodput).abs() < 1.0 && goodput > 1e5, "{flow:?}");
}

#[test]
fn chosen_packets_are_dropped_and_sent_again() {
    let scenario = two_hosts("size = \"100 kB\"")
        .set("links.a-b.impairments", "[{ kind = \"packets\", flow = \"f\", numbers = [5, 6] }]")
        .unwrap();
    let result = traced(&scenario, 0);
    assert_eq!(result.links[0].counters.dropped_loss, 2);
    assert_eq!(result.flows[0].retransmitted_packets, 2);
    let again = result.series[0].retransmission.iter().filter(|again| **again).count();
    assert_eq!(again, 2);
    // What was lost is what was sent again, and lay below the first SACK block.
    let [sends, .., sacks, drops] = &result.series[..5] else { panic!("five series") };
    let again = (0..sends.value.len()).filter(|i| sends.retransmission[*i]);
    assert_eq!(again.map(|i| sends.value[i]).collect::<Vec<_>>(), drops.value);
    assert_eq!(sacks.value[0], drops.value[1] + f64::from(drops.len[1]));
    assert!(drops.time_s[1] < sacks.time_s[0]);
}

#[test]
fn a_capture_changes_nothing_and_says_where_it_cannot_be_written() {
    let scenario = two_hosts("size = \"50 kB\"");
    let path = std::env::temp_dir().join(format!("anabranch-{}.pcapng", std::process::id()));
    let options = |path: &Path| RunOptions {
        pcap: Some(path.to_owned()),
        trace_hash: true,
        ..RunOptions::default()
    };
    let captured = run(&scenario, &options(&path)).unwrap();
    assert_eq!(captured.run.trace_hash, traced(&scenario, 0).run.trace_hash);
    // Section header block (pcapng §4.1); every packet once, and no payload that is only a length.
    let octets = std::fs::read(&path).unwrap();
    assert_eq!(octets[..4], [0x0a, 0x0d, 0x0d, 0x0a]);
    assert!((5_000..15_000).contains(&octets.len()), "{}", octets.len());
    // What 50 kB take twice.
    let capture =
        CaptureOptions { end: CaptureEnd::Both, snap: Snap::Whole, ..CaptureOptions::default() };
    let whole = RunOptions { capture, ..options(&path) };
    assert_eq!(run(&scenario, &whole).unwrap().run.trace_hash, captured.run.trace_hash);
    assert!(std::fs::read(&path).unwrap().len() > 100_000);
    std::fs::remove_file(&path).unwrap();
    let error = run(&scenario, &options(Path::new("/nonexistent/x.pcapng"))).unwrap_err();
    assert!(error.to_string().starts_with("/nonexistent/x.pcapng: "), "{error}");
}

#[test]
fn samples_stand_at_the_multiples_of_their_interval() {
    let scenario = two_hosts(
        "size = \"300 kB\"
        [[observe]]
        what = \"received\"
        interval = \"50 ms\"",
    );
    let result = run(&scenario, &RunOptions::default()).unwrap();
    let series = result.series.iter().find(|series| series.name == "f.received").unwrap();
    for (i, at) in series.time_s.iter().enumerate() {
        let expected = series.time_s[0] + i as f64 * 0.05;
        assert!((at - expected).abs() < 1e-9, "{at} instead of {expected}");
    }
    assert!(series.value.is_sorted());
    // 50 ms carry at most 62,500 octets.
    assert!(series.value.last().unwrap() + 62_500.0 >= 300_000.0);
    assert!((result.run.end_s - series.time_s.last().unwrap()) < 0.05);
}

/// RFC 1191: the third link carries packets of 1000 octets alone. Routers that
/// say so let the transfer pass, others are a black hole; a sender that
/// suspects one gets through.
#[test]
fn a_narrow_link_passes_those_who_hear_of_it() {
    let pass = |head: &str, tcp: &str| {
        let text = format!(
            "{head}\nduration = \"60 s\"\nhosts = [\"a\", \"b\"]\nrouters = [\"r\", \"s\"]\n\
             links = [{{ ends = [\"a\", \"r\"], rate = \"10 Mbit/s\", delay = \"5 ms\" }},\
             {{ ends = [\"r\", \"s\"], rate = \"10 Mbit/s\", delay = \"5 ms\" }},\
             {{ ends = [\"s\", \"b\"], rate = \"10 Mbit/s\", delay = \"5 ms\", mtu = \"1000 B\" }}]\n\
             [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nsize = \"100 kB\"\n{tcp}"
        );
        let result = traced(&Scenario::from_toml(&text, "narrow").unwrap(), 0);
        (result.flows[0].bytes, result.flows[0].timeouts)
    };
    assert_eq!(pass("icmp = true", ""), (100_000, 0));
    assert_eq!(pass("icmp = true", "tcp = { profile = \"linux\" }"), (100_000, 0));
    assert_eq!(pass("", "").0, 0);
    assert_eq!(pass("", "tcp = { black_hole_detection = true }"), (100_000, 2));
}

/// Data both ways with losses both ways: segments that report them in SACK
/// blocks still fit links of 1500 octets.
#[test]
fn data_both_ways_fits_the_links() {
    for tcp in ["{ }", "{ timestamps = false }"] {
        let scenario = Scenario::from_toml(
            &format!(
                r#"
                hosts = ["a", "b"]
                links = [{{ name = "l", ends = ["a", "b"], rate = "10 Mbit/s", delay = "10 ms",
                            queue = {{ limit = "50 packets" }} }}]
                flows = [{{ name = "f", from = "a", to = "b", size = "300 kB",
                            reverse_size = "900 kB", octets = true, tcp = {tcp} }}]
                "#
            ),
            "both-ways.toml",
        )
        .unwrap_or_else(|e| panic!("{e}"));
        let result = run(&scenario, &RunOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        let row = &result.flows[0];
        assert!(row.retransmitted_packets > 0, "losses were meant: {tcp}");
        assert_eq!(
            (row.bytes, row.reverse_bytes, row.wrong_octets),
            (300_000, 900_000, 0),
            "{tcp}"
        );
        assert!(row.finish_s.is_some_and(|finish| finish < 3.0), "{:?} {tcp}", row.finish_s);
    }
}

#[test]
fn a_run_that_is_watched_is_the_same_run_and_can_be_stopped() {
    let scenario = two_hosts("size = \"300 kB\"");
    let options = RunOptions { trace_hash: true, ..RunOptions::default() };
    let alone = run(&scenario, &options).unwrap();
    let watched = run_watched(&scenario, &options, &|| false).unwrap();
    assert_eq!(watched.run.trace_hash, alone.run.trace_hash);
    assert_eq!((watched.run.end_s, watched.flows), (alone.run.end_s, alone.flows));

    let asked = std::cell::Cell::new(0);
    let endless = two_hosts("duration = \"100000 s\"");
    let stopped = run_watched(&endless, &options, &|| asked.replace(asked.get() + 1) == 2);
    assert!(matches!(stopped, Err(RunError::Interrupted)));
    assert_eq!(asked.get(), 3);
}
