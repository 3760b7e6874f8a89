//! Channels: capacities that directions of links share by explicit rates, told or carried.

use super::abr::{LineSpec, SourceFields};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_network::ChannelConfig;
use anabranch_units::{Rate, Span};
use toml::{Table, Value};

/// A channel.
#[derive(Clone, PartialEq, Debug)]
pub struct ChannelSpec {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: ChannelKind,
}

/// How a channel's rates come to its links.
#[derive(Clone, PartialEq, Debug)]
pub enum ChannelKind {
    /// Computed in one place, and told: one capacity for the directions `ends[0]` to `ends[1]` of
    /// its links, and one for the others.
    Told {
        /// Of the directions `ends[0]` to `ends[1]`.
        forward: ChannelConfig,
        /// Of the directions `ends[1]` to `ends[0]`.
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
    /// Of ATM: parameters of the source.
    pub source: SourceFields,
    /// The direction has no delay of its own; lines of ATM have theirs.
    pub(super) delay_left_out: bool,
}

impl ChannelSpec {
    pub(super) fn read(f: &Fields<'_>) -> Result<ChannelSpec, InputError> {
        let name = f.required_text("name", "a name for the channel")?.to_owned();
        if f.choice("kind", &[("told", false), ("abr", true)])?.unwrap_or(false) {
            return Ok(ChannelSpec { name, kind: ChannelKind::Abr(LineSpec::read(f)?) });
        }
        let capacity = f.quantity("capacity")?;
        let capacity: Rate = capacity.ok_or_else(|| f.error("capacity", Rate::ALLOWED))?;
        let default = ChannelConfig::new(capacity);
        let forward = ChannelConfig {
            capacity,
            interval: f.quantity("interval")?.unwrap_or(default.interval),
            feedback: f.quantity("feedback")?.unwrap_or(default.feedback),
            initial: f.quantity("initial")?,
        };
        let reverse_capacity = f.quantity("reverse_capacity")?.unwrap_or(capacity);
        let reverse = ChannelConfig { capacity: reverse_capacity, ..forward };
        f.finish()?;
        forward.validate().map_err(|error| super::queue::in_field(f, error))?;
        Ok(ChannelSpec { name, kind: ChannelKind::Told { forward, reverse } })
    }

    pub(super) fn write(&self) -> Table {
        let mut table = Table::new();
        table.insert("name".into(), self.name.as_str().into());
        let (forward, reverse) = match &self.kind {
            ChannelKind::Told { forward, reverse } => (forward, reverse),
            ChannelKind::Abr(line) => {
                table.insert("kind".into(), "abr".into());
                line.write(&mut table);
                return table;
            }
        };
        let mut put = |name: &str, value: String| {
            table.insert(name.to_owned(), Value::String(value));
        };
        let ChannelConfig { capacity, interval, feedback, initial } = *forward;
        put("capacity", capacity.write());
        put("reverse_capacity", reverse.capacity.write());
        put("interval", Span::write(&interval));
        put("feedback", Span::write(&feedback));
        if let Some(initial) = initial {
            put("initial", initial.write());
        }
        table
    }
}

impl ExplicitRate {
    pub(super) fn write(&self) -> Value {
        let mut table = Table::new();
        let explicit = match self.channels.as_slice() {
            [one] => one.as_str().into(),
            more => Value::Array(more.iter().map(|more| more.as_str().into()).collect()),
        };
        table.insert("explicit".into(), explicit);
        if let Some(peak) = self.peak {
            table.insert("peak".into(), peak.write().into());
        }
        self.source.write(&mut table);
        Value::Table(table)
    }
}

/// The field `rate` of a direction: a rate, or who grants it.
pub(super) fn read_rate(
    f: &Fields<'_>,
) -> Result<(Option<Rate>, Option<ExplicitRate>), InputError> {
    let Some(Value::Table(table)) = f.get("rate") else {
        let allowed = format!("{}, or {{ explicit = \"CHANNEL\" }}", Rate::ALLOWED);
        return Ok((f.quantity("rate").map_err(|_| f.error("rate", allowed))?, None));
    };
    let rate = Fields::new(f.path("rate"), table);
    let what = "the name of a channel, or the names of lines of ATM on the way";
    let channels = match rate.get("explicit") {
        Some(Value::Array(_)) => rate.texts("explicit")?.unwrap_or_default(),
        _ => vec![rate.required_text("explicit", what)?.to_owned()],
    };
    if channels.is_empty() {
        return Err(rate.error("explicit", what));
    }
    let (peak, source) = (rate.quantity("peak")?, SourceFields::read(&rate)?);
    let explicit = ExplicitRate { channels, peak, source, delay_left_out: false };
    rate.finish()?;
    Ok((None, Some(explicit)))
}
