//! `icmp`: whether nodes send ICMP errors, and how many. From and to TOML.

use super::form::{Form, Kind, by, quantity};
use crate::InputError;
use crate::fields::Fields;
use crate::shape::Shape;
use anabranch_sim::{IcmpBucket, IcmpLimits};
use anabranch_units::Span;
use toml::Value;

const ALLOWED: &str = "true, false, \"linux\", or a table of limits";

/// The field `icmp`; `None`: no errors are sent.
pub(super) fn kind() -> impl Kind<Value = Option<IcmpLimits>> {
    let read = |f: &Fields<'_>, name: &'static str| {
        Ok(Some(match f.get(name) {
            None => return Ok(None),
            Some(Value::Boolean(false)) => None,
            Some(Value::Boolean(true)) => Some(IcmpLimits::NONE),
            Some(Value::String(name)) if name == "linux" => Some(IcmpLimits::linux()),
            Some(Value::Table(table)) => {
                let mut limits = IcmpLimits::NONE;
                let table = Fields::new(f.path(name), table);
                Form::read_all(&table, |form| fields(form, &mut limits))?;
                Some(limits)
            }
            Some(_) => return Err(f.error(name, ALLOWED)),
        }))
    };
    let write = |limits: &Option<IcmpLimits>| match limits {
        None => false.into(),
        Some(limits) if *limits == IcmpLimits::NONE => true.into(),
        Some(limits) => Form::written(|form| fields(form, &mut limits.clone())).into(),
    };
    let shape = || {
        let table = Form::described(|form| fields(form, &mut IcmpLimits::NONE.clone()));
        Shape::Any(vec![Shape::Boolean, Shape::word("linux"), Shape::Table(table)])
    };
    by(shape, read, write)
}

fn fields(form: &mut Form<'_>, limits: &mut IcmpLimits) -> Result<(), InputError> {
    form.says("errors that a node sends, in all").or_else("no limit");
    form.optional_table("node", &mut limits.node, unset, bucket)?;
    form.says("errors that a node sends towards one destination").or_else("no limit");
    form.optional_table("destination", &mut limits.destination, unset, bucket)?;
    form.says("the limits hold for *packet too big*, which Linux exempts");
    form.boolean("too_big", &mut limits.too_big)
}

fn unset() -> IcmpBucket {
    IcmpBucket { interval: Span::ZERO, burst: 1 }
}

fn bucket(form: &mut Form<'_>, bucket: &mut IcmpBucket) -> Result<(), InputError> {
    const INTERVAL: &str = "more than 0 s";
    form.says("time in which one may be sent").required(
        "interval",
        quantity(),
        INTERVAL,
        &mut bucket.interval,
    )?;
    form.require(bucket.interval > Span::ZERO, "interval", INTERVAL)?;
    form.says("errors that may gather").integer("burst", 1..=1_000_000, &mut bucket.burst)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Option<IcmpLimits>, InputError> {
        let table = text.parse().expect("the test's TOML");
        let mut limits = None;
        Form::read_all(&Fields::new("", &table), |form| form.set("icmp", kind(), &mut limits))?;
        Ok(limits)
    }

    #[test]
    fn limits_are_read_and_written() {
        let bucket = IcmpBucket { interval: Span::from_millis(10), burst: 1 };
        for (text, expected) in [
            ("", None),
            ("icmp = false", None),
            ("icmp = true", Some(IcmpLimits::NONE)),
            ("icmp = \"linux\"", Some(IcmpLimits::linux())),
            (
                "icmp = { node = { interval = \"10 ms\" } }",
                Some(IcmpLimits { node: Some(bucket), ..IcmpLimits::NONE }),
            ),
            (
                "icmp = { destination = { interval = \"1 s\", burst = 6 }, too_big = false }",
                Some(IcmpLimits { node: None, ..IcmpLimits::linux() }),
            ),
        ] {
            let limits = read_text(text).unwrap();
            assert_eq!(limits, expected, "{text}");
            let written = Form::written(|form| form.set("icmp", kind(), &mut limits.clone()));
            let written = written.to_string();
            assert_eq!(read_text(&written), Ok(expected), "{written}");
        }
    }

    #[test]
    fn errors_name_the_field_and_what_is_allowed() {
        for (text, field, allowed) in [
            ("icmp = \"bsd\"", "icmp", ALLOWED),
            ("icmp = 3", "icmp", ALLOWED),
            ("icmp = { node = { burst = 3 } }", "icmp.node.interval", "more than 0 s"),
            ("icmp = { node = { interval = \"0 s\" } }", "icmp.node.interval", "more than 0 s"),
            (
                "icmp = { destination = { interval = \"1 s\", burst = 0 } }",
                "icmp.destination.burst",
                "a whole number from 1 to 1000000",
            ),
            (
                "icmp = { rate = 3 }",
                "icmp.rate",
                "no field of this name; the fields are destination, node, too_big",
            ),
        ] {
            let error = read_text(text).unwrap_err();
            assert_eq!((error.field.as_str(), error.allowed.as_str()), (field, allowed), "{text}");
        }
    }
}
