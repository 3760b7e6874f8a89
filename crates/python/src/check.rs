//! `check`: a window algorithm through random sequences of events.

use crate::InputError;
use crate::algorithms::{self, PythonLibrary, parse_options};
use crate::guard::guarded_attached;
use anabranch_check::{Effort, Invariant, Violation, check as run_check};
use anabranch_congestion::{ALGORITHMS, Algorithm};
use anabranch_custom::{Custom, catching, is_own};
use anabranch_scenario::Library;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Checks the built-in algorithm of that name, or a class or library of the user's: a
/// dictionary for each invariant that was broken.
#[pyfunction]
#[pyo3(signature = (name, options=None, cases=200, steps=100, seed=1))]
pub(crate) fn check<'py>(
    py: Python<'py>,
    name: &str,
    options: Option<&Bound<'py, PyDict>>,
    cases: u32,
    steps: u32,
    seed: u64,
) -> PyResult<Bound<'py, PyList>> {
    let refused = |allowed| refused(name, allowed);
    let algorithm = if is_own(name) {
        let options = parse_options(options)?;
        let mut custom = Custom::new(name, None, options.clone());
        let found = PythonLibrary::new("").window(name, &options).map_err(refused)?;
        custom.bind(found).map_err(refused)?;
        Algorithm::Custom(Box::new(custom))
    } else {
        let names =
            || ALGORITHMS.iter().map(|algorithm| algorithm.name).collect::<Vec<_>>().join(", ");
        Algorithm::from_name(name)
            .ok_or_else(|| refused(format!("{}, FILE.so, FILE.py:CLASS", names())))?
    };
    let effort = Effort { cases, steps, seed };
    let build = |initial, ssthresh| algorithm.build(initial, ssthresh);
    let broken = guarded_attached(py, || catching(|| run_check(&build, &effort)))?;
    let broken = broken.map_err(|failure| algorithms::error(py, None, *failure))?;
    py.check_signals()?;
    let rows: PyResult<Vec<_>> = broken.iter().map(|broken| row(py, broken)).collect();
    PyList::new(py, rows?)
}

/// The fields of `tcp` that the algorithm in a shared library needs, as TOML.
#[pyfunction]
pub(crate) fn plugin_needs(name: &str) -> PyResult<&'static str> {
    anabranch_plugin::needs(name).map_err(|allowed| refused(name, allowed))
}

/// The invariants that `check` looks at: name and meaning.
#[pyfunction]
pub(crate) fn invariants() -> Vec<(&'static str, &'static str)> {
    Invariant::ALL.iter().map(|item| (item.name(), item.meaning())).collect()
}

fn refused(name: &str, allowed: String) -> PyErr {
    InputError::new_err(format!("check: field `algorithm`: value `{name}`: allowed: {allowed}"))
}

fn row<'py>(py: Python<'py>, violation: &Violation) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("invariant", violation.invariant.name())?;
    dict.set_item("meaning", violation.invariant.meaning())?;
    dict.set_item("problem", &violation.problem)?;
    let place = violation.place.as_ref();
    dict.set_item("file", place.map(|place| place.0.as_str()))?;
    dict.set_item("line", place.map(|place| place.1))?;
    dict.set_item("setting", violation.setting.to_string())?;
    let step = |(step, window): &(anabranch_check::Step, Option<u64>)| (step.to_string(), *window);
    dict.set_item("steps", violation.steps.iter().map(step).collect::<Vec<_>>())?;
    Ok(dict)
}
