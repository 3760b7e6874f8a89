//! The fields of a link's direction that say how rate and delay change:
//! `schedule`, `trace` or `token_bucket`, and `delays`.

use super::queue::in_field;
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_network::{
    DelaySchedule, RateSchedule, TokenBucketConfig, TraceConfig, TransmitterConfig,
};
use anabranch_units::{Bytes, Rate, Span};
use toml::{Table, Value};

/// A rate of zero in a schedule.
const NOTHING: &str = "0 bit/s";

/// The transmitter, where it is more than a rate.
pub(super) fn read(f: &Fields<'_>) -> Result<Option<TransmitterConfig>, InputError> {
    let tables = [f.table("schedule")?, f.table("trace")?, f.table("token_bucket")?];
    let names = ["schedule", "trace", "token_bucket"];
    let given: Vec<_> = (0..3).filter(|i| tables[*i].is_some()).map(|i| names[i]).collect();
    if let [first, second, ..] = given[..] {
        return Err(
            f.error(second, format!("only one of {}; `{first}` is there", names.join(", ")))
        );
    }
    let [schedule, trace, bucket] = tables;
    Ok(if let Some(schedule) = schedule {
        Some(TransmitterConfig::Schedule(read_schedule(&schedule)?))
    } else if let Some(trace) = trace {
        Some(TransmitterConfig::Trace(read_trace(&trace)?))
    } else if let Some(bucket) = bucket {
        let config = TokenBucketConfig {
            rate: bucket.quantity("rate")?.ok_or_else(|| bucket.error("rate", Rate::ALLOWED))?,
            burst: bucket
                .quantity("burst")?
                .ok_or_else(|| bucket.error("burst", Bytes::ALLOWED))?,
            peak: bucket.quantity("peak")?,
        };
        bucket.finish()?;
        Some(TransmitterConfig::TokenBucket(config))
    } else {
        None
    })
}

/// The rate of a link that gives none: the largest of a schedule, the mean of
/// a trace.
pub(super) fn usual_rate(transmitter: &TransmitterConfig) -> Option<Rate> {
    match transmitter {
        TransmitterConfig::Schedule(schedule) => {
            schedule.steps.iter().map(|step| step.1).max().and_then(Rate::from_bps)
        }
        TransmitterConfig::Trace(trace) => {
            let last = u64::from(*trace.millis.last()?);
            Rate::from_bps(trace.millis.len() as u64 * 12_000 * 1000 / last)
        }
        TransmitterConfig::Constant
        | TransmitterConfig::TokenBucket(_)
        | TransmitterConfig::Explicit
        | TransmitterConfig::Cells => None,
    }
}

fn read_schedule(f: &Fields<'_>) -> Result<RateSchedule, InputError> {
    let mut steps = Vec::new();
    for step in f.tables("steps")? {
        let bps = match step.text("rate")? {
            Some(NOTHING) => 0,
            _ => {
                let allowed = format!("{}, or \"{NOTHING}\"", Rate::ALLOWED);
                let rate: Option<Rate> = step.quantity("rate").unwrap_or_default();
                rate.ok_or_else(|| step.error("rate", allowed))?.as_bps()
            }
        };
        steps.push((at(&step)?, bps));
        step.finish()?;
    }
    let schedule = RateSchedule { steps, period: f.quantity("period")? };
    f.finish()?;
    schedule.validate().map_err(|error| of_steps(f, error))?;
    Ok(schedule)
}

fn read_trace(f: &Fields<'_>) -> Result<TraceConfig, InputError> {
    let date = |value: &Value| u32::try_from(value.as_integer()?).ok();
    let millis = f.get("millis").and_then(Value::as_array);
    let millis: Option<Vec<u32>> = millis.and_then(|list| list.iter().map(date).collect());
    let allowed = "whole milliseconds that do not descend, such as [0, 5, 5, 12], or file = \"…\"";
    let millis = millis.ok_or_else(|| f.error("millis", allowed))?;
    f.finish()?;
    let trace = TraceConfig { millis: millis.into() };
    trace
        .validate()
        .map_err(|error| InputError::field(f.path("millis"), error.value, error.allowed))?;
    Ok(trace)
}

/// The propagation delays, where they change.
pub(super) fn read_delays(f: &Fields<'_>) -> Result<Option<DelaySchedule>, InputError> {
    let Some(f) = f.table("delays")? else { return Ok(None) };
    let mut steps = Vec::new();
    for step in f.tables("steps")? {
        let delay = step.quantity("delay")?.ok_or_else(|| step.error("delay", Span::ALLOWED))?;
        steps.push((at(&step)?, delay));
        step.finish()?;
    }
    let keep_order = f.boolean("keep_order")?.unwrap_or(true);
    let delays = DelaySchedule { steps, period: f.quantity("period")?, keep_order };
    f.finish()?;
    delays.validate().map_err(|error| of_steps(&f, error))?;
    Ok(Some(delays))
}

fn at(step: &Fields<'_>) -> Result<Span, InputError> {
    step.quantity("at")?.ok_or_else(|| step.error("at", Span::ALLOWED))
}

/// An error of a schedule as a whole is one of its steps.
fn of_steps(f: &Fields<'_>, error: anabranch_network::ConfigError) -> InputError {
    match error.field {
        "period" => in_field(f, error),
        _ => InputError::field(f.path("steps"), error.value, error.allowed),
    }
}

/// The fields that are read as the same.
pub(super) fn write(
    transmitter: &TransmitterConfig,
    delays: Option<&DelaySchedule>,
) -> Vec<(&'static str, Value)> {
    let table = |fields: Vec<(&str, Value)>| {
        Value::Table(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
    };
    let period = |span: Option<Span>| span.map(|item| ("period", Value::from(item.write())));
    let mut out = match transmitter {
        // The rate says it all.
        TransmitterConfig::Constant | TransmitterConfig::Explicit | TransmitterConfig::Cells => {
            Vec::new()
        }
        TransmitterConfig::Schedule(schedule) => {
            let step = |(at, bps): &(Span, u64)| {
                let rate = Rate::from_bps(*bps).map_or(NOTHING.to_owned(), |rate| rate.write());
                table(vec![("at", at.write().into()), ("rate", rate.into())])
            };
            let mut fields =
                vec![("steps", Value::Array(schedule.steps.iter().map(step).collect()))];
            fields.extend(period(schedule.period));
            vec![("schedule", table(fields))]
        }
        TransmitterConfig::Trace(trace) => {
            let millis = trace.millis.iter().map(|ms| i64::from(*ms).into()).collect();
            vec![("trace", table(vec![("millis", Value::Array(millis))]))]
        }
        TransmitterConfig::TokenBucket(token_bucket) => {
            let mut fields = Table::new();
            fields.insert("rate".into(), token_bucket.rate.write().into());
            fields.insert("burst".into(), token_bucket.burst.write().into());
            if let Some(peak) = token_bucket.peak {
                fields.insert("peak".into(), peak.write().into());
            }
            vec![("token_bucket", Value::Table(fields))]
        }
    };
    if let Some(found) = delays {
        let step = |(at, delay): &(Span, Span)| {
            table(vec![("at", at.write().into()), ("delay", delay.write().into())])
        };
        let mut fields = vec![
            ("steps", Value::Array(found.steps.iter().map(step).collect())),
            ("keep_order", found.keep_order.into()),
        ];
        fields.extend(period(found.period));
        out.push(("delays", table(fields)));
    }
    out
}
