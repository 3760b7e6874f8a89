//! Impairments of a link's direction.

use super::form::{Form, Kind, Probability, Text, by, integer, number, quantity};
use super::middlebox;
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use crate::shape::Shape;
use anabranch_network::{
    IMPAIRMENTS, ImpairmentConfig, ImpairmentKind, Info, JitterConfig, JitterLaw, MiddleboxConfig,
    OutageConfig, Position,
};
use anabranch_units::{Bytes, Rate, Span};
use toml::Value;

/// An impairment and where it acts.
#[derive(Clone, PartialEq, Debug)]
pub struct Impairment {
    /// The impairment with its parameters.
    pub what: Effect,
    /// The place at which it acts: before the queue, or after the transmission.
    pub at: Position,
}

/// What an impairment does.
#[derive(Clone, PartialEq, Debug)]
pub enum Effect {
    /// Something that concerns all packets alike.
    Any(ImpairmentKind),
    /// Chosen data packets of one flow are dropped, once each.
    Packets {
        /// Name of the flow whose packets are dropped.
        flow: String,
        /// Drops data of the host `to`, instead of data of the host `from`.
        reverse_data: bool,
        /// Numbers of the data packets to drop, counted from 1 as they come to this link.
        numbers: Vec<u64>,
    },
}

const LAWS: [(&str, JitterLaw); 3] =
    [("uniform", JitterLaw::Uniform), ("normal", JitterLaw::Normal), ("pareto", JitterLaw::Pareto)];
/// Time that a packet waits for those that are to overtake it.
const LONGEST: Span = Span::from_secs(1);
const POSITIONS: [(&str, Position); 2] =
    [("ingress", Position::Ingress), ("egress", Position::Egress)];

const PROBABILITY: &str = "a probability, from 0 to 1";
const COUNT: &str = "a count of packets, at least 1";
const INTERVALS: &str = "a list such as [{ at = \"5 s\", for = \"1 s\" }]";

/// The field `impairments`; none when absent.
pub(super) fn list(form: &mut Form<'_>, all: &mut Vec<Impairment>) -> Result<(), InputError> {
    form.list("impairments", all, Impairment::unset, fields)
}

/// What an entry may hold.
#[cfg(test)]
pub(super) fn shape() -> Shape {
    Shape::Table(Form::described(|form| fields(form, &mut Impairment::unset())))
}

impl Impairment {
    /// What stands in the place of one before it is read.
    fn unset() -> Impairment {
        let what = Effect::Any(ImpairmentKind::Bernoulli { rate: 0.0 });
        Impairment { what, at: Position::default() }
    }
}

/// The kinds with what each has by default; what is required stands as nothing.
fn usual(name: &str) -> Option<Effect> {
    let (probability, config) = (0.0, Vec::new());
    Some(Effect::Any(match name {
        "bernoulli" => ImpairmentKind::Bernoulli { rate: 0.0 },
        "gilbert-elliott" => ImpairmentKind::GilbertElliott { p: 0.0, r: 0.0, k: 1.0, h: 0.0 },
        "bit-errors" => ImpairmentKind::BitErrors { ber: 0.0 },
        "periodic" => ImpairmentKind::Periodic { every: 0, first: 0 },
        "reorder" => ImpairmentKind::Reorder { probability, extra: Span::ZERO },
        "reorder-distance" => {
            ImpairmentKind::ReorderDistance { probability, distance: 0, longest: LONGEST }
        }
        "jitter" => ImpairmentKind::Jitter(JitterConfig {
            mean: Span::ZERO,
            deviation: Span::ZERO,
            law: JitterLaw::default(),
            correlation: 0.0,
            keep_order: false,
        }),
        "duplicate" => ImpairmentKind::Duplicate { probability },
        "corrupt" => ImpairmentKind::Corrupt { probability, bits: 1 },
        "outage" => ImpairmentKind::Outage(OutageConfig { intervals: config, period: None }),
        "police" => ImpairmentKind::Police { rate: Rate::gbit(1), burst: Bytes(0) },
        "middlebox" => ImpairmentKind::Middlebox(MiddleboxConfig {
            rewrite_sack: true,
            ..MiddleboxConfig::default()
        }),
        "packets" => {
            let (flow, numbers) = (String::new(), Vec::new());
            return Some(Effect::Packets { flow, reverse_data: false, numbers });
        }
        _ => return None,
    }))
}

fn fields(form: &mut Form<'_>, impairment: &mut Impairment) -> Result<(), InputError> {
    let kind = |info: &Info| Some((info.name, info.summary, usual(info.name)?));
    let all: Vec<_> = IMPAIRMENTS.iter().filter_map(kind).collect();
    form.says("acts before the queue, or with `\"egress\"` after the transmission, so that a lost packet has used the link")
        .choice("at", &POSITIONS, &mut impairment.at)?;
    form.kinds_by("kind", None, &all, &mut impairment.what, effect_name, effect)?;
    if let (Some(f), Effect::Any(kind)) = (form.reads(), &impairment.what) {
        let config = ImpairmentConfig { kind: kind.clone(), at: impairment.at };
        config.validate().map_err(|error| f.refuse(error))?;
    }
    Ok(())
}

/// The name of the kind that an effect is of.
fn effect_name(effect: &Effect) -> &'static str {
    let Effect::Any(kind) = effect else { return "packets" };
    match kind {
        ImpairmentKind::Bernoulli { .. } => "bernoulli",
        ImpairmentKind::GilbertElliott { .. } => "gilbert-elliott",
        ImpairmentKind::BitErrors { .. } => "bit-errors",
        ImpairmentKind::Periodic { .. } => "periodic",
        ImpairmentKind::Reorder { .. } => "reorder",
        ImpairmentKind::ReorderDistance { .. } => "reorder-distance",
        ImpairmentKind::Jitter(_) => "jitter",
        ImpairmentKind::Duplicate { .. } => "duplicate",
        ImpairmentKind::Corrupt { .. } => "corrupt",
        ImpairmentKind::Outage(_) => "outage",
        ImpairmentKind::Police { .. } => "police",
        ImpairmentKind::Middlebox(_) => "middlebox",
        ImpairmentKind::Packets { .. } => {
            unreachable!("chosen packets are described by the name of their flow")
        }
    }
}

fn effect(form: &mut Form<'_>, effect: &mut Effect) -> Result<(), InputError> {
    match effect {
        Effect::Any(kind) => any(form, kind),
        Effect::Packets { flow, reverse_data, numbers } => {
            form.says("the flow whose data packets are dropped, once each").required(
                "flow",
                Text,
                "the name of a flow",
                flow,
            )?;
            form.says("numbers of the packets, counted from 1 as they come here, retransmissions included");
            form.required("numbers", packet_numbers(), NUMBERS, numbers)?;
            form.says("data of the flow's other host is meant")
                .boolean("reverse_data", reverse_data)
        }
    }
}

fn any(form: &mut Form<'_>, kind: &mut ImpairmentKind) -> Result<(), InputError> {
    match kind {
        ImpairmentKind::Bernoulli { rate } => {
            chance(form, "probability that a packet is lost", "rate", rate)
        }
        ImpairmentKind::GilbertElliott { p, r, k, h } => {
            chance(form, "probability of going from the good state to the bad one", "p", p)?;
            chance(form, "probability of going back", "r", r)?;
            form.says("probability that a packet survives in the good state")
                .probability("k", k)?;
            form.says("probability that a packet survives in the bad state").probability("h", h)
        }
        ImpairmentKind::BitErrors { ber } => {
            chance(form, "probability that a bit is wrong, which drops its packet", "ber", ber)
        }
        ImpairmentKind::Periodic { every, first } => {
            form.says(
                "every n-th data packet that comes here is dropped, retransmissions counted too",
            );
            form.required("every", integer(ImpairmentKind::COUNT), COUNT, every)?;
            let mut given = Some(*first).filter(|_| form.reads().is_none());
            form.says("number of the first").or_else("`every`");
            form.optional("first", integer(ImpairmentKind::COUNT), &mut given)?;
            *first = given.unwrap_or(*every);
            Ok(())
        }
        ImpairmentKind::Reorder { probability, extra } => {
            chance(form, "probability that a packet travels longer", "probability", probability)?;
            form.says("by how much longer").required("extra", quantity(), Span::ALLOWED, extra)
        }
        ImpairmentKind::ReorderDistance { probability, distance, longest } => {
            chance(form, "probability that a packet is overtaken", "probability", probability)?;
            form.says("later packets that overtake it");
            form.required("distance", integer(ImpairmentKind::DISTANCE), COUNT, distance)?;
            form.says("how long it waits for them at most").quantity("longest", longest)
        }
        ImpairmentKind::Jitter(jitter) => self::jitter(form, jitter),
        ImpairmentKind::Duplicate { probability } => {
            chance(form, "probability that a packet comes twice", "probability", probability)
        }
        ImpairmentKind::Corrupt { probability, bits } => {
            chance(
                form,
                "probability that bits of a packet are flipped",
                "probability",
                probability,
            )?;
            form.says("how many bits").integer("bits", ImpairmentKind::BITS, bits)
        }
        ImpairmentKind::Outage(outage) => {
            if form.reads().is_some_and(|f| f.get("intervals").is_none()) {
                form.require(false, "intervals", INTERVALS)?;
            }
            form.says(
                "when nothing passes in this direction; `for` longer than the run is for good, and \
                 `reverse` has the other direction's",
            );
            form.list("intervals", &mut outage.intervals, Default::default, interval)?;
            form.require(!outage.intervals.is_empty(), "intervals", INTERVALS)?;
            form.says("in place of `intervals`, a table beside the scenario")
                .elsewhere("file", || Shape::Text);
            form.says("time after which they come again").optional(
                "period",
                quantity(),
                &mut outage.period,
            )
        }
        ImpairmentKind::Police { rate, burst } => {
            form.says("rate at which tokens come; what finds none is dropped").required(
                "rate",
                quantity(),
                Rate::ALLOWED,
                rate,
            )?;
            form.says("tokens that may gather").required("burst", quantity(), Bytes::ALLOWED, burst)
        }
        ImpairmentKind::Middlebox(what) => middlebox::fields(form, what),
        ImpairmentKind::Packets { .. } => Ok(()),
    }
}

/// A probability that must be given.
fn chance(
    form: &mut Form<'_>,
    says: &'static str,
    name: &'static str,
    value: &mut f64,
) -> Result<(), InputError> {
    form.says(says).required(name, Probability, PROBABILITY, value)
}

fn jitter(form: &mut Form<'_>, jitter: &mut JitterConfig) -> Result<(), InputError> {
    form.says("every packet travels longer by `mean + deviation x`, at least by nothing")
        .required("mean", quantity(), Span::ALLOWED, &mut jitter.mean)?;
    form.says("every packet travels longer by `mean + deviation x`, at least by nothing")
        .quantity("deviation", &mut jitter.deviation)?;
    form.says("law of x").choice("law", &LAWS, &mut jitter.law)?;
    form.says("correlation of x with that of the packet before").set(
        "correlation",
        number(JitterConfig::CORRELATION),
        &mut jitter.correlation,
    )?;
    form.says("no packet overtakes another").boolean("keep_order", &mut jitter.keep_order)
}

fn interval(form: &mut Form<'_>, (at, length): &mut (Span, Span)) -> Result<(), InputError> {
    form.says("when it begins").required("at", quantity(), Span::ALLOWED, at)?;
    form.says("how long it takes").required("for", quantity(), Span::ALLOWED, length)
}

const NUMBERS: &str = "a list of packet numbers counted from 1, as [24, 25]";

fn packet_numbers() -> impl Kind<Value = Vec<u64>> {
    let read = |f: &Fields<'_>, name: &'static str| {
        let Some(value) = f.get(name) else { return Ok(None) };
        let number = |value: &Value| {
            let number = value.as_integer()?;
            u64::try_from(number).ok().filter(|n| ImpairmentKind::COUNT.contains(*n))
        };
        let list: Option<_> = value.as_array().and_then(|list| list.iter().map(number).collect());
        list.map(Some).ok_or_else(|| f.error(name, NUMBERS))
    };
    let write = |numbers: &Vec<u64>| {
        Value::Array(numbers.iter().map(|n| Value::Integer(*n as i64)).collect())
    };
    by(|| integer(ImpairmentKind::COUNT).shape().list(), read, write)
}
