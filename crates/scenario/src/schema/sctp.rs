//! The options of SCTP: [`anabranch_sctp::Config`] from and to TOML.

use super::address_changes::{self, AddressChange, ChangeOfAddress};
use super::form::Form;
use super::{authentication, custom, window};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::{Amount, Packets, Quantity};
use anabranch_sctp::{
    Config, Destination, Failover, InitialWindow, Jitter, MtuProbing, PRESETS, PartialAcked,
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
    let presets = PRESETS.map(|name| (name, Config::preset(name)));
    spec.config = f.choice("preset", &presets)?.flatten().unwrap_or_default();
    spec.primary = f.text("primary")?.map(str::to_owned);
    spec.alternates = f.texts("alternates")?;
    spec.address_changes = address_changes::read(f)?;
    options(&mut Form::Read(f), &mut spec.config)?;
    spec.stream_values = stream_values(f, &spec.config)?;
    f.finish()?;
    if spec.config.dynamic_addresses && f.get("authentication").is_none() {
        spec.config.authentication = Some(Arc::default());
    }
    if !spec.config.dynamic_addresses && !spec.address_changes.is_empty() {
        return Err(f.error("address_changes", "none without `dynamic_addresses`"));
    }
    let wrong =
        |e: anabranch_sctp::ConfigError| InputError::field(f.path(e.field), e.value, e.allowed);
    spec.config.validate().map_err(wrong)?;
    Ok(spec)
}

/// Writes all options.
pub(super) fn write(spec: &SctpSpec) -> Table {
    let mut form = Form::Write(Table::new());
    // Writing has no wrong input.
    let _ = options(&mut form, &mut spec.config.clone());
    let Value::Table(mut table) = form.into_value() else { return Table::new() };
    if let Some(primary) = &spec.primary {
        table.insert("primary".into(), primary.as_str().into());
    }
    if let Some(alternates) = &spec.alternates {
        let names = alternates.iter().map(|name| Value::from(name.as_str())).collect();
        table.insert("alternates".into(), Value::Array(names));
    }
    if !spec.address_changes.is_empty() {
        table.insert("address_changes".into(), address_changes::write(&spec.address_changes));
    }
    if !spec.stream_values.is_empty() {
        let values = spec
            .stream_values
            .iter()
            .map(|stream_value| Value::from(i64::from(*stream_value)))
            .collect();
        table.insert("stream_values".into(), Value::Array(values));
    }
    table
}

/// Values of the first streams; there must be a scheduler that asks for them.
fn stream_values(f: &Fields<'_>, c: &Config) -> Result<Vec<u16>, InputError> {
    let Some(value) = f.get("stream_values") else { return Ok(Vec::new()) };
    if !matches!(c.scheduler, Scheduler::Priority | Scheduler::WeightedFair) {
        let allowed = "none unless `scheduler` is \"priority\" or \"weighted-fair\"";
        return Err(f.error("stream_values", allowed));
    }
    let least = if c.scheduler == Scheduler::Priority { 0 } else { 1 };
    let most = usize::from(c.outbound_streams);
    let number = |item: &Value| {
        let number = u16::try_from(item.as_integer()?).ok()?;
        (number >= least).then_some(number)
    };
    let values: Option<Vec<u16>> =
        value.as_array().and_then(|list| list.iter().map(number).collect());
    let allowed =
        format!("at most {most} whole numbers from {least} to 65535, of the streams from 0 on");
    let values = values.filter(|values| values.len() <= most);
    values.ok_or_else(|| f.error("stream_values", allowed))
}

fn options(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    form.octets("mtu", &mut c.mtu)?;
    form.choice("mtu_probing", &MTU_PROBINGS, &mut c.mtu_probing)?;
    form.octets("mtu_probe_base", &mut c.mtu_probe_base)?;
    form.quantity_or_off("mtu_probe_timer", &mut c.mtu_probe_timer)?;
    form.quantity("mtu_raise_timer", &mut c.mtu_raise_timer)?;
    form.integer("ip_header", 20..=40, &mut c.ip_header)?;
    form.octets_or_none("message_size", &mut c.message_size)?;
    form.integer("outbound_streams", 1..=u16::MAX, &mut c.outbound_streams)?;
    form.integer("inbound_streams", 1..=u16::MAX, &mut c.inbound_streams)?;
    form.octets("receive_buffer", &mut c.receive_buffer)?;
    form.octets("send_buffer", &mut c.send_buffer)?;
    window(form, &mut c.window)?;
    initial_window(form, &mut c.initial_window)?;
    initial_ssthresh(form, c)?;
    form.choice("window_unit", &UNITS, &mut c.window_unit)?;
    form.choice("partial_acked", &PARTIALS, &mut c.partial_acked)?;
    form.boolean("growth_needs_advance", &mut c.growth_needs_advance)?;
    form.boolean("count_padding", &mut c.count_padding)?;
    form.boolean("rest_sets_ssthresh", &mut c.rest_sets_ssthresh)?;
    form.boolean("ecn", &mut c.ecn)?;
    form.switch_or_table("ns2_rules", &mut c.ns2_rules, |form, item| {
        form.boolean("recovery_point", &mut item.recovery_point)?;
        form.boolean("marked_outstanding", &mut item.marked_outstanding)?;
        form.boolean("one_packet", &mut item.one_packet)?;
        form.boolean("init_to_primary", &mut item.init_to_primary)?;
        form.boolean("remembers_highest", &mut item.remembers_highest)?;
        form.boolean("timeout_stops_all", &mut item.timeout_stops_all)?;
        form.boolean("repair_finds_rest", &mut item.repair_finds_rest)
    })?;
    form.boolean("slow_start_at_threshold", &mut c.slow_start_at_threshold)?;
    form.integer("ssthresh_floor", 1..=100, &mut c.ssthresh_floor)?;
    form.integer("missing_reports", 1..=100, &mut c.missing_reports)?;
    form.boolean("highest_newly_acked", &mut c.highest_newly_acked)?;
    form.boolean("fast_recovery", &mut c.fast_recovery)?;
    form.integer_or_off("max_burst", 1..=1000, &mut c.max_burst)?;
    form.boolean("burst_keeps_window", &mut c.burst_keeps_window)?;
    form.integer("sack_frequency", 1..=255, &mut c.sack_frequency)?;
    form.quantity("sack_delay", &mut c.sack_delay)?;
    form.switch_or_table("immediate_sacks", &mut c.immediate_sacks, |form, item| {
        form.boolean("window_full", &mut item.window_full)?;
        form.boolean("shutdown_pending", &mut item.shutdown_pending)?;
        form.boolean("reconfiguration", &mut item.reconfiguration)?;
        form.boolean("last", &mut item.last)?;
        form.boolean("messages", &mut item.messages)
    })?;
    form.table("rto", |form| {
        form.quantity("initial", &mut c.rto.initial)?;
        form.quantity("min", &mut c.rto.min)?;
        form.quantity("max", &mut c.rto.max)?;
        form.quantity("granularity", &mut c.rto.granularity)
    })?;
    form.integer("path_max_retrans", 0..=1_000_000, &mut c.path_max_retrans)?;
    form.integer("association_max_retrans", 0..=1_000_000, &mut c.association_max_retrans)?;
    form.integer("max_init_retransmits", 0..=1_000_000, &mut c.max_init_retransmits)?;
    form.integer_or_off("potentially_failed", 0..=1_000_000, &mut c.potentially_failed)?;
    form.quantity_or_off("heartbeat_interval", &mut c.heartbeat_interval)?;
    form.choice("heartbeat_jitter", &JITTERS, &mut c.heartbeat_jitter)?;
    form.boolean("confirm_paths", &mut c.confirm_paths)?;
    form.boolean("trust_given", &mut c.trust_given)?;
    form.boolean("keep_primary", &mut c.keep_primary)?;
    form.boolean("vary_sack_path", &mut c.vary_sack_path)?;
    form.integer("heartbeat_burst", 1..=100, &mut c.heartbeat_burst)?;
    destination(form, &mut c.destination)?;
    let rules = Failover::ALL.map(|item| (item.name(), item));
    form.choice("failover", &rules, &mut c.failover)?;
    probing(form, &mut c.probing)?;
    form.boolean("multiple_fast_retransmit", &mut c.multiple_fast_retransmit)?;
    form.boolean("timestamps", &mut c.timestamps)?;
    form.table("undo", |form| {
        form.boolean("duplicates", &mut c.undo.duplicates)?;
        form.boolean("timestamps", &mut c.undo.timestamps)
    })?;
    form.boolean("heartbeat_after_rto", &mut c.heartbeat_after_rto)?;
    form.quantity("cookie_life", &mut c.cookie_life)?;
    form.boolean("partial_reliability", &mut c.partial_reliability)?;
    form.boolean("interleaving", &mut c.interleaving)?;
    let schedulers = Scheduler::ALL.map(|item| (item.name(), item));
    form.choice("scheduler", &schedulers, &mut c.scheduler)?;
    form.boolean("reconfiguration", &mut c.reconfiguration)?;
    authentication::option(form, &mut c.authentication)?;
    form.boolean("dynamic_addresses", &mut c.dynamic_addresses)?;
    form.switch_or_table("concurrent", &mut c.concurrent, |form, item| {
        form.boolean("split_fast_retransmit", &mut item.split_fast_retransmit)?;
        form.boolean("window_update", &mut item.window_update)?;
        form.boolean("delayed_ack", &mut item.delayed_ack)?;
        form.boolean("buffer_split", &mut item.buffer_split)
    })
}

/// A name, or a policy of the user's own.
fn destination(form: &mut Form<'_>, value: &mut Destination) -> Result<(), InputError> {
    match (&mut *form, &*value) {
        (Form::Read(f), _) => {
            if let Some(own) = custom::read(f, "destination", "policy")? {
                *value = Destination::Custom(own);
                return Ok(());
            }
        }
        (Form::Write(table), Destination::Custom(own)) => {
            table.insert("destination".into(), custom::write(own, "policy"));
            return Ok(());
        }
        _ => {}
    }
    let destinations = Destination::ALL;
    let destinations: Vec<_> =
        destinations.iter().map(|destination| (destination.name(), destination.clone())).collect();
    form.choice("destination", &destinations, value)
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
    form.switch_or_table(NAME, &mut probe, |form, item| {
        form.quantity("interval", &mut item.interval)?;
        form.integer("burst", 1..=100, &mut item.burst)
    })?;
    *value = probe.map_or(Probing::Off, Probing::On);
    Ok(())
}

/// `"standard"`, or a window algorithm as TCP has them.
fn window(form: &mut Form<'_>, value: &mut Window) -> Result<(), InputError> {
    match form {
        Form::Read(f) => match f.get("window").and_then(Value::as_str) {
            Some("standard") => *value = Window::Standard,
            _ => {
                let algorithm = window::read(f, None, |item| item).map_err(|error| match error
                    .field
                    .ends_with("window")
                {
                    true => InputError { allowed: format!("standard, {}", error.allowed), ..error },
                    false => error,
                })?;
                if let Some(algorithm) = algorithm {
                    *value = Window::Algorithm(algorithm);
                }
            }
        },
        Form::Write(table) => {
            let written = match value {
                Window::Standard => "standard".into(),
                Window::Algorithm(algorithm) => window::write(algorithm),
            };
            table.insert("window".into(), written);
        }
    }
    Ok(())
}

fn initial_window(form: &mut Form<'_>, value: &mut InitialWindow) -> Result<(), InputError> {
    match form {
        Form::Read(f) => {
            let Some(given) = f.get("initial_window") else { return Ok(()) };
            let text = given.as_str().unwrap_or("");
            let named = INITIAL_WINDOWS
                .iter()
                .find(|(name, _)| *name == text)
                .map(|initial_window| initial_window.1);
            let window = named.or_else(|| Packets::parse(text).map(|n| InitialWindow::Mtus(n.0)));
            let allowed = "rfc2960, rfc4960, rfc9260, or a number of MTUs such as \"2 packets\"";
            *value = window.ok_or_else(|| f.error("initial_window", allowed))?;
        }
        Form::Write(table) => {
            let text = match value {
                InitialWindow::Mtus(n) => Packets(*n).write(),
                named => super::form::word(&INITIAL_WINDOWS, named),
            };
            table.insert("initial_window".into(), text.into());
        }
    }
    Ok(())
}

fn initial_ssthresh(form: &mut Form<'_>, c: &mut Config) -> Result<(), InputError> {
    match form {
        Form::Read(f) => {
            c.initial_ssthresh = match f.quantity("initial_ssthresh")? {
                None => c.initial_ssthresh,
                Some(Amount::Octets(n)) => Some(n),
                Some(Amount::Packets(n)) => Some(u64::from(n) * u64::from(c.mtu)),
            };
        }
        Form::Write(table) => {
            if let Some(ssthresh) = c.initial_ssthresh {
                let text = anabranch_units::Bytes(ssthresh).write();
                table.insert("initial_ssthresh".into(), text.into());
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
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
            (
                "slow_start_at_threshold = false",
                Config { slow_start_at_threshold: false, ..d.clone() },
            ),
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
            (
                "destination = \"all-same\"",
                Config { destination: Destination::AllSame, ..d.clone() },
            ),
            (
                "multiple_fast_retransmit = true",
                Config { multiple_fast_retransmit: true, ..d.clone() },
            ),
            ("timestamps = true", Config { timestamps: true, ..d.clone() }),
            ("heartbeat_after_rto = true", Config { heartbeat_after_rto: true, ..d.clone() }),
            ("cookie_life = \"5 s\"", Config { cookie_life: Span::from_secs(5), ..d.clone() }),
            ("partial_reliability = true", Config { partial_reliability: true, ..d.clone() }),
            ("interleaving = true", Config { interleaving: true, ..d.clone() }),
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
                Config {
                    dynamic_addresses: true,
                    authentication: Some(Arc::default()),
                    ..d.clone()
                },
            ),
            (
                "failover = \"highest-rate\"",
                Config { failover: Failover::HighestRate, ..d.clone() },
            ),
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
            (
                "destination = \"best-path\"",
                Config { destination: Destination::BestPath, ..d.clone() },
            ),
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
            ("message_size = \"0 B\"", "message_size", "1 B to what fits a packet"),
            ("receive_buffer = \"5 GB\"", "receive_buffer", "0 B to 4294967295 B"),
            ("window = \"newreno\"", "window", "standard, reno,"),
            ("window = { algorithm = \"x\" }", "window.algorithm", "reno,"),
            ("initial_window = \"rfc6928\"", "initial_window", "rfc2960, rfc4960, rfc9260, or"),
            ("max_burst = 0", "max_burst", "false, or a whole number from 1 to 1000"),
            ("potentially_failed = 6", "potentially_failed", "at most path_max_retrans"),
            ("heartbeat_interval = true", "heartbeat_interval", "false, or a time"),
            ("rto = { min = \"0 s\" }", "rto.min", "more than 0 s"),
            ("rto = { mni = \"1 s\" }", "rto.mni", "no field of this name"),
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
            ("streams = 1", "streams", "no field of this name"),
        ] {
            let error = read_text(text).unwrap_err();
            assert_eq!(error.field, format!("flows[0].sctp.{field}"), "{text}");
            assert!(error.allowed.starts_with(allowed), "{text}: {}", error.allowed);
        }
    }
}
