//! The field `regulator` of a link's direction.

use super::custom;
use super::form::{Form, Kind, by, quantity_shape};
use super::queue::amount;
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::{Amount, Packets, Quantity};
use crate::shape::Shape;
use anabranch_network::{
    AckBucketConfig, Info, LawConfig, Level, Overflow, REGULATORS, RegulatorConfig,
    ThresholdLinearConfig,
};
use anabranch_units::Bytes;
use toml::Value;

const OVERFLOWS: [(&str, Overflow); 3] = [
    ("drop-tail", Overflow::DropTail),
    ("drop-head", Overflow::DropHead),
    ("release", Overflow::Release),
];

/// The fields of every regulator.
const FIELDS: [&str; 4] = ["piggybacked", "limit", "overflow", "recheck"];

/// The field `regulator`: a table, or `false` for none. What depends on the
/// link is checked where the whole direction is known.
pub(super) fn kind() -> impl Kind<Value = Option<RegulatorConfig>> {
    by(|| shape().or_false(), read, write)
}

fn shape() -> Shape {
    let Some(usual) = usual(REGULATORS[0].name) else { return Shape::Text };
    let table = Form::described(|form| fields(form, &mut RegulatorConfig::new(usual)));
    let mut own = custom::custom_table("law");
    own.fields.extend(table.fields.iter().cloned());
    Shape::Any(vec![Shape::Table(table), Shape::Open(own)])
}

fn read(f: &Fields<'_>, name: &'static str) -> Result<Option<Option<RegulatorConfig>>, InputError> {
    if f.get(name).and_then(Value::as_bool) == Some(false) {
        return Ok(Some(None));
    }
    let Some(r) = f.table(name)? else { return Ok(None) };
    let allowed = custom::names(r.get("law"), REGULATORS.iter().map(|info| info.name));
    let law = r.required_text("law", &allowed)?;
    if custom::is_own(law) {
        // What else there is are options of the law.
        let mut config =
            RegulatorConfig::new(LawConfig::Custom(custom::read_table(&r, law, &FIELDS)?));
        shared(&mut Form::Read(&r), &mut config)?;
        return Ok(Some(Some(config)));
    }
    let usual = usual(law).ok_or_else(|| r.error("law", allowed))?;
    let mut config = RegulatorConfig::new(usual);
    Form::read_all(&r, |form| fields(form, &mut config))?;
    Ok(Some(Some(config)))
}

fn write(config: &Option<RegulatorConfig>) -> Value {
    let Some(config) = config else { return false.into() };
    if let LawConfig::Custom(own) = &config.law {
        let mut table = Form::written(|form| shared(form, &mut config.clone()));
        custom::put(&mut table, "law", own);
        return table.into();
    }
    Form::written(|form| fields(form, &mut config.clone())).into()
}

fn usual(law: &str) -> Option<LawConfig> {
    match law {
        "threshold-linear" => Some(LawConfig::ThresholdLinear(ThresholdLinearConfig::default())),
        "ack-bucket" => Some(LawConfig::AckBucket(AckBucketConfig::default())),
        _ => None,
    }
}

fn fields(form: &mut Form<'_>, config: &mut RegulatorConfig) -> Result<(), InputError> {
    shared(form, config)?;
    let law = |info: &Info| Some((info.name, info.summary, usual(info.name)?));
    let all: Vec<_> = REGULATORS.iter().filter_map(law).collect();
    form.kinds("law", None, &all, &mut config.law, |form, law| match law {
        LawConfig::ThresholdLinear(c) => {
            form.says("ACKs pass at once while no more than `low` waits, and are held for `max_delay` from `high` on; a share of the queue's `limit`, packets or octets");
            form.set("low", level(), &mut c.low)?;
            form.says("ACKs pass at once while no more than `low` waits, and are held for `max_delay` from `high` on; a share of the queue's `limit`, packets or octets");
            form.set("high", level(), &mut c.high)?;
            form.says("the longest time that an ACK is held")
                .quantity("max_delay", &mut c.max_delay)
        }
        LawConfig::AckBucket(c) => {
            form.says("no ACK goes while more than this waits; a share of the queue's `limit`, packets or octets");
            form.set("depth", level(), &mut c.depth)
        }
        LawConfig::Custom(_) => Ok(()),
    })
}

/// The fields of every regulator, [`FIELDS`].
fn shared(form: &mut Form<'_>, config: &mut RegulatorConfig) -> Result<(), InputError> {
    form.says("also hold packets with payload").boolean("piggybacked", &mut config.piggybacked)?;
    form.says("what may be held: packets, octets or `\"unlimited\"`").set(
        "limit",
        amount(),
        &mut config.limit,
    )?;
    form.says("beyond the limit: drop what comes, or `\"drop-head\"` the oldest, or `\"release\"` the oldest early")
        .choice("overflow", &OVERFLOWS, &mut config.overflow)?;
    form.says("longest time between two looks at the queue")
        .quantity("recheck", &mut config.recheck)
}

fn level() -> impl Kind<Value = Level> {
    let read = |r: &Fields<'_>, name: &'static str| {
        let Some(value) = r.get(name) else { return Ok(None) };
        let allowed = "a share of the queue's limit, from 0 to 1, or packets or octets such as \
                       \"20 packets\" or \"30 kB\"";
        let share = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
        let amount = || match Amount::parse(value.as_str()?)? {
            Amount::Packets(n) => Some(Level::Packets(n.into())),
            Amount::Octets(n) => Some(Level::Octets(Bytes(n))),
        };
        let level = share.map(Level::Share).or_else(amount);
        level.map(Some).ok_or_else(|| r.error(name, allowed))
    };
    let write = |level: &Level| -> Value {
        match *level {
            Level::Share(share) => share.into(),
            Level::Packets(n) => Packets(u32::try_from(n).unwrap_or(u32::MAX)).write().into(),
            Level::Octets(n) => n.write().into(),
        }
    };
    by(|| Shape::Any(vec![Shape::share(), quantity_shape::<Amount>()]), read, write)
}

/// An error of the regulator of the direction at `f`, with its path.
pub(super) fn error(f: &Fields<'_>, error: anabranch_network::ConfigError) -> InputError {
    match &*error.field {
        // The regulator is what makes this wrong, and the queue where it is so.
        "queue.limit" => f.refuse(error),
        field => {
            InputError::field(f.path(&format!("regulator.{field}")), error.value, error.allowed)
        }
    }
}

#[cfg(test)]
mod tests;
