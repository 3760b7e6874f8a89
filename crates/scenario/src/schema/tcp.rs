//! The options of TCP: [`anabranch_tcp::Config`] from and to TOML.

use super::form::{table_of, word};
use super::{connection, recovery, window};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::{Amount, Packets, Quantity};
use anabranch_endpoint::RtoBounds;
use anabranch_tcp::{
    Config, Counting, DelayedAck, InitialWindow, Profile, RtoRestart, RttSamples, WindowProbe,
    WindowUse,
};
use anabranch_units::{Bytes, Span};
use toml::{Table, Value};

const INITIAL_WINDOWS: [(&str, InitialWindow); 3] = [
    ("rfc2581", InitialWindow::Rfc2581),
    ("rfc3390", InitialWindow::Rfc3390),
    ("rfc6928", InitialWindow::Rfc6928),
];
const COUNTINGS: [(&str, Counting); 3] =
    [("bytes", Counting::Bytes), ("acks", Counting::Acks), ("delivered", Counting::Delivered)];
const RTO_RESTARTS: [(&str, RtoRestart); 2] =
    [("acks", RtoRestart::Acks), ("first-resent", RtoRestart::FirstResent)];
const RTT_SAMPLES: [(&str, RttSamples); 2] =
    [("timed", RttSamples::Timed), ("every-ack", RttSamples::EveryAck)];
const WINDOW_USES: [(&str, WindowUse); 2] =
    [("blocked", WindowUse::Blocked), ("outstanding", WindowUse::Outstanding)];

const WINDOW_PROBES: [(&str, WindowProbe); 2] =
    [("octet", WindowProbe::Octet), ("empty", WindowProbe::Empty)];

/// Reads the table `tcp` of a flow; what is absent has TCP's defaults.
pub(super) fn read(f: Fields<'_>) -> Result<Config, InputError> {
    let profile = f.choice("profile", &Profile::ALL)?.unwrap_or_default();
    let default = profile.config();
    let octets = |name, default: u64| -> Result<u64, InputError> {
        Ok(f.quantity::<Bytes>(name)?.map_or(default, |n| n.0))
    };
    let truth = |name, default| Ok(f.boolean(name)?.unwrap_or(default));
    let mss = u32::try_from(octets("mss", default.mss.into())?)
        .map_err(|_| f.error("mss", "at most 65535 B"))?;
    let mut config = Config {
        mss,
        initial_window: read_initial_window(&f)?.unwrap_or(default.initial_window),
        initial_ssthresh: match f.quantity("initial_ssthresh")? {
            None => default.initial_ssthresh,
            Some(Amount::Octets(n)) => Some(n),
            Some(Amount::Packets(n)) => Some(u64::from(n) * u64::from(mss)),
        },
        receive_buffer: octets("receive_buffer", default.receive_buffer)?,
        send_buffer: octets("send_buffer", default.send_buffer)?,
        window_scale: truth("window_scale", default.window_scale)?,
        timestamps: truth("timestamps", default.timestamps)?,
        sack: truth("sack", default.sack)?,
        delayed_ack: read_delayed_ack(&f, default.delayed_ack)?,
        rto: read_rto(&f, default.rto)?,
        rto_restart: f.choice("rto_restart", &RTO_RESTARTS)?.unwrap_or(default.rto_restart),
        rtt_samples: f.choice("rtt_samples", &RTT_SAMPLES)?.unwrap_or(default.rtt_samples),
        dupack_threshold: f
            .integer("dupack_threshold", 1..=1000)?
            .unwrap_or(default.dupack_threshold),
        limited_transmit: truth("limited_transmit", default.limited_transmit)?,
        go_back_n: truth("go_back_n", default.go_back_n)?,
        counting: f.choice("counting", &COUNTINGS)?.unwrap_or(default.counting),
        window_use: f.choice("window_use", &WINDOW_USES)?.unwrap_or(default.window_use),
        window_probe: f.choice("window_probe", &WINDOW_PROBES)?.unwrap_or(default.window_probe),
        window: window::read(&f, Some(&default.window), |item| profile.window(item))?
            .unwrap_or(default.window),
        syn_retries: f.integer("syn_retries", 0..=100)?.unwrap_or(default.syn_retries),
        syn_linear_timeouts: f
            .integer("syn_linear_timeouts", 0..=100)?
            .unwrap_or(default.syn_linear_timeouts),
        max_retries: f.integer("max_retries", 0..=100)?.unwrap_or(default.max_retries),
        time_wait: f.quantity("time_wait")?.unwrap_or(default.time_wait),
        ..default
    };
    connection::read(&f, &mut config)?;
    recovery::read(&f, profile, &mut config)?;
    let path = f.path("");
    let wrong = |e: anabranch_tcp::ConfigError| {
        InputError::field(format!("{path}{}", e.field), e.value, e.allowed)
    };
    config.validate().map_err(wrong)?;
    f.finish()?;
    Ok(config)
}

/// Writes all options.
pub(super) fn write(config: &Config) -> Table {
    let mut table = Table::new();
    let mut put = |name: &str, value: Value| {
        table.insert(name.to_owned(), value);
    };
    put("mss", Bytes(config.mss.into()).write().into());
    let initial_window = match config.initial_window {
        InitialWindow::Segments(n) => Packets(n).write(),
        ref named => word(&INITIAL_WINDOWS, named),
    };
    put("initial_window", initial_window.into());
    if let Some(ssthresh) = config.initial_ssthresh {
        put("initial_ssthresh", Bytes(ssthresh).write().into());
    }
    put("receive_buffer", Bytes(config.receive_buffer).write().into());
    put("send_buffer", Bytes(config.send_buffer).write().into());
    put("window_scale", config.window_scale.into());
    put("timestamps", config.timestamps.into());
    put("sack", config.sack.into());
    let delayed_ack = [
        ("count", Value::Integer(config.delayed_ack.count.into())),
        ("delay", config.delayed_ack.delay.write().into()),
    ];
    put("delayed_ack", table_of(delayed_ack));
    let rto = [
        ("initial", config.rto.initial.write().into()),
        ("min", config.rto.min.write().into()),
        ("min_variation", config.rto.min_variation.write().into()),
        ("slop", config.rto.slop.write().into()),
        ("max", config.rto.max.write().into()),
        ("granularity", config.rto.granularity.write().into()),
    ];
    put("rto", table_of(rto));
    put("rto_restart", word(&RTO_RESTARTS, &config.rto_restart).into());
    put("rtt_samples", word(&RTT_SAMPLES, &config.rtt_samples).into());
    put("dupack_threshold", Value::Integer(config.dupack_threshold.into()));
    put("limited_transmit", config.limited_transmit.into());
    put("go_back_n", config.go_back_n.into());
    put("counting", word(&COUNTINGS, &config.counting).into());
    put("window_use", word(&WINDOW_USES, &config.window_use).into());
    put("window_probe", word(&WINDOW_PROBES, &config.window_probe).into());
    for (name, value) in recovery::write(config) {
        put(name, value);
    }
    put("window", window::write(&config.window));
    put("syn_retries", Value::Integer(config.syn_retries.into()));
    put("syn_linear_timeouts", Value::Integer(config.syn_linear_timeouts.into()));
    put("max_retries", Value::Integer(config.max_retries.into()));
    put("time_wait", config.time_wait.write().into());
    for (name, value) in connection::write(config) {
        put(name, value);
    }
    table
}

fn read_initial_window(f: &Fields<'_>) -> Result<Option<InitialWindow>, InputError> {
    let Some(value) = f.get("initial_window") else { return Ok(None) };
    let text = value.as_str().unwrap_or("");
    let named = INITIAL_WINDOWS.iter().find(|(name, _)| *name == text);
    let window = match named {
        Some((_, window)) => Some(*window),
        None => Packets::parse(text)
            .filter(|n| (1..=1_000_000).contains(&n.0))
            .map(|n| InitialWindow::Segments(n.0)),
    };
    let allowed = "rfc2581, rfc3390, rfc6928, or a number of segments such as \"2 packets\"";
    window.map(Some).ok_or_else(|| f.error("initial_window", allowed))
}

fn read_delayed_ack(f: &Fields<'_>, default: DelayedAck) -> Result<DelayedAck, InputError> {
    let Some(d) = f.table("delayed_ack")? else { return Ok(default) };
    let delayed_ack = DelayedAck {
        count: d.integer("count", 1..=1000)?.unwrap_or(default.count),
        delay: d.quantity("delay")?.unwrap_or(default.delay),
    };
    d.finish()?;
    Ok(delayed_ack)
}

fn read_rto(f: &Fields<'_>, default: RtoBounds) -> Result<RtoBounds, InputError> {
    let Some(r) = f.table("rto")? else { return Ok(default) };
    let span = |name, default: Span| Ok(r.quantity(name)?.unwrap_or(default));
    let rto = RtoBounds {
        initial: span("initial", default.initial)?,
        min: span("min", default.min)?,
        min_variation: span("min_variation", default.min_variation)?,
        slop: span("slop", default.slop)?,
        max: span("max", default.max)?,
        granularity: span("granularity", default.granularity)?,
    };
    r.finish()?;
    Ok(rto)
}
