//! The window algorithm of a flow and its options.

use super::tcp::{table_of, word};
use crate::InputError;
use crate::fields::Fields;
use anabranch_congestion::cubic::CubicOptions;
use anabranch_congestion::reno::RenoOptions;
use anabranch_congestion::{ALGORITHMS, Algorithm, SsthreshFrom};
use toml::Value;

const SSTHRESH_FROM: [(&str, SsthreshFrom); 2] =
    [("in-flight", SsthreshFrom::InFlight), ("cwnd", SsthreshFrom::Cwnd)];

/// The field `window`: a name, or a table with `algorithm` and its options.
pub(super) fn read(f: &Fields<'_>) -> Result<Option<Algorithm>, InputError> {
    let names = || ALGORITHMS.iter().map(|a| a.name).collect::<Vec<_>>().join(", ");
    let Some(value) = f.get("window") else { return Ok(None) };
    let Some(table) = value.as_table() else {
        let algorithm = value.as_str().and_then(Algorithm::from_name);
        return algorithm.map(Some).ok_or_else(|| f.error("window", names()));
    };
    let w = Fields::new(f.path("window"), table);
    let algorithm = w.text("algorithm")?.and_then(Algorithm::from_name);
    let mut algorithm = algorithm.ok_or_else(|| w.error("algorithm", names()))?;
    match &mut algorithm {
        Algorithm::Reno(options) => read_reno(&w, options)?,
        Algorithm::Cubic(options) => read_cubic(&w, options)?,
    }
    w.finish()?;
    Ok(Some(algorithm))
}

/// Writes the algorithm with all its options.
pub(super) fn write(algorithm: &Algorithm) -> Value {
    let mut fields = vec![("algorithm", Value::from(algorithm.name()))];
    match algorithm {
        Algorithm::Reno(o) => {
            fields.push(("ssthresh_from", word(&SSTHRESH_FROM, &o.ssthresh_from).into()));
            fields.push(("slow_start_limit", Value::Integer(o.slow_start_limit.into())));
        }
        Algorithm::Cubic(o) => {
            fields.push(("fast_convergence", o.fast_convergence.into()));
            fields.push(("reno_friendly", o.reno_friendly.into()));
            fields.push(("ssthresh_from", word(&SSTHRESH_FROM, &o.ssthresh_from).into()));
            fields.push(("slow_start_limit", Value::Integer(o.slow_start_limit.into())));
        }
    }
    table_of(fields)
}

fn read_reno(w: &Fields<'_>, options: &mut RenoOptions) -> Result<(), InputError> {
    if let Some(from) = w.choice("ssthresh_from", &SSTHRESH_FROM)? {
        options.ssthresh_from = from;
    }
    if let Some(limit) = w.integer("slow_start_limit", 1..=255)? {
        options.slow_start_limit = limit;
    }
    Ok(())
}

fn read_cubic(w: &Fields<'_>, options: &mut CubicOptions) -> Result<(), InputError> {
    if let Some(fast_convergence) = w.boolean("fast_convergence")? {
        options.fast_convergence = fast_convergence;
    }
    if let Some(reno_friendly) = w.boolean("reno_friendly")? {
        options.reno_friendly = reno_friendly;
    }
    if let Some(from) = w.choice("ssthresh_from", &SSTHRESH_FROM)? {
        options.ssthresh_from = from;
    }
    if let Some(limit) = w.integer("slow_start_limit", 1..=255)? {
        options.slow_start_limit = limit;
    }
    Ok(())
}
