//! SCTP flows in scenarios: transfers over two paths, failover, messages.

mod dual;

use anabranch_scenario::{NamedSeries, RunOptions, RunResult, Scenario, run};

/// Two disjoint paths of three links: 10 Mbit/s 10 ms, 2 Mbit/s 15 ms,
/// 10 Mbit/s 10 ms, the middle one with impairments towards `b`.
fn dual_path(first: &str, second: &str, rest: &str) -> String {
    let path = |i: usize, interface: &str, impairments: &str| {
        let link = |a: &str, b: &str, rate, delay, impairments| {
            format!(
                "[[links]]\nends = [\"{a}\", \"{b}\"]\nrate = \"{rate} Mbit/s\"\n\
                 delay = \"{delay} ms\"\nimpairments = [{impairments}]\n"
            )
        };
        link(&format!("a.{interface}"), &format!("r{i}"), 10, 10, "")
            + &link(&format!("r{i}"), &format!("s{i}"), 2, 15, impairments)
            + &link(&format!("s{i}"), &format!("b.{interface}"), 10, 10, "")
    };
    let hosts = "hosts = [{ name = \"a\", interfaces = [\"x\", \"y\"] }, \
                 { name = \"b\", interfaces = [\"x\", \"y\"] }]\n";
    let routers = "routers = [\"r0\", \"s0\", \"r1\", \"s1\"]\n";
    format!("{hosts}{routers}{}{}{rest}", path(0, "x", first), path(1, "y", second))
}

fn flow(fields: &str) -> String {
    format!("[[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nprotocol = \"sctp\"\n{fields}\n")
}

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

/// Packets that each path of links has delivered to `b`.
fn delivered(result: &RunResult) -> [u64; 2] {
    ["s0-b-x", "s1-b-y"].map(|name| {
        let link = result.links.iter().find(|link| link.name == name).expect("a link");
        link.counters.delivered
    })
}

#[test]
fn a_transfer_takes_the_primary_path_and_ends() {
    let result = play(&dual_path(
        "",
        "",
        &flow("size = \"4 MB\"\noctets = true\nsctp = { receive_buffer = \"64 KiB\" }"),
    ));
    let row = &result.flows[0];
    assert_eq!((row.protocol, row.bytes, row.wrong_octets), ("sctp", 4_000_000, 0));
    // 2755 packets of 1452 B with 1500 B each at 2 Mbit/s, handshake and slow
    // start: the closed form of the study is 16.75 s from the first DATA.
    let finish = row.finish_s.expect("it ends");
    assert!((16.7..17.2).contains(&finish), "{finish}");
    let [first, second] = delivered(&result);
    assert!(first >= 2755 && second < 10, "{first} {second}");
    let paths: Vec<_> = result.paths.iter().map(|p| (&*p.from, &*p.to, p.state)).collect();
    assert_eq!(paths, [("a.x", "b.x", "active"), ("a.y", "b.y", "active")]);
    assert_eq!((result.paths[0].packets, result.paths[1].packets), (2755, 0));
}

#[test]
fn the_primary_and_the_alternates_are_those_named() {
    let other = play(&dual_path("", "", &flow("size = \"400 kB\"\nsctp = { primary = \"b.y\" }")));
    let [first, second] = delivered(&other);
    assert!(first < 10 && second >= 275, "{first} {second}");
    assert_eq!((other.paths[0].to.as_str(), other.paths[0].packets > 275), ("b.y", true));
    let single = play(&dual_path("", "", &flow("size = \"400 kB\"\nsctp = { alternates = [] }")));
    assert_eq!(single.paths.len(), 1);
    assert_eq!(delivered(&single)[1], 0);
}

/// The primary dies for good two seconds into the transfer.
#[test]
fn a_transfer_survives_the_death_of_its_primary() {
    let dead = "{ kind = \"outage\", intervals = [{ at = \"2 s\", for = \"1 h\" }] }";
    let observe = "[[observe]]\nwhat = \"path_state\"\n[[observe]]\nwhat = \"path_rto\"\n";
    let rest = flow("size = \"2 MB\"\noctets = true\nsctp = { path_max_retrans = 2 }") + observe;
    let result = play(&dual_path(dead, "", &rest));
    let row = &result.flows[0];
    assert_eq!((row.bytes, row.wrong_octets), (2_000_000, 0));
    let states: Vec<_> = result.paths.iter().map(|p| p.state).collect();
    assert_eq!(states, ["inactive", "active"]);
    let state = series(&result, "f.b.x.path_state");
    assert_eq!(state.value, [1.0, 3.0]);
    // Inactive with the third expiry in a row, each after twice the time.
    let rto = series(&result, "f.b.x.path_rto");
    let doubled = rto.value.windows(2).zip(&rto.time_s[1..]);
    let expiries: Vec<f64> =
        doubled.filter(|(w, _)| w[1] == 2.0 * w[0]).map(|(_, at)| *at).collect();
    assert_eq!(expiries.len(), 3, "{:?}", rto.value);
    assert!((expiries[2] - state.time_s[1]).abs() < 1e-9, "{expiries:?} {:?}", state.time_s);
    assert!((8.9..10.5).contains(&state.time_s[1]), "RTO.Min is 1 s: {:?}", state.time_s);
    assert_eq!(series(&result, "f.b.y.path_state").value.last(), Some(&1.0));
}

#[test]
fn every_workload_of_byte_streams_works() {
    for (fields, bytes, back) in [
        ("size = \"300 kB\"\nreverse_size = \"900 kB\"", 300_000, 900_000),
        ("size = \"900 kB\"\nreverse_size = \"300 kB\"", 900_000, 300_000),
        (
            "traffic = { kind = \"requests\", request = \"200 B\", response = \"20 kB\", \
             count = 5, think = \"100 ms\" }",
            1000,
            100_000,
        ),
        (
            "size = \"100 kB\"\ntraffic = { kind = \"on-off\", rate = \"1 Mbit/s\", \
             on = \"100 ms\", off = \"200 ms\" }",
            100_000,
            0,
        ),
    ] {
        for octets in ["", "\noctets = true"] {
            let result = play(&dual_path("", "", &flow(&format!("{fields}{octets}"))));
            let row = &result.flows[0];
            assert_eq!((row.bytes, row.reverse_bytes), (bytes, back), "{fields}");
            assert_eq!(row.wrong_octets, 0);
            assert!(row.finish_s.is_some(), "{fields}");
        }
    }
}

#[test]
fn endless_streams_stop() {
    let result = play(&dual_path("", "", &flow("duration = \"3 s\"")));
    let row = &result.flows[0];
    assert!(row.bytes > 400_000 && row.finish_s.is_none(), "{row:?}");
    assert_eq!(row.closed, Some("aborted"));
}

/// A message each 25 ms on a clean path: the delay is what the path takes, and
/// nothing waits for anything.
#[test]
fn the_delay_of_messages_on_a_clean_path_is_the_paths() {
    let messages = "traffic = { kind = \"messages\", size = \"1000 B\", interval = \"25 ms\", \
                    count = 200, streams = 2 }\n[[observe]]\nwhat = \"message_delay\"\n\
                    [[observe]]\nwhat = \"message_wait\"\n";
    let result = play(&dual_path("", "", &flow(messages)));
    let row = &result.messages[0];
    assert_eq!((row.made, row.delivered, result.flows[0].bytes), (200, 200, 200_000));
    assert_eq!(row.longest_wait_s, Some(0.0));
    // 35 ms, and 1048 B at 10, 2 and 10 Mbit/s: 5.87 ms.
    let path = 0.035 + 1048.0 * 8.0 * (0.1 + 0.5 + 0.1) / 1e6;
    let delays = series(&result, "f.stream-1.message_delay");
    assert_eq!(delays.value.len(), 100);
    for (at, delay) in delays.time_s.iter().zip(&delays.value).skip(20) {
        assert!((delay - path).abs() < 0.0005, "{at}: {delay}, not {path}");
    }
    // The first waits for INIT, INIT ACK and COOKIE ECHO too, and slow start.
    assert!(row.longest_delay_s.unwrap() > 3.0 * path, "{row:?}");
}

/// One packet of data is lost. Messages behind it on its stream wait until it
/// has been sent again, those of other streams and unordered ones do not.
#[test]
fn a_loss_makes_the_messages_of_its_stream_wait() {
    let lost = "{ kind = \"packets\", flow = \"f\", numbers = [101] }";
    let wait = |fields: &str| -> Vec<(String, Vec<f64>)> {
        let messages = format!(
            "traffic = {{ kind = \"messages\", size = \"1000 B\", interval = \"25 ms\", \
             count = 200{fields} }}\noctets = true\n[[observe]]\nwhat = \"message_wait\"\n"
        );
        let result = play(&dual_path(lost, "", &flow(&messages)));
        let row = &result.messages[0];
        assert_eq!((row.delivered, result.flows[0].wrong_octets), (200, 0), "{fields}");
        let waits: Vec<_> =
            result.series.into_iter().map(|series| (series.name, series.value)).collect();
        let all = waits.iter().flat_map(|wait| &wait.1);
        let mean = all.clone().sum::<f64>() / 200.0;
        assert!((row.wait_s.unwrap() - mean).abs() < 1e-12);
        assert_eq!(row.longest_wait_s, all.copied().reduce(f64::max));
        waits
    };
    // The third message after the lost one completes the missing reports when
    // its SACK is back; the retransmission takes a path's time more.
    let one = wait("");
    let blocked: Vec<f64> = one[0].1.iter().copied().filter(|wait| *wait > 0.0).collect();
    assert!((5..8).contains(&blocked.len()), "{blocked:?}");
    for pair in blocked.windows(2) {
        assert!((pair[0] - pair[1] - 0.025).abs() < 1e-6, "{blocked:?}");
    }
    // Message 100 is of stream 0 of four: so are 104 and 108, if they wait.
    for (name, waits) in wait(", streams = 4") {
        let blocked = waits.iter().filter(|wait| **wait > 0.0).count();
        match name.as_str() {
            "f.stream-0.message_wait" => assert!((1..=2).contains(&blocked), "{waits:?}"),
            _ => assert_eq!(blocked, 0, "{name}"),
        }
    }
    for (name, waits) in wait(", order = \"unordered\"") {
        assert!(waits.iter().all(|wait| *wait == 0.0), "{name}");
    }
}

/// The path is down for a second: messages that live shorter are given up, the
/// others arrive late.
#[test]
fn messages_that_may_be_given_up_are() {
    let down = "{ kind = \"outage\", intervals = [{ at = \"2 s\", for = \"1 s\" }] }";
    let run = |fields: &str| {
        let rest = flow(&format!(
            "traffic = {{ kind = \"messages\", size = \"1000 B\", interval = \"25 ms\", \
             count = 200{fields} }}\noctets = true\n\
             sctp = {{ partial_reliability = true, alternates = [] }}"
        ));
        let result = play(&dual_path(down, "", &rest));
        assert_eq!(result.flows[0].wrong_octets, 0);
        // The run ends when all has come, or else with the association.
        let all = result.messages[0].delivered == 200;
        assert_eq!(result.flows[0].closed, if all { None } else { Some("normal") });
        result.messages[0].clone()
    };
    let all = run("");
    assert_eq!((all.made, all.delivered), (200, 200));
    assert!(all.longest_delay_s > Some(1.0), "{all:?}");
    let some = run(", lifetime = \"200 ms\"");
    assert!((140..195).contains(&some.delivered), "{some:?}");
    assert!(some.delay_s < all.delay_s, "{some:?} {all:?}");
    let without = dual_path(
        "",
        "",
        &flow("traffic = { kind = \"messages\", count = 5, lifetime = \"1 s\" }"),
    );
    let error = Scenario::from_toml(&without, "t").unwrap_err();
    assert_eq!(error.field, "flows[0].traffic.lifetime");
    assert!(error.allowed.contains("partial_reliability"), "{error}");
}
