//! SCTP's extensions in scenarios: messages both ways, values of streams,
//! authenticated chunks, addresses that come and go.

use anabranch_scenario::{MessageRow, RunOptions, RunResult, Scenario, run};

/// `a` and `b` with two interfaces each, over two paths of 10 Mbit/s and 10 ms.
fn two_paths(flow: &str) -> String {
    let link = |interface: &str| {
        format!(
            "[[links]]\nname = \"{interface}\"\nends = [\"a.{interface}\", \"b.{interface}\"]\n\
             rate = \"10 Mbit/s\"\ndelay = \"10 ms\"\n"
        )
    };
    let hosts = "hosts = [{ name = \"a\", interfaces = [\"x\", \"y\"] }, \
                 { name = \"b\", interfaces = [\"x\", \"y\"] }]\n";
    let ends = "[[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\nprotocol = \"sctp\"\n";
    format!("{hosts}{}{}{ends}{flow}\n", link("x"), link("y"))
}

fn play(text: &str) -> RunResult {
    let scenario = Scenario::from_toml(text, "test.toml").unwrap_or_else(|e| panic!("{e}"));
    let resolved = scenario.resolved_toml();
    assert_eq!(Scenario::from_toml(&resolved, "t").as_ref(), Ok(&scenario), "{resolved}");
    let options = RunOptions { check: true, trace_hash: true, ..RunOptions::default() };
    run(&scenario, &options).unwrap_or_else(|e| panic!("{e}"))
}

fn refused(flow: &str) -> String {
    Scenario::from_toml(&two_paths(flow), "t").unwrap_err().to_string()
}

/// Octets that a link carried one way.
fn carried(result: &RunResult, name: &str) -> u64 {
    result.links.iter().find(|link| link.name == name).expect("a link").counters.bytes_delivered
}

fn messages<'a>(result: &'a RunResult, name: &str) -> &'a MessageRow {
    result.messages.iter().find(|row| row.flow == name).expect("a row")
}

#[test]
fn messages_go_both_ways_and_the_last_to_finish_closes() {
    let result = play(&two_paths(
        "octets = true\n\
         traffic = { kind = \"messages\", size = \"1000 B\", interval = \"10 ms\", count = 100, \
         reverse = { size = \"5 kB\", streams = 3, interval = \"20 ms\", count = 150 } }\n\
         [[observe]]\nwhat = \"message_delay\"",
    ));
    let row = &result.flows[0];
    assert_eq!((row.bytes, row.reverse_bytes, row.wrong_octets), (100_000, 750_000, 0));
    // The 150th message is made 20 ms x 149 after the association is there; the first side to
    // finish waited for it.
    let finish = row.finish_s.expect("it ends");
    assert!((3.0..3.2).contains(&finish), "{finish}");
    let (forth, back) = (messages(&result, "f"), messages(&result, "f.reverse"));
    assert_eq!((forth.made, forth.delivered), (100, 100));
    assert_eq!((back.made, back.delivered), (150, 150));
    let names: Vec<_> = result.series.iter().map(|series| series.name.as_str()).collect();
    let streams = ["f.stream-0", "f.reverse.stream-0", "f.reverse.stream-1", "f.reverse.stream-2"];
    assert_eq!(names, streams.map(|name| format!("{name}.message_delay")));
    assert_eq!(result.series[1].value.len(), 50, "in turn");
}

/// What is given up never arrives: the association ends all the same.
#[test]
fn messages_both_ways_end_though_some_are_given_up() {
    let flow = "sctp = { partial_reliability = true, sack_frequency = 1 }\n\
         traffic = { kind = \"messages\", interval = \"5 ms\", count = 200, retransmissions = 0, \
         reverse = { interval = \"5 ms\", count = 200, retransmissions = 0 } }";
    let lossy = "impairments = [{ kind = \"bernoulli\", rate = 0.05 }]\n\
                 reverse = { impairments = [{ kind = \"bernoulli\", rate = 0.05 }] }\n[[flows]]";
    let result = play(&two_paths(flow).replace("[[flows]]", lossy).replace(
        "[[links]]\nname = \"y\"",
        "impairments = [{ kind = \"bernoulli\", rate = 0.05 }]\n\
         reverse = { impairments = [{ kind = \"bernoulli\", rate = 0.05 }] }\n\
         [[links]]\nname = \"y\"",
    ));
    assert_eq!(result.flows[0].closed, Some("normal"));
    for name in ["f", "f.reverse"] {
        let row = messages(&result, name);
        assert_eq!(row.made, 200);
        assert!((150..200).contains(&row.delivered), "{name}: {}", row.delivered);
    }
}

#[test]
fn values_of_streams_are_priorities_or_weights() {
    // Streams in turn, twice what the path carries: the backlog is that of the low priority.
    let flow = |sctp: &str| {
        format!(
            "duration = \"2 s\"\nsctp = {{ interleaving = true, {sctp} }}\n\
             traffic = {{ kind = \"messages\", size = \"1000 B\", rate = \"20 Mbit/s\", \
             streams = 2 }}\n[[observe]]\nwhat = \"message_delay\""
        )
    };
    let means = |sctp: &str| {
        let result = play(&two_paths(&flow(sctp)));
        let of = |stream: usize| {
            let name = format!("f.stream-{stream}.message_delay");
            let series = result.series.iter().find(|series| series.name == name).expect("a series");
            let early: Vec<f64> = series.value.iter().copied().take(200).collect();
            early.iter().sum::<f64>() / early.len() as f64
        };
        [of(0), of(1)]
    };
    let [first, second] = means("scheduler = \"priority\", stream_values = [9, 1]");
    assert!(first > 2.0 * second, "the lower value first: {first} {second}");
    let [first, second] = means("scheduler = \"priority\", stream_values = [1, 9]");
    assert!(second > 2.0 * first, "the other way: {first} {second}");
    let [first, second] = means("scheduler = \"weighted-fair\", stream_values = [8, 1]");
    assert!(second > 1.5 * first, "more of the heavier: {first} {second}");
}

#[test]
fn chunks_are_authenticated() {
    let flow = |sctp: &str| format!("size = \"1 MB\"\noctets = true\nsctp = {{ {sctp} }}");
    let plain = play(&two_paths(&flow("")));
    let signed = play(&two_paths(&flow(
        "authentication = { key = \"secret\", chunks = [\"data\"], \
         algorithms = [\"sha-256\", \"sha-1\"] }",
    )));
    assert_eq!((signed.flows[0].bytes, signed.flows[0].wrong_octets), (1_000_000, 0));
    // An AUTH chunk of 40 octets takes its room from each packet's data.
    let [before, after] = [&plain, &signed].map(|result| carried(result, "x"));
    let share = after as f64 / before as f64;
    assert!((1.02..1.04).contains(&share), "{share}");
}

/// Both hosts get a second interface on the way, and the server leaves its first.
#[test]
fn addresses_come_and_go() {
    let result = play(&two_paths(
        "size = \"5 MB\"\noctets = true\n\
         [flows.sctp]\ndynamic_addresses = true\naddress_changes = [\n\
         { at = \"0.9 s\", add = \"a.y\" },\n\
         { at = \"1 s\", add = \"b.y\" },\n\
         { at = \"1.5 s\", primary = \"a.y\" },\n\
         { at = \"1.5 s\", primary = \"b.y\" },\n\
         { at = \"2 s\", delete = \"b.x\" },\n]\n\
         [[observe]]\nwhat = \"path_state\"",
    ));
    let row = &result.flows[0];
    assert_eq!((row.bytes, row.wrong_octets), (5_000_000, 0));
    // 10 Mbit/s: 1.5 s over x and the rest over y, without a timeout.
    assert_eq!(row.timeouts, 0);
    let [x, y] = ["x", "y"].map(|link| carried(&result, link) as f64 / 1e6);
    assert!((1.5..2.1).contains(&x), "{x} MB over x");
    assert!((x + y - 5.17).abs() < 0.15, "{x} and {y} MB");
    let paths: Vec<_> = result.paths.iter().map(|path| path.to.as_str()).collect();
    assert_eq!(paths, ["b.y"]);
    let added =
        result.series.iter().find(|series| series.name == "f.b.y.path_state").expect("a path");
    assert!(added.time_s[0] > 1.0, "it came later: {}", added.time_s[0]);
}

#[test]
fn wrong_fields_are_named() {
    for (flow, expected) in [
        (
            "size = \"1 MB\"\nsctp = { address_changes = [{ at = \"1 s\", add = \"b.y\" }] }",
            "field `flows[0].sctp.address_changes`: value `[{ add = \"b.y\", at = \"1 s\" }]`: \
             allowed: none without `dynamic_addresses`",
        ),
        (
            "size = \"1 MB\"\nsctp = { dynamic_addresses = true, \
             address_changes = [{ at = \"1 s\", delete = \"b.z\" }] }",
            "field `flows[0].sctp.address_changes[0].delete`: value `b.z`: allowed: an interface \
             of a or b",
        ),
        (
            "size = \"1 MB\"\nsctp = { dynamic_addresses = true, \
             address_changes = [{ at = \"1 s\", delete = \"b.x\" }, \
             { at = \"2 s\", delete = \"b.y\" }] }",
            "field `flows[0].sctp.address_changes[1].delete`: value `b.y`: allowed: not the last \
             interface of its host",
        ),
        (
            "size = \"1 MB\"\nsctp = { dynamic_addresses = true, alternates = [], \
             address_changes = [{ at = \"1 s\", primary = \"b.y\" }] }",
            "field `flows[0].sctp.address_changes[0].primary`: value `b.y`: allowed: an interface \
             that the association uses then",
        ),
        (
            "size = \"1 MB\"\nsctp = { dynamic_addresses = true, \
             address_changes = [{ at = \"1 s\" }] }",
            "field `flows[0].sctp.address_changes[0].add` is required: an interface of",
        ),
        (
            "size = \"1 MB\"\nsctp = { dynamic_addresses = true, authentication = false }",
            "field `flows[0].sctp.dynamic_addresses`: value `true`: allowed: with authentication",
        ),
        (
            "size = \"1 MB\"\nsctp = { authentication = { chunks = [\"init\"] } }",
            "field `flows[0].sctp.authentication.chunks`: value `[\"init\"]`: allowed: a list of \
             data, sack,",
        ),
        (
            "size = \"1 MB\"\nsctp = { authentication = { algorithms = [\"sha-256\"] } }",
            "field `flows[0].sctp.authentication.algorithms`: value `[\"sha-256\"]`: allowed: \
             sha-1 among them",
        ),
        (
            "size = \"1 MB\"\nsctp = { stream_values = [1] }",
            "field `flows[0].sctp.stream_values`: value `[1]`: allowed: none unless `scheduler`",
        ),
        (
            "size = \"1 MB\"\nsctp = { scheduler = \"weighted-fair\", stream_values = [1, 0] }",
            "field `flows[0].sctp.stream_values`: value `[1, 0]`: allowed: at most 10 whole \
             numbers from 1",
        ),
        (
            "traffic = { kind = \"messages\", count = 1, reverse = { count = 1, streams = 20 } }",
            "field `flows[0].traffic.reverse.streams`: value `20`: allowed: at most 10",
        ),
        (
            "traffic = { kind = \"messages\", count = 1, reverse = { size = \"1 kB\" } }",
            "field `flows[0].size` is required: a size such as",
        ),
    ] {
        let said = refused(flow);
        assert!(said.contains(expected), "{said}\n{expected}");
    }
}

/// Each packet is written and read again (`check`), the I bit with it: a receiver that would wait for
/// eight packets answers what fills the window and what is last.
#[test]
fn data_asks_for_sacks_at_once() {
    let finish = |immediate: &str| {
        let flow = format!(
            "size = \"100 kB\"\noctets = true\nsctp = {{ alternates = [], sack_frequency = 8, \
             immediate_sacks = {immediate} }}"
        );
        let row = play(&two_paths(&flow)).flows.remove(0);
        assert_eq!((row.bytes, row.wrong_octets), (100_000, 0));
        row.finish_s.expect("it ends")
    };
    let (off, full, all) = (finish("false"), finish("true"), finish("{ messages = true }"));
    assert!(all <= full && 4.0 * full < off, "{off} {full} {all}");
    let wrong = refused("sctp = { immediate_sacks = { window = true } }");
    assert!(wrong.contains("flows[0].sctp.immediate_sacks.window"), "{wrong}");
}
