//! The options of TCP: [`anabranch_tcp::Config`] from and to TOML.

use super::form::{Form, Kind, by, integer, octets_in, quantity_shape};
use super::{connection, recovery, window};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::{Amount, Packets, Quantity};
use crate::shape::Shape;
use anabranch_tcp::{
    Config, Counting, DelayedAck, InitialWindow, Profile, RtoRestart, RttSamples, WindowProbe,
    WindowUse,
};
use anabranch_units::Bytes;
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
    let mut config = Config::default();
    options(&mut Form::Read(&f), &mut config)?;
    config.validate().map_err(|error| f.refuse(error))?;
    f.finish()?;
    Ok(config)
}

/// Writes all options, defaults included.
pub(super) fn write(config: &Config) -> Table {
    Form::written(|form| options(form, &mut config.clone()))
}

/// What the table may hold.
pub(super) fn shape() -> Shape {
    Shape::Table(Form::described(|form| options(form, &mut Config::default())))
}

/// All fields; a profile comes first, since it is the others' default.
fn options(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    let profile = read_profile(form, c)?;
    form.says("MSS option; TCP options are taken off it").set(
        "mss",
        octets_in(Config::MSS),
        &mut c.mss,
    )?;
    form.says("or `\"rfc3390\"`, `\"rfc2581\"`, `\"2 packets\"`").set(
        "initial_window",
        initial_window(),
        &mut c.initial_window,
    )?;
    let mss = u64::from(c.mss);
    form.says("octets, or packets of one `mss`").or_else("infinite").optional(
        "initial_ssthresh",
        threshold(mss),
        &mut c.initial_ssthresh,
    )?;
    form.says("bounds the window that is offered; at most 1 GiB")
        .octets("receive_buffer", &mut c.receive_buffer)?;
    connection::buffers(form, c)?;
    form.says("for flows with `octets = true`").octets("send_buffer", &mut c.send_buffer)?;
    form.says("offer window scaling (RFC 7323)").boolean("window_scale", &mut c.window_scale)?;
    form.says("offer timestamps (RFC 7323)").boolean("timestamps", &mut c.timestamps)?;
    form.says("offer selective acknowledgments (RFC 2018)").boolean("sack", &mut c.sack)?;
    form.says("report duplicates that arrive (RFC 2883), where SACK is agreed on")
        .boolean("dsack", &mut c.dsack)?;
    form.says("`count = 1` acknowledges every segment; less than 500 ms").table(
        "delayed_ack",
        |form| {
            form.says("segments that one ACK may acknowledge; 1 acknowledges every segment")
                .integer("count", DelayedAck::COUNT, &mut c.delayed_ack.count)?;
            form.says("the longest time that an ACK waits; less than 500 ms")
                .quantity("delay", &mut c.delayed_ack.delay)
        },
    )?;
    form.says(
        "bounds of the retransmission timeout (RFC 6298); `min_variation` is that of what is \
         added to SRTT, `slop` is added to the timeout once its back-off is counted in \
         (FreeBSD: 200 ms)",
    )
    .table("rto", |form| {
        form.says("timeout before a round trip is measured")
            .quantity("initial", &mut c.rto.initial)?;
        form.says("least timeout").quantity("min", &mut c.rto.min)?;
        form.says("least of what is added to SRTT")
            .quantity("min_variation", &mut c.rto.min_variation)?;
        form.says("added to the timeout once its back-off is counted in (FreeBSD: 200 ms)")
            .quantity("slop", &mut c.rto.slop)?;
        form.says("largest timeout").quantity("max", &mut c.rto.max)?;
        form.says("granularity of the clock, G").quantity("granularity", &mut c.rto.granularity)
    })?;
    form.says(
        "what restarts the retransmission timer: acknowledgments of new data (RFC 6298 §5.3), \
         or with `\"first-resent\"` also the first outstanding segment, each time that it is \
         sent again (RFC 6675 §6 allows it), and where the scheme is RACK each SACK of what \
         was sent before that (Linux)",
    )
    .choice("rto_restart", &RTO_RESTARTS, &mut c.rto_restart)?;
    form.says(
        "what measures the round-trip time: one segment at a time (RFC 6298 §3), or with \
         `\"every-ack\"` each acknowledgment that tells of something sent once, by SACK too; \
         RTTVAR then falls once a round trip (Linux)",
    )
    .choice("rtt_samples", &RTT_SAMPLES, &mut c.rtt_samples)?;
    form.says("duplicate ACKs that signal a loss").integer(
        "dupack_threshold",
        Config::DUPACK_THRESHOLD,
        &mut c.dupack_threshold,
    )?;
    form.says(
        "up to where reordering raises `dupack_threshold` (Linux: 300), at most 1000; without \
         it the threshold stays",
    )
    .optional(
        "max_dupack_threshold",
        integer(Config::MAX_DUPACK_THRESHOLD),
        &mut c.max_dupack_threshold,
    )?;
    form.says("RFC 3042").boolean("limited_transmit", &mut c.limited_transmit)?;
    form.says(
        "after a timeout what was SACKed is sent again too, and SACK counts again once all \
         that was outstanding is acknowledged (ns-2; RFC 2018 §8 turns the SACKed bits off, \
         RFC 6675 §5.1 goes on using what ACKs report); without SACK the first two duplicate \
         ACKs on the way back release a segment each. RACK-TLP has its own way",
    )
    .boolean("go_back_n", &mut c.go_back_n)?;
    form.says(
        "what an ACK adds to the window: its octets, with `\"acks\"` one segment, or with \
         `\"delivered\"` its octets less those that SACK blocks or duplicate ACKs had told \
         before",
    )
    .choice("counting", &COUNTINGS, &mut c.counting)?;
    form.says(
        "what probes a closed window (RFC 9293 §3.8.6.1): the first octet beyond it, or with \
         `\"empty\"` a segment without data and below it",
    )
    .choice("window_probe", &WINDOW_PROBES, &mut c.window_probe)?;
    form.says(
        "when the window counts as used, so that it may grow: when it stopped the sender, or \
         with `\"outstanding\"` also when it was full once in the last window of data, and in \
         slow start while it is less than twice what was outstanding then",
    )
    .choice("window_use", &WINDOW_USES, &mut c.window_use)?;
    form.says(
        "`\"reno\"`, `\"newreno\"`, `\"sack\"`, `\"fack\"`, `\"rack\"`, `\"decoupled\"`, \
         `\"decoupled-rack\"`, [your own](your-algorithm.md), `\"my.py:MyScheme\"`, or a table \
         with `scheme` and its options: see below",
    )
    .set("recovery", recovery::kind(profile, &c.recovery.clone()), &mut c.recovery)?;
    recovery::undo(form, &mut c.undo)?;
    let default = c.window.clone();
    let window = window::kind(Some(&default), |algorithm| profile.window(algorithm));
    form.says("one of `anabranch list algorithms`, or a table: see below").set(
        "window",
        window,
        &mut c.window,
    )?;
    form.says("retransmissions of a SYN").integer(
        "syn_retries",
        Config::SYN_RETRIES,
        &mut c.syn_retries,
    )?;
    form.says("retransmissions of a SYN before its timeout doubles, besides `syn_retries`")
        .integer("syn_linear_timeouts", Config::SYN_RETRIES, &mut c.syn_linear_timeouts)?;
    form.says("retransmissions of a segment").integer(
        "max_retries",
        Config::RETRIES,
        &mut c.max_retries,
    )?;
    form.says("2 MSL").quantity("time_wait", &mut c.time_wait)?;
    connection::options(form, c)
}

/// What is read is no field of its own: it sets the others.
fn read_profile(form: &mut Form<'_>, config: &mut Config) -> Result<Profile, InputError> {
    let mut profile = Profile::default();
    if !matches!(form, Form::Write(_)) {
        form.says(
            "the defaults of this table and the one above; `\"linux\"`, `\"freebsd\"`, \
             `\"ns2\"`: those of Linux, FreeBSD or ns-2.35, see [tcp.md](tcp.md). Fields that \
             are given count before the profile's; so do options of `window` and `recovery`, \
             one by one. The resolved scenario shows all",
        )
        .choice("profile", &Profile::ALL, &mut profile)?;
        *config = profile.config();
    }
    Ok(profile)
}

/// One of the RFCs' rules, or a number of segments.
fn initial_window() -> impl Kind<Value = InitialWindow> {
    let read = |f: &Fields<'_>, name: &'static str| {
        let Some(value) = f.get(name) else { return Ok(None) };
        let text = value.as_str().unwrap_or("");
        let named = INITIAL_WINDOWS.iter().find(|(name, _)| *name == text);
        let window = match named {
            Some((_, window)) => Some(*window),
            None => Packets::parse(text)
                .filter(|n| InitialWindow::SEGMENTS.contains(n.0))
                .map(|n| InitialWindow::Segments(n.0)),
        };
        let allowed = "rfc2581, rfc3390, rfc6928, or a number of segments such as \"2 packets\"";
        window.map(Some).ok_or_else(|| f.error(name, allowed))
    };
    let write = |window: &InitialWindow| match window {
        InitialWindow::Segments(n) => Packets(*n).write().into(),
        named => Value::from(super::form::word(&INITIAL_WINDOWS, named)),
    };
    let shape = || Shape::Any(vec![Shape::words(&INITIAL_WINDOWS), quantity_shape::<Packets>()]);
    by(shape, read, write)
}

/// A slow-start threshold in octets, or in packets of so many octets.
pub(super) fn threshold(packet: u64) -> impl Kind<Value = u64> {
    let read = move |f: &Fields<'_>, name: &'static str| {
        Ok(f.quantity(name)?.map(|amount| match amount {
            Amount::Octets(n) => n,
            Amount::Packets(n) => u64::from(n) * packet,
        }))
    };
    by(quantity_shape::<Amount>, read, |octets: &u64| Bytes(*octets).write().into())
}
