//! The options of SCTP: [`anabranch_sctp::Config`] from and to TOML.

use super::address_changes::{self, AddressChange, ChangeOfAddress};
use super::form::{Form, Kind, Text, Texts, by, octets_in, quantity_shape};
use super::{authentication, custom, dscp, window};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::{Packets, Quantity};
use crate::shape::Shape;
use anabranch_sctp::{
    Config, Destination, Failover, InitialWindow, Jitter, MtuProbing, PRESETS, PartialAcked, Probe,
    Probing, Scheduler, Window, WindowUnit,
};
use std::sync::Arc;
use toml::{Table, Value};

/// SCTP of a flow, both ends alike.
#[derive(Clone, PartialEq, Debug)]
pub struct SctpSpec {
    /// The options of the association.
    pub config: Config,
    /// The interface of the host `to` that data goes to; `None` for the one
    /// that `to` means.
    pub primary: Option<String>,
    /// Further interfaces of both hosts; `None` for all.
    pub alternates: Option<Vec<String>>,
    /// Addresses that come and go, in the order of their dates.
    pub address_changes: Vec<AddressChange>,
    /// Priorities or weights of the streams from 0 on, for the scheduler.
    pub stream_values: Vec<u16>,
}

impl SctpSpec {
    fn new() -> SctpSpec {
        let (address_changes, stream_values) = (Vec::new(), Vec::new());
        let config = Config::default();
        SctpSpec { config, primary: None, alternates: None, address_changes, stream_values }
    }

    /// The interface is not there at first: what happens to it first is that it
    /// is added.
    pub fn comes_later(&self, interface: &str) -> bool {
        let first = self
            .address_changes
            .iter()
            .find(|address_change| address_change.interface == interface);
        first.is_some_and(|first| first.change == ChangeOfAddress::Add)
    }

    /// The largest message that the sender's buffer takes and the receiver's
    /// can hold.
    pub fn largest_message(&self) -> u32 {
        let sent = u32::try_from(self.config.send_buffer).unwrap_or(u32::MAX);
        sent.min(self.config.receive_buffer)
    }
}

const INITIAL_WINDOWS: [(&str, InitialWindow); 3] = [
    ("rfc2960", InitialWindow::Rfc2960),
    ("rfc4960", InitialWindow::Rfc4960),
    ("rfc9260", InitialWindow::Rfc9260),
];
const MTU_PROBINGS: [(&str, MtuProbing); 3] = [
    ("off", MtuProbing::Off),
    ("black-hole", MtuProbing::BlackHole),
    ("always", MtuProbing::Always),
];
const UNITS: [(&str, WindowUnit); 2] = [("mtu", WindowUnit::Mtu), ("chunk", WindowUnit::Chunk)];
const PARTIALS: [(&str, PartialAcked); 2] =
    [("all", PartialAcked::All), ("capped", PartialAcked::Capped)];
const JITTERS: [(&str, Jitter); 3] =
    [("rto", Jitter::Rto), ("interval", Jitter::Interval), ("none", Jitter::None)];

/// Reads the table `sctp` of a flow, or what an absent one means.
pub(super) fn read(f: Option<&Fields<'_>>) -> Result<SctpSpec, InputError> {
    let mut spec = SctpSpec::new();
    let Some(f) = f else { return Ok(spec) };
    Form::read_all(f, |form| fields(form, &mut spec))?;
    if spec.config.dynamic_addresses && f.get("authentication").is_none() {
        spec.config.authentication = Some(Arc::default());
    }
    if !spec.config.dynamic_addresses && !spec.address_changes.is_empty() {
        return Err(f.error("address_changes", "none without `dynamic_addresses`"));
    }
    spec.config.validate().map_err(|error| f.refuse(error))?;
    Ok(spec)
}

/// Writes all options, defaults included.
pub(super) fn write(spec: &SctpSpec) -> Table {
    Form::written(|form| fields(form, &mut spec.clone()))
}

/// What the table may hold.
pub(super) fn shape() -> Shape {
    Shape::Table(Form::described(|form| fields(form, &mut SctpSpec::new())))
}

/// All fields; a preset comes first, since it is the others' default.
fn fields(form: &mut Form<'_>, spec: &mut SctpSpec) -> Result<(), InputError> {
    preset(form, &mut spec.config)?;
    form.says("interface of `to` that data goes to")
        .or_else("the interface that `to` means")
        .optional("primary", Text, &mut spec.primary)?;
    form.says(
        "further interfaces of `from` and `to` that the association uses; `[]` is single-homed",
    )
    .or_else("all others")
    .optional("alternates", Texts, &mut spec.alternates)?;
    options(form, &mut spec.config)?;
    address_changes::list(form, &mut spec.address_changes)?;
    stream_values(form, spec)
}

/// What is read is no field of its own: it sets the others.
fn preset(form: &mut Form<'_>, config: &mut Config) -> Result<(), InputError> {
    let presets = PRESETS.map(|name| (name, name));
    let mut name = "rfc9260";
    if matches!(form, Form::Write(_)) {
        return Ok(());
    }
    form.says(
        "defaults of all other fields: `\"rfc2960\"`, `\"rfc4960\"`, `\"rfc9260\"` or \
         `\"ns2\"`; the table has those of the last",
    )
    .choice("preset", &presets, &mut name)?;
    *config = Config::preset(name).unwrap_or_default();
    Ok(())
}

/// Values of the first streams; there must be a scheduler that asks for them.
fn stream_values(form: &mut Form<'_>, spec: &mut SctpSpec) -> Result<(), InputError> {
    let (scheduler, most) = (spec.config.scheduler, usize::from(spec.config.outbound_streams));
    let read = |f: &Fields<'_>, name: &'static str| {
        let Some(value) = f.get(name) else { return Ok(None) };
        if !matches!(scheduler, Scheduler::Priority | Scheduler::WeightedFair) {
            let allowed = "none unless `scheduler` is \"priority\" or \"weighted-fair\"";
            return Err(f.error(name, allowed));
        }
        let least = if scheduler == Scheduler::Priority { 0 } else { 1 };
        let number = |item: &Value| {
            let number = u16::try_from(item.as_integer()?).ok()?;
            (number >= least).then_some(number)
        };
        let list = value.as_array();
        let values: Option<Vec<u16>> = list.and_then(|list| list.iter().map(number).collect());
        let allowed =
            format!("at most {most} whole numbers from {least} to 65535, of the streams from 0 on");
        let values = values.filter(|values| values.len() <= most);
        values.map(Some).ok_or_else(|| f.error(name, allowed))
    };
    let write = |values: &Vec<u16>| {
        Value::Array(values.iter().map(|value| i64::from(*value).into()).collect())
    };
    let mut values = (!spec.stream_values.is_empty()).then(|| spec.stream_values.clone());
    let shape = || Shape::Integer(0, u16::MAX.into()).list();
    form.says(
        "`[1, 5]`: priorities (the lowest first, from 0) or weights (from 1) of the streams \
         from 0 on, for the schedulers `\"priority\"` and `\"weighted-fair\"`; of both ends, 1 \
         where not given",
    )
    .optional("stream_values", by(shape, read, write), &mut values)?;
    spec.stream_values = values.unwrap_or_default();
    Ok(())
}

/// Probing for the largest packet that passes (RFC 8899).
fn path_mtu(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    form.says(
        "probing for the largest packet that passes, on each path by itself \
         ([DPLPMTUD](sctp.md#path-mtus), RFC 8899): `\"always\"`, or `\"black-hole\"` after two \
         timeouts in a row",
    )
    .choice("mtu_probing", &MTU_PROBINGS, &mut c.mtu_probing)?;
    form.says("BASE_PLPMTU, octets of SCTP (and UDP) with which `mtu_probing` begins").set(
        "mtu_probe_base",
        octets_in(Config::MTU_PROBE_BASE),
        &mut c.mtu_probe_base,
    )?;
    form.says(
        "PROBE_TIMER, after which a probe is lost, at least `\"1 s\"`; `false`: the path's RTO, at \
         least 1 s",
    )
    .quantity_or_off("mtu_probe_timer", &mut c.mtu_probe_timer)?;
    form.says("PMTU_RAISE_TIMER: so long after a search has ended below `mtu` the next begins")
        .quantity("mtu_raise_timer", &mut c.mtu_raise_timer)
}

/// All options of an association, in the order of docs/scenario.md.
fn options(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    sizes(form, c)?;
    windows(form, c)?;
    ns2_rules(form, c)?;
    losses(form, c)?;
    acknowledgments(form, c)?;
    patience(form, c)?;
    paths(form, c)?;
    policies(form, c)?;
    extensions(form, c)?;
    concurrent(form, c)
}

/// Packets, messages, streams and buffers.
fn sizes(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    form.says("largest IP packet, on all paths: the MTU of the interface").set(
        "mtu",
        octets_in(Config::MTU),
        &mut c.mtu,
    )?;
    path_mtu(form, c)?;
    form.says("code point of what both ends send, for `priority`, `drr`, `cake` and `htb`, by number or by name as `\"af41\"`")
        .set("dscp", dscp::code_point(), &mut c.dscp)?;
    form.says("octets of it kept free for the IP header, 20 or 40")
        .or_else("20; 40 where both hosts have IPv6, and at a port where its host does")
        .set("ip_header", ip_header(), &mut c.ip_header)?;
    form.says("of the messages that carry a byte stream")
        .or_else("what fits a packet")
        .octets_or_none("message_size", &mut c.message_size)?;
    form.says("streams that are asked for").integer(
        "outbound_streams",
        Config::STREAMS,
        &mut c.outbound_streams,
    )?;
    form.says("streams that the peer may use").integer(
        "inbound_streams",
        Config::STREAMS,
        &mut c.inbound_streams,
    )?;
    let buffer = Config::BUFFER;
    form.says("bounds a_rwnd").set("receive_buffer", octets_in(buffer), &mut c.receive_buffer)?;
    form.says("for real octets and messages").set(
        "send_buffer",
        octets_in(buffer),
        &mut c.send_buffer,
    )
}

/// The size of the header of IPv4 or of IPv6.
fn ip_header() -> impl Kind<Value = u32> {
    let read = |f: &Fields<'_>, name: &'static str| {
        let Some(value) = f.get(name) else { return Ok(None) };
        let header = value.as_integer().and_then(|n| u32::try_from(n).ok());
        let [v4, v6] = Config::IP_HEADERS;
        let header = header.filter(|n| Config::IP_HEADERS.contains(n));
        header.map(Some).ok_or_else(|| f.error(name, format!("{v4} (IPv4) or {v6} (IPv6)")))
    };
    let shape = || {
        let one = |n: u32| Shape::Only(i64::from(n).into());
        Shape::Any(Config::IP_HEADERS.map(one).to_vec())
    };
    by(shape, read, |n: &u32| Value::Integer((*n).into()))
}

/// Congestion windows, and what they count.
fn windows(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    window(form, &mut c.window)?;
    initial_window(form, &mut c.initial_window)?;
    initial_ssthresh(form, c)?;
    form.says(
        "what windows are counted in: the largest DATA chunk of a packet (RFC 9260, ns-2), or \
         the `\"mtu\"` (RFC 2960, RFC 4960)",
    )
    .choice("window_unit", &UNITS, &mut c.window_unit)?;
    form.says(
        "what counts for growth in congestion avoidance while the window is not used up: up to \
         a window (RFC 9260 §7.2.2), or `\"all\"` (RFC 4960)",
    )
    .choice("partial_acked", &PARTIALS, &mut c.partial_acked)?;
    form.says(
        "a window grows only with a SACK that advances the cumulative TSN (RFC 2960, RFC 4960)",
    )
    .boolean("growth_needs_advance", &mut c.growth_needs_advance)?;
    form.says("padding counts in what is outstanding (RFC 9260 §7.2)")
        .boolean("count_padding", &mut c.count_padding)?;
    form.says("before a window decays for rest its threshold becomes the window (RFC 9260 §7.2.1)")
        .boolean("rest_sets_ssthresh", &mut c.rest_sets_ssthresh)?;
    form.says(
        "ECN is offered (RFC 4960 Appendix A): marks reduce windows, and packets with data are \
         ECN-capable",
    )
    .boolean("ecn", &mut c.ecn)
}

/// What the module of ns-2.35 does otherwise.
fn ns2_rules(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    form.says(
        "what the module of ns-2.35 does at losses; true, or a table of `recovery_point`, \
         `marked_outstanding`, `one_packet`, `init_to_primary`, `remembers_highest`, \
         `timeout_stops_all`, `repair_finds_rest`, each true unless it is false \
         ([sctp.md](sctp.md#beside-ns-235))",
    )
    .switch_or_table("ns2_rules", &mut c.ns2_rules, |form, item| {
        form.says(
            "timeouts leave the recovery point alone: no window grows before it is acknowledged, and only the loss of a later chunk reduces one",
        )
        .boolean("recovery_point", &mut item.recovery_point)?;
        form.says(
            "chunks that are marked for retransmission count as outstanding and may be reported missing again",
        )
        .boolean("marked_outstanding", &mut item.marked_outstanding)?;
        form.says(
            "a SACK that finds chunks missing lets one packet of retransmissions leave",
        )
        .boolean("one_packet", &mut item.one_packet)?;
        form.says(
            "INIT is sent again to the primary path, else the addresses take turns",
        )
        .boolean("init_to_primary", &mut item.init_to_primary)?;
        form.says(
            "what was newly acknowledged last is remembered until more is",
        )
        .boolean("remembers_highest", &mut item.remembers_highest)?;
        form.says(
            "after a timeout of any path one packet leaves, and nothing else on any path before a SACK comes",
        )
        .boolean("timeout_stops_all", &mut item.timeout_stops_all)?;
        form.says(
            "what is sent again finds the window of a path that has rested as it was",
        )
        .boolean("repair_finds_rest", &mut item.repair_finds_rest)
    })
}

/// How a loss is found, and what it does to a window.
fn losses(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    form.says("a window equal to the threshold is in slow start")
        .boolean("slow_start_at_threshold", &mut c.slow_start_at_threshold)?;
    form.says("least threshold after a loss, in `window_unit`").integer(
        "ssthresh_floor",
        Config::SSTHRESH_FLOOR,
        &mut c.ssthresh_floor,
    )?;
    form.says("that cause a fast retransmit").integer(
        "missing_reports",
        Config::MISSING_REPORTS,
        &mut c.missing_reports,
    )?;
    form.says("only SACKs that newly acknowledge a later chunk report one missing")
        .boolean("highest_newly_acked", &mut c.highest_newly_acked)?;
    form.says("one reduction for each window").boolean("fast_recovery", &mut c.fast_recovery)?;
    form.says("packets that an event releases at most; or `false`").integer_or_off(
        "max_burst",
        Config::MAX_BURST,
        &mut c.max_burst,
    )?;
    form.says(
        "`max_burst` limits packets and leaves the window (RFC 9260 §6.1); `false`, as the \
         other presets have it: it lowers the window, as in [RFC 4960 and \
         FreeBSD](sctp.md#presets)",
    )
    .boolean("burst_keeps_window", &mut c.burst_keeps_window)
}

/// How many packets a SACK waits for, how long at most, and what data asks for one at once.
fn acknowledgments(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    form.says(
        "a SACK for every second packet, at the latest after this; a number above the sender's \
         `max_burst` makes each burst [wait](sctp.md#presets)",
    )
    .integer("sack_frequency", Config::SACK_FREQUENCY, &mut c.sack_frequency)?;
    form.says(
        "a SACK for every second packet, at the latest after this; a number above the sender's \
         `max_burst` makes each burst [wait](sctp.md#presets)",
    )
    .quantity("sack_delay", &mut c.sack_delay)?;
    form.says(
        "data asks for a SACK at once, [the I bit](sctp.md#sacks-at-once) (RFC 7053): true, or \
         a table with `window_full`, `shutdown_pending`, `reconfiguration` (all true), `last` \
         and `messages` (false)",
    )
    .switch_or_table("immediate_sacks", &mut c.immediate_sacks, |form, item| {
        form.says("asks when a window or the limit of `max_burst` is full")
            .boolean("window_full", &mut item.window_full)?;
        form.says("asks when the user has closed and the end waits for SACKs")
            .boolean("shutdown_pending", &mut item.shutdown_pending)?;
        form.says("asks when a change of the streams waits")
            .boolean("reconfiguration", &mut item.reconfiguration)?;
        form.says("asks when nothing more waits to be sent").boolean("last", &mut item.last)?;
        form.says("each message's last chunk asks").boolean("messages", &mut item.messages)
    })
}

/// Timeouts, and how many of them end something.
fn patience(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    form.says("bounds of the retransmission timeout").table("rto", |form| {
        form.says("timeout before a round trip is measured")
            .quantity("initial", &mut c.rto.initial)?;
        form.says("least timeout").quantity("min", &mut c.rto.min)?;
        form.says("largest timeout").quantity("max", &mut c.rto.max)?;
        form.says("granularity of the clock, G").quantity("granularity", &mut c.rto.granularity)
    })?;
    form.says(
        "errors in a row above which a path is inactive: with the defaults of `rto` 63 s after it \
         has died; studies of failover take 0 to 2",
    )
    .integer("path_max_retrans", Config::RETRANSMISSIONS, &mut c.path_max_retrans)?;
    form.says("errors in a row that end the association").integer(
        "association_max_retrans",
        Config::RETRANSMISSIONS,
        &mut c.association_max_retrans,
    )?;
    form.says("INITs sent again at most").integer(
        "max_init_retransmits",
        Config::RETRANSMISSIONS,
        &mut c.max_init_retransmits,
    )?;
    form.says("errors above which a path is potentially failed (RFC 7829)").integer_or_off(
        "potentially_failed",
        Config::RETRANSMISSIONS,
        &mut c.potentially_failed,
    )
}

/// Heartbeats, and which path is the primary one.
fn paths(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    form.says("on idle paths; or `false`")
        .quantity_or_off("heartbeat_interval", &mut c.heartbeat_interval)?;
    form.says(
        "what the random part of the period is half of: `\"rto\"`, `\"interval\"`, `\"none\"`",
    )
    .choice("heartbeat_jitter", &JITTERS, &mut c.heartbeat_jitter)?;
    form.says("alternates carry data only after an answered heartbeat")
        .boolean("confirm_paths", &mut c.confirm_paths)?;
    form.says(
        "alternates that the flow names count as confirmed for its active side, as RFC 9260 \
         §5.4 has it, and are not probed first",
    )
    .boolean("trust_given", &mut c.trust_given)?;
    form.says(
        "who opens keeps the address that its INIT went to as the primary path; else, of the \
         addresses that the flow names, the one that the INIT ACK came from. In the simulator \
         both are the same",
    )
    .boolean("keep_primary", &mut c.keep_primary)?;
    form.says(
        "a SACK that reports duplicates goes to another active address than the one that they \
         came from (RFC 9260 §6.4, a MAY)",
    )
    .boolean("vary_sack_path", &mut c.vary_sack_path)?;
    form.says("HB.Max.Burst: heartbeats that all unconfirmed addresses together get in one RTO")
        .integer("heartbeat_burst", Config::HEARTBEAT_BURST, &mut c.heartbeat_burst)
}

/// Where data goes, and the options of the retransmission policies.
fn policies(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    destination(form, &mut c.destination)?;
    let rules = Failover::ALL.map(|item| (item.name(), item));
    form.says(
        "where new data goes while the primary does not work: what the destination says \
         (`best-path`: `highest-rate`; your own: its `failover`; else `next`), or `\"next\"`, \
         `\"last-heard\"`, `\"lowest-rtt\"`, `\"least-loss\"`, `\"highest-rate\"` \
         ([sctp.md](sctp.md#failover-among-several))",
    )
    .choice("failover", &rules, &mut c.failover)?;
    probing(form, &mut c.probing)?;
    form.says("options of the retransmission policies")
        .boolean("multiple_fast_retransmit", &mut c.multiple_fast_retransmit)?;
    form.says("options of the retransmission policies").boolean("timestamps", &mut c.timestamps)?;
    form.says(
        "what finds out and undoes spurious reductions of the window: reports of duplicates \
         (RFC 3708), the echo of a timestamp (Eifel detection, RFC 3522, needs `timestamps`)",
    )
    .table("undo", |form| {
        form.says("by reports of duplicate TSNs").boolean("duplicates", &mut c.undo.duplicates)?;
        form.says("by timestamps").boolean("timestamps", &mut c.undo.timestamps)
    })?;
    form.says("options of the retransmission policies")
        .boolean("heartbeat_after_rto", &mut c.heartbeat_after_rto)
}

/// The cookie, and what is offered to the peer.
fn extensions(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    form.says("of the state cookie").quantity("cookie_life", &mut c.cookie_life)?;
    form.says("messages may be given up (RFC 3758, RFC 7496)")
        .boolean("partial_reliability", &mut c.partial_reliability)?;
    form.says("I-DATA (RFC 8260)").boolean("interleaving", &mut c.interleaving)?;
    let schedulers = Scheduler::ALL.map(|item| (item.name(), item));
    form.says(
        "which stream is next: or `\"round-robin\"`, `\"round-robin-packet\"`, `\"priority\"`, \
         `\"fair-bandwidth\"`, `\"weighted-fair\"`",
    )
    .choice("scheduler", &schedulers, &mut c.scheduler)?;
    form.says("stream reconfiguration is offered (RFC 6525)")
        .boolean("reconfiguration", &mut c.reconfiguration)?;
    form.says(
        "the layer below finds errors at least as surely as CRC32c, as DTLS does: packets have [no \
         checksum](sctp.md#packets-without-a-checksum) (RFC 9653)",
    )
    .boolean("zero_checksum", &mut c.zero_checksum)?;
    authentication::option(form, &mut c.authentication)?;
    form.says("addresses may change (RFC 5061); `authentication` is then true unless given")
        .boolean("dynamic_addresses", &mut c.dynamic_addresses)
}

/// Concurrent multipath transfer.
fn concurrent(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    form.says(
        "new data goes to all active paths (CMT): true, or a table with \
         `split_fast_retransmit`, `window_update`, `delayed_ack` (all true) and `buffer_split` \
         (false)",
    )
    .switch_or_table("concurrent", &mut c.concurrent, |form, item| {
        form.says("missing reports are counted within a path")
            .boolean("split_fast_retransmit", &mut item.split_fast_retransmit)?;
        form.says("a window grows when the earliest outstanding chunk of its path is acknowledged")
            .boolean("window_update", &mut item.window_update)?;
        form.says("SACKs are delayed in spite of gaps and say how many packets each answers")
            .boolean("delayed_ack", &mut item.delayed_ack)?;
        form.says("a path has no more outstanding than its share of the peer's receive buffer")
            .boolean("buffer_split", &mut item.buffer_split)
    })
}

/// A name, or a policy of the user's own.
fn destination(form: &mut Form<'_>, value: &mut Destination) -> Result<(), InputError> {
    let all = Destination::ALL;
    let known: Vec<_> = all.iter().map(|policy| (policy.name(), policy.clone())).collect();
    let shape = || custom::or_own("policy", Shape::words(&known));
    let read = |f: &Fields<'_>, name: &'static str| match custom::read(f, name, "policy")? {
        Some(own) => Ok(Some(Destination::Custom(own))),
        None => f.choice(name, &known),
    };
    let write = |value: &Destination| match value {
        Destination::Custom(own) => custom::write(own, "policy"),
        known => known.name().into(),
    };
    form.says(
        "where retransmissions go: or `\"all-same\"`, `\"all-alternate\"`, `\"rtx-ssthresh\"`, \
         `\"rtx-cwnd\"`, `\"rtx-lossrate\"`, `\"rtx-asap\"`, `\"best-path\"`, \
         `\"lowest-rtt\"`, `\"lowest-rto\"`, `\"last-heard\"`, `\"round-robin\"`, or [your \
         own](your-algorithm.md): `\"my.py:Mine\"`, `{ policy = \"my.py:Mine\", ... }`",
    )
    .set("destination", by(shape, read, write), value)
}

/// `"policy"`, or heartbeats as a switch or a table says.
fn probing(form: &mut Form<'_>, value: &mut Probing) -> Result<(), InputError> {
    const NAME: &str = "probing";
    match (&mut *form, &*value) {
        (Form::Read(f), _) => match f.get(NAME) {
            Some(Value::String(text)) if text == "policy" => {
                *value = Probing::AsPolicy;
                return Ok(());
            }
            None => return Ok(()),
            Some(Value::Boolean(_) | Value::Table(_)) => {}
            Some(_) => return Err(f.error(NAME, "\"policy\", true, false or a table")),
        },
        (Form::Write(table), Probing::AsPolicy) => {
            table.insert(NAME.into(), "policy".into());
            return Ok(());
        }
        _ => {}
    }
    let mut probe = match value {
        Probing::On(probe) => Some(*probe),
        _ => None,
    };
    form.says(
        "heartbeats to the alternates while data is outstanding: those that the policies want \
         (`best-path`, your own and the failover rules that compare paths: one each \
         `rto.initial`); `false`: none beside those of `heartbeat_interval`; true, or a table \
         with `interval` (`\"1 s\"`) and `burst` (1; how many leave together, up to 100). None \
         without `heartbeat_interval`",
    );
    form.or_word("policy", *value == Probing::AsPolicy);
    form.switch_or_table(NAME, &mut probe, |form, item| {
        form.says("time between two heartbeats of a path")
            .quantity("interval", &mut item.interval)?;
        form.says("how many leave together").integer("burst", Probe::BURST, &mut item.burst)
    })?;
    if form.reads().is_some() {
        *value = probe.map_or(Probing::Off, Probing::On);
    }
    Ok(())
}

/// `"standard"`, or a window algorithm as TCP has them.
fn window(form: &mut Form<'_>, value: &mut Window) -> Result<(), InputError> {
    let read = |f: &Fields<'_>, name: &'static str| {
        if f.get(name).and_then(Value::as_str) == Some("standard") {
            return Ok(Some(Window::Standard));
        }
        let or_standard = |e: InputError| match e.field.ends_with(name) {
            true => InputError { allowed: format!("standard, {}", e.allowed), ..e },
            false => e,
        };
        let algorithm = window::read(f, None, |item| item).map_err(or_standard)?;
        Ok(algorithm.map(Window::Algorithm))
    };
    let write = |value: &Window| match value {
        Window::Standard => "standard".into(),
        Window::Algorithm(algorithm) => window::write(algorithm),
    };
    let shape = || Shape::Any(vec![Shape::word("standard"), window::shape()]);
    form.says("rules of the preset; or an algorithm as in `tcp`, whose own rules then hold").set(
        "window",
        by(shape, read, write),
        value,
    )
}

fn initial_window(form: &mut Form<'_>, value: &mut InitialWindow) -> Result<(), InputError> {
    let allowed = "rfc2960, rfc4960, rfc9260, or a number of MTUs such as \"2 packets\"";
    let read = |f: &Fields<'_>, name: &'static str| {
        let Some(given) = f.get(name) else { return Ok(None) };
        let text = given.as_str().unwrap_or("");
        let named = INITIAL_WINDOWS.iter().find(|(name, _)| *name == text).map(|named| named.1);
        let window = named.or_else(|| Packets::parse(text).map(|n| InitialWindow::Mtus(n.0)));
        window.map(Some).ok_or_else(|| f.error(name, allowed))
    };
    let write = |value: &InitialWindow| match value {
        InitialWindow::Mtus(n) => Packets(*n).write().into(),
        named => Value::from(super::form::word(&INITIAL_WINDOWS, named)),
    };
    let shape = || Shape::Any(vec![Shape::words(&INITIAL_WINDOWS), quantity_shape::<Packets>()]);
    form.says("or `\"rfc4960\"`, `\"rfc2960\"`, `\"2 packets\"` (of one `mtu`)").set(
        "initial_window",
        by(shape, read, write),
        value,
    )
}

fn initial_ssthresh(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    let mtu = u64::from(c.mtu);
    let threshold = super::tcp::threshold(mtu);
    form.says("octets, or packets of one `mtu`").or_else("the peer's window").optional(
        "initial_ssthresh",
        threshold,
        &mut c.initial_ssthresh,
    )
}

#[cfg(test)]
mod tests;
