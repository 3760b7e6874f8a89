//! The fields of a link's direction that say how rate and delay change:
//! `schedule`, `trace` or `token_bucket`, and `delays`.

use super::form::{Form, Kind, by, quantity, quantity_shape};
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use crate::shape::Shape;
use anabranch_network::{
    DelaySchedule, RateSchedule, TokenBucketConfig, TraceConfig, TransmitterConfig,
};
use anabranch_units::{Bytes, Rate, Span};
use toml::Value;

/// A rate of zero in a schedule.
const NOTHING: &str = "0 bit/s";

/// What each of the three ways says.
const CHANGES: &str = "how the rate changes, by steps, by a trace or by a bucket of tokens; one of \
    them: see [rates and delays](#rates-and-delays-that-change)";

/// The fields of a direction whose rate changes, of which one may be there.
pub(super) fn fields(
    form: &mut Form<'_>,
    transmitter: &mut Option<TransmitterConfig>,
) -> Result<(), InputError> {
    let names = ["schedule", "trace", "token_bucket"];
    if let Some(f) = form.reads() {
        let given: Vec<_> = names.into_iter().filter(|name| f.get(name).is_some()).collect();
        if let [first, second, ..] = given[..] {
            let allowed = format!("only one of {}; `{first}` is there", names.join(", "));
            return Err(f.error(second, allowed));
        }
    }
    let (mut rates, mut trace, mut bucket) = match transmitter.take() {
        Some(TransmitterConfig::Schedule(rates)) => (Some(rates), None, None),
        Some(TransmitterConfig::Trace(trace)) => (None, Some(trace), None),
        Some(TransmitterConfig::TokenBucket(bucket)) => (None, None, Some(bucket)),
        // The rate says it all.
        _ => (None, None, None),
    };
    let empty = || RateSchedule { steps: Vec::new(), period: None };
    form.says(CHANGES);
    form.optional_table("schedule", &mut rates, empty, schedule)?;
    let empty = || TraceConfig { millis: [].into() };
    form.says(CHANGES);
    form.optional_table("trace", &mut trace, empty, trace_fields)?;
    let empty = || TokenBucketConfig { rate: Rate::gbit(1), burst: Bytes(0), peak: None };
    form.says(CHANGES);
    form.optional_table("token_bucket", &mut bucket, empty, |form, bucket| {
        form.says("rate at which tokens come").required(
            "rate",
            quantity(),
            Rate::ALLOWED,
            &mut bucket.rate,
        )?;
        form.says("tokens that may gather; at least the MTU").required(
            "burst",
            quantity(),
            Bytes::ALLOWED,
            &mut bucket.burst,
        )?;
        form.says("rate that spaces the packets of a burst").optional(
            "peak",
            quantity(),
            &mut bucket.peak,
        )
    })?;
    *transmitter = rates
        .map(TransmitterConfig::Schedule)
        .or(trace.map(TransmitterConfig::Trace))
        .or(bucket.map(TransmitterConfig::TokenBucket));
    Ok(())
}

/// The rate of a link that gives none: the largest of a schedule, the mean of
/// a trace.
pub(super) fn usual_rate(transmitter: &TransmitterConfig) -> Option<Rate> {
    match transmitter {
        TransmitterConfig::Schedule(schedule) => {
            schedule.steps.iter().map(|step| step.1).max().and_then(Rate::from_bps)
        }
        TransmitterConfig::Trace(trace) => {
            let last = u64::from(*trace.millis.last()?);
            Rate::from_bps(trace.millis.len() as u64 * 12_000 * 1000 / last)
        }
        TransmitterConfig::Constant
        | TransmitterConfig::TokenBucket(_)
        | TransmitterConfig::Explicit
        | TransmitterConfig::Cells => None,
    }
}

fn schedule(form: &mut Form<'_>, rates: &mut RateSchedule) -> Result<(), InputError> {
    form.says("the rates, the first at 0 s");
    form.list("steps", &mut rates.steps, Default::default, |form, (at, bps)| {
        date(form, at)?;
        let allowed = format!("{}, or \"{NOTHING}\"", Rate::ALLOWED);
        form.says("rate from then on; `\"0 bit/s\"` is an outage in which packets wait").required(
            "rate",
            rate_or_nothing(),
            &allowed,
            bps,
        )
    })?;
    file(form);
    period(form, &mut rates.period)?;
    let Some(f) = form.reads() else { return Ok(()) };
    rates.validate().map_err(|error| of_steps(f, error))
}

/// Bits in a second, also none.
fn rate_or_nothing() -> impl Kind<Value = u64> {
    let read = |step: &Fields<'_>, name: &'static str| match step.text(name)? {
        Some(NOTHING) => Ok(Some(0)),
        _ => Ok(step.quantity::<Rate>(name).unwrap_or_default().map(|rate| rate.as_bps())),
    };
    let write = |bps: &u64| -> Value {
        Rate::from_bps(*bps).map_or(NOTHING.to_owned(), |rate| rate.write()).into()
    };
    by(|| Shape::Any(vec![quantity_shape::<Rate>(), Shape::word(NOTHING)]), read, write)
}

fn trace_fields(form: &mut Form<'_>, trace: &mut TraceConfig) -> Result<(), InputError> {
    let allowed = "whole milliseconds that do not descend, such as [0, 5, 5, 12], or file = \"…\"";
    let mut millis = trace.millis.to_vec();
    form.says("milliseconds at which 1500 octets may leave").or_else("those of `file`").set(
        "millis",
        milliseconds(),
        &mut millis,
    )?;
    form.says(
        "in place of `millis`, a Mahimahi file beside the scenario: a millisecond on each line",
    )
    .elsewhere("file", || Shape::Text);
    let Some(f) = form.reads() else { return Ok(()) };
    form.require(f.get("millis").is_some(), "millis", allowed)?;
    *trace = TraceConfig { millis: millis.into() };
    trace
        .validate()
        .map_err(|error| InputError::field(f.path("millis"), error.value, error.allowed))
}

fn milliseconds() -> impl Kind<Value = Vec<u32>> {
    let read = |f: &Fields<'_>, name: &'static str| {
        let Some(value) = f.get(name) else { return Ok(None) };
        let date = |value: &Value| u32::try_from(value.as_integer()?).ok();
        let millis: Option<_> = value.as_array().and_then(|list| list.iter().map(date).collect());
        let allowed =
            "whole milliseconds that do not descend, such as [0, 5, 5, 12], or file = \"…\"";
        millis.map(Some).ok_or_else(|| f.error(name, allowed))
    };
    let write = |millis: &Vec<u32>| -> Value {
        Value::Array(millis.iter().map(|ms| i64::from(*ms).into()).collect())
    };
    by(|| Shape::Integer(0, u32::MAX.into()).list(), read, write)
}

/// The propagation delays, where they change.
pub(super) fn delays(
    form: &mut Form<'_>,
    delays: &mut Option<DelaySchedule>,
) -> Result<(), InputError> {
    let empty = || DelaySchedule { steps: Vec::new(), period: None, keep_order: true };
    form.optional_table("delays", delays, empty, |form, delays| {
        form.says("the delays, the first at 0 s");
        form.list("steps", &mut delays.steps, Default::default, |form, (at, delay)| {
            date(form, at)?;
            form.says("delay of packets that leave the transmitter from then on").required(
                "delay",
                quantity(),
                Span::ALLOWED,
                delay,
            )
        })?;
        form.says("no packet overtakes another").boolean("keep_order", &mut delays.keep_order)?;
        file(form);
        period(form, &mut delays.period)?;
        let Some(f) = form.reads() else { return Ok(()) };
        delays.validate().map_err(|error| of_steps(f, error))
    })
}

/// What the steps may be read from before ([`crate::traces`]).
fn file(form: &mut Form<'_>) {
    form.says("in place of `steps`, a table of dates beside the scenario")
        .elsewhere("file", || Shape::Text);
}

fn date(form: &mut Form<'_>, at: &mut Span) -> Result<(), InputError> {
    form.says("time of the run").required("at", quantity(), Span::ALLOWED, at)
}

fn period(form: &mut Form<'_>, period: &mut Option<Span>) -> Result<(), InputError> {
    form.says("time after which the steps start again").optional("period", quantity(), period)
}

/// An error of a schedule as a whole is one of its steps.
fn of_steps(f: &Fields<'_>, error: anabranch_network::ConfigError) -> InputError {
    match &*error.field {
        "period" => f.refuse(error),
        _ => InputError::field(f.path("steps"), error.value, error.allowed),
    }
}
