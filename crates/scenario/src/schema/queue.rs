//! The field `queue` of a link's direction.

use crate::InputError;
use crate::fields::Fields;
use crate::quantity::{Amount, Packets, Quantity};
use anabranch_network::{
    AckFilterConfig, CoDelConfig, CoDelLaw, ConfigError, DelayEstimate, DrrConfig, DrrKey,
    DualPi2Config, FqCoDelConfig, PieConfig, PriorityConfig, PriorityKey, QUEUES, QueueConfig,
    QueueLimit, RedConfig, ThresholdConfig,
};
use anabranch_units::{Bytes, Span};
use toml::{Table, Value};

const UNLIMITED: &str = "unlimited";
const AUTO: &str = "auto";
const ESTIMATES: [(&str, DelayEstimate); 2] =
    [("timestamps", DelayEstimate::Timestamps), ("rate", DelayEstimate::Rate)];
const BANDS: [(&str, PriorityKey); 2] =
    [("dscp", PriorityKey::Dscp), ("pure-ack", PriorityKey::PureAck)];
const KEYS: [(&str, DrrKey); 2] = [("flow", DrrKey::Flow), ("dscp", DrrKey::Dscp)];

/// The field `queue`, where there is one.
pub(super) fn read(f: &Fields<'_>) -> Result<Option<QueueConfig>, InputError> {
    let Some(q) = f.table("queue")? else { return Ok(None) };
    let names = || QUEUES.iter().map(|info| info.name).collect::<Vec<_>>().join(", ");
    let queue = match q.text("kind")?.unwrap_or("droptail") {
        "droptail" => {
            QueueConfig::DropTail { limit: limit(&q, "limit", QueueLimit::Packets(100))? }
        }
        "threshold" => {
            let d = ThresholdConfig::default();
            let mark = limit(&q, "mark", d.mark)?;
            QueueConfig::Threshold(ThresholdConfig { limit: limit(&q, "limit", d.limit)?, mark })
        }
        "red" => QueueConfig::Red(read_red(&q)?),
        "pie" => QueueConfig::Pie(read_pie(&q)?),
        "codel" => {
            let d = CoDelConfig::default();
            let law = read_law(&q, d.law)?;
            QueueConfig::CoDel(CoDelConfig { limit: limit(&q, "limit", d.limit)?, law })
        }
        "fq-codel" => {
            let d = FqCoDelConfig::default();
            let limit: Option<Packets> = q.quantity("limit")?;
            QueueConfig::FqCoDel(FqCoDelConfig {
                limit: limit.map_or(d.limit, |n| n.0.into()),
                queues: q.integer("queues", 1..=65_536)?.unwrap_or(d.queues),
                quantum: q.quantity("quantum")?.unwrap_or(d.quantum),
                drop_batch: q.integer("drop_batch", 1..=1_000_000)?.unwrap_or(d.drop_batch),
                law: read_law(&q, d.law)?,
            })
        }
        "dualpi2" => QueueConfig::DualPi2(read_dualpi2(&q)?),
        "priority" => {
            let d = PriorityConfig::default();
            let key = q.choice("key", &BANDS)?.unwrap_or(d.key);
            let bands = match (key, read_bands(&q)?) {
                (PriorityKey::Dscp, bands) => bands.unwrap_or(d.bands),
                (PriorityKey::PureAck, None) => Vec::new(),
                (PriorityKey::PureAck, Some(_)) => {
                    return Err(q.error("bands", "no bands of code points with key = \"pure-ack\""));
                }
            };
            let limit = limit(&q, "limit", d.limit)?;
            QueueConfig::Priority(PriorityConfig { limit, key, bands })
        }
        "drr" => {
            let d = DrrConfig::default();
            QueueConfig::Drr(DrrConfig {
                limit: limit(&q, "limit", d.limit)?,
                key: q.choice("key", &KEYS)?.unwrap_or(d.key),
                queues: q.integer("queues", 1..=65_536)?.unwrap_or(d.queues),
                quantum: q.quantity("quantum")?.unwrap_or(d.quantum),
                weights: read_weights(&q)?.unwrap_or(d.weights),
            })
        }
        "ack-filter" => {
            let d = AckFilterConfig::default();
            QueueConfig::AckFilter(AckFilterConfig {
                limit: limit(&q, "limit", d.limit)?,
                aggressive: q.boolean("aggressive")?.unwrap_or(d.aggressive),
            })
        }
        _ => return Err(q.error("kind", names())),
    };
    q.finish()?;
    queue.validate().map_err(|error| in_field(&q, error))?;
    Ok(Some(queue))
}

/// What a part of the network says of a field, with the field's path.
pub(super) fn in_field(f: &Fields<'_>, error: ConfigError) -> InputError {
    InputError::field(f.path(error.field), error.value, error.allowed)
}

pub(super) fn limit(
    q: &Fields<'_>,
    name: &'static str,
    default: QueueLimit,
) -> Result<QueueLimit, InputError> {
    let unit = format!("{}, or \"unlimited\"; with its unit, in quotes", Amount::ALLOWED);
    Ok(match q.text(name).map_err(|_| q.error(name, unit))? {
        None => default,
        Some(UNLIMITED) => QueueLimit::Unlimited,
        Some(text) => match Amount::parse(text) {
            Some(Amount::Packets(n)) => QueueLimit::Packets(n.into()),
            Some(Amount::Octets(n)) => QueueLimit::Octets(Bytes(n)),
            None => return Err(q.error(name, format!("{}, or \"unlimited\"", Amount::ALLOWED))),
        },
    })
}

pub(super) fn write_limit(limit: QueueLimit) -> Value {
    match limit {
        QueueLimit::Packets(n) => Packets(u32::try_from(n).unwrap_or(u32::MAX)).write().into(),
        QueueLimit::Octets(n) => n.write().into(),
        QueueLimit::Unlimited => UNLIMITED.into(),
    }
}

/// A threshold of RED and whether it is in octets; `None` for "auto".
type Threshold = Option<(f64, bool)>;

fn threshold(
    q: &Fields<'_>,
    name: &'static str,
    default: Option<f64>,
) -> Result<Threshold, InputError> {
    Ok(match q.text(name)? {
        None => default.map(|n| (n, false)),
        Some(AUTO) => None,
        Some(text) => match Amount::parse(text) {
            Some(Amount::Packets(n)) => Some((n.into(), false)),
            Some(Amount::Octets(n)) => Some((n as f64, true)),
            None => return Err(q.error(name, format!("{}, or \"auto\"", Amount::ALLOWED))),
        },
    })
}

fn read_red(q: &Fields<'_>) -> Result<RedConfig, InputError> {
    let d = RedConfig::default();
    let adaptive = q.boolean("adaptive")?.unwrap_or(d.adaptive);
    let fixed = |value: Option<f64>| if adaptive { None } else { value };
    let min = threshold(q, "min", fixed(d.min))?;
    // A maximum that is not given goes with a minimum that is.
    let default_max = if q.get("min").is_some() { None } else { fixed(d.max) };
    let max = threshold(q, "max", default_max)?;
    let octets = match (min, max) {
        (Some((_, a)), Some((_, b))) if a != b => {
            return Err(q.error("max", "an amount in the unit of `min`"));
        }
        (Some((_, octets)), _) => octets,
        (None, _) => false,
    };
    let weight = match q.get("weight").and_then(Value::as_str) {
        Some(AUTO) => None,
        _ => q.probability("weight")?.or(fixed(d.weight)),
    };
    Ok(RedConfig {
        limit: limit(q, "limit", d.limit)?,
        octets,
        min: min.map(|min| min.0),
        max: max.map(|max| max.0),
        max_p: q.probability("max_p")?.unwrap_or(d.max_p),
        weight,
        gentle: q.boolean("gentle")?.unwrap_or(d.gentle),
        wait: q.boolean("wait")?.unwrap_or(d.wait),
        by_size: q.boolean("by_size")?.unwrap_or(d.by_size),
        mean_packet: q.quantity("mean_packet")?.unwrap_or(d.mean_packet),
        ecn: q.boolean("ecn")?.unwrap_or(d.ecn),
        adaptive,
        interval: q.quantity("interval")?.unwrap_or(d.interval),
        target_delay: q.quantity("target_delay")?.unwrap_or(d.target_delay),
    })
}

fn read_pie(q: &Fields<'_>) -> Result<PieConfig, InputError> {
    let d = PieConfig::default();
    Ok(PieConfig {
        limit: limit(q, "limit", d.limit)?,
        target: q.quantity("target")?.unwrap_or(d.target),
        update: q.quantity("update")?.unwrap_or(d.update),
        alpha: q.number("alpha")?.unwrap_or(d.alpha),
        beta: q.number("beta")?.unwrap_or(d.beta),
        burst: q.quantity("burst")?.unwrap_or(d.burst),
        mean_packet: q.quantity("mean_packet")?.unwrap_or(d.mean_packet),
        delay: q.choice("delay", &ESTIMATES)?.unwrap_or(d.delay),
        ecn: q.boolean("ecn")?.unwrap_or(d.ecn),
        ecn_threshold: q.probability("ecn_threshold")?.unwrap_or(d.ecn_threshold),
        derandomize: q.boolean("derandomize")?.unwrap_or(d.derandomize),
        cap: q.boolean("cap")?.unwrap_or(d.cap),
        activate: q.probability("activate")?.unwrap_or(d.activate),
    })
}

fn read_law(q: &Fields<'_>, d: CoDelLaw) -> Result<CoDelLaw, InputError> {
    Ok(CoDelLaw {
        target: q.quantity("target")?.unwrap_or(d.target),
        interval: q.quantity("interval")?.unwrap_or(d.interval),
        max_packet: q.quantity("max_packet")?.unwrap_or(d.max_packet),
        ecn: q.boolean("ecn")?.unwrap_or(d.ecn),
        ce_threshold: match q.get("ce_threshold") {
            Some(Value::Boolean(false)) => None,
            _ => q.quantity("ce_threshold")?.or(d.ce_threshold),
        },
    })
}

fn read_dualpi2(q: &Fields<'_>) -> Result<DualPi2Config, InputError> {
    let d = DualPi2Config::default();
    Ok(DualPi2Config {
        limit: limit(q, "limit", d.limit)?,
        target: q.quantity("target")?.unwrap_or(d.target),
        update: q.quantity("update")?.unwrap_or(d.update),
        alpha: q.number("alpha")?.unwrap_or(d.alpha),
        beta: q.number("beta")?.unwrap_or(d.beta),
        coupling: q.number("coupling")?.unwrap_or(d.coupling),
        ramp_start: q.quantity("ramp_start")?.unwrap_or(d.ramp_start),
        ramp: q.quantity("ramp")?.unwrap_or(d.ramp),
        classic_share: q.probability("classic_share")?.unwrap_or(d.classic_share),
    })
}

fn read_bands(q: &Fields<'_>) -> Result<Option<Vec<Vec<u8>>>, InputError> {
    let Some(value) = q.get("bands") else { return Ok(None) };
    let point = |value: &Value| u8::try_from(value.as_integer()?).ok().filter(|dscp| *dscp < 64);
    let band = |value: &Value| value.as_array()?.iter().map(point).collect::<Option<Vec<u8>>>();
    let bands = value.as_array().and_then(|list| list.iter().map(band).collect());
    match bands {
        Some(bands) => Ok(Some(bands)),
        None => Err(q.error("bands", "lists of code points from 0 to 63, as [[46], [10, 12]]")),
    }
}

/// Weights of code points, `[[46, 4], [10, 2]]`; the others have 1.
fn read_weights(q: &Fields<'_>) -> Result<Option<[u16; 64]>, InputError> {
    let Some(value) = q.get("weights") else { return Ok(None) };
    let pair = |value: &Value| {
        let [dscp, weight] = value.as_array()?.as_slice() else { return None };
        let dscp = usize::try_from(dscp.as_integer()?).ok().filter(|dscp| *dscp < 64)?;
        Some((
            dscp,
            u16::try_from(weight.as_integer()?).ok().filter(|item| (1..=1000).contains(item))?,
        ))
    };
    let pairs: Option<Vec<_>> = value.as_array().and_then(|list| list.iter().map(pair).collect());
    let allowed = "code points from 0 to 63 with weights from 1 to 1000, as [[46, 4], [10, 2]]";
    let pairs = pairs.ok_or_else(|| q.error("weights", allowed))?;
    let mut weights = [1; 64];
    for (dscp, weight) in pairs {
        weights[dscp] = weight;
    }
    Ok(Some(weights))
}

/// The table that [`read`] reads as the same.
pub(super) fn write(queue: &QueueConfig) -> Value {
    let mut fields: Vec<(&str, Value)> = Vec::new();
    let span = |span: Span| -> Value { span.write().into() };
    let octets = |octets: Bytes| -> Value { octets.write().into() };
    let law = |law: &CoDelLaw| -> [(&'static str, Value); 5] {
        [
            ("target", span(law.target)),
            ("interval", span(law.interval)),
            ("max_packet", octets(law.max_packet)),
            ("ecn", law.ecn.into()),
            ("ce_threshold", law.ce_threshold.map_or_else(|| false.into(), span)),
        ]
    };
    let kind = match queue {
        QueueConfig::DropTail { limit } => {
            fields.push(("limit", write_limit(*limit)));
            "droptail"
        }
        QueueConfig::Threshold(threshold) => {
            fields.extend([
                ("limit", write_limit(threshold.limit)),
                ("mark", write_limit(threshold.mark)),
            ]);
            "threshold"
        }
        QueueConfig::Red(red) => {
            let threshold = |value: Option<f64>| -> Value {
                match value {
                    None => AUTO.into(),
                    Some(n) if red.octets => octets(Bytes(n as u64)),
                    Some(n) => Packets(n as u32).write().into(),
                }
            };
            fields.extend([
                ("limit", write_limit(red.limit)),
                ("min", threshold(red.min)),
                ("max", threshold(red.max)),
                ("max_p", red.max_p.into()),
                ("weight", red.weight.map_or_else(|| AUTO.into(), Value::from)),
                ("gentle", red.gentle.into()),
                ("wait", red.wait.into()),
                ("by_size", red.by_size.into()),
                ("mean_packet", octets(red.mean_packet)),
                ("ecn", red.ecn.into()),
                ("adaptive", red.adaptive.into()),
                ("interval", span(red.interval)),
                ("target_delay", span(red.target_delay)),
            ]);
            "red"
        }
        QueueConfig::Pie(pie) => {
            let delay = ESTIMATES.iter().find(|(_, estimate)| *estimate == pie.delay);
            fields.extend([
                ("limit", write_limit(pie.limit)),
                ("target", span(pie.target)),
                ("update", span(pie.update)),
                ("alpha", pie.alpha.into()),
                ("beta", pie.beta.into()),
                ("burst", span(pie.burst)),
                ("mean_packet", octets(pie.mean_packet)),
                ("delay", delay.map_or("", |(name, _)| name).into()),
                ("ecn", pie.ecn.into()),
                ("ecn_threshold", pie.ecn_threshold.into()),
                ("derandomize", pie.derandomize.into()),
                ("cap", pie.cap.into()),
                ("activate", pie.activate.into()),
            ]);
            "pie"
        }
        QueueConfig::CoDel(co_del) => {
            fields.push(("limit", write_limit(co_del.limit)));
            fields.extend(law(&co_del.law));
            "codel"
        }
        QueueConfig::FqCoDel(fq_co_del) => {
            fields.extend([
                ("limit", write_limit(QueueLimit::Packets(fq_co_del.limit))),
                ("queues", i64::from(fq_co_del.queues).into()),
                ("quantum", octets(fq_co_del.quantum)),
                ("drop_batch", i64::from(fq_co_del.drop_batch).into()),
            ]);
            fields.extend(law(&fq_co_del.law));
            "fq-codel"
        }
        QueueConfig::DualPi2(dual_pi2) => {
            fields.extend([
                ("limit", write_limit(dual_pi2.limit)),
                ("target", span(dual_pi2.target)),
                ("update", span(dual_pi2.update)),
                ("alpha", dual_pi2.alpha.into()),
                ("beta", dual_pi2.beta.into()),
                ("coupling", dual_pi2.coupling.into()),
                ("ramp_start", span(dual_pi2.ramp_start)),
                ("ramp", span(dual_pi2.ramp)),
                ("classic_share", dual_pi2.classic_share.into()),
            ]);
            "dualpi2"
        }
        QueueConfig::Priority(priority) => {
            let band =
                |band: &Vec<u8>| band.iter().map(|dscp| i64::from(*dscp)).collect::<Vec<_>>();
            let bands: Vec<_> = priority.bands.iter().map(|item| Value::from(band(item))).collect();
            let key = BANDS.iter().find(|(_, key)| *key == priority.key);
            fields.push(("limit", write_limit(priority.limit)));
            fields.push(("key", key.map_or("", |(name, _)| name).into()));
            if priority.key == PriorityKey::Dscp {
                fields.push(("bands", Value::Array(bands)));
            }
            "priority"
        }
        QueueConfig::Drr(drr) => {
            let key = KEYS.iter().find(|(_, key)| *key == drr.key);
            fields.extend([
                ("limit", write_limit(drr.limit)),
                ("key", key.map_or("", |(name, _)| name).into()),
                ("queues", i64::from(drr.queues).into()),
                ("quantum", octets(drr.quantum)),
            ]);
            if drr.key == DrrKey::Dscp {
                let weights = drr.weights.iter().enumerate().filter(|(_, weight)| **weight != 1);
                let pair = |(dscp, weight): (usize, &u16)| {
                    Value::from(vec![dscp as i64, i64::from(*weight)])
                };
                fields.push(("weights", Value::Array(weights.map(pair).collect())));
            }
            "drr"
        }
        QueueConfig::AckFilter(ack_filter) => {
            fields.push(("limit", write_limit(ack_filter.limit)));
            fields.push(("aggressive", ack_filter.aggressive.into()));
            "ack-filter"
        }
    };
    let mut table = Table::new();
    table.insert("kind".into(), kind.into());
    table.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
    Value::Table(table)
}
