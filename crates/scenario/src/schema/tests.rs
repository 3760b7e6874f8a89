//! Reading, refusing and writing scenarios.

use super::*;
use crate::text::{LARGEST_FILE, load};
use proptest::prelude::*;

const DUMBBELL: &str = r#"
name = "dumbbell"
duration = "20 s"
seed = 7
hosts = ["a", "b", "c", "d"]
routers = ["r", "s"]

[[links]]
ends = ["a", "r"]
rate = "1 Gbit/s"
delay = "1 ms"
[[links]]
ends = ["c", "r"]
rate = "1 Gbit/s"
delay = "1 ms"
[[links]]
name = "bottleneck"
ends = ["r", "s"]
rate = "10 Mbit/s"
delay = "20 ms"
queue = { kind = "droptail", limit = "64 KiB" }
impairments = [
    { kind = "gilbert-elliott", p = 0.01, r = 0.25 },
    { kind = "packets", flow = "f", numbers = [24, 25], at = "egress" },
]
reverse = { rate = "1 Mbit/s", queue = { limit = "unlimited" }, impairments = [{ kind = "reorder", probability = 0.1, extra = "5 ms" }] }
[[links]]
ends = ["s", "b"]
rate = "1 Gbit/s"
delay = "1 ms"
[[links]]
ends = ["s", "d"]
rate = "1 Gbit/s"
delay = "1 ms"

[[flows]]
name = "f"
from = "a"
to = "b"
size = "4 MB"
[flows.tcp]
recovery = { scheme = "sack", pipe = "ns2-old" }
window = "reno"
initial_ssthresh = "10 packets"
initial_window = "2 packets"
[[flows]]
name = "g"
from = "c"
to = "d"
count = 3
start_spread = "1 s"
reverse_size = "1 MB"

[[observe]]
what = "cwnd"
flow = "g-2"
[[observe]]
what = "queue"
link = "bottleneck-reverse"
"#;

fn read(text: &str) -> Result<Scenario, InputError> {
    Scenario::from_toml(text, "test.toml")
}

/// What is said about the dumbbell after `change`.
fn refused(change: &str) -> String {
    match Scenario::with_overrides(DUMBBELL, "test.toml", &[change]) {
        Ok(_) => panic!("{change} was accepted"),
        Err(error) => error.to_string(),
    }
}

/// The one flow of a scenario with this `window`.
fn with_window(window: &str) -> Result<Scenario, InputError> {
    read(&format!(
        r#"
        hosts = ["a", "b"]
        links = [{{ ends = ["a", "b"], rate = "1 Mbit/s", delay = "5 ms" }}]
        flows = [{{ name = "f", from = "a", to = "b", size = "1 MB", tcp.window = {window} }}]
        "#
    ))
}

#[test]
fn every_option_of_a_window_is_read_and_written() {
    let common = [
        r#"ssthresh_from = "cwnd""#,
        "slow_start_limit = 3",
        "whole_segments = true",
        r#"slow_start_exit = "limited""#,
        r#"slow_start_exit = { rule = "limited", max_ssthresh = 50 }"#,
        r#"slow_start_exit = "hystart""#,
        r#"slow_start_exit = { rule = "hystart", low_window = 8, ack_train = false }"#,
        r#"slow_start_exit = { rule = "hystart", delay = false, ack_delta = "1 ms" }"#,
        r#"slow_start_exit = { rule = "hystart++", min_rtt_thresh = "1 ms", max_rtt_thresh = "9 ms" }"#,
        r#"slow_start_exit = { rule = "hystart++", min_rtt_divisor = 4, n_rtt_sample = 5 }"#,
        r#"slow_start_exit = { rule = "hystart++", css_growth_divisor = 2, css_rounds = 3, limit = 9 }"#,
        r#"slow_start_exit = "search""#,
        r#"slow_start_exit = { rule = "search", window = 4.0, threshold = 0.35, drain = false }"#,
        r#"slow_start_exit = { rule = "search", extra_bins = 40, missed_bins = 3 }"#,
        "ecn_beta = 0.8",
        "validation = true",
        "pacing = true",
        "pacing = { slow_start = 300 }",
        "pacing = { avoidance = 110 }",
        r#"careful_resume = { saved_cwnd = "1 MB", saved_rtt = "600 ms" }"#,
        r#"careful_resume = { saved_cwnd = "1 MB", saved_rtt = "1 s", max_jump = "9 kB", beta = 0.7 }"#,
    ];
    let own = [
        ("cubic", "fast_convergence = false"),
        ("cubic", "reno_friendly = false"),
        ("cubic", "reno_increase = \"kept\""),
        ("cubic", "reno_step = \"in-a-round\""),
        ("cubic", "least_first_growth = 5"),
        ("cubic", "lookahead = \"min-rtt\""),
        ("cubic", r#"update_interval = "32 ms""#),
        ("cubic", "count_limited_time = true"),
        ("highspeed", "low_window = 30"),
        ("highspeed", "low_p = 0.002"),
        ("highspeed", "high_window = 9000"),
        ("highspeed", "high_p = 1e-6"),
        ("highspeed", "high_decrease = 0.2"),
        ("westwood", "filter = 0.5"),
        ("vegas", "alpha = 1"),
        ("vegas", "beta = 6"),
        ("vegas", "gamma = 2"),
        ("vegas", "loss_beta = 0.5"),
        ("wvegas", "total_alpha = 6"),
        ("wvegas", "gamma = 2"),
        ("mcubic", "fast_convergence = false"),
        ("mcubic", "floor_tenths = 5"),
        ("mcubic", r#"k_beta = "left""#),
        ("mcubic", r#"k_after_timeout = "zero""#),
        ("mcubic-share", "fast_convergence = false"),
        ("mcubic-share", "least_share = 5"),
        ("dctcp", "g = 0.1"),
        ("dctcp", "initial_alpha = 0"),
        ("bbr", r#"rtprop_filter = "5 s""#),
        ("bbr", r#"probe_rtt = "100 ms""#),
        ("bbr", "ack_aggregation = true"),
        ("coupled-bbr", "likeness = 5"),
        ("coupled-bbr", r#"rtprop_filter = "5 s""#),
    ];
    let coupled = ["lia", "olia", "balia", "wvegas", "mcubic", "mcubic-share", "d-lia"];
    let of_all = ["reno", "cubic", "highspeed", "westwood", "vegas", "dctcp"]
        .iter()
        .chain(&coupled)
        .flat_map(|name| common.iter().map(move |option| (*name, *option)))
        .filter(|(name, option)| *name != "dctcp" || !option.starts_with("ecn_beta"));
    for (algorithm, option) in of_all.chain(own) {
        let default = with_window(&format!("{{ algorithm = \"{algorithm}\" }}")).unwrap();
        let changed = with_window(&format!("{{ algorithm = \"{algorithm}\", {option} }}"));
        let changed = changed.unwrap_or_else(|e| panic!("{algorithm}, {option}: {e}"));
        assert_ne!(changed, default, "{algorithm}, {option}");
        let again = Scenario::from_toml(&changed.resolved_toml(), "resolved");
        assert_eq!(again, Ok(changed), "{algorithm}, {option}");
    }
}

#[test]
fn wrong_options_of_a_window_are_named() {
    for (window, field, allowed) in [
        (r#""renno""#, "window", "reno, cubic"),
        (r#"{ algorithm = "reno", filter = 0.1 }"#, "window.filter", "no field of this name"),
        (r#"{ algorithm = "reno", ecn_beta = 2 }"#, "window.ecn_beta", "from 0 to 1"),
        (r#"{ algorithm = "reno", pacing = 3 }"#, "window.pacing", "true, false or a table"),
        (
            r#"{ algorithm = "reno", pacing = { slow_start = 0 } }"#,
            "pacing.slow_start",
            "from 1 to",
        ),
        (r#"{ algorithm = "reno", slow_start_exit = "late" }"#, "slow_start_exit", "hystart++"),
        (r#"{ algorithm = "reno", slow_start_exit = { limit = 3 } }"#, "exit.rule", "hystart++"),
        (
            r#"{ algorithm = "reno", slow_start_exit = { rule = "search", window = 0.5 } }"#,
            "exit.window",
            "from 1 to 100",
        ),
        (
            r#"{ algorithm = "reno", careful_resume = { saved_rtt = "1 s" } }"#,
            "careful_resume.saved_cwnd",
            "from 1 B",
        ),
        (
            r#"{ algorithm = "reno", careful_resume = { saved_cwnd = "1 MB" } }"#,
            "careful_resume.saved_rtt",
            "a time",
        ),
        (
            r#"{ algorithm = "reno", careful_resume = { saved_cwnd = "1 MB", saved_rtt = "0 s" } }"#,
            "careful_resume.saved_rtt",
            "more than 0 s",
        ),
        (
            r#"{ algorithm = "reno", careful_resume = { saved_cwnd = "1 MB", saved_rtt = "1 s", beta = 2 } }"#,
            "careful_resume.beta",
            "from 0.5 to 1",
        ),
        (
            r#"{ algorithm = "reno", slow_start_exit = { rule = "limited", limit = 3 } }"#,
            "exit.limit",
            "max_ssthresh",
        ),
        (
            r#"{ algorithm = "highspeed", high_window = 38 }"#,
            "high_window",
            "more than `low_window`",
        ),
        (r#"{ algorithm = "highspeed", high_p = 0.5 }"#, "high_p", "less than `low_p`"),
        (r#"{ algorithm = "highspeed", high_p = 0 }"#, "high_p", "more than 0"),
        (r#"{ algorithm = "highspeed", high_decrease = 0.6 }"#, "high_decrease", "at most 0.5"),
    ] {
        let error = with_window(window).unwrap_err();
        assert!(error.field.ends_with(field), "{window}: {error}");
        assert!(error.allowed.contains(allowed), "{window}: {error}");
    }
}

#[test]
fn a_scenario_says_what_it_says() {
    let s = read(DUMBBELL).unwrap();
    assert_eq!((s.seed, s.duration), (7, Some(Span::from_secs(20))));
    let link = &s.links[2];
    assert_eq!(
        (link.name.as_str(), link.reverse_name.as_str()),
        ("bottleneck", "bottleneck-reverse")
    );
    assert_eq!(
        (link.reverse.delay, link.reverse.rate.to_string()),
        (Span::from_millis(20), "1 Mbit/s".into())
    );
    assert_eq!((link.forward.impairments.len(), link.reverse.impairments.len()), (2, 1));
    assert_eq!((s.links[0].name.as_str(), s.links[0].reverse_name.as_str()), ("a-r", "r-a"));
    let Protocol::Tcp(config) = &s.flows[0].protocol else { panic!("TCP") };
    assert_eq!(config.initial_ssthresh, Some(14_600));
    assert_eq!(s.flows[1].names().collect::<Vec<_>>(), ["g-0", "g-1", "g-2"]);
}

#[test]
fn impairments_of_one_direction_are_not_those_of_the_other() {
    let s = Scenario::with_overrides(
        DUMBBELL,
        "t",
        &["links.a-r.impairments=[{ kind = \"bernoulli\", rate = 0.02 }]"],
    )
    .unwrap();
    assert_eq!(
        (s.links[0].forward.impairments.len(), s.links[0].reverse.impairments.len()),
        (1, 0)
    );
}

#[test]
fn samples_of_a_long_run_are_no_more_than_a_memory_holds() {
    let read = |interval: &str| {
        let interval = format!("observe.0.interval={interval}");
        Scenario::with_overrides(DUMBBELL, "t", &["duration=1000 s", &interval])
    };
    let said = read("9 us").unwrap_err().to_string();
    assert!(
        said.contains("value `9 us`: allowed: at least 10 us, for 100000000 samples"),
        "{said}"
    );
    read("10 us").unwrap();
}

#[test]
fn errors_name_file_field_value_and_what_is_allowed() {
    for (change, expected) in [
        (
            "flows.0.tcp.recovery=foo",
            "test.toml: field `flows[0].tcp.recovery`: value `foo`: allowed: tahoe, reno, newreno, sack, fack, rack, decoupled, decoupled-rack",
        ),
        (
            "flows.0.tcp.recovery.scheme=foo",
            "test.toml: field `flows[0].tcp.recovery.scheme`: value `foo`: allowed: tahoe, reno, newreno",
        ),
        (
            "flows.0.tcp.sack=false",
            "test.toml: field `flows[0].tcp.recovery`: value `sack`: allowed: with sack = false",
        ),
        (
            "links.0.rate=-1 Mbit/s",
            "test.toml: field `links[0].rate`: value `-1 Mbit/s`: allowed: a rate such as",
        ),
        (
            "links.0.rate=10",
            "test.toml: field `links[0].rate`: value `10`: allowed: a rate such as",
        ),
        (
            "links.0.delay=10 Mbit/s",
            "test.toml: field `links[0].delay`: value `10 Mbit/s`: allowed: a time",
        ),
        (
            "links.0.dealy=10 ms",
            "test.toml: field `links[0].dealy`: value `10 ms`: allowed: no field of this name; did you mean `delay`?",
        ),
        ("links.0.mtu=20 B", "test.toml: field `links[0].mtu`: value `20 B`: allowed: 68 B to"),
        (
            "links.0.ends=[\"a\", \"x\"]",
            "test.toml: field `links[0].ends[1]`: value `x`: allowed: a host or router: a, b, c, d, r, s",
        ),
        (
            "links.0.queue.kind=rem",
            "test.toml: field `links[0].queue.kind`: value `rem`: allowed: droptail",
        ),
        (
            "links.0.queue.limit=750",
            "test.toml: field `links[0].queue.limit`: value `750`: allowed: a whole number of packets",
        ),
        (
            "links.0.queue.limit=-1 packets",
            "test.toml: field `links[0].queue.limit`: value `-1 packets`: allowed: ",
        ),
        (
            "links.2.impairments.0.p=1.5",
            "test.toml: field `links[2].impairments[0].p`: value `1.5`: allowed: a probability",
        ),
        (
            "links.2.impairments.0.kind=magic",
            "test.toml: field `links[2].impairments[0].kind`: value `magic`: allowed: bernoulli, ",
        ),
        (
            "links.2.impairments.1.flow=g",
            "test.toml: field `links[2].impairments[1].flow`: value `g`: allowed: a flow: f, g-0",
        ),
        (
            "links.2.impairments=[{ kind = \"periodic\", every = 0 }]",
            "test.toml: field `links[2].impairments[0].every`: value `0`: allowed: a whole number, at least 1",
        ),
        (
            "observe.0.interval=0 s",
            "test.toml: field `observe[0].interval`: value `0 s`: allowed: a time of at least 1 us",
        ),
        (
            "observe.0.interval=999 ns",
            "test.toml: field `observe[0].interval`: value `999 ns`: allowed: a time of at least 1 us",
        ),
        ("flows.0.to=x", "test.toml: field `flows[0].to`: value `x`: allowed: a host: a, b, c, d"),
        (
            "flows.0.to=a",
            "test.toml: field `flows[0].to`: value `a`: allowed: another host than `from` (a)",
        ),
        ("flows.1.name=f", "allowed: "),
        (
            "flows.0.name=g-1",
            "test.toml: field `flows[1].name`: value `g-1`: allowed: a name of its own; `flows[0].name` has this name already",
        ),
        ("flows.0.name=a b", "field `flows[0].name`: value `\"a b\"`: allowed: 1 to 100 letters"),
        (
            "hosts=[\"a\", \"b\", \"c\", \"d\", \"a\"]",
            "test.toml: field `hosts[4]`: value `a`: allowed: a name of its own",
        ),
        (
            "flows.0.count=0",
            "test.toml: field `flows[0].count`: value `0`: allowed: a whole number from 1 to ",
        ),
        (
            "flows.0.protocol=quic",
            "test.toml: field `flows[0].protocol`: value `quic`: allowed: tcp, sctp, mptcp, udp",
        ),
        (
            "observe.0.what=goodput",
            "test.toml: field `observe[0].what`: value `goodput`: allowed: cwnd, ssthresh, srtt, in_flight, received, packets, events, ack-compression, responses, rounds, message_delay, message_wait, path_cwnd, path_ssthresh, path_in_flight, path_srtt, path_rto, path_errors, path_state, path_coupling, queue, queueing",
        ),
        (
            "observe.1.link=x",
            "test.toml: field `observe[1].link`: value `x`: allowed: a direction of a link: a-r, r-a",
        ),
        ("seed=-1", "test.toml: field `seed`: value `-1`: allowed: a whole number from 0"),
        (
            "flows.7.size=1 MB",
            "test.toml: field `flows.7.size`: value `1 MB`: allowed: `7` is not in the list `flows`, which has f, g",
        ),
    ] {
        let said = refused(change);
        assert!(said.contains(expected), "{change}\n  said     {said}\n  expected {expected}");
    }
}

#[test]
fn hosts_that_no_path_joins_are_refused() {
    let text = r#"
        hosts = ["a", "b", "c"]
        links = [{ ends = ["a", "b"], rate = "1 Mbit/s", delay = "1 ms" },
                 { ends = ["b", "c"], rate = "1 Mbit/s", delay = "1 ms" }]
        flows = [{ name = "f", from = "a", to = "c", size = "1 MB" }]"#;
    // Hosts do not forward, so b is no way from a to c.
    let error = read(text).unwrap_err().to_string();
    let expected =
        "test.toml: field `flows[0].to`: value `c`: allowed: a host that links lead to from a: b";
    assert_eq!(error, expected);
}

#[test]
fn an_endless_flow_needs_a_duration() {
    let text = r#"
        hosts = ["a", "b"]
        links = [{ ends = ["a", "b"], rate = "1 Mbit/s", delay = "1 ms" }]
        flows = [{ name = "f", from = "a", to = "b" }]"#;
    assert_eq!(read(text).unwrap_err().field, "flows[0].size");
    assert!(read(&format!("duration = \"1 s\"\n{text}")).is_ok());
}

#[test]
fn files_that_are_no_scenarios_are_refused_as_a_whole() {
    for text in ["", " \n\t"] {
        assert!(read(text).unwrap_err().to_string().starts_with("test.toml: is empty"));
    }
    let said = read("hosts = [\"a\"]\nlinks = [{ ends = }]").unwrap_err().to_string();
    assert!(said.starts_with("test.toml: line 2, column 19: not valid TOML"), "{said}");
    let said = read("seed = 1").unwrap_err().to_string();
    assert!(said.contains("field `hosts` is required"), "{said}");
    let large = " ".repeat(LARGEST_FILE as usize + 1);
    assert!(read(&large).unwrap_err().to_string().contains("at most 16 MiB"));
}

#[test]
fn loading_refuses_what_is_not_a_text_file() {
    let directory = std::env::temp_dir().join(format!("anabranch-load-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let write = |name: &str, octets: &[u8]| {
        let path = directory.join(name);
        std::fs::write(&path, octets).unwrap();
        path
    };
    assert_eq!(load(&write("good.toml", b"seed = 1")).as_deref(), Ok("seed = 1"));
    let said = load(&write("binary.toml", b"seed\xff")).unwrap_err().to_string();
    assert!(said.contains("binary.toml: is not UTF-8 text (octet 4"), "{said}");
    let huge = write("huge.toml", b"");
    std::fs::File::options().write(true).open(&huge).unwrap().set_len(1 << 40).unwrap();
    assert!(load(&huge).unwrap_err().to_string().contains("at most 16 MiB"));
    assert!(load(&directory).unwrap_err().to_string().contains("not a regular file"));
    assert!(load(&directory.join("absent.toml")).is_err());
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn what_is_resolved_spells_out_defaults_and_reads_back() {
    let s = read(DUMBBELL).unwrap();
    let resolved = s.resolved_toml();
    assert!(resolved.contains("dupack_threshold = 3"), "{resolved}");
    assert_eq!(Scenario::from_toml(&resolved, "resolved").unwrap(), s);
    assert_eq!(Scenario::from_toml(&resolved, "resolved").unwrap().resolved_toml(), resolved);
}

proptest! {
    #[test]
    fn any_scenario_reads_back_from_its_resolved_form(
        bps in 1_u64..1 << 50,
        picos in 0_u64..10_000_000_000_000_000,
        size in proptest::option::of(0_u64..1 << 50),
        limit in 0_u32..1_000_000,
        loss in 0.0_f64..=1.0,
        seed in 0_i64..=i64::MAX,
        count in 1_u32..30,
        switches in any::<[bool; 6]>(),
        scheme in 0_usize..5,
        window in 0_usize..anabranch_congestion::ALGORITHMS.len(),
        mss in 64_u32..9000,
    ) {
        let mut s = read(DUMBBELL).unwrap();
        s.seed = seed as u64;
        let direction = &mut s.links[0].reverse;
        direction.rate = anabranch_units::Rate::from_bps(bps).unwrap();
        direction.delay = Span::from_picos(picos);
        direction.queue = anabranch_network::QueueConfig::DropTail {
            limit: anabranch_network::QueueLimit::Packets(limit.into()),
        };
        direction.impairments.push(Impairment {
            what: Effect::Any(anabranch_network::ImpairmentKind::Bernoulli { rate: loss }),
            at: Default::default(),
        });
        direction.impairments.push(Impairment {
            what: Effect::Any(anabranch_network::ImpairmentKind::Periodic {
                every: mss as u64,
                first: 1 + limit as u64,
            }),
            at: Default::default(),
        });
        let flow = &mut s.flows[0];
        flow.size = size;
        flow.count = 1;
        flow.octets = switches[0];
        let Protocol::Tcp(config) = &mut flow.protocol else { panic!("TCP") };
        config.mss = mss;
        config.timestamps = switches[1];
        config.window_scale = switches[2];
        config.limited_transmit = switches[3];
        config.initial_ssthresh = switches[4].then_some(mss as u64 * 7);
        let scheme = anabranch_tcp::recovery::SCHEMES[scheme].name;
        config.recovery = anabranch_tcp::recovery::Recovery::from_name(scheme).unwrap();
        config.sack = switches[5] || config.recovery.needs_sack();
        let window = anabranch_congestion::ALGORITHMS[window].name;
        config.window = anabranch_congestion::Algorithm::from_name(window).unwrap();
        s.flows[1].count = count;
        s.observe.clear();
        let resolved = s.resolved_toml();
        prop_assert_eq!(Scenario::from_toml(&resolved, "resolved"), Ok(s));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "\\PC{0,200}") {
        let _ = read(&text);
        let _ = Scenario::with_overrides(DUMBBELL, "t", &[text]);
    }
}
