//! Tables of the options of TCP that concern the connection itself: from and
//! to TOML.

use super::form::{table_of, word};
use super::{fast_open, manners};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_tcp::{
    Config, EcnMode, Ect, InitialReceiveWindow, KeepAlive, MtuProbing, Nagle, ResetTimestamps,
};
use anabranch_units::{Bytes, Span};
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

/// Reads the fields into `config`, which holds what absent ones mean.
pub(super) fn read(f: &Fields<'_>, config: &mut Config) -> Result<(), InputError> {
    config.dscp = f.integer("dscp", 0..=63)?.unwrap_or(config.dscp);
    config.ttl = f.integer("ttl", 1..=255)?.unwrap_or(config.ttl);
    config.ecn = f.choice("ecn", &ECN_MODES)?.unwrap_or(config.ecn);
    config.ect = f.choice("ecn_codepoint", &ECTS)?.unwrap_or(config.ect);
    config.ecn_control = f.boolean("ecn_control")?.unwrap_or(config.ecn_control);
    config.ecn_wait = f.boolean("ecn_wait")?.unwrap_or(config.ecn_wait);
    config.pacing_burst = f.integer("pacing_burst", 1..=1000)?.unwrap_or(config.pacing_burst);
    config.nagle = f.choice("nagle", &NAGLES)?.unwrap_or(config.nagle);
    config.quick_acks = f.integer("quick_acks", 0..=1000)?.unwrap_or(config.quick_acks);
    config.mtu_probing = f.choice("mtu_probing", &MTU_PROBINGS)?.unwrap_or(config.mtu_probing);
    config.reset_timestamps =
        f.choice("reset_timestamps", &RESET_TIMESTAMPS)?.unwrap_or(config.reset_timestamps);
    config.fast_open = fast_open::read(f, config.fast_open)?;
    config.keep_alive = read_keep_alive(f, config.keep_alive)?;
    config.initial_receive_window = match f.get("initial_receive_window") {
        None => config.initial_receive_window,
        Some(Value::Boolean(false)) => InitialReceiveWindow::Whole,
        Some(Value::Float(share)) => InitialReceiveWindow::Share(*share),
        Some(value) => {
            let octets = value.as_str().and_then(Bytes::parse);
            let octets =
                octets.ok_or_else(|| f.error("initial_receive_window", RECEIVE_WINDOWS))?;
            InitialReceiveWindow::Octets(octets.0)
        }
    };
    config.receive_buffer_max = match f.get("receive_buffer_max") {
        None => config.receive_buffer_max,
        Some(Value::Boolean(false)) => None,
        Some(value) => {
            let octets = value.as_str().and_then(Bytes::parse);
            Some(octets.ok_or_else(|| f.error("receive_buffer_max", RECEIVE_BUFFERS))?.0)
        }
    };
    config.manners = manners::read(f, config.manners)?;
    for (name, field) in [
        ("user_timeout", &mut config.user_timeout),
        ("opening_timeout", &mut config.opening_timeout),
    ] {
        *field = match f.get(name) {
            Some(Value::Boolean(false)) => None,
            _ => f.quantity(name)?.or(*field),
        };
    }
    for (name, field) in [
        ("adaptive_acks", &mut config.adaptive_acks),
        ("idle_restart", &mut config.idle_restart),
        ("soft_errors_end_opening", &mut config.soft_errors_end_opening),
        ("path_mtu_discovery", &mut config.path_mtu_discovery),
        ("black_hole_detection", &mut config.black_hole_detection),
        ("paws", &mut config.paws),
        ("require_timestamps", &mut config.require_timestamps),
        ("echo_old_segments", &mut config.echo_old_segments),
        ("protect_time_wait", &mut config.protect_time_wait),
    ] {
        *field = f.boolean(name)?.unwrap_or(*field);
    }
    for (name, field, allowed) in [
        ("min_path_mtu", &mut config.min_path_mtu, "104 B to 65535 B"),
        ("mtu_probe_base", &mut config.mtu_probe_base, "88 B to 65535 B"),
    ] {
        if let Some(octets) = f.quantity::<Bytes>(name)? {
            *field = u32::try_from(octets.0).map_err(|_| f.error(name, allowed))?;
        }
    }
    for (name, field) in [
        ("challenge_acks", &mut config.challenge_acks),
        ("syn_ack_retries", &mut config.syn_ack_retries),
        ("ecn_syn_retries", &mut config.ecn_syn_retries),
        ("stalled_after", &mut config.stalled_after),
    ] {
        *field = f.integer(name, 0..=1_000_000)?.unwrap_or(*field);
    }
    Ok(())
}

/// The fields with their values.
pub(super) fn write(config: &Config) -> Vec<(&'static str, Value)> {
    let keep_alive = config.keep_alive.map(|k| {
        table_of([
            ("idle", k.idle.write().into()),
            ("interval", k.interval.write().into()),
            ("probes", Value::Integer(k.probes.into())),
        ])
    });
    let limit = |span: Option<Span>| span.map_or(false.into(), |span| Value::from(span.write()));
    let initial_window = match config.initial_receive_window {
        InitialReceiveWindow::Whole => Value::Boolean(false),
        InitialReceiveWindow::Octets(n) => Bytes(n).write().into(),
        InitialReceiveWindow::Share(share) => Value::Float(share),
    };
    let most = config.receive_buffer_max.map(|octets| Value::from(Bytes(octets).write()));
    vec![
        ("receive_buffer_max", most.unwrap_or(false.into())),
        ("initial_receive_window", initial_window),
        ("nagle", word(&NAGLES, &config.nagle).into()),
        ("quick_acks", Value::Integer(config.quick_acks.into())),
        ("adaptive_acks", config.adaptive_acks.into()),
        ("fast_open", fast_open::write(config.fast_open)),
        ("keep_alive", keep_alive.unwrap_or(false.into())),
        ("user_timeout", limit(config.user_timeout)),
        ("opening_timeout", limit(config.opening_timeout)),
        ("manners", manners::write(config.manners)),
        ("idle_restart", config.idle_restart.into()),
        ("soft_errors_end_opening", config.soft_errors_end_opening.into()),
        ("path_mtu_discovery", config.path_mtu_discovery.into()),
        ("min_path_mtu", Bytes(config.min_path_mtu.into()).write().into()),
        ("mtu_probing", word(&MTU_PROBINGS, &config.mtu_probing).into()),
        ("mtu_probe_base", Bytes(config.mtu_probe_base.into()).write().into()),
        ("black_hole_detection", config.black_hole_detection.into()),
        ("paws", config.paws.into()),
        ("require_timestamps", config.require_timestamps.into()),
        ("reset_timestamps", word(&RESET_TIMESTAMPS, &config.reset_timestamps).into()),
        ("echo_old_segments", config.echo_old_segments.into()),
        ("protect_time_wait", config.protect_time_wait.into()),
        ("challenge_acks", Value::Integer(config.challenge_acks.into())),
        ("syn_ack_retries", Value::Integer(config.syn_ack_retries.into())),
        ("ecn_syn_retries", Value::Integer(config.ecn_syn_retries.into())),
        ("stalled_after", Value::Integer(config.stalled_after.into())),
        ("dscp", Value::Integer(config.dscp.into())),
        ("ttl", Value::Integer(config.ttl.into())),
        ("ecn", word(&ECN_MODES, &config.ecn).into()),
        ("ecn_codepoint", word(&ECTS, &config.ect).into()),
        ("ecn_control", config.ecn_control.into()),
        ("ecn_wait", config.ecn_wait.into()),
        ("pacing_burst", Value::Integer(config.pacing_burst.into())),
    ]
}

/// `true`, `false`, or a table.
fn read_keep_alive(
    f: &Fields<'_>,
    default: Option<KeepAlive>,
) -> Result<Option<KeepAlive>, InputError> {
    let Some(value) = f.get("keep_alive") else { return Ok(default) };
    if let Some(on) = value.as_bool() {
        return Ok(on.then(|| default.unwrap_or_default()));
    }
    let Some(k) = f.table("keep_alive")? else { return Ok(default) };
    let default = default.unwrap_or_default();
    let keep_alive = KeepAlive {
        idle: k.quantity("idle")?.unwrap_or(default.idle),
        interval: k.quantity("interval")?.unwrap_or(default.interval),
        probes: k.integer("probes", 2..=1000)?.unwrap_or(default.probes),
    };
    k.finish()?;
    Ok(Some(keep_alive))
}

#[cfg(test)]
mod tests {
    use super::*;
    use InitialReceiveWindow::{Octets, Share, Whole};
    use anabranch_tcp::Manners;

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
            ("ecn_codepoint = \"ce\"", "ecn_codepoint", "ect0, ect1"),
            ("mtu_probing = true", "mtu_probing", "off, black-hole, always"),
            ("nagle = true", "nagle", "off, rfc, minshall"),
            ("quick_acks = -1", "quick_acks", "a whole number from 0 to 1000"),
            ("keep_alive = { idle = \"0 s\" }", "keep_alive.idle", "at least 1 ms"),
            ("keep_alive = { probe = 1 }", "keep_alive.probe", PROBES),
            ("initial_receive_window = \"1 B\"", "initial_receive_window", "one segment to 1 GiB"),
            ("receive_buffer_max = \"1 MiB\"", "receive_buffer_max", "receive_buffer to 1 GiB"),
            ("receive_buffer_max = true", "receive_buffer_max", RECEIVE_BUFFERS),
            ("initial_receive_window = true", "initial_receive_window", RECEIVE_WINDOWS),
            ("initial_receive_window = 1.5", "initial_receive_window", "a share above 0, up to 1"),
            ("user_timeout = \"0 s\"", "user_timeout", "more than 0 s"),
            ("opening_timeout = \"0 s\"", "opening_timeout", "more than 0 s"),
            ("manners = \"polite\"", "manners", "rfc, linux, freebsd, or a table of the switches"),
            ("min_path_mtu = \"68 B\"", "min_path_mtu", "104 B to 65535 B"),
            ("mtu_probe_base = \"40 B\"", "mtu_probe_base", "88 B to 65535 B"),
            ("stalled_after = 0", "stalled_after", "at least 1"),
            ("pacing_burst = 0", "pacing_burst", "a whole number from 1 to 1000"),
        ] {
            let error = read_text(text).unwrap_err();
            assert_eq!(error.field, format!("flows[0].tcp.{field}"));
            assert_eq!(error.allowed, allowed);
        }
    }
}
