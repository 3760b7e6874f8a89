//! Channels: capacities that directions of links share by explicit rates.

use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_network::ChannelConfig;
use anabranch_units::{Rate, Span};
use toml::{Table, Value};

/// A channel: one capacity for the directions `ends[0]` to `ends[1]` of its
/// links, and one for the others.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChannelSpec {
    /// Its name.
    pub name: String,
    /// Of the directions `ends[0]` to `ends[1]`.
    pub forward: ChannelConfig,
    /// Of the directions `ends[1]` to `ends[0]`.
    pub reverse: ChannelConfig,
}

/// The rate of a direction, where a channel grants it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExplicitRate {
    /// Name of the channel.
    pub channel: String,
    /// The most that is granted; `None` for the channel's capacity.
    pub peak: Option<Rate>,
}

impl ChannelSpec {
    pub(super) fn read(f: &Fields<'_>) -> Result<ChannelSpec, InputError> {
        let name = f.required_text("name", "a name for the channel")?.to_owned();
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
        Ok(ChannelSpec { name, forward, reverse })
    }

    pub(super) fn write(&self) -> Table {
        let mut table = Table::new();
        let mut put = |name: &str, value: String| {
            table.insert(name.to_owned(), Value::String(value));
        };
        let ChannelConfig { capacity, interval, feedback, initial } = self.forward;
        put("name", self.name.clone());
        put("capacity", capacity.write());
        put("reverse_capacity", self.reverse.capacity.write());
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
        table.insert("explicit".into(), self.channel.as_str().into());
        if let Some(peak) = self.peak {
            table.insert("peak".into(), peak.write().into());
        }
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
    let channel = rate.required_text("explicit", "the name of a channel")?.to_owned();
    let explicit = ExplicitRate { channel, peak: rate.quantity("peak")? };
    rate.finish()?;
    Ok((None, Some(explicit)))
}
