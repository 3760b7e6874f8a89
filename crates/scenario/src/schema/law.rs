//! Laws of sizes, and of times between them: what traffic of all kinds is written with.

use super::queue::in_field;
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_sim::{Duration, DurationLaw, Sizes};
use anabranch_units::{Bytes, Rate, Span};
use toml::{Table, Value};

const LAWS: [(&str, DurationLaw); 3] = [
    ("constant", DurationLaw::Constant),
    ("exponential", DurationLaw::Exponential),
    ("pareto", DurationLaw::Pareto(1.5)),
];

/// What is written at a time, unless the traffic says otherwise.
pub(super) const CHUNK: Bytes = Bytes(1000);

pub(super) fn rate(t: &Fields<'_>) -> Result<Rate, InputError> {
    t.quantity("rate")?.ok_or_else(|| t.error("rate", Rate::ALLOWED))
}

/// A rate at which `chunk` octets are written at a time: at most once in a nanosecond.
pub(super) fn paced(t: &Fields<'_>, chunk: u32) -> Result<Rate, InputError> {
    let rate = rate(t)?;
    match rate.time_for(Bytes(chunk.into())) >= Span::from_nanos(1) {
        true => Ok(rate),
        false => Err(t.error("rate", "at most one chunk in a nanosecond")),
    }
}

/// Octets, at least one.
pub(super) fn octets(t: &Fields<'_>, name: &'static str) -> Result<u64, InputError> {
    let octets: Option<Bytes> = t.quantity(name)?;
    let octets = octets.map(|octet| octet.0).filter(|n| (1..=1 << 50).contains(n));
    octets.ok_or_else(|| t.error(name, "from 1 B to 1 PiB"))
}

/// A time such as "10 ms", or `{ mean = "10 ms", law = "exponential" }`.
pub(super) fn duration(
    t: &Fields<'_>,
    name: &'static str,
    default: Option<Span>,
) -> Result<Duration, InputError> {
    let fixed = |mean| Duration { mean, law: DurationLaw::Constant };
    let required = |span: Option<Span>| span.ok_or_else(|| t.error(name, Span::ALLOWED));
    if !t.get(name).is_some_and(Value::is_table) {
        let mean = required(t.quantity(name)?.or(default))?;
        return positive(t, name, fixed(mean), default.is_some());
    }
    let Some(d) = t.table(name)? else { return required(default).map(fixed) };
    let mean = d.quantity("mean")?.ok_or_else(|| d.error("mean", Span::ALLOWED))?;
    let mut law = d.choice("law", &LAWS)?.unwrap_or_default();
    if let DurationLaw::Pareto(shape) = &mut law {
        *shape = d.number("shape")?.unwrap_or(*shape);
        if !(*shape > 1.0 && *shape <= 1000.0) {
            return Err(d.error("shape", "a number above 1, at most 1000"));
        }
    }
    d.finish()?;
    positive(t, name, Duration { mean, law }, default.is_some())
}

fn positive(
    t: &Fields<'_>,
    name: &str,
    duration: Duration,
    may_be_zero: bool,
) -> Result<Duration, InputError> {
    // Each time is an event: work for each microsecond is what a run can bear.
    match may_be_zero || duration.mean >= Span::from_micros(1) {
        true => Ok(duration),
        false => Err(t.error(name, "at least 1 us")),
    }
}

pub(super) fn write_duration(duration: &Duration) -> Value {
    let mean = Value::from(duration.mean.write());
    let (law, shape) = match duration.law {
        DurationLaw::Constant => return mean,
        DurationLaw::Exponential => ("exponential", None),
        DurationLaw::Pareto(shape) => ("pareto", Some(shape)),
    };
    let mut table = Table::new();
    table.insert("mean".into(), mean);
    table.insert("law".into(), law.into());
    if let Some(shape) = shape {
        table.insert("shape".into(), shape.into());
    }
    Value::Table(table)
}

/// A law of sizes in the field `name`.
pub(super) fn read_sizes(f: &Fields<'_>, name: &'static str) -> Result<Option<Sizes>, InputError> {
    let Some(s) = f.table(name)? else { return Ok(None) };
    let laws = "constant, exponential, pareto, lognormal, empirical";
    let mean = || octets(&s, "mean");
    let number = |name| s.number(name)?.ok_or_else(|| s.error(name, "a number"));
    let sizes = match s.text("law")?.ok_or_else(|| s.error("law", laws))? {
        "constant" => Sizes::Constant { mean: mean()? },
        "exponential" => Sizes::Exponential { mean: mean()? },
        "pareto" => {
            let most: Option<Bytes> = s.quantity("max")?;
            match most {
                None => Sizes::Pareto { mean: mean()?, shape: number("shape")? },
                Some(max) => {
                    let (min, shape) = (octets(&s, "min")?, number("shape")?);
                    Sizes::BoundedPareto { min, max: max.0, shape }
                }
            }
        }
        "lognormal" => Sizes::Lognormal { mean: mean()?, sigma: number("sigma")? },
        "empirical" => Sizes::Empirical { cdf: read_cdf(&s)? },
        _ => return Err(s.error("law", laws)),
    };
    s.finish()?;
    sizes.validate().map_err(|error| in_field(&s, error))?;
    Ok(Some(sizes))
}

fn read_cdf(s: &Fields<'_>) -> Result<Vec<(u64, f64)>, InputError> {
    let point = |value: &Value| {
        let [size, p] = value.as_array()?.as_slice() else { return None };
        let p = p.as_float().or_else(|| p.as_integer().map(|n| n as f64))?;
        Some((Bytes::parse(size.as_str()?)?.0, p))
    };
    let list = s.get("cdf").and_then(Value::as_array);
    let cdf = list.and_then(|list| list.iter().map(point).collect());
    cdf.ok_or_else(|| s.error("cdf", "points such as [[\"1 kB\", 0.2], [\"1 MB\", 1.0]]"))
}

pub(super) fn write_sizes(sizes: &Sizes) -> Value {
    let octets = |n: u64| -> Value { Bytes(n).write().into() };
    let fields: Vec<(&str, Value)> = match sizes {
        Sizes::Constant { mean } => vec![("law", "constant".into()), ("mean", octets(*mean))],
        Sizes::Exponential { mean } => {
            vec![("law", "exponential".into()), ("mean", octets(*mean))]
        }
        Sizes::Pareto { mean, shape } => {
            vec![("law", "pareto".into()), ("mean", octets(*mean)), ("shape", (*shape).into())]
        }
        Sizes::BoundedPareto { min, max, shape } => vec![
            ("law", "pareto".into()),
            ("min", octets(*min)),
            ("max", octets(*max)),
            ("shape", (*shape).into()),
        ],
        Sizes::Lognormal { mean, sigma } => {
            vec![("law", "lognormal".into()), ("mean", octets(*mean)), ("sigma", (*sigma).into())]
        }
        Sizes::Empirical { cdf } => {
            let point = |(size, p): &(u64, f64)| Value::Array(vec![octets(*size), (*p).into()]);
            let cdf = Value::Array(cdf.iter().map(point).collect());
            vec![("law", "empirical".into()), ("cdf", cdf)]
        }
    };
    Value::Table(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
