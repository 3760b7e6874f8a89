//! MPTCP flows in scenarios: two paths, paths that die and come back,
//! competitors, workloads.

mod coupled_bbr;
mod d_lia;
mod dual;
mod middlebox;
mod passive;
mod repairs;
mod schedulers;
mod shared;

use anabranch_scenario::{NamedSeries, PathRow, RunOptions, RunResult, Scenario, run};

/// `a` and `b` over two disjoint paths of 10 Mbit/s and 10 ms, with further
/// fields of each link.
fn two_paths(first: &str, second: &str, rest: &str) -> String {
    let link = |interface: &str, fields: &str| {
        format!(
            "[[links]]\nname = \"{interface}\"\nends = [\"a.{interface}\", \"b.{interface}\"]\n\
             rate = \"10 Mbit/s\"\ndelay = \"10 ms\"\nqueue = {{ limit = \"50 packets\" }}\n\
             {fields}\n"
        )
    };
    let hosts = "hosts = [{ name = \"a\", interfaces = [\"x\", \"y\"] }, \
                 { name = \"b\", interfaces = [\"x\", \"y\"] }]\n";
    format!("{hosts}{}{}{rest}", link("x", first), link("y", second))
}

fn flow(fields: &str) -> String {
    format!("[[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nprotocol = \"mptcp\"\n{fields}\n")
}

const PAIRS: &str = "mptcp = { path_manager = \"pairs\" }\n";

fn play(text: &str) -> RunResult {
    let scenario = Scenario::from_toml(text, "test.toml").unwrap_or_else(|e| panic!("{e}"));
    let resolved = scenario.resolved_toml();
    assert_eq!(Scenario::from_toml(&resolved, "t").as_ref(), Ok(&scenario), "{resolved}");
    let options = RunOptions { check: true, trace_hash: true, ..RunOptions::default() };
    run(&scenario, &options).unwrap_or_else(|e| panic!("{e}"))
}

fn series<'a>(result: &'a RunResult, name: &str) -> &'a NamedSeries {
    let names: Vec<_> = result.series.iter().map(|series| &series.name).collect();
    result
        .series
        .iter()
        .find(|series| series.name == name)
        .unwrap_or_else(|| panic!("{name}: {names:?}"))
}

fn names(paths: &[PathRow]) -> Vec<(&str, &str, u8)> {
    paths.iter().map(|path| (&*path.from, &*path.to, path.subflow)).collect()
}

/// What happens in both directions of a link.
fn both_ways(impairment: &str) -> String {
    format!("impairments = [{impairment}]\nreverse = {{ impairments = [{impairment}] }}")
}

/// Chosen packets are the flow's on whichever path they come to the link: of a second subflow between other addresses,
/// or from another port.
#[test]
fn chosen_packets_of_any_subflow_are_lost() {
    let lost = "impairments = [{ kind = \"packets\", flow = \"f\", numbers = [1, 20, 21] }]";
    let of = |first: &str, second: &str, more: &str| {
        let fields = format!("size = \"1 MB\"\noctets = true\n{more}");
        let result = play(&two_paths(first, second, &flow(&fields)));
        assert_eq!((result.flows[0].bytes, result.flows[0].wrong_octets), (1_000_000, 0));
        let losses = |link: &str| {
            let row = result.links.iter().find(|row| row.name == link).expect("it is there");
            row.counters.dropped_loss
        };
        (losses("x"), losses("y"))
    };
    assert_eq!(of(lost, "", PAIRS), (3, 0));
    assert_eq!(of("", lost, PAIRS), (0, 3));
    // Both subflows over one link are one count.
    assert_eq!(of(lost, "", "mptcp = { path_manager = \"n-diffports\" }\n"), (3, 0));
}

#[test]
fn a_transfer_uses_both_paths_and_its_rows_add_up() {
    let result =
        play(&two_paths("", "", &flow(&format!("size = \"20 MB\"\noctets = true\n{PAIRS}"))));
    let row = &result.flows[0];
    assert_eq!((row.protocol, row.bytes, row.wrong_octets), ("mptcp", 20_000_000, 0));
    // 1448 of 1500 octets without Multipath TCP's 20 of options and TCP's 12.
    let payload = 1500.0 - 40.0 - 12.0 - 20.0;
    let ideal = 20e6 * 8.0 / (2.0 * 10e6 * payload / 1500.0);
    let finish = row.finish_s.expect("it ends");
    assert!((ideal..ideal + 0.6).contains(&finish), "{finish} s, not {ideal} s");
    assert_eq!(names(&result.paths), [("a.x", "b.x", 0), ("a.y", "b.y", 0)]);
    let new: u64 = result.paths.iter().map(|path| path.new_bytes.expect("counted")).sum();
    assert_eq!(new, 20_000_000);
    let packets: u64 = result.paths.iter().map(|path| path.packets).sum();
    assert!(packets >= 20_000_000 / 1428, "{packets}");
    let again: u64 = result.paths.iter().map(|path| path.retransmitted_packets).sum();
    assert_eq!(again, row.retransmitted_packets);
    let goodput: f64 = result.paths.iter().map(|path| path.goodput_bps.expect("counted")).sum();
    assert!((goodput / row.goodput_bps - 1.0).abs() < 1e-9, "{goodput} {}", row.goodput_bps);
    for path in &result.paths {
        assert!(path.bytes >= path.new_bytes.expect("counted"), "{path:?}");
        assert!(path.goodput_bps.is_some_and(|goodput_bp| goodput_bp > 8.5e6), "{path:?}");
        assert!(path.srtt_s.is_some_and(|srtt| srtt > 0.02), "{path:?}");
    }
}

/// The second path is cut for ten seconds in the middle: its data goes over the
/// first, and it is used again.
#[test]
fn a_path_dies_and_comes_back() {
    let cut = both_ways("{ kind = \"outage\", intervals = [{ at = \"5 s\", for = \"10 s\" }] }");
    let observe = "[[observe]]\nwhat = \"path_cwnd\"\n[[observe]]\nwhat = \"path_state\"\n\
                   [[observe]]\nwhat = \"received\"\n";
    let rest = "duration = \"30 s\"\n".to_owned();
    let text = two_paths("", &cut, &(flow(&format!("octets = true\n{PAIRS}")) + observe));
    let result = play(&(rest + &text));
    assert_eq!(result.flows[0].wrong_octets, 0);
    let received = series(&result, "f.received");
    let at = |s: f64| {
        let i = received.time_s.partition_point(|t| *t <= s);
        received.value[i - 1] * 8.0 / 1e6
    };
    let rate = |from: f64, to: f64| (at(to) - at(from)) / (to - from);
    assert!(rate(2.0, 5.0) > 17.0, "{}", rate(2.0, 5.0));
    assert!((8.5..10.0).contains(&rate(7.0, 15.0)), "{}", rate(7.0, 15.0));
    assert!(rate(25.0, 30.0) > 17.0, "{}", rate(25.0, 30.0));
    let state = series(&result, "f.a.y-b.y.path_state");
    assert!(state.value.windows(2).any(|item| item == [2.0, 1.0]), "{:?}", state.value);
    assert!(series(&result, "f.a.x-b.x.path_cwnd").value.len() > 10);
}

/// A subflow that gives up is opened again by the path manager; its row and its
/// series go on.
#[test]
fn a_subflow_is_opened_again_and_counts_on() {
    let cut = both_ways("{ kind = \"outage\", intervals = [{ at = \"3 s\", for = \"12 s\" }] }");
    let observe = "[[observe]]\nwhat = \"path_state\"\n";
    let fields =
        "tcp = { max_retries = 2 }\nmptcp = { path_manager = \"pairs\", reopen = \"2 s\" }\n";
    let text = two_paths("", &cut, &(flow(fields) + observe));
    let result = play(&format!("duration = \"40 s\"\n{text}"));
    assert_eq!(names(&result.paths), [("a.x", "b.x", 0), ("a.y", "b.y", 0)]);
    // It was active, failed, ended, tried in vain, and is active again.
    let state = &series(&result, "f.a.y-b.y.path_state").value;
    assert!(state.contains(&3.0) && state.last() == Some(&1.0), "{state:?}");
    let path = &result.paths[1];
    let before = 3.0 * 8.5e6 / 8.0;
    let after = 15.0 * 8.5e6 / 8.0;
    assert!(path.new_bytes.is_some_and(|byte| byte as f64 > before + after), "{path:?}");
    let new: u64 = result.paths.iter().filter_map(|path| path.new_bytes).sum();
    assert!(new >= result.flows[0].bytes && new - result.flows[0].bytes < 2_000_000);
}

/// RFC 6356's second goal, roughly: over one shared bottleneck two coupled
/// subflows take about what one connection takes; uncoupled ones take more.
#[test]
fn coupled_subflows_share_a_bottleneck_with_one_connection() {
    let share = |window: &str| {
        let text = format!(
            r#"
            duration = "60 s"
            hosts = [{{ name = "a", interfaces = ["x", "y"] }},
                     {{ name = "b", interfaces = ["x", "y"] }}, "c", "d"]
            routers = ["r", "s"]
            links = [
                {{ ends = ["r", "s"], rate = "10 Mbit/s", delay = "20 ms",
                   queue = {{ limit = "40 packets" }} }},
                {{ ends = ["a.x", "r"], rate = "1 Gbit/s", delay = "1 ms" }},
                {{ ends = ["a.y", "r"], rate = "1 Gbit/s", delay = "1 ms" }},
                {{ ends = ["c", "r"], rate = "1 Gbit/s", delay = "1 ms" }},
                {{ ends = ["s", "b.x"], rate = "1 Gbit/s", delay = "1 ms" }},
                {{ ends = ["s", "b.y"], rate = "1 Gbit/s", delay = "1 ms" }},
                {{ ends = ["s", "d"], rate = "1 Gbit/s", delay = "1 ms" }},
            ]
            [[flows]]
            name = "m"
            from = "a"
            to = "b"
            protocol = "mptcp"
            tcp = {{ window = "{window}" }}
            {PAIRS}
            [[flows]]
            name = "t"
            from = "c"
            to = "d"
            start = "100 ms"
            tcp = {{ window = "reno" }}
            "#
        );
        let result = play(&text);
        result.flows[0].goodput_bps / result.flows[1].goodput_bps
    };
    let (coupled, uncoupled) = (share("lia"), share("reno"));
    assert!((0.7..1.5).contains(&coupled), "{coupled}");
    assert!(uncoupled > 1.5 && uncoupled > coupled, "{uncoupled} {coupled}");
}

#[test]
fn every_workload_of_byte_streams_works() {
    for (fields, bytes, back) in [
        ("size = \"300 kB\"\nreverse_size = \"900 kB\"", 300_000, 900_000),
        ("size = \"0 B\"\nreverse_size = \"300 kB\"", 0, 300_000),
        (
            "traffic = { kind = \"requests\", request = \"200 B\", response = \"20 kB\", \
             count = 5, think = \"100 ms\" }",
            1000,
            100_000,
        ),
        (
            "size = \"500 kB\"\ntraffic = { kind = \"on-off\", rate = \"4 Mbit/s\", \
             on = \"200 ms\", off = \"300 ms\" }",
            500_000,
            0,
        ),
    ] {
        let result = play(&two_paths("", "", &flow(&format!("octets = true\n{fields}\n{PAIRS}"))));
        let row = &result.flows[0];
        assert_eq!((row.bytes, row.reverse_bytes), (bytes, back), "{fields}");
        assert_eq!(row.wrong_octets, 0, "{fields}");
    }
}

/// The rows of a flow whose data the other host sends are that host's.
#[test]
fn paths_are_those_of_the_sender() {
    let fields = format!("size = \"0 B\"\nreverse_size = \"2 MB\"\n{PAIRS}");
    let result = play(&two_paths("", "", &flow(&fields)));
    assert_eq!(names(&result.paths), [("b.x", "a.x", 0), ("b.y", "a.y", 0)]);
    let new: u64 = result.paths.iter().filter_map(|path| path.new_bytes).sum();
    assert_eq!(new, 2_000_000);
}

#[test]
fn path_managers_and_schedulers_do_what_they_say() {
    let of = |manager: &str, more: &str| {
        let mptcp = format!("mptcp = {{ path_manager = \"{manager}\"{more} }}\n");
        play(&two_paths("", "", &flow(&format!("size = \"5 MB\"\noctets = true\n{mptcp}"))))
    };
    assert_eq!(names(&of("single", "").paths), [("a.x", "b.x", 0)]);
    // A backup carries data when the first path's last segments were lost to a
    // timeout, and not before.
    let fields = "mptcp = { path_manager = \"backup\" }\n";
    for (first, used) in [("", [true, false]), ("outage", [true, true])] {
        let cut = "{ kind = \"outage\", intervals = [{ at = \"40 ms\", for = \"1 h\" }] }";
        let cut = if first.is_empty() { String::new() } else { both_ways(cut) };
        let result = play(&two_paths(&cut, "", &flow(&format!("size = \"80 kB\"\n{fields}"))));
        assert_eq!(result.flows[0].bytes, 80_000);
        let carried = |to: &str| {
            let path = result
                .paths
                .iter()
                .find(|path| path.from == format!("a.{to}") && path.to == format!("b.{to}"));
            path.is_some_and(|path| path.packets > 0)
        };
        assert_eq!([carried("x"), carried("y")], used);
    }
    // Everything twice.
    let both = of("pairs", ", scheduler = \"redundant\"");
    let bytes: u64 = both.paths.iter().map(|path| path.bytes).sum();
    assert!(bytes > 9_000_000, "{bytes}");
    let off = of("pairs", ", enabled = false");
    assert_eq!((off.flows[0].bytes, off.paths.len()), (5_000_000, 1));
}

/// A small receive buffer holds the fast path back when the other is slow.
#[test]
fn the_receive_buffer_is_that_of_the_stream() {
    let goodput = |buffer: &str, scheduler: &str| {
        let fields = format!(
            "tcp = {{ receive_buffer = \"{buffer}\" }}\nmptcp = {{ path_manager = \"pairs\", \
             scheduler = \"{scheduler}\", penalisation = false, \
             opportunistic_retransmission = false }}\n"
        );
        let slow = "impairments = [{ kind = \"jitter\", mean = \"150 ms\" }]";
        let text = two_paths("", slow, &flow(&fields));
        play(&format!("duration = \"20 s\"\n{text}")).flows[0].goodput_bps
    };
    let (small, large) = (goodput("64 KiB", "round-robin"), goodput("4 MiB", "round-robin"));
    assert!(large > 1.5 * small, "{small} {large}");
}

#[test]
fn errors_say_what_is_wrong() {
    for (fields, said) in [
        ("mptcp = { path_manager = \"mesh\" }", "flows[0].mptcp.path_manager"),
        ("mptcp = { buffers = 3 }", "flows[0].mptcp.buffers"),
        ("sctp = { }", "flows[0].sctp"),
        ("tcp = { mss = \"100 B\" }", "flows[0].tcp.mss"),
        ("tcp = { fast_open = true }", "flows[0].tcp.fast_open"),
        ("traffic = { kind = \"messages\" }", "flows[0].traffic"),
    ] {
        let error = Scenario::from_toml(&two_paths("", "", &flow(fields)), "t").unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
    }
    let plain = flow("mptcp = { }").replace("\"mptcp\"\n", "\"tcp\"\n");
    let error = Scenario::from_toml(&two_paths("", "", &plain), "t").unwrap_err();
    assert!(error.to_string().contains("none unless `protocol` is \"mptcp\""), "{error}");
}

/// Subflows between the same addresses spread over equal paths by their ports.
#[test]
fn ports_spread_subflows_over_equal_paths() {
    let of = |ports: u8| {
        play(&format!(
            r#"
            duration = "10 s"
            routing = "ecmp"
            hosts = ["a", "b"]
            routers = ["r", "s", "m0", "m1", "m2", "m3"]
            links = [
                {{ ends = ["a", "r"], rate = "1 Gbit/s", delay = "1 ms" }},
                {{ ends = ["s", "b"], rate = "1 Gbit/s", delay = "1 ms" }},
                {{ ends = ["r", "m0"], rate = "10 Mbit/s", delay = "5 ms" }},
                {{ ends = ["r", "m1"], rate = "10 Mbit/s", delay = "5 ms" }},
                {{ ends = ["r", "m2"], rate = "10 Mbit/s", delay = "5 ms" }},
                {{ ends = ["r", "m3"], rate = "10 Mbit/s", delay = "5 ms" }},
                {{ ends = ["m0", "s"], rate = "10 Mbit/s", delay = "5 ms" }},
                {{ ends = ["m1", "s"], rate = "10 Mbit/s", delay = "5 ms" }},
                {{ ends = ["m2", "s"], rate = "10 Mbit/s", delay = "5 ms" }},
                {{ ends = ["m3", "s"], rate = "10 Mbit/s", delay = "5 ms" }},
            ]
            [[flows]]
            name = "f"
            from = "a"
            to = "b"
            count = 2
            protocol = "mptcp"
            octets = true
            mptcp = {{ path_manager = {{ kind = "n-diffports", ports = {ports} }} }}
            [[observe]]
            what = "path_cwnd"
            flow = "f-0"
            "#
        ))
    };
    let total = |result: &RunResult| result.flows.iter().map(|flow| flow.goodput_bps).sum::<f64>();
    let (one, eight) = (of(1), of(8));
    let subflows: Vec<_> = eight.paths[..8].iter().map(|path| path.subflow).collect();
    assert_eq!((subflows, eight.paths.len()), ((0..8).collect::<Vec<_>>(), 16));
    assert!(eight.paths.iter().all(|path| path.new_bytes > Some(0)), "{:?}", eight.paths);
    assert!(series(&eight, "f-0.a-b.7.path_cwnd").value.len() > 1);
    assert!(total(&one) < 20e6 && total(&eight) > 30e6, "{} {}", total(&one), total(&eight));
    assert!(eight.flows.iter().all(|flow| flow.wrong_octets == 0));
}

/// The peer's MP_CAPABLE with data counts as numbered with 64 bits: what answers it
/// must fit its link all the same.
#[test]
fn no_segment_is_too_large_for_its_link() {
    let text = r#"
        hosts = [{ name = "a", interfaces = ["x"] }, { name = "b", interfaces = ["x"] }]
        [[links]]
        ends = ["a.x", "b.x"]
        rate = "10 Mbit/s"
        delay = "5 ms"
        impairments = [{ kind = "bernoulli", rate = 0.02 }]
        reverse = { impairments = [{ kind = "bernoulli", rate = 0.02 }] }
        [[flows]]
        name = "f"
        from = "a"
        to = "b"
        protocol = "mptcp"
        size = "300 kB"
        reverse_size = "300 kB"
    "#;
    for timestamps in [false, true] {
        let set = format!("flows.f.tcp.timestamps={timestamps}");
        let scenario = Scenario::with_overrides(text, "t", &[set]).unwrap();
        let result = anabranch_scenario::run(&scenario, &RunOptions::default()).unwrap();
        assert!(result.flows[0].finish_s.is_some());
        assert_eq!(result.flows[0].reverse_bytes, 300_000);
        assert!(result.links.iter().all(|link| link.counters.dropped_mtu == 0));
    }
}
