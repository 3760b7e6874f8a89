//! Every option read and written, and what is refused.

use super::*;
use anabranch_congestion::Algorithm;
use anabranch_sctp::{Authentication, Concurrent, ImmediateSacks};
use anabranch_sctp::{Ns2Rules, Probe, UndoOptions};
use anabranch_units::Span;

fn read_text(text: &str) -> Result<Config, InputError> {
    let table = text.parse().expect("the test's TOML");
    super::read(Some(&Fields::new("flows[0].sctp", &table))).map(|spec| spec.config)
}

/// Each option away from its default: read as meant, and read back from
/// what is written.
#[test]
fn options_are_read_and_written() {
    let d = Config::default();
    let cubic = Algorithm::from_name("cubic").expect("there is one");
    let rto = anabranch_endpoint::RtoBounds { min: Span::from_millis(200), ..d.rto };
    let cases: Vec<(&str, Config)> = vec![
        ("preset = \"rfc2960\"", Config::rfc2960()),
        ("preset = \"rfc4960\"", Config::rfc4960()),
        ("mtu = \"9000 B\"", Config { mtu: 9000, ..d.clone() }),
        (
            "mtu_probing = \"black-hole\"",
            Config { mtu_probing: MtuProbing::BlackHole, ..d.clone() },
        ),
        ("mtu_probing = \"always\"", Config { mtu_probing: MtuProbing::Always, ..d.clone() }),
        ("mtu_probe_base = \"1000 B\"", Config { mtu_probe_base: 1000, ..d.clone() }),
        (
            "mtu_probe_timer = \"16 s\"",
            Config { mtu_probe_timer: Some(Span::from_secs(16)), ..d.clone() },
        ),
        ("mtu_probe_timer = false", d.clone()),
        (
            "mtu_raise_timer = \"60 s\"",
            Config { mtu_raise_timer: Span::from_secs(60), ..d.clone() },
        ),
        ("ip_header = 40", Config { ip_header: 40, ..d.clone() }),
        ("message_size = \"100 B\"", Config { message_size: Some(100), ..d.clone() }),
        ("outbound_streams = 300", Config { outbound_streams: 300, ..d.clone() }),
        ("inbound_streams = 3", Config { inbound_streams: 3, ..d.clone() }),
        ("receive_buffer = \"64 KiB\"", Config { receive_buffer: 65_536, ..d.clone() }),
        ("send_buffer = \"64 KiB\"", Config { send_buffer: 65_536, ..d.clone() }),
        ("window = \"cubic\"", Config { window: Window::Algorithm(cubic), ..d.clone() }),
        ("window = \"standard\"", d.clone()),
        (
            "initial_window = \"rfc2960\"",
            Config { initial_window: InitialWindow::Rfc2960, ..d.clone() },
        ),
        (
            "initial_window = \"10 packets\"",
            Config { initial_window: InitialWindow::Mtus(10), ..d.clone() },
        ),
        (
            "initial_ssthresh = \"20 packets\"",
            Config { initial_ssthresh: Some(30_000), ..d.clone() },
        ),
        ("slow_start_at_threshold = false", Config { slow_start_at_threshold: false, ..d.clone() }),
        ("window_unit = \"mtu\"", Config { window_unit: WindowUnit::Mtu, ..d.clone() }),
        ("partial_acked = \"all\"", Config { partial_acked: PartialAcked::All, ..d.clone() }),
        ("growth_needs_advance = true", Config { growth_needs_advance: true, ..d.clone() }),
        ("count_padding = false", Config { count_padding: false, ..d.clone() }),
        (
            "undo = { duplicates = true }",
            Config { undo: UndoOptions { duplicates: true, timestamps: false }, ..d.clone() },
        ),
        ("ecn = true", Config { ecn: true, ..d.clone() }),
        ("rest_sets_ssthresh = false", Config { rest_sets_ssthresh: false, ..d.clone() }),
        (
            "ns2_rules = { one_packet = false }",
            Config {
                ns2_rules: Some(Ns2Rules { one_packet: false, ..Ns2Rules::default() }),
                ..d.clone()
            },
        ),
        ("ssthresh_floor = 2", Config { ssthresh_floor: 2, ..d.clone() }),
        ("missing_reports = 4", Config { missing_reports: 4, ..d.clone() }),
        ("highest_newly_acked = false", Config { highest_newly_acked: false, ..d.clone() }),
        ("fast_recovery = false", Config { fast_recovery: false, ..d.clone() }),
        ("max_burst = false", Config { max_burst: None, ..d.clone() }),
        ("max_burst = 8", Config { max_burst: Some(8), ..d.clone() }),
        ("burst_keeps_window = true", Config { burst_keeps_window: true, ..d.clone() }),
        ("sack_frequency = 1", Config { sack_frequency: 1, ..d.clone() }),
        ("sack_delay = \"100 ms\"", Config { sack_delay: Span::from_millis(100), ..d.clone() }),
        (
            "immediate_sacks = true",
            Config { immediate_sacks: Some(ImmediateSacks::default()), ..d.clone() },
        ),
        (
            "immediate_sacks = { window_full = false, last = true, messages = true }",
            Config {
                immediate_sacks: Some(ImmediateSacks {
                    window_full: false,
                    last: true,
                    messages: true,
                    ..ImmediateSacks::default()
                }),
                ..d.clone()
            },
        ),
        ("rto = { min = \"200 ms\" }", Config { rto, ..d.clone() }),
        ("path_max_retrans = 2", Config { path_max_retrans: 2, ..d.clone() }),
        ("association_max_retrans = 4", Config { association_max_retrans: 4, ..d.clone() }),
        ("max_init_retransmits = 4", Config { max_init_retransmits: 4, ..d.clone() }),
        ("potentially_failed = 0", Config { potentially_failed: Some(0), ..d.clone() }),
        ("heartbeat_interval = false", Config { heartbeat_interval: None, ..d.clone() }),
        (
            "heartbeat_interval = \"5 s\"",
            Config { heartbeat_interval: Some(Span::from_secs(5)), ..d.clone() },
        ),
        (
            "heartbeat_jitter = \"interval\"",
            Config { heartbeat_jitter: Jitter::Interval, ..d.clone() },
        ),
        ("confirm_paths = false", Config { confirm_paths: false, ..d.clone() }),
        ("trust_given = true", Config { trust_given: true, ..d.clone() }),
        ("vary_sack_path = true", Config { vary_sack_path: true, ..d.clone() }),
        ("keep_primary = true", Config { keep_primary: true, ..d.clone() }),
        ("heartbeat_burst = 2", Config { heartbeat_burst: 2, ..d.clone() }),
        ("destination = \"all-same\"", Config { destination: Destination::AllSame, ..d.clone() }),
        ("multiple_fast_retransmit = true", Config { multiple_fast_retransmit: true, ..d.clone() }),
        ("timestamps = true", Config { timestamps: true, ..d.clone() }),
        ("heartbeat_after_rto = true", Config { heartbeat_after_rto: true, ..d.clone() }),
        ("cookie_life = \"5 s\"", Config { cookie_life: Span::from_secs(5), ..d.clone() }),
        ("partial_reliability = true", Config { partial_reliability: true, ..d.clone() }),
        ("interleaving = true", Config { interleaving: true, ..d.clone() }),
        ("zero_checksum = true", Config { zero_checksum: true, ..d.clone() }),
        (
            "scheduler = \"weighted-fair\"",
            Config { scheduler: Scheduler::WeightedFair, ..d.clone() },
        ),
        ("reconfiguration = true", Config { reconfiguration: true, ..d.clone() }),
        ("authentication = true", Config { authentication: Some(Arc::default()), ..d.clone() }),
        (
            "authentication = { key = \"k\", chunks = [\"data\", \"i-data\"], \
             algorithms = [\"sha-1\"] }",
            Config {
                authentication: Some(Arc::new(Authentication {
                    keys: vec![(0, b"k".to_vec())],
                    chunks: vec![0, 0x40],
                    algorithms: vec![1],
                    ..Authentication::default()
                })),
                ..d.clone()
            },
        ),
        (
            "dynamic_addresses = true",
            Config { dynamic_addresses: true, authentication: Some(Arc::default()), ..d.clone() },
        ),
        ("failover = \"highest-rate\"", Config { failover: Failover::HighestRate, ..d.clone() }),
        ("probing = false", Config { probing: Probing::Off, ..d.clone() }),
        ("probing = \"policy\"", d.clone()),
        ("probing = true", Config { probing: Probing::On(Probe::default()), ..d.clone() }),
        (
            "probing = { burst = 4, interval = \"500 ms\" }",
            Config {
                probing: Probing::On(Probe { burst: 4, interval: Span::from_millis(500) }),
                ..d.clone()
            },
        ),
        ("destination = \"best-path\"", Config { destination: Destination::BestPath, ..d.clone() }),
        ("concurrent = true", Config { concurrent: Some(Concurrent::default()), ..d.clone() }),
        (
            "concurrent = { delayed_ack = false, buffer_split = true }",
            Config {
                concurrent: Some(Concurrent {
                    delayed_ack: false,
                    buffer_split: true,
                    ..Concurrent::default()
                }),
                ..d
            },
        ),
    ];
    for (text, expected) in cases {
        let config = read_text(text).unwrap();
        assert_eq!(config, expected, "{text}");
        let spec = SctpSpec { config, ..SctpSpec::new() };
        let written = super::write(&spec).to_string();
        assert_eq!(read_text(&written).unwrap(), expected, "{written}");
        assert!(!written.contains("preset"), "{written}");
    }
}

/// What concerns the hosts' interfaces and the streams, read and read back.
#[test]
fn changes_of_addresses_and_values_of_streams() {
    let text = "dynamic_addresses = true\nscheduler = \"priority\"\nstream_values = [2, 0]\n\
                address_changes = [{ at = \"1 s\", add = \"a.y\" }, \
                { at = \"2 s\", primary = \"a.y\" }, { at = \"2 s\", delete = \"a.x\" }]";
    let read = |text: &str| {
        let table = text.parse().expect("TOML");
        super::read(Some(&Fields::new("flows[0].sctp", &table))).unwrap()
    };
    let spec = read(text);
    assert_eq!(spec.stream_values, [2, 0]);
    let changes: Vec<_> = spec
        .address_changes
        .iter()
        .map(|address_change| (address_change.at, address_change.change))
        .collect();
    let at = Span::from_secs;
    let expected = [
        (at(1), ChangeOfAddress::Add),
        (at(2), ChangeOfAddress::Primary),
        (at(2), ChangeOfAddress::Delete),
    ];
    assert_eq!(changes, expected);
    assert!(spec.comes_later("a.y") && !spec.comes_later("a.x"));
    assert_eq!(read(&super::write(&spec).to_string()), spec);
}

#[test]
fn errors_name_the_field_and_what_is_allowed() {
    for (text, field, allowed) in [
        ("preset = \"rfc1\"", "preset", "rfc2960, rfc4960, rfc9260"),
        ("mtu = \"100 B\"", "mtu", "512 B to 65535 B"),
        ("mtu = 1500", "mtu", "a whole number of octets"),
        ("mtu_probing = true", "mtu_probing", "off, black-hole, always"),
        ("mtu_probe_base = \"400 B\"", "mtu_probe_base", "472 B to 65495 B"),
        ("mtu_probe_timer = \"500 ms\"", "mtu_probe_timer", "at least 1 s"),
        ("mtu_raise_timer = \"0 s\"", "mtu_raise_timer", "at least 1 s"),
        ("ip_header = 30", "ip_header", "20 (IPv4) or 40 (IPv6)"),
        ("message_size = \"0 B\"", "message_size", "1 B to 1452 B (what fits a packet)"),
        ("receive_buffer = \"5 GB\"", "receive_buffer", "1500 B to 1 GiB"),
        ("window = \"newreno\"", "window", "standard, reno,"),
        ("window = { algorithm = \"x\" }", "window.algorithm", "reno,"),
        ("initial_window = \"rfc6928\"", "initial_window", "rfc2960, rfc4960, rfc9260, or"),
        ("max_burst = 0", "max_burst", "false, or a whole number from 1 to 1000"),
        ("potentially_failed = 6", "potentially_failed", "0 to 5 (path_max_retrans)"),
        ("heartbeat_interval = true", "heartbeat_interval", "false, or a time"),
        ("rto = { min = \"0 s\" }", "rto.min", "more than 0 s"),
        ("rto = { mni = \"1 s\" }", "rto.mni", "no field of this name"),
        ("rto_min = \"1 s\"", "rto_min", "no field of this name; did you mean `rto.min`?"),
        (
            "heartbeat = \"1 s\"",
            "heartbeat",
            "no field of this name; did you mean `heartbeat_interval`?",
        ),
        ("sack_delay = \"1 s\"", "sack_delay", "at most 500 ms"),
        ("immediate_sacks = 1", "immediate_sacks", "true, false or a table"),
        ("immediate_sacks = { end = true }", "immediate_sacks.end", "no field of this name"),
        ("destination = \"same\"", "destination", "all-same, all-alternate"),
        ("failover = \"best\"", "failover", "destination, next, last-heard"),
        ("probing = 1", "probing", "\"policy\", true, false or a table"),
        ("probing = { burst = 0 }", "probing.burst", "a whole number from 1 to 100"),
        ("probing = { interval = \"0 s\" }", "probing.interval", "at least 1 ms"),
        ("scheduler = \"fifo\"", "scheduler", "fcfs, round-robin"),
        ("concurrent = 2", "concurrent", "true, false or a table"),
        ("concurrent = { split = true }", "concurrent.split", "no field of this name"),
        ("zero_checksum = \"dtls\"", "zero_checksum", "true or false"),
        ("zero_checksums = true", "zero_checksums", "no field of this name"),
        ("streams = 1", "streams", "no field of this name"),
    ] {
        let error = read_text(text).unwrap_err();
        assert_eq!(error.field, format!("flows[0].sctp.{field}"), "{text}");
        assert!(error.allowed.starts_with(allowed), "{text}: {}", error.allowed);
    }
}
