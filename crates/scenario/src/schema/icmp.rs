//! `icmp`: whether nodes send ICMP errors, and how many. From and to TOML.

use super::form::table_of;
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_sim::{IcmpBucket, IcmpLimits};
use anabranch_units::Span;
use toml::Value;

const ALLOWED: &str = "true, false, \"linux\", or a table of limits";

/// `None`: no errors are sent.
pub(super) fn read(f: &Fields<'_>) -> Result<Option<IcmpLimits>, InputError> {
    match f.get("icmp") {
        None | Some(Value::Boolean(false)) => return Ok(None),
        Some(Value::Boolean(true)) => return Ok(Some(IcmpLimits::NONE)),
        Some(Value::String(name)) if name == "linux" => return Ok(Some(IcmpLimits::linux())),
        Some(Value::Table(_)) => {}
        Some(_) => return Err(f.error("icmp", ALLOWED)),
    }
    let Some(t) = f.table("icmp")? else { return Ok(None) };
    let limits = IcmpLimits {
        node: bucket(&t, "node")?,
        destination: bucket(&t, "destination")?,
        too_big: t.boolean("too_big")?.unwrap_or(true),
    };
    t.finish()?;
    Ok(Some(limits))
}

fn bucket(t: &Fields<'_>, name: &'static str) -> Result<Option<IcmpBucket>, InputError> {
    let Some(b) = t.table(name)? else { return Ok(None) };
    let interval: Option<Span> = b.quantity("interval")?;
    let interval = interval.filter(|span| *span > Span::ZERO);
    let bucket = IcmpBucket {
        interval: interval.ok_or_else(|| b.error("interval", "more than 0 s"))?,
        burst: b.integer("burst", 1..=1_000_000)?.unwrap_or(1),
    };
    b.finish()?;
    Ok(Some(bucket))
}

pub(super) fn write(limits: Option<IcmpLimits>) -> Value {
    let Some(limits) = limits else { return false.into() };
    if limits == IcmpLimits::NONE {
        return true.into();
    }
    let bucket = |icmp_bucket: IcmpBucket| {
        table_of([
            ("interval", icmp_bucket.interval.write().into()),
            ("burst", Value::Integer(icmp_bucket.burst.into())),
        ])
    };
    let node = limits.node.map(|node| ("node", bucket(node)));
    let destination = limits.destination.map(|destination| ("destination", bucket(destination)));
    table_of([("too_big", limits.too_big.into())].into_iter().chain(node).chain(destination))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Option<IcmpLimits>, InputError> {
        read(&Fields::new("", &text.parse().expect("the test's TOML")))
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
            let written = table_of([("icmp", write(limits))]);
            let written = written.as_table().expect("a table").to_string();
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
