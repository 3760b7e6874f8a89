//! Boxes between the hosts: options taken away, sequence numbers rewritten, data
//! changed; on one path or on all.

use super::{PAIRS, flow, names, play, two_paths};
use anabranch_scenario::RunResult;
use proptest::prelude::*;

/// The box in one direction of a link, and in the other.
fn on_link(there: &str, back: &str) -> String {
    let list = |fields: &str| match fields {
        "" => "[]".to_owned(),
        _ => format!("[{{ kind = \"middlebox\", {fields} }}]"),
    };
    format!("impairments = {}\nreverse = {{ impairments = {} }}", list(there), list(back))
}

/// A megabyte of real octets over `x`, where the boxes stand, or over both.
fn send(there: &str, back: &str, manager: &str, more: &str) -> RunResult {
    let fields = format!(
        "size = \"1 MB\"\noctets = true\nmptcp = {{ path_manager = \"{manager}\"{more} }}\n"
    );
    play(&two_paths(&on_link(there, back), "", &flow(&fields)))
}

/// What a run with one path comes to: octets, wrong ones, fallback.
fn outcome(result: &RunResult) -> (u64, u64, Option<bool>) {
    let row = &result.flows[0];
    assert!(row.finish_s.is_some() && row.closed != Some("reset"), "{row:?}");
    (row.bytes, row.wrong_octets, row.fallback)
}

/// RFC 8684 §3.7: whichever segments lose their options, and in whichever
/// direction, the stream arrives whole, as TCP.
#[test]
fn options_that_are_taken_away_leave_tcp() {
    const MPTCP: &str = "strip = [\"mptcp\"]";
    for which in ["all", "syn"] {
        let strip = format!("{MPTCP}, segments = \"{which}\"");
        for (there, back) in [(&*strip, &*strip), (&strip, ""), ("", &strip)] {
            let result = send(there, back, "single", "");
            assert_eq!(outcome(&result), (1_000_000, 0, Some(true)), "{there} {back}");
        }
    }
    for after in [1, 2] {
        let strip = format!("{MPTCP}, after = {after}");
        let result = send(&strip, &strip, "single", "");
        assert_eq!(outcome(&result), (1_000_000, 0, Some(true)), "after {after}");
    }
    // Only what comes back loses its options. Before any DATA_ACK has come the sender says by an infinite
    // mapping what the stream is; later it does so where it would wait for one.
    for after in [1, 2, 3, 20, 200] {
        let result = send("", &format!("{MPTCP}, after = {after}"), "single", "");
        let (bytes, wrong, fallback) = outcome(&result);
        assert_eq!((bytes, wrong), (1_000_000, 0), "after {after}");
        assert!(after > 1 || fallback == Some(true), "after {after}");
    }
    assert_eq!(outcome(&send("", "", "single", "")), (1_000_000, 0, Some(false)));
    // A flow of TCP has nothing to fall back from.
    let tcp = flow("size = \"1 MB\"").replace("\"mptcp\"", "\"tcp\"");
    let result = play(&two_paths(&on_link(MPTCP, ""), "", &tcp));
    assert_eq!((result.flows[0].bytes, result.flows[0].fallback), (1_000_000, None));
}

/// RFC 8684 §3.7: data that loses its options once data has come with them resets the subflow, since it could be
/// a repetition. A connection that has no other path ends there, with no wrong octet.
#[test]
fn data_that_loses_its_options_later_ends_the_only_subflow() {
    for (after, back) in [(3, true), (3, false), (20, true), (200, true), (200, false)] {
        let strip = format!("strip = [\"mptcp\"], after = {after}");
        let result = send(&strip, if back { &strip } else { "" }, "single", "");
        let row = &result.flows[0];
        assert_eq!((row.closed, row.wrong_octets), (Some("reset"), 0), "after {after}");
        assert!(row.bytes > 0 && row.bytes < 1_000_000, "after {after}: {}", row.bytes);
    }
}

/// With another path the one that is meddled with is given up, and the stream
/// goes on over the other.
#[test]
fn one_path_without_options_costs_that_path() {
    let strip = "strip = [\"mptcp\"], after = 40";
    let fields = format!("size = \"4 MB\"\noctets = true\n{PAIRS}");
    for meddled in [["x", "y"], ["y", "x"]] {
        let link = on_link(strip, strip);
        let links = if meddled[0] == "x" { [&*link, ""] } else { ["", &*link] };
        let result = play(&two_paths(links[0], links[1], &flow(&fields)));
        assert_eq!(outcome(&result), (4_000_000, 0, Some(false)), "{meddled:?}");
        let of = |name: &str| {
            let path = result.paths.iter().find(|path| path.from == format!("a.{name}"));
            path.and_then(|path| path.new_bytes).unwrap_or(0)
        };
        let [bad, good] = meddled.map(of);
        assert!(bad < 200_000 && good > 3_800_000, "{meddled:?}: {bad} {good}");
    }
}

/// Mappings are relative to the SYN (§3.3.1): a firewall that counts from
/// another start is not noticed, with SACK blocks or, after losses, without.
#[test]
fn rewritten_sequence_numbers_are_not_noticed() {
    for sack in [true, false] {
        let rewrite = format!("rewrite_sequence = 5, rewrite_sack = {sack}");
        for more in ["", ", checksum = true", ", long_numbers = true"] {
            let result = send(&rewrite, &rewrite, "pairs", more);
            assert_eq!(outcome(&result), (1_000_000, 0, Some(false)), "{rewrite}{more}");
            assert_eq!(names(&result.paths), [("a.x", "b.x", 0), ("a.y", "b.y", 0)]);
        }
    }
}

/// One octet in 100 kB: TCP takes all ten, and so does Multipath TCP without
/// checksums; with them one path alone leads to TCP, and of two the changed one
/// is left.
#[test]
fn changed_octets_are_found_by_checksums_alone() {
    let change = "change_every = \"100 kB\"";
    let tcp = flow("size = \"1 MB\"\noctets = true").replace("\"mptcp\"", "\"tcp\"");
    assert_eq!(outcome(&play(&two_paths(&on_link(change, ""), "", &tcp))), (1_000_000, 10, None));
    for (more, fallback) in [("", false), (", checksum = true", true)] {
        let result = send(change, "", "single", more);
        assert_eq!(outcome(&result), (1_000_000, 10, Some(fallback)), "{more}");
    }
    let result = send(change, "", "pairs", ", checksum = true");
    assert_eq!(outcome(&result), (1_000_000, 0, Some(false)));
}

/// What a box may do without harm where another path is left.
fn harmless() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        (any::<u16>(), any::<bool>())
            .prop_map(|(key, sack)| format!("rewrite_sequence = {key}, rewrite_sack = {sack}")),
    ]
}

/// Anything.
fn harm() -> impl Strategy<Value = String> {
    let strip = (0_u32..150, prop_oneof![Just("all"), Just("syn"), Just("not-syn")]).prop_map(
        |(after, which)| format!("strip = [\"mptcp\"], after = {after}, segments = \"{which}\""),
    );
    let change = (300_u32..100_000).prop_map(|octets| format!("change_every = \"{octets} B\""));
    let both = (0_u32..50, 300_u32..50_000).prop_map(|(after, octets)| {
        format!(
            "strip = [\"mptcp\", \"timestamps\"], after = {after}, change_every = \"{octets} B\", \
             rewrite_sequence = 3"
        )
    });
    prop_oneof![harmless(), strip, change, both]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: 40,
        ..ProptestConfig::default()
    })]

    /// The first path is clean, but for losses; whatever stands on the second
    /// and whichever direction it meddles with, octets arrive as they were sent.
    #[test]
    fn a_clean_path_keeps_the_stream(
        clean in harmless(),
        boxes in (harm(), harm()),
        loss in 0.0..0.04,
        scheduler in prop_oneof![Just("min-rtt"), Just("round-robin"), Just("redundant")],
        seed in 0..i64::MAX as u64,
    ) {
        let key = |fields: &str| match fields {
            "" => format!("[{{ kind = \"bernoulli\", rate = {loss} }}]"),
            _ => format!(
                "[{{ kind = \"bernoulli\", rate = {loss} }}, {{ kind = \"middlebox\", {fields} }}]"
            ),
        };
        // Numbers are rewritten in both directions, or in none.
        let pair = |there: &str, back: &str| {
            let rewrites = there.find("rewrite_sequence").or(back.find("rewrite_sequence"));
            let back = if rewrites.is_some() { there } else { back };
            let there = if rewrites.is_some() && !there.contains("rewrite") { "" } else { there };
            let back = if there.is_empty() && rewrites.is_some() { "" } else { back };
            format!("impairments = {}\nreverse = {{ impairments = {} }}", key(there), key(back))
        };
        let (x, y) = (pair(&clean, &clean), pair(&boxes.0, &boxes.1));
        let fields = format!(
            "size = \"300 kB\"\nreverse_size = \"100 kB\"\noctets = true\n\
             mptcp = {{ path_manager = \"pairs\", checksum = true, scheduler = \"{scheduler}\" }}"
        );
        let text = format!("seed = {seed}\n{}", two_paths(&x, &y, &flow(&fields)));
        let row = play(&text).flows.remove(0);
        prop_assert_eq!((row.bytes, row.reverse_bytes), (300_000, 100_000), "{}", text);
        prop_assert_eq!((row.wrong_octets, row.fallback), (0, Some(false)), "{}", text);
    }
}
