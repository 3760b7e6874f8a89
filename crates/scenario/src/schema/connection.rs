//! Tables of the options of TCP that concern the connection itself: from and
//! to TOML.

use super::form::{Form, Kind, by, octets_in, quantity_shape};
use super::{dscp, fast_open, manners};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use crate::shape::Shape;
use anabranch_tcp::{
    Config, EcnMode, Ect, InitialReceiveWindow, KeepAlive, MtuProbing, Nagle, ResetTimestamps,
};
use anabranch_units::Bytes;
use toml::Value;

const ECN_MODES: [(&str, EcnMode); 5] = [
    ("off", EcnMode::Off),
    ("passive", EcnMode::Passive),
    ("on", EcnMode::On),
    ("dctcp", EcnMode::Dctcp),
    ("accurate", EcnMode::Accurate),
];
const ECTS: [(&str, Ect); 2] = [("ect0", Ect::Zero), ("ect1", Ect::One)];
const MTU_PROBINGS: [(&str, MtuProbing); 3] = [
    ("off", MtuProbing::Off),
    ("black-hole", MtuProbing::BlackHole),
    ("always", MtuProbing::Always),
];
const RESET_TIMESTAMPS: [(&str, ResetTimestamps); 3] = [
    ("none", ResetTimestamps::None),
    ("aborts", ResetTimestamps::Aborts),
    ("all", ResetTimestamps::All),
];
const RECEIVE_WINDOWS: &str =
    "octets, such as \"64 KiB\", a share of receive_buffer, such as 0.8, or false";
const RECEIVE_BUFFERS: &str = "octets, such as \"6 MiB\", or false";
const NAGLES: [(&str, Nagle); 3] =
    [("off", Nagle::Off), ("rfc", Nagle::Rfc), ("minshall", Nagle::Minshall)];

/// Reads, writes or describes how the window that is offered begins, and how far its buffer may
/// grow.
pub(super) fn buffers(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    form.says(
        "the window that is offered at first, in octets (`\"64 KiB\"`) or as a share of \
         `receive_buffer` (`0.8`): it grows up to that by two segments for each that comes, \
         and each segment by which it grows is acknowledged at once, as in \
         [Linux](algorithms/ack-timing.md). At least two units of the window scale, which is \
         as fine as windows are told (RFC 7323 §2.3). `false`: all of `receive_buffer` from \
         the start",
    )
    .set("initial_receive_window", initial_receive_window(), &mut c.initial_receive_window)?;
    form.says(
        "the octets up to which `receive_buffer` [grows](algorithms/right-sizing.md) with what \
         is received, or false: it stays. Not over Multipath TCP",
    )
    .set("receive_buffer_max", receive_buffer_max(), &mut c.receive_buffer_max)
}

/// Octets, a share of the buffer, or `false` for all of it.
fn initial_receive_window() -> impl Kind<Value = InitialReceiveWindow> {
    let read = |f: &Fields<'_>, name: &'static str| match f.get(name) {
        None => Ok(None),
        Some(Value::Boolean(false)) => Ok(Some(InitialReceiveWindow::Whole)),
        Some(Value::Float(share)) => Ok(Some(InitialReceiveWindow::Share(*share))),
        Some(value) => {
            let octets = value.as_str().and_then(Bytes::parse);
            let octets = octets.ok_or_else(|| f.error(name, RECEIVE_WINDOWS))?;
            Ok(Some(InitialReceiveWindow::Octets(octets.0)))
        }
    };
    let write = |window: &InitialReceiveWindow| match window {
        InitialReceiveWindow::Whole => Value::Boolean(false),
        InitialReceiveWindow::Octets(n) => Bytes(*n).write().into(),
        InitialReceiveWindow::Share(share) => Value::Float(*share),
    };
    let shape = || {
        let share = Shape::Number(InitialReceiveWindow::SHARE);
        Shape::Any(vec![quantity_shape::<Bytes>(), share]).or_false()
    };
    by(shape, read, write)
}

fn receive_buffer_max() -> impl Kind<Value = Option<u64>> {
    let read = |f: &Fields<'_>, name: &'static str| match f.get(name) {
        None => Ok(None),
        Some(Value::Boolean(false)) => Ok(Some(None)),
        Some(value) => {
            let octets = value.as_str().and_then(Bytes::parse);
            let octets = octets.ok_or_else(|| f.error(name, RECEIVE_BUFFERS))?;
            Ok(Some(Some(octets.0)))
        }
    };
    let write = |most: &Option<u64>| most.map_or(false.into(), |n| Value::from(Bytes(n).write()));
    by(|| quantity_shape::<Bytes>().or_false(), read, write)
}

/// Reads, writes or describes the fields that concern the connection itself.
pub(super) fn options(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    form.says("time to live, or hop limit, of what is sent (RFC 9293 §3.9.2)").integer(
        "ttl",
        Config::TTL,
        &mut c.ttl,
    )?;
    form.says("code point of what both ends send, for `priority`, `drr`, `cake` and `htb`, by number or by name as `\"af41\"`")
        .set("dscp", dscp::code_point(), &mut c.dscp)?;
    form.says(
        "RFC 3168: `\"on\"` asks for ECN, `\"passive\"` agrees to it when asked; `\"dctcp\"` \
         asks, and echoes marks exactly (RFC 8257); `\"accurate\"` asks for AccECN and agrees \
         to it (RFC 9768), and falls back to RFC 3168. The window algorithm `dctcp` needs one \
         of the last two",
    )
    .choice("ecn", &ECN_MODES, &mut c.ecn)?;
    form.says(
        "ECT codepoint of ECN-capable packets: `\"ect0\"` or `\"ect1\"`, which a `dualpi2` \
         queue takes for low latency (RFC 9331)",
    )
    .choice("ecn_codepoint", &ECTS, &mut c.ect)?;
    form.says("with ECN agreed: SYNs, ACKs and retransmissions are ECN-capable too (RFC 8311)")
        .boolean("ecn_control", &mut c.ecn_control)?;
    form.says(
        "an echo of congestion that finds a window of one segment holds new data until the \
         retransmission timer expires (RFC 3168 §6.1.2)",
    )
    .boolean("ecn_wait", &mut c.ecn_wait)?;
    form.says(
        "how often a SYN that asks for ECN by RFC 3168 is sent again as it was; the next go \
         without",
    )
    .integer("ecn_syn_retries", Config::SYN_RETRIES, &mut c.ecn_syn_retries)?;
    form.says("TCP Fast Open (RFC 7413): `true`, or a table of the fields below").switch_or_table(
        "fast_open",
        &mut c.fast_open,
        fast_open::fields,
    )?;
    form.says(
        "less than a full segment waits: `\"rfc\"` while anything is unacknowledged (RFC \
         9293), `\"minshall\"` while another short segment is; `\"off\"` is `TCP_NODELAY`",
    )
    .choice("nagle", &NAGLES, &mut c.nagle)?;
    form.says(
        "full segments at the start of the stream that are acknowledged at once, as Linux does \
         with 16",
    )
    .integer("quick_acks", Config::QUICK_ACKS, &mut c.quick_acks)?;
    form.says(
        "which ACKs wait, and how long, follows the peer's pace and the application's answers, \
         as in Linux; `delayed_ack` then makes no difference, and `quick_acks` segments are \
         acknowledged at once whenever the peer starts",
    )
    .boolean("adaptive_acks", &mut c.adaptive_acks)?;
    form.says(
        "segments that leave together are one packet until the device cuts it, as on Linux: PSH \
         is on the last of several, and a receiver with `adaptive_acks` acknowledges a last one \
         that is alone at once; no difference over Multipath TCP, where the stream says what is \
         pushed",
    )
    .boolean("segmentation_offload", &mut c.segmentation_offload)?;
    form.says(
        "after more than a retransmission timeout without sending the window restarts from the \
         initial one (RFC 5681)",
    )
    .boolean("idle_restart", &mut c.idle_restart)?;
    form.says(
        "`true`: `{ idle = \"7200 s\", interval = \"75 s\", probes = 9 }`; or such a table; \
         two probes at least",
    )
    .switch_or_table("keep_alive", &mut c.keep_alive, |form, keep_alive| {
        form.says("time without traffic before the first probe")
            .quantity("idle", &mut keep_alive.idle)?;
        form.says("time between probes").quantity("interval", &mut keep_alive.interval)?;
        form.says("probes without an answer that end the connection; two at least").integer(
            "probes",
            KeepAlive::PROBES,
            &mut keep_alive.probes,
        )
    })?;
    form.says(
        "how long data may go unacknowledged before the connection ends, such as `\"30 s\"` \
         (RFC 5482)",
    )
    .quantity_or_off("user_timeout", &mut c.user_timeout)?;
    form.says("retransmissions before the application is told (R1 of RFC 9293)").integer(
        "stalled_after",
        Config::RETRIES,
        &mut c.stalled_after,
    )?;
    form.says("retransmissions of a SYN-ACK").integer(
        "syn_ack_retries",
        Config::SYN_RETRIES,
        &mut c.syn_ack_retries,
    )?;
    form.says(
        "how long an attempt to open a connection may take, such as `\"75 s\"` (FreeBSD); \
         `false`: as long as SYNs are sent again",
    )
    .quantity_or_off("opening_timeout", &mut c.opening_timeout)?;
    form.says(
        "habits in which stacks differ: `\"linux\"`, `\"freebsd\"`, or a table of switches \
         such as `{ scale_first = true }`: see [tcp.md](tcp.md)",
    )
    .set("manners", manners::kind(c.manners), &mut c.manners)?;
    form.says(
        "an ICMP error of any kind ends an attempt to open a connection, as in Linux (RFC 5461 \
         §4.1); otherwise only protocol and port unreachable do",
    )
    .boolean("soft_errors_end_opening", &mut c.soft_errors_end_opening)?;
    path_mtu(form, c)?;
    form.says(
        "which resets carry timestamps (RFC 7323 §5.2): `\"all\"`, `\"aborts\"` those that \
         answer nothing, as in Linux, or `\"none\"`, as in FreeBSD",
    )
    .choice("reset_timestamps", &RESET_TIMESTAMPS, &mut c.reset_timestamps)?;
    form.says("a segment without timestamps where they were agreed on is dropped (RFC 7323 §3.2)")
        .boolean("require_timestamps", &mut c.require_timestamps)?;
    form.says(
        "the timestamp of a segment that comes again is echoed also when it lies wholly before \
         what was acknowledged last (RFC 7323 §4.3): where ACKs are lost, the peer's timeouts \
         are no round trips",
    )
    .boolean("echo_old_segments", &mut c.echo_old_segments)?;
    form.says(
        "protection against wrapped sequence numbers, where timestamps are agreed on (RFC 7323)",
    )
    .boolean("paws", &mut c.paws)?;
    form.says("most challenge ACKs in 5 s (RFC 5961); 0 for no limit").integer(
        "challenge_acks",
        Config::CHALLENGE_ACKS,
        &mut c.challenge_acks,
    )?;
    form.says("resets do not end TIME-WAIT (RFC 1337)")
        .boolean("protect_time_wait", &mut c.protect_time_wait)?;
    form.says("full segments that leave together where the window algorithm paces").integer(
        "pacing_burst",
        Config::PACING_BURST,
        &mut c.pacing_burst,
    )
}

fn path_mtu(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    form.says(
        "smaller segments when an ICMP error says that they are too big (RFC 1191, RFC 8201); \
         routers send them with `icmp = true`",
    )
    .boolean("path_mtu_discovery", &mut c.path_mtu_discovery)?;
    form.says("the smallest path MTU that is believed").set(
        "min_path_mtu",
        octets_in(Config::MIN_PATH_MTU),
        &mut c.min_path_mtu,
    )?;
    form.says("the payload with which `mtu_probing = \"always\"` begins").set(
        "mtu_probe_base",
        octets_in(Config::MTU_PROBE_BASE),
        &mut c.mtu_probe_base,
    )?;
    form.says(
        "probing for the largest segment that passes (RFC 4821): `\"always\"`, or \
         `\"black-hole\"` after two timeouts in a row; as Linux's `tcp_mtu_probing`",
    )
    .choice("mtu_probing", &MTU_PROBINGS, &mut c.mtu_probing)?;
    form.says("half the segment size after two timeouts in a row")
        .boolean("black_hole_detection", &mut c.black_hole_detection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use InitialReceiveWindow::{Octets, Share, Whole};
    use anabranch_tcp::Manners;
    use anabranch_units::Span;

    fn read_text(text: &str) -> Result<Config, InputError> {
        let table = text.parse().expect("the test's TOML");
        super::super::tcp::read(Fields::new("flows[0].tcp", &table))
    }

    /// Each option away from its default: read as meant, and read back from
    /// what is written.
    #[test]
    fn options_are_read_and_written() {
        let default = Config::default();
        let keep = KeepAlive::default();
        let short = KeepAlive { idle: Span::from_secs(1), probes: 3, ..keep };
        let cases: Vec<(&str, Config)> = vec![
            ("ttl = 3", Config { ttl: 3, ..default.clone() }),
            (
                "reset_timestamps = \"aborts\"",
                Config { reset_timestamps: ResetTimestamps::Aborts, ..default.clone() },
            ),
            ("ecn = \"dctcp\"", Config { ecn: EcnMode::Dctcp, ..default.clone() }),
            ("ecn = \"accurate\"", Config { ecn: EcnMode::Accurate, ..default.clone() }),
            ("ecn_codepoint = \"ect1\"", Config { ect: Ect::One, ..default.clone() }),
            ("nagle = \"minshall\"", Config { nagle: Nagle::Minshall, ..default.clone() }),
            ("quick_acks = 16", Config { quick_acks: 16, ..default.clone() }),
            ("adaptive_acks = true", Config { adaptive_acks: true, ..default.clone() }),
            ("keep_alive = true", Config { keep_alive: Some(keep), ..default.clone() }),
            (
                "keep_alive = { idle = \"1 s\", probes = 3 }",
                Config { keep_alive: Some(short), ..default.clone() },
            ),
            (
                "user_timeout = \"30 s\"",
                Config { user_timeout: Some(Span::from_secs(30)), ..default.clone() },
            ),
            (
                "initial_receive_window = \"64 KiB\"",
                Config { initial_receive_window: Octets(65_536), ..default.clone() },
            ),
            (
                "initial_receive_window = 0.5",
                Config { initial_receive_window: Share(0.5), ..default.clone() },
            ),
            (
                "receive_buffer_max = \"6 MiB\"",
                Config { receive_buffer_max: Some(6 << 20), ..default.clone() },
            ),
            ("idle_restart = false", Config { idle_restart: false, ..default.clone() }),
            (
                "soft_errors_end_opening = true",
                Config { soft_errors_end_opening: true, ..default.clone() },
            ),
            ("path_mtu_discovery = false", Config { path_mtu_discovery: false, ..default.clone() }),
            ("min_path_mtu = \"1280 B\"", Config { min_path_mtu: 1280, ..default.clone() }),
            ("mtu_probe_base = \"512 B\"", Config { mtu_probe_base: 512, ..default.clone() }),
            ("manners = \"linux\"", Config { manners: Manners::linux(), ..default.clone() }),
            (
                "black_hole_detection = true",
                Config { black_hole_detection: true, ..default.clone() },
            ),
            (
                "mtu_probing = \"black-hole\"",
                Config { mtu_probing: MtuProbing::BlackHole, ..default.clone() },
            ),
            ("paws = false", Config { paws: false, ..default.clone() }),
            ("protect_time_wait = true", Config { protect_time_wait: true, ..default.clone() }),
            ("challenge_acks = 0", Config { challenge_acks: 0, ..default.clone() }),
            (
                "opening_timeout = \"75 s\"",
                Config { opening_timeout: Some(Span::from_secs(75)), ..default.clone() },
            ),
            ("ecn_syn_retries = 1", Config { ecn_syn_retries: 1, ..default.clone() }),
            ("manners = \"freebsd\"", Config { manners: Manners::freebsd(), ..default.clone() }),
            (
                "manners = { scale_first = true }",
                Config {
                    manners: Manners { scale_first: true, ..Manners::default() },
                    ..default.clone()
                },
            ),
            ("syn_ack_retries = 2", Config { syn_ack_retries: 2, ..default.clone() }),
            ("stalled_after = 5", Config { stalled_after: 5, ..default.clone() }),
            ("ecn_control = true", Config { ecn_control: true, ..default.clone() }),
            ("pacing_burst = 10", Config { pacing_burst: 10, ..default }),
        ];
        for (text, expected) in cases {
            let config = read_text(text).unwrap();
            assert_eq!(config, expected, "{text}");
            let written = super::super::tcp::write(&config).to_string();
            assert_eq!(read_text(&written).unwrap(), expected, "{written}");
        }
    }

    /// A profile gives defaults; what is written beside it counts, and the
    /// resolved form needs no profile.
    #[test]
    fn a_profile_is_a_set_of_defaults() {
        let config = read_text("profile = \"linux\"\nquick_acks = 3\nrto = { min = \"1 s\" }");
        let linux = Config::linux();
        let mut expected = Config { quick_acks: 3, ..linux.clone() };
        expected.rto.min = Span::from_secs(1);
        assert_eq!(config, Ok(expected));
        let written = super::super::tcp::write(&linux).to_string();
        assert!(!written.contains("profile") && written.contains("syn_retries = 6"));
        assert_eq!(read_text(&written), Ok(linux));
        for (name, profile) in anabranch_tcp::Profile::ALL {
            let written = super::super::tcp::write(&profile.config()).to_string();
            assert_eq!(read_text(&written), Ok(profile.config()), "{name}");
        }
        let whole = read_text("profile = \"linux\"\ninitial_receive_window = false").unwrap();
        assert_eq!(whole.initial_receive_window, Whole);
        assert_eq!(read_text("profile = \"rfc\""), Ok(Config::default()));
        assert_eq!(read_text("profile = \"bsd\"").unwrap_err().allowed, "rfc, linux, freebsd, ns2");
    }

    const PROBES: &str = "no field of this name; did you mean `probes`?";

    #[test]
    fn errors_name_the_field_and_what_is_allowed() {
        for (text, field, allowed) in [
            ("ecn = \"yes\"", "ecn", "off, passive, on, dctcp, accurate"),
            ("mss = \"100 kB\"", "mss", "64 B to 65495 B"),
            ("max_retries = 0", "max_retries", "a whole number from 1 to 1000000"),
            ("ecn_codepoint = \"ce\"", "ecn_codepoint", "ect0, ect1"),
            ("mtu_probing = true", "mtu_probing", "off, black-hole, always"),
            ("nagle = true", "nagle", "off, rfc, minshall"),
            ("quick_acks = -1", "quick_acks", "a whole number from 0 to 1000"),
            ("keep_alive = { idle = \"0 s\" }", "keep_alive.idle", "at least 1 ms"),
            ("keep_alive = { probe = 1 }", "keep_alive.probe", PROBES),
            (
                "initial_receive_window = \"1 B\"",
                "initial_receive_window",
                "1460 B to 1 GiB (one segment at least)",
            ),
            (
                "receive_buffer_max = \"1 MiB\"",
                "receive_buffer_max",
                "4 MiB to 1 GiB (receive_buffer at least)",
            ),
            ("receive_buffer_max = true", "receive_buffer_max", RECEIVE_BUFFERS),
            ("initial_receive_window = true", "initial_receive_window", RECEIVE_WINDOWS),
            (
                "initial_receive_window = 1.5",
                "initial_receive_window",
                "above 0, at most 1 of receive_buffer",
            ),
            ("user_timeout = \"0 s\"", "user_timeout", "more than 0 s"),
            ("opening_timeout = \"0 s\"", "opening_timeout", "more than 0 s"),
            ("manners = \"polite\"", "manners", "rfc, linux, freebsd, or a table of the switches"),
            ("min_path_mtu = \"68 B\"", "min_path_mtu", "104 B to 65535 B"),
            ("mtu_probe_base = \"40 B\"", "mtu_probe_base", "88 B to 65535 B"),
            ("stalled_after = 0", "stalled_after", "a whole number from 1 to 1000000"),
            ("pacing_burst = 0", "pacing_burst", "a whole number from 1 to 1000 packets"),
        ] {
            let error = read_text(text).unwrap_err();
            assert_eq!(error.field, format!("flows[0].tcp.{field}"));
            assert_eq!(error.allowed, allowed);
        }
    }
}
