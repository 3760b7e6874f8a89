//! `traffic = { kind = "pages", ... }`: web pages over one connection.

use super::form::{Form, Kind, by, integer, number};
use super::law::{duration, fixed, size};
use crate::InputError;
use crate::fields::Fields;
use crate::shape::Shape;
use anabranch_sim::{MOST_OBJECTS, Objects, PageSpec, Sizes};
use anabranch_units::Span;

/// Octets of a request, unless the scenario says otherwise.
const REQUEST: u64 = 400;
/// Most pages of a flow whose number is given: their sizes are drawn before the run.
const MOST_PAGES: u64 = 1_000_000;

/// What stands in the place of pages before they are read.
pub(super) fn unset() -> PageSpec {
    PageSpec {
        request: Sizes::Constant { mean: REQUEST },
        main: Sizes::Constant { mean: 1 },
        objects: Objects::Exactly(0),
        object: Sizes::Constant { mean: 1 },
        count: None,
        think: fixed(Span::ZERO),
        pipelined: true,
    }
}

pub(super) fn fields(form: &mut Form<'_>, pages: &mut PageSpec) -> Result<(), InputError> {
    let allowed = "a size such as \"20 kB\", or a law of sizes";
    form.says("size of each request, or a law").set("request", size(true), &mut pages.request)?;
    form.says("size of the main object, or a law").required(
        "main",
        size(true),
        allowed,
        &mut pages.main,
    )?;
    form.says(
        "number of other objects of a page, or a law: `{ mean = 12, law = \"exponential\" }`",
    );
    form.set("objects", objects(), &mut pages.objects)?;
    form.says("size of each, or a law").or_else("required with `objects`");
    let mut object = Some(pages.object.clone()).filter(|_| form.reads().is_none());
    form.optional("object", size(true), &mut object)?;
    let is_said = object.is_some() || pages.objects == Objects::Exactly(0);
    form.require(is_said, "object", allowed)?;
    pages.object = object.unwrap_or(Sizes::Constant { mean: 1 });
    form.says("how many pages").or_else("no end");
    form.optional("count", integer(1..=MOST_PAGES), &mut pages.count)?;
    form.says("time between a page and the next, or a law").set(
        "think",
        duration(true),
        &mut pages.think,
    )?;
    form.says("asks for all objects of a page at once, as HTTP/2 does over its streams; else for one after the other, as HTTP/1.1")
        .boolean("pipelined", &mut pages.pipelined)
}

/// A whole number, or `{ mean = 40, law = "exponential" }`.
fn objects() -> impl Kind<Value = Objects> {
    let most = MOST_OBJECTS as u32;
    let number = move || integer(0..=most);
    let read = move |t: &Fields<'_>, name: &'static str| {
        if t.get(name).is_none_or(|item| !item.is_table()) {
            return Ok(number().read(t, name)?.map(Objects::Exactly));
        }
        let Some(o) = t.table(name)? else { return Ok(None) };
        let mut law = Sizes::Exponential { mean: 1 };
        Form::read_all(&o, |form| drawn(form, &mut law))?;
        law.validate().map_err(|error| o.refuse(error))?;
        Ok(Some(Objects::Drawn(law)))
    };
    let write = move |objects: &Objects| match objects {
        Objects::Exactly(n) => number().write(n),
        Objects::Drawn(law) => Form::written(|form| drawn(form, &mut law.clone())).into(),
    };
    let shape = move || {
        let table = Form::described(|form| drawn(form, &mut Sizes::Exponential { mean: 1 }));
        Shape::Any(vec![number().shape(), Shape::Table(table)])
    };
    by(shape, read, write)
}

/// A law of numbers of objects.
fn drawn(form: &mut Form<'_>, law: &mut Sizes) -> Result<(), InputError> {
    let mean = 1;
    let all = [
        ("exponential", "exponential", Sizes::Exponential { mean }),
        ("pareto", "Pareto's", Sizes::Pareto { mean, shape: 1.5 }),
        ("lognormal", "lognormal", Sizes::Lognormal { mean, sigma: 1.0 }),
    ];
    form.kinds("law", None, &all, law, |form, law| match law {
        Sizes::Exponential { mean } => mean_number(form, mean),
        Sizes::Pareto { mean, shape } => {
            mean_number(form, mean)?;
            form.says("shape, above 1").required("shape", number(Sizes::SHAPE), "a number", shape)
        }
        Sizes::Lognormal { mean, sigma } => {
            mean_number(form, mean)?;
            form.says("standard deviation of the logarithm").required(
                "sigma",
                number(Sizes::SIGMA),
                "a number",
                sigma,
            )
        }
        _ => Ok(()),
    })
}

fn mean_number(form: &mut Form<'_>, mean: &mut u64) -> Result<(), InputError> {
    let most = MOST_OBJECTS;
    let allowed = format!("a whole number from 1 to {most}");
    form.says("the mean").required("mean", integer(1..=most), &allowed, mean)
}
