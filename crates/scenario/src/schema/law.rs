//! Laws of sizes, and of times between them: what traffic of all kinds is written with.

use super::form::{Form, Kind, by, number, octets, quantity, quantity_shape};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use crate::shape::Shape;
use anabranch_sim::{Duration, DurationLaw, Sizes};
use anabranch_units::{Bytes, Rate, Span};
use toml::Value;

const LAWS: [(&str, &str, DurationLaw); 3] = [
    ("constant", "always the mean", DurationLaw::Constant),
    ("exponential", "exponential", DurationLaw::Exponential),
    ("pareto", "Pareto's", DurationLaw::Pareto(1.5)),
];

/// What is written at a time, unless the traffic says otherwise.
pub(super) const CHUNK: Bytes = Bytes(1000);

/// What is allowed of [`some_octets`].
pub(super) const SOME_OCTETS: &str = "from 1 B to 1 PiB";

/// The rate at which `chunk` octets are written at a time: at most once in a nanosecond.
pub(super) fn paced(form: &mut Form<'_>, rate: &mut Rate, chunk: u32) -> Result<(), InputError> {
    form.required("rate", quantity(), Rate::ALLOWED, rate)?;
    let is_slow = rate.time_for(Bytes(chunk.into())) >= Span::from_nanos(1);
    form.require(is_slow, "rate", "at most one chunk in a nanosecond")
}

/// Reads and writes a number of octets, at least one.
pub(super) fn some_octets() -> impl Kind<Value = u64> {
    let read = |f: &Fields<'_>, name: &'static str| {
        let Some(octets) = f.quantity::<Bytes>(name)? else { return Ok(None) };
        let octets = Some(octets.0).filter(|n| (1..=1 << 50).contains(n));
        octets.map(Some).ok_or_else(|| f.error(name, SOME_OCTETS))
    };
    by(quantity_shape::<Bytes>, read, |octets: &u64| Bytes(*octets).write().into())
}

/// A time such as "10 ms", or `{ mean = "10 ms", law = "exponential" }`.
pub(super) fn duration(may_be_zero: bool) -> impl Kind<Value = Duration> {
    let read = move |t: &Fields<'_>, name: &'static str| {
        let duration = if t.get(name).is_some_and(Value::is_table) {
            let Some(table) = t.table(name)? else { return Ok(None) };
            let mut duration = fixed(Span::ZERO);
            Form::read_all(&table, |form| duration_fields(form, &mut duration))?;
            duration
        } else {
            let Some(mean) = t.quantity(name)? else { return Ok(None) };
            fixed(mean)
        };
        // Each time is an event: work for each microsecond is what a run can bear.
        match may_be_zero || duration.mean >= Span::from_micros(1) {
            true => Ok(Some(duration)),
            false => Err(t.error(name, "at least 1 us")),
        }
    };
    let write = |duration: &Duration| match duration.law {
        DurationLaw::Constant => duration.mean.write().into(),
        _ => Form::written(|form| duration_fields(form, &mut duration.clone())).into(),
    };
    let shape = || {
        let table = Form::described(|form| duration_fields(form, &mut fixed(Span::ZERO)));
        Shape::Any(vec![quantity_shape::<Span>(), Shape::Table(table)]).named("duration")
    };
    by(shape, read, write)
}

/// Makes a length of time that is always the same.
pub(super) fn fixed(mean: Span) -> Duration {
    Duration { mean, law: DurationLaw::Constant }
}

fn duration_fields(form: &mut Form<'_>, duration: &mut Duration) -> Result<(), InputError> {
    form.says("the mean").required("mean", quantity(), Span::ALLOWED, &mut duration.mean)?;
    form.kinds("law", Some("constant"), &LAWS, &mut duration.law, |form, law| {
        let DurationLaw::Pareto(shape) = law else { return Ok(()) };
        form.says("shape, above 1").number("shape", Sizes::SHAPE, shape)
    })
}

/// A law of sizes, as a table.
pub(super) fn sizes() -> impl Kind<Value = Sizes> {
    let read = |f: &Fields<'_>, name: &'static str| {
        let Some(s) = f.table(name)? else { return Ok(None) };
        let mut sizes = Sizes::Constant { mean: 1 };
        Form::read_all(&s, |form| size_fields(form, &mut sizes))?;
        sizes.validate().map_err(|error| s.refuse(error))?;
        Ok(Some(sizes))
    };
    by(sizes_shape, read, write_sizes)
}

fn write_sizes(sizes: &Sizes) -> Value {
    Form::written(|form| size_fields(form, &mut sizes.clone())).into()
}

fn sizes_shape() -> Shape {
    let usual = &mut Sizes::Constant { mean: 1 };
    Shape::Table(Form::described(|form| size_fields(form, usual))).named("sizes")
}

/// A size such as "20 kB", or a law of sizes. A size is written as a law, or `plainly` as it is read.
pub(super) fn size(plainly: bool) -> impl Kind<Value = Sizes> {
    let read = |f: &Fields<'_>, name: &'static str| match f.get(name) {
        None => Ok(None),
        Some(Value::Table(_)) => sizes().read(f, name),
        Some(_) => Ok(some_octets().read(f, name)?.map(|mean| Sizes::Constant { mean })),
    };
    let write = move |size: &Sizes| match size {
        Sizes::Constant { mean } if plainly => Bytes(*mean).write().into(),
        law => write_sizes(law),
    };
    let shown = |size: &Sizes| match size {
        Sizes::Constant { mean } => Some(Bytes(*mean).write().into()),
        _ => None,
    };
    by(|| Shape::Any(vec![quantity_shape::<Bytes>(), sizes_shape()]), read, write).shown(shown)
}

fn size_fields(form: &mut Form<'_>, sizes: &mut Sizes) -> Result<(), InputError> {
    let all = [
        ("constant", "always `mean`", Sizes::Constant { mean: 1 }),
        ("exponential", "exponential", Sizes::Exponential { mean: 1 }),
        (
            "pareto",
            "Pareto's, by `mean` and `shape`, or bounded by `min` and `max`",
            Sizes::Pareto { mean: 1, shape: 1.5 },
        ),
        ("lognormal", "lognormal", Sizes::Lognormal { mean: 1, sigma: 1.0 }),
        ("empirical", "by a distribution function", Sizes::Empirical { cdf: Vec::new() }),
    ];
    let name = |sizes: &Sizes| match sizes {
        Sizes::Constant { .. } => "constant",
        Sizes::Exponential { .. } => "exponential",
        Sizes::Pareto { .. } | Sizes::BoundedPareto { .. } => "pareto",
        Sizes::Lognormal { .. } => "lognormal",
        Sizes::Empirical { .. } => "empirical",
    };
    form.kinds_by("law", None, &all, sizes, name, |form, sizes| match sizes {
        Sizes::Constant { mean } | Sizes::Exponential { mean } => mean_size(form, mean),
        Sizes::Pareto { .. } | Sizes::BoundedPareto { .. } => pareto(form, sizes),
        Sizes::Lognormal { mean, sigma } => {
            mean_size(form, mean)?;
            form.says("standard deviation of the logarithm").required(
                "sigma",
                number(Sizes::SIGMA),
                "a number",
                sigma,
            )
        }
        Sizes::Empirical { cdf } => {
            form.says("points of the distribution function, linear in between, as `[[\"1 kB\", 0.2], [\"1 MB\", 1.0]]`");
            form.or_else("those of `file`").required("cdf", points(), POINTS, cdf)?;
            form.says("in place of `cdf`, a file beside the scenario: on each line octets and the share up to them, which ends at 1 or, of percentages, at 100; `#` begins a comment")
                .elsewhere("file", || Shape::Text);
            Ok(())
        }
    })
}

fn mean_size(form: &mut Form<'_>, mean: &mut u64) -> Result<(), InputError> {
    form.says("the mean").required("mean", some_octets(), SOME_OCTETS, mean)
}

/// Unbounded by its mean, or with `max` bounded.
fn pareto(form: &mut Form<'_>, sizes: &mut Sizes) -> Result<(), InputError> {
    let describes = matches!(form, Form::Describe(_));
    if let Some(f) = form.reads()
        && f.get("max").is_some()
    {
        *sizes = Sizes::BoundedPareto { min: 1, max: 1, shape: 1.5 };
    }
    if let Sizes::Pareto { mean, .. } = sizes {
        form.says("the mean").or_else("required without `max`");
        form.required("mean", some_octets(), SOME_OCTETS, mean)?;
    }
    let (mut least, mut most) = (1, 1);
    let bounds = match sizes {
        Sizes::BoundedPareto { min, max, .. } => Some((min, max)),
        _ => describes.then_some((&mut least, &mut most)),
    };
    if let Some((min, max)) = bounds {
        form.says("smallest and largest size").or_else("none");
        form.required("min", some_octets(), SOME_OCTETS, min)?;
        form.says("smallest and largest size").or_else("none");
        form.required("max", octets::<u64>(), "a number of octets", max)?;
    }
    let (bounds, shape) = match sizes {
        Sizes::Pareto { shape, .. } if !describes => (Sizes::SHAPE, shape),
        Sizes::Pareto { shape, .. } | Sizes::BoundedPareto { shape, .. } => {
            (Sizes::BOUNDED_SHAPE, shape)
        }
        _ => return Ok(()),
    };
    form.says("shape, above 1 where it is by its mean").required(
        "shape",
        number(bounds),
        "a number",
        shape,
    )
}

const POINTS: &str = "points such as [[\"1 kB\", 0.2], [\"1 MB\", 1.0]]";

/// Points of a distribution function.
fn points() -> impl Kind<Value = Vec<(u64, f64)>> {
    let read = |s: &Fields<'_>, name: &'static str| {
        let Some(value) = s.get(name) else { return Ok(None) };
        let point = |value: &Value| {
            let [size, p] = value.as_array()?.as_slice() else { return None };
            let p = p.as_float().or_else(|| p.as_integer().map(|n| n as f64))?;
            Some((Bytes::parse(size.as_str()?)?.0, p))
        };
        let cdf: Option<_> = value.as_array().and_then(|list| list.iter().map(point).collect());
        cdf.map(Some).ok_or_else(|| s.error(name, POINTS))
    };
    let write = |cdf: &Vec<(u64, f64)>| {
        let point =
            |(size, p): &(u64, f64)| Value::Array(vec![Bytes(*size).write().into(), (*p).into()]);
        Value::Array(cdf.iter().map(point).collect())
    };
    by(|| Shape::Tuple(vec![quantity_shape::<Bytes>(), Shape::share()]).list(), read, write)
}
