//! Channels: capacities that directions of links share by explicit rates, told or carried.

use super::abr::{LineSpec, SourceFields};
use super::form::{Form, Kind, Text, by, quantity, quantity_shape};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use crate::shape::Shape;
use anabranch_network::ChannelConfig;
use anabranch_units::Rate;
use toml::Value;

/// A channel: a capacity that links share by explicit rates.
#[derive(Clone, PartialEq, Debug)]
pub struct ChannelSpec {
    /// Name of the channel, by which links refer to it.
    pub name: String,
    /// How rates are computed and told.
    pub kind: ChannelKind,
}

/// How a channel's rates come to its links.
#[derive(Clone, PartialEq, Debug)]
pub enum ChannelKind {
    /// Computed in one place, and told: one capacity for the directions `ends[0]` to `ends[1]` of
    /// its links, and one for the others.
    Told {
        /// The capacity of the directions `ends[0]` to `ends[1]`.
        forward: ChannelConfig,
        /// The capacity of the directions `ends[1]` to `ends[0]`.
        reverse: ChannelConfig,
    },
    /// A line of ATM, whose rates RM cells carry.
    Abr(LineSpec),
}

/// The rate of a direction, where a channel grants it.
#[derive(Clone, PartialEq, Debug)]
pub struct ExplicitRate {
    /// Name of the channel; of lines of ATM, all on the way from `ends[0]` to `ends[1]`.
    pub channels: Vec<String>,
    /// The most that is granted; `None` for the channel's capacity, of ATM the first line's.
    pub peak: Option<Rate>,
    /// Parameters of the source, for channels of ATM.
    pub source: SourceFields,
    /// The direction has no delay of its own; lines of ATM have theirs.
    pub(super) delay_left_out: bool,
}

impl ChannelSpec {
    /// What stands in the place of one before it is read.
    pub(super) fn unset() -> ChannelSpec {
        ChannelSpec { name: String::new(), kind: told() }
    }

    /// The fields of an entry.
    pub(super) fn fields(form: &mut Form<'_>, spec: &mut ChannelSpec) -> Result<(), InputError> {
        form.says("the name by which links and `rate.explicit` mean it");
        form.required("name", Text, "a name for the channel", &mut spec.name)?;
        let all = [
            ("told", "rates are computed in one place, and told", told()),
            (
                "abr",
                "a line of ATM, whose rates RM cells carry",
                ChannelKind::Abr(LineSpec::unset()),
            ),
        ];
        // The usual kind is not written.
        if let (Form::Write(_), ChannelKind::Told { .. }) = (&*form, &spec.kind) {
            return kind_fields(form, &mut spec.kind);
        }
        form.kinds("kind", Some("told"), &all, &mut spec.kind, kind_fields)
    }
}

fn told() -> ChannelKind {
    let config = ChannelConfig::new(Rate::gbit(1));
    ChannelKind::Told { forward: config, reverse: config }
}

fn kind_fields(form: &mut Form<'_>, kind: &mut ChannelKind) -> Result<(), InputError> {
    let (forward, reverse) = match kind {
        ChannelKind::Abr(line) => return LineSpec::fields(form, line),
        ChannelKind::Told { forward, reverse } => (forward, reverse),
    };
    form.says("what the directions `ends[0]` to `ends[1]` of the links share");
    form.required("capacity", quantity(), Rate::ALLOWED, &mut forward.capacity)?;
    let default = ChannelConfig::new(forward.capacity);
    let mut back = capacity_back(form, reverse.capacity);
    form.says("what the other directions share").or_else("`capacity`");
    form.optional("reverse_capacity", quantity(), &mut back)?;
    if form.reads().is_some() {
        *forward = default;
    }
    form.says("time from one allocation to the next")
        .quantity("interval", &mut forward.interval)?;
    form.says("time from an allocation until it holds")
        .quantity("feedback", &mut forward.feedback)?;
    form.says("rate until the first grant").or_else("the capacity over the number of links");
    form.optional("initial", quantity(), &mut forward.initial)?;
    *reverse = ChannelConfig { capacity: back.unwrap_or(forward.capacity), ..*forward };
    let Some(f) = form.reads() else { return Ok(()) };
    forward.validate().map_err(|error| f.refuse(error))
}

/// The capacity of the other direction; while it is read, none until it is there.
pub(super) fn capacity_back(form: &Form<'_>, capacity: Rate) -> Option<Rate> {
    if form.reads().is_some() { None } else { Some(capacity) }
}

impl ExplicitRate {
    fn unset() -> ExplicitRate {
        let source = SourceFields::default();
        ExplicitRate { channels: Vec::new(), peak: None, source, delay_left_out: false }
    }
}

const NAMES: &str = "the name of a channel, or the names of lines of ATM on the way";

/// The table of a rate that a channel grants.
fn explicit(form: &mut Form<'_>, rate: &mut ExplicitRate) -> Result<(), InputError> {
    form.says(
        "the name of a [channel](#channels), or of the [lines of ATM](#lines-of-atm) on the way",
    );
    form.required("explicit", names(), NAMES, &mut rate.channels)?;
    form.says("the most that is granted").or_else("the channel's capacity");
    form.optional("peak", quantity(), &mut rate.peak)?;
    SourceFields::fields(form, &mut rate.source)
}

/// A name, or a list of names.
fn names() -> impl Kind<Value = Vec<String>> {
    let read = |f: &Fields<'_>, name: &'static str| match f.get(name) {
        Some(Value::Array(_)) => {
            let names = f.texts(name)?.filter(|names| !names.is_empty());
            names.map(Some).ok_or_else(|| f.error(name, NAMES))
        }
        _ => Ok(f.text(name)?.map(|name| vec![name.to_owned()])),
    };
    let write = |names: &Vec<String>| match names.as_slice() {
        [one] => one.as_str().into(),
        more => Value::Array(more.iter().map(|more| more.as_str().into()).collect()),
    };
    by(|| Shape::Any(vec![Shape::Text, Shape::Text.list()]), read, write)
}

/// The field `rate` of a direction: a rate, or who grants it.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum GivenRate {
    /// The rate is given by the scenario.
    Fixed(Rate),
    /// The rate is what a channel grants.
    Explicit(ExplicitRate),
}

/// The field `rate` of a direction.
pub(super) fn rate() -> impl Kind<Value = GivenRate> {
    let read = |f: &Fields<'_>, name: &'static str| {
        let Some(Value::Table(table)) = f.get(name) else {
            let allowed = format!("{}, or {{ explicit = \"CHANNEL\" }}", Rate::ALLOWED);
            let rate = f.quantity(name).map_err(|_| f.error(name, allowed))?;
            return Ok(rate.map(GivenRate::Fixed));
        };
        let mut rate = ExplicitRate::unset();
        let inner = Fields::new(f.path(name), table);
        Form::read_all(&inner, |form| explicit(form, &mut rate))?;
        Ok(Some(GivenRate::Explicit(rate)))
    };
    let write = |rate: &GivenRate| match rate {
        GivenRate::Fixed(rate) => rate.write().into(),
        GivenRate::Explicit(rate) => Form::written(|form| explicit(form, &mut rate.clone())).into(),
    };
    let shape = || {
        let table = Form::described(|form| explicit(form, &mut ExplicitRate::unset()));
        Shape::Any(vec![quantity_shape::<Rate>(), Shape::Table(table)])
    };
    by(shape, read, write)
}
