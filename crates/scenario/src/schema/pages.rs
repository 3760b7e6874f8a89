//! `traffic = { kind = "pages", ... }`: web pages over one connection.

use super::law::{duration, octets, read_sizes, write_duration, write_sizes};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_sim::{MOST_OBJECTS, Objects, PageSpec, Sizes};
use anabranch_units::{Bytes, Span};
use toml::{Table, Value};

/// Octets of a request, unless the scenario says otherwise.
const REQUEST: u64 = 400;
/// Most pages of a flow whose number is given: their sizes are drawn before the run.
const MOST_PAGES: u64 = 1_000_000;

pub(super) fn read(t: &Fields<'_>) -> Result<PageSpec, InputError> {
    let request = size(t, "request")?.unwrap_or(Sizes::Constant { mean: REQUEST });
    let allowed = "a size such as \"20 kB\", or a law of sizes";
    let main = size(t, "main")?.ok_or_else(|| t.error("main", allowed))?;
    let objects = objects(t)?;
    let object = match (size(t, "object")?, &objects) {
        (Some(object), _) => object,
        (None, Objects::Exactly(0)) => Sizes::Constant { mean: 1 },
        (None, _) => return Err(t.error("object", allowed)),
    };
    Ok(PageSpec {
        request,
        main,
        objects,
        object,
        count: t.integer("count", 1..=MOST_PAGES)?,
        think: duration(t, "think", Some(Span::ZERO))?,
        pipelined: t.boolean("pipelined")?.unwrap_or(true),
    })
}

/// A size such as "20 kB", or a law.
fn size(t: &Fields<'_>, name: &'static str) -> Result<Option<Sizes>, InputError> {
    if t.get(name).is_none_or(Value::is_table) {
        return read_sizes(t, name);
    }
    octets(t, name).map(|mean| Some(Sizes::Constant { mean }))
}

/// A whole number, or `{ mean = 40, law = "exponential" }`.
fn objects(t: &Fields<'_>) -> Result<Objects, InputError> {
    let most = MOST_OBJECTS as u32;
    if t.get("objects").is_none_or(|item| !item.is_table()) {
        return Ok(Objects::Exactly(t.integer("objects", 0..=most)?.unwrap_or(0)));
    }
    let Some(o) = t.table("objects")? else { return Ok(Objects::Exactly(0)) };
    let allowed = format!("a whole number from 1 to {most}");
    let mean: Option<u32> = o.integer("mean", 1..=most)?;
    let mean = u64::from(mean.ok_or_else(|| o.error("mean", allowed))?);
    let number = |name| o.number(name)?.ok_or_else(|| o.error(name, "a number"));
    let laws = "exponential, pareto, lognormal";
    let law = match o.text("law")?.ok_or_else(|| o.error("law", laws))? {
        "exponential" => Sizes::Exponential { mean },
        "pareto" => Sizes::Pareto { mean, shape: number("shape")? },
        "lognormal" => Sizes::Lognormal { mean, sigma: number("sigma")? },
        _ => return Err(o.error("law", laws)),
    };
    o.finish()?;
    law.validate().map_err(|error| super::queue::in_field(&o, error))?;
    Ok(Objects::Drawn(law))
}

pub(super) fn write(pages: &PageSpec, table: &mut Table) {
    let mut put = |name: &str, value: Value| {
        table.insert(name.to_owned(), value);
    };
    put("kind", "pages".into());
    put("request", write_size(&pages.request));
    put("main", write_size(&pages.main));
    let count = |n: &u64| Value::Integer(*n as i64);
    let drawn = |law: &str, mean: &u64, more: Option<(&str, f64)>| {
        let mut table = Table::new();
        table.insert("law".into(), law.into());
        table.insert("mean".into(), count(mean));
        if let Some((name, value)) = more {
            table.insert(name.into(), value.into());
        }
        Value::Table(table)
    };
    let objects = match &pages.objects {
        Objects::Exactly(n) => count(&u64::from(*n)),
        Objects::Drawn(Sizes::Exponential { mean }) => drawn("exponential", mean, None),
        Objects::Drawn(Sizes::Pareto { mean, shape }) => {
            drawn("pareto", mean, Some(("shape", *shape)))
        }
        Objects::Drawn(Sizes::Lognormal { mean, sigma }) => {
            drawn("lognormal", mean, Some(("sigma", *sigma)))
        }
        Objects::Drawn(other) => unreachable!("no field says {other:?}"),
    };
    put("objects", objects);
    put("object", write_size(&pages.object));
    if let Some(n) = &pages.count {
        put("count", count(n));
    }
    put("think", write_duration(&pages.think));
    put("pipelined", pages.pipelined.into());
}

fn write_size(size: &Sizes) -> Value {
    match size {
        Sizes::Constant { mean } => Bytes(*mean).write().into(),
        law => write_sizes(law),
    }
}
