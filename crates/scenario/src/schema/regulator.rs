//! The field `regulator` of a link's direction.

use super::custom;
use super::queue::{in_field, limit, write_limit};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::{Amount, Packets, Quantity};
use anabranch_network::{
    AckBucketConfig, LawConfig, Level, Overflow, REGULATORS, RegulatorConfig, ThresholdLinearConfig,
};
use anabranch_units::Bytes;
use toml::{Table, Value};

const OVERFLOWS: [(&str, Overflow); 3] = [
    ("drop-tail", Overflow::DropTail),
    ("drop-head", Overflow::DropHead),
    ("release", Overflow::Release),
];

/// The fields of every regulator.
const FIELDS: [&str; 4] = ["piggybacked", "limit", "overflow", "recheck"];

/// The field `regulator`: a table, or `false` for none. What depends on the
/// link is checked where the whole direction is known.
pub(super) fn read(f: &Fields<'_>) -> Result<Option<RegulatorConfig>, InputError> {
    if f.get("regulator").and_then(Value::as_bool) == Some(false) {
        return Ok(None);
    }
    let Some(r) = f.table("regulator")? else { return Ok(None) };
    let names = || custom::names(REGULATORS.iter().map(|info| info.name));
    let law = match r.required_text("law", &names())? {
        "threshold-linear" => {
            let d = ThresholdLinearConfig::default();
            LawConfig::ThresholdLinear(ThresholdLinearConfig {
                low: level(&r, "low", d.low)?,
                high: level(&r, "high", d.high)?,
                max_delay: r.quantity("max_delay")?.unwrap_or(d.max_delay),
            })
        }
        "ack-bucket" => {
            let d = AckBucketConfig::default();
            LawConfig::AckBucket(AckBucketConfig { depth: level(&r, "depth", d.depth)? })
        }
        own if custom::is_own(own) => LawConfig::Custom(custom::read_table(&r, own, &FIELDS)?),
        _ => return Err(r.error("law", names())),
    };
    let d = RegulatorConfig::new(law);
    let config = RegulatorConfig {
        law: d.law,
        piggybacked: r.boolean("piggybacked")?.unwrap_or(d.piggybacked),
        limit: limit(&r, "limit", d.limit)?,
        overflow: r.choice("overflow", &OVERFLOWS)?.unwrap_or(d.overflow),
        recheck: r.quantity("recheck")?.unwrap_or(d.recheck),
    };
    // What else there is are options of a law of the user's own.
    if !matches!(config.law, LawConfig::Custom(_)) {
        r.finish()?;
    }
    Ok(Some(config))
}

fn level(r: &Fields<'_>, name: &'static str, default: Level) -> Result<Level, InputError> {
    let Some(value) = r.get(name) else { return Ok(default) };
    let allowed = "a share of the queue's limit, from 0 to 1, or packets or octets such as \
                   \"20 packets\" or \"30 kB\"";
    let share = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
    let amount = || match Amount::parse(value.as_str()?)? {
        Amount::Packets(n) => Some(Level::Packets(n.into())),
        Amount::Octets(n) => Some(Level::Octets(Bytes(n))),
    };
    share.map(Level::Share).or_else(amount).ok_or_else(|| r.error(name, allowed))
}

/// An error of the regulator of the direction at `f`, with its path.
pub(super) fn error(f: &Fields<'_>, error: anabranch_network::ConfigError) -> InputError {
    match error.field {
        // The regulator is what makes this wrong, and the queue where it is so.
        "queue.limit" => in_field(f, error),
        field => {
            InputError::field(f.path(&format!("regulator.{field}")), error.value, error.allowed)
        }
    }
}

/// The table that [`read`] reads as the same.
pub(super) fn write(config: &RegulatorConfig) -> Value {
    let level = |level: Level| -> Value {
        match level {
            Level::Share(share) => share.into(),
            Level::Packets(n) => Packets(u32::try_from(n).unwrap_or(u32::MAX)).write().into(),
            Level::Octets(n) => n.write().into(),
        }
    };
    let mut fields: Vec<(&str, Value)> = match &config.law {
        LawConfig::ThresholdLinear(threshold_linear) => vec![
            ("law", "threshold-linear".into()),
            ("low", level(threshold_linear.low)),
            ("high", level(threshold_linear.high)),
            ("max_delay", threshold_linear.max_delay.write().into()),
        ],
        LawConfig::AckBucket(ack_bucket) => {
            vec![("law", "ack-bucket".into()), ("depth", level(ack_bucket.depth))]
        }
        LawConfig::Custom(_) => Vec::new(),
    };
    let overflow = OVERFLOWS.iter().find(|(_, overflow)| *overflow == config.overflow);
    fields.extend([
        ("piggybacked", config.piggybacked.into()),
        ("limit", write_limit(config.limit)),
        ("overflow", overflow.map_or("", |(name, _)| name).into()),
        ("recheck", config.recheck.write().into()),
    ]);
    let mut table: Table =
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    if let LawConfig::Custom(own) = &config.law {
        custom::put(&mut table, "law", own);
    }
    Value::Table(table)
}

#[cfg(test)]
mod tests;
