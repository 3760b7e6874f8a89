//! What flows send, where it is not one stream written at once: `traffic`,
//! `sizes` and `arrivals`.

use super::messages::MessageSpec;
use super::pages;
use super::queue::in_field;
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_sim::{Duration, DurationLaw, PageSpec, Sizes};
use anabranch_units::{Bytes, Rate, Span};
use toml::{Table, Value};

/// How the client of a flow writes.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Workload {
    /// All at once.
    #[default]
    Bulk,
    /// At a constant rate.
    Constant {
        /// The rate.
        rate: Rate,
        /// Octets written at a time.
        chunk: u32,
    },
    /// At a constant rate during on times.
    OnOff {
        /// The rate while on.
        rate: Rate,
        /// Octets written at a time.
        chunk: u32,
        /// How long it is on.
        on: Duration,
        /// How long it is off.
        off: Duration,
    },
    /// Requests, each after the response to the one before.
    Requests {
        /// Octets of a request.
        request: u64,
        /// Octets of a response.
        response: u64,
        /// How many.
        count: Option<u64>,
        /// Time between a response and the next request.
        think: Duration,
        /// Flows with this name make their requests together.
        barrier: Option<String>,
    },
    /// Web pages: a main object, then others.
    Pages(Box<PageSpec>),
    /// Messages, over a transport that has them.
    Messages(MessageSpec),
}

const LAWS: [(&str, DurationLaw); 3] = [
    ("constant", DurationLaw::Constant),
    ("exponential", DurationLaw::Exponential),
    ("pareto", DurationLaw::Pareto(1.5)),
];
/// What is written at a time, unless the traffic says otherwise.
pub(super) const CHUNK: Bytes = Bytes(1000);
const MOST_REQUESTS: u64 = 1_000_000_000;

impl Workload {
    pub(super) fn read(f: &Fields<'_>) -> Result<Workload, InputError> {
        let Some(t) = f.table("traffic")? else { return Ok(Workload::Bulk) };
        let kinds = "bulk, constant, on-off, requests, pages, messages";
        let workload = match t.text("kind")?.ok_or_else(|| t.error("kind", kinds))? {
            "bulk" => Workload::Bulk,
            "constant" => Workload::Constant { rate: rate(&t)?, chunk: chunk(&t)? },
            "on-off" => Workload::OnOff {
                rate: rate(&t)?,
                chunk: chunk(&t)?,
                on: duration(&t, "on", None)?,
                off: duration(&t, "off", None)?,
            },
            "requests" => Workload::Requests {
                request: octets(&t, "request")?,
                response: octets(&t, "response")?,
                count: t.integer("count", 1..=MOST_REQUESTS)?,
                think: duration(&t, "think", Some(Span::ZERO))?,
                barrier: t.text("barrier")?.map(str::to_owned),
            },
            "pages" => Workload::Pages(Box::new(pages::read(&t)?)),
            "messages" => Workload::Messages(MessageSpec::read(&t)?),
            _ => return Err(t.error("kind", kinds)),
        };
        t.finish()?;
        Ok(workload)
    }

    /// `from` asks and `to` answers.
    pub fn asks(&self) -> bool {
        matches!(self, Workload::Requests { .. } | Workload::Pages(_))
    }

    pub(super) fn write(&self) -> Option<Value> {
        let mut table = Table::new();
        let mut put = |name: &str, value: Value| {
            table.insert(name.to_owned(), value);
        };
        let chunk_of = |chunk: u32| -> Value { Bytes(chunk.into()).write().into() };
        match self {
            Workload::Bulk => return None,
            Workload::Constant { rate, chunk } => {
                put("kind", "constant".into());
                put("rate", rate.write().into());
                put("chunk", chunk_of(*chunk));
            }
            Workload::OnOff { rate, chunk, on, off } => {
                put("kind", "on-off".into());
                put("rate", rate.write().into());
                put("chunk", chunk_of(*chunk));
                put("on", write_duration(on));
                put("off", write_duration(off));
            }
            Workload::Requests { request, response, count, think, barrier } => {
                put("kind", "requests".into());
                put("request", Bytes(*request).write().into());
                put("response", Bytes(*response).write().into());
                if let Some(count) = count {
                    put("count", Value::Integer(*count as i64));
                }
                put("think", write_duration(think));
                if let Some(barrier) = barrier {
                    put("barrier", barrier.as_str().into());
                }
            }
            Workload::Pages(spec) => pages::write(spec, &mut table),
            Workload::Messages(messages) => messages.write(&mut table),
        }
        Some(Value::Table(table))
    }
}

pub(super) fn rate(t: &Fields<'_>) -> Result<Rate, InputError> {
    t.quantity("rate")?.ok_or_else(|| t.error("rate", Rate::ALLOWED))
}

/// Octets, at least one.
pub(super) fn octets(t: &Fields<'_>, name: &'static str) -> Result<u64, InputError> {
    let octets: Option<Bytes> = t.quantity(name)?;
    let octets = octets.map(|it| it.0).filter(|n| (1..=1 << 50).contains(n));
    octets.ok_or_else(|| t.error(name, "from 1 B to 1 PiB"))
}

fn chunk(t: &Fields<'_>) -> Result<u32, InputError> {
    let chunk: Option<Bytes> = t.quantity("chunk")?;
    let chunk = u32::try_from(chunk.unwrap_or(CHUNK).0).ok().filter(|n| *n > 0);
    chunk.ok_or_else(|| t.error("chunk", "from 1 B to 4 GiB"))
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
    match may_be_zero || duration.mean > Span::ZERO {
        true => Ok(duration),
        false => Err(t.error(name, "more than 0 s")),
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

/// The field `sizes`.
pub(super) fn read_sizes(f: &Fields<'_>) -> Result<Option<Sizes>, InputError> {
    read_law(f, "sizes")
}

/// A law of sizes in the field `name`.
pub(super) fn read_law(f: &Fields<'_>, name: &'static str) -> Result<Option<Sizes>, InputError> {
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

/// The field `arrivals`: flows per second.
pub(super) fn read_arrivals(f: &Fields<'_>) -> Result<Option<f64>, InputError> {
    let Some(a) = f.table("arrivals")? else { return Ok(None) };
    let per_second = a.number("per_second")?.filter(|n| *n > 0.0 && *n <= 1e12);
    let per_second =
        per_second.ok_or_else(|| a.error("per_second", "flows in a second, more than 0"))?;
    a.finish()?;
    Ok(Some(per_second))
}

#[cfg(test)]
mod tests;
