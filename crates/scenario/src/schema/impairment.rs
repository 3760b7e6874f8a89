//! Impairments of a link's direction.

use super::middlebox;
use super::queue::in_field;
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_network::{
    IMPAIRMENTS, ImpairmentConfig, ImpairmentKind, JitterConfig, JitterLaw, OutageConfig, Position,
};
use anabranch_units::{Bytes, Rate, Span};
use toml::{Table, Value};

/// An impairment and where it acts.
#[derive(Clone, PartialEq, Debug)]
pub struct Impairment {
    /// What happens.
    pub what: Effect,
    /// Before the queue, or after the transmission.
    pub at: Position,
}

/// What an impairment does.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// Something that concerns all packets alike.
    Any(ImpairmentKind),
    /// Chosen data packets of one flow are dropped, once each.
    Packets {
        /// Name of the flow.
        flow: String,
        /// Drops data of the host `to`, instead of data of the host `from`.
        reverse_data: bool,
        /// Which data packets, counted from 1 as they come to this link.
        numbers: Vec<u64>,
    },
}

const LAWS: [(&str, JitterLaw); 3] =
    [("uniform", JitterLaw::Uniform), ("normal", JitterLaw::Normal), ("pareto", JitterLaw::Pareto)];
/// How long a packet waits for those that are to overtake it.
const LONGEST: Span = Span::from_secs(1);
const POSITIONS: [(&str, Position); 2] =
    [("ingress", Position::Ingress), ("egress", Position::Egress)];

/// The field `impairments`; none when absent.
pub(super) fn read_all(f: &Fields<'_>) -> Result<Vec<Impairment>, InputError> {
    f.tables("impairments")?.iter().map(read).collect()
}

fn read(f: &Fields<'_>) -> Result<Impairment, InputError> {
    let names = || IMPAIRMENTS.iter().map(|info| info.name).collect::<Vec<_>>().join(", ");
    let kind = f.text("kind")?.ok_or_else(|| f.error("kind", names()))?;
    let probability = |name| -> Result<f64, InputError> {
        f.probability(name)?.ok_or_else(|| f.error(name, "a probability, from 0 to 1"))
    };
    let what = match kind {
        "bernoulli" => Effect::Any(ImpairmentKind::Bernoulli { rate: probability("rate")? }),
        "gilbert-elliott" => Effect::Any(ImpairmentKind::GilbertElliott {
            p: probability("p")?,
            r: probability("r")?,
            k: f.probability("k")?.unwrap_or(1.0),
            h: f.probability("h")?.unwrap_or(0.0),
        }),
        "bit-errors" => Effect::Any(ImpairmentKind::BitErrors { ber: probability("ber")? }),
        "periodic" => {
            let every = read_count(f, "every")?.ok_or_else(|| f.error("every", COUNT))?;
            let first = read_count(f, "first")?.unwrap_or(every);
            Effect::Any(ImpairmentKind::Periodic { every, first })
        }
        "reorder-distance" => Effect::Any(ImpairmentKind::ReorderDistance {
            probability: probability("probability")?,
            distance: f
                .integer("distance", 1..=u32::MAX)?
                .ok_or_else(|| f.error("distance", COUNT))?,
            longest: f.quantity("longest")?.unwrap_or(LONGEST),
        }),
        "jitter" => Effect::Any(ImpairmentKind::Jitter(JitterConfig {
            mean: f.quantity("mean")?.ok_or_else(|| f.error("mean", Span::ALLOWED))?,
            deviation: f.quantity("deviation")?.unwrap_or(Span::ZERO),
            law: f.choice("law", &LAWS)?.unwrap_or_default(),
            correlation: f.number("correlation")?.unwrap_or(0.0),
            keep_order: f.boolean("keep_order")?.unwrap_or(false),
        })),
        "corrupt" => Effect::Any(ImpairmentKind::Corrupt {
            probability: probability("probability")?,
            bits: f.integer("bits", 1..=1000)?.unwrap_or(1),
        }),
        "outage" => Effect::Any(ImpairmentKind::Outage(read_outage(f)?)),
        "police" => Effect::Any(ImpairmentKind::Police {
            rate: f.quantity("rate")?.ok_or_else(|| f.error("rate", Rate::ALLOWED))?,
            burst: f.quantity("burst")?.ok_or_else(|| f.error("burst", Bytes::ALLOWED))?,
        }),
        "middlebox" => Effect::Any(ImpairmentKind::Middlebox(middlebox::read(f)?)),
        "reorder" => Effect::Any(ImpairmentKind::Reorder {
            probability: probability("probability")?,
            extra: f.quantity("extra")?.ok_or_else(|| f.error("extra", Span::ALLOWED))?,
        }),
        "duplicate" => {
            Effect::Any(ImpairmentKind::Duplicate { probability: probability("probability")? })
        }
        "packets" => Effect::Packets {
            flow: f.required_text("flow", "the name of a flow")?.to_owned(),
            reverse_data: f.boolean("reverse_data")?.unwrap_or(false),
            numbers: read_numbers(f)?,
        },
        _ => return Err(f.error("kind", names())),
    };
    let at = f.choice("at", &POSITIONS)?.unwrap_or_default();
    f.finish()?;
    if let Effect::Any(kind) = &what {
        let config = ImpairmentConfig { kind: kind.clone(), at };
        config.validate().map_err(|error| in_field(f, error))?;
    }
    Ok(Impairment { what, at })
}

fn read_outage(f: &Fields<'_>) -> Result<OutageConfig, InputError> {
    let mut intervals = Vec::new();
    for table in f.tables("intervals")? {
        let at = table.quantity("at")?.ok_or_else(|| table.error("at", Span::ALLOWED))?;
        let length = table.quantity("for")?.ok_or_else(|| table.error("for", Span::ALLOWED))?;
        table.finish()?;
        intervals.push((at, length));
    }
    if intervals.is_empty() {
        return Err(f.error("intervals", "a list such as [{ at = \"5 s\", for = \"1 s\" }]"));
    }
    Ok(OutageConfig { intervals, period: f.quantity("period")? })
}

const COUNT: &str = "a count of packets, at least 1";

fn read_count(f: &Fields<'_>, name: &'static str) -> Result<Option<u64>, InputError> {
    let Some(value) = f.get(name) else { return Ok(None) };
    let count = value.as_integer().and_then(|n| u64::try_from(n).ok()).filter(|n| *n > 0);
    count.map(Some).ok_or_else(|| f.error(name, COUNT))
}

fn read_numbers(f: &Fields<'_>) -> Result<Vec<u64>, InputError> {
    let number = |value: &Value| {
        let number = value.as_integer()?;
        u64::try_from(number).ok().filter(|n| *n > 0)
    };
    f.get("numbers")
        .and_then(Value::as_array)
        .and_then(|list| list.iter().map(number).collect())
        .ok_or_else(|| f.error("numbers", "a list of packet numbers counted from 1, as [24, 25]"))
}

impl Impairment {
    pub(super) fn write(&self) -> Value {
        let mut table = Table::new();
        let mut put = |name: &str, value: Value| {
            table.insert(name.to_owned(), value);
        };
        match &self.what {
            Effect::Any(ImpairmentKind::Bernoulli { rate }) => {
                put("kind", "bernoulli".into());
                put("rate", (*rate).into());
            }
            Effect::Any(ImpairmentKind::GilbertElliott { p, r, k, h }) => {
                put("kind", "gilbert-elliott".into());
                for (name, value) in [("p", p), ("r", r), ("k", k), ("h", h)] {
                    put(name, (*value).into());
                }
            }
            Effect::Any(ImpairmentKind::BitErrors { ber }) => {
                put("kind", "bit-errors".into());
                put("ber", (*ber).into());
            }
            Effect::Any(ImpairmentKind::Periodic { every, first }) => {
                put("kind", "periodic".into());
                put("every", Value::Integer(*every as i64));
                put("first", Value::Integer(*first as i64));
            }
            Effect::Any(ImpairmentKind::Reorder { probability, extra }) => {
                put("kind", "reorder".into());
                put("probability", (*probability).into());
                put("extra", extra.write().into());
            }
            Effect::Any(ImpairmentKind::Duplicate { probability }) => {
                put("kind", "duplicate".into());
                put("probability", (*probability).into());
            }
            Effect::Any(ImpairmentKind::ReorderDistance { probability, distance, longest }) => {
                put("kind", "reorder-distance".into());
                put("probability", (*probability).into());
                put("distance", i64::from(*distance).into());
                put("longest", longest.write().into());
            }
            Effect::Any(ImpairmentKind::Jitter(jitter)) => {
                put("kind", "jitter".into());
                put("mean", jitter.mean.write().into());
                put("deviation", jitter.deviation.write().into());
                let law = LAWS.iter().find(|(_, law)| *law == jitter.law);
                put("law", law.map_or("", |(name, _)| name).into());
                put("correlation", jitter.correlation.into());
                put("keep_order", jitter.keep_order.into());
            }
            Effect::Any(ImpairmentKind::Corrupt { probability, bits }) => {
                put("kind", "corrupt".into());
                put("probability", (*probability).into());
                put("bits", i64::from(*bits).into());
            }
            Effect::Any(ImpairmentKind::Outage(outage)) => {
                put("kind", "outage".into());
                let interval = |(at, length): &(Span, Span)| {
                    let fields = [("at", at), ("for", length)];
                    let fields = fields.map(|(name, span)| (name.into(), span.write().into()));
                    Value::Table(Table::from_iter(fields))
                };
                put("intervals", Value::Array(outage.intervals.iter().map(interval).collect()));
                if let Some(period) = outage.period {
                    put("period", period.write().into());
                }
            }
            Effect::Any(ImpairmentKind::Police { rate, burst }) => {
                put("kind", "police".into());
                put("rate", rate.write().into());
                put("burst", burst.write().into());
            }
            Effect::Any(ImpairmentKind::Middlebox(what)) => middlebox::write(what, &mut put),
            Effect::Any(ImpairmentKind::Packets { .. }) => {
                unreachable!("chosen packets are described by the name of their flow")
            }
            Effect::Packets { flow, reverse_data, numbers } => {
                put("kind", "packets".into());
                put("flow", flow.as_str().into());
                put("reverse_data", (*reverse_data).into());
                let numbers = numbers.iter().map(|n| Value::Integer(*n as i64)).collect();
                put("numbers", Value::Array(numbers));
            }
        }
        let at = POSITIONS.iter().find(|(_, at)| *at == self.at);
        put("at", at.map_or("", |(name, _)| name).into());
        Value::Table(table)
    }
}
