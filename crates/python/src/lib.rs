//! Python bindings: the private module `anabranch._core`.
//!
//! Bindings and nothing else: text goes in, dictionaries and NumPy arrays come
//! out. Work runs with the interpreter released; an input that cannot be run
//! raises `InputError`, a panic of ours a `RuntimeError` that asks for a
//! report. python/anabranch/_core.pyi has the signatures.

mod algorithms;
mod bench;
mod check;
mod drill;
mod guard;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod live;
mod options;
mod replay;
mod results;

use algorithms::PythonLibrary;
use anabranch_scenario as scenario;
use anabranch_scenario::{RunError, Scenario};
use guard::{guarded, guarded_attached};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::path::PathBuf;
use std::sync::OnceLock;

pyo3::create_exception!(
    _core,
    InputError,
    PyValueError,
    "A scenario that cannot be run as written; the message names file, field, value and what is allowed."
);

pyo3::create_exception!(
    _core,
    AlgorithmError,
    PyRuntimeError,
    "An algorithm of the user's own cannot go on: message, and a dictionary of `algorithm`, `place`, \
     `file`, `line` and `time_s`."
);

/// The module `anabranch._core`.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("InputError", module.py().get_type::<InputError>())?;
    module.add("AlgorithmError", module.py().get_type::<AlgorithmError>())?;
    algorithms::register(module)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ALGORITHM_CRATE", anabranch_plugin::FILES.to_vec())?;
    module.add_function(wrap_pyfunction!(load, module)?)?;
    module.add_function(wrap_pyfunction!(resolve, module)?)?;
    module.add_function(wrap_pyfunction!(warnings, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(run_batch, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(bench::bench, module)?)?;
    module.add_function(wrap_pyfunction!(check::check, module)?)?;
    module.add_function(wrap_pyfunction!(check::invariants, module)?)?;
    module.add_function(wrap_pyfunction!(check::plugin_needs, module)?)?;
    module.add_function(wrap_pyfunction!(drill::drill, module)?)?;
    module.add_function(wrap_pyfunction!(replay::replay, module)?)?;
    #[cfg(target_os = "linux")]
    {
        module.add_function(wrap_pyfunction!(live::live, module)?)?;
        module.add_function(wrap_pyfunction!(live::enter_user_namespace, module)?)?;
        module.add_function(wrap_pyfunction!(kernel::kernel_algorithms, module)?)?;
        module.add_function(wrap_pyfunction!(kernel::kernel_load, module)?)?;
        module.add_function(wrap_pyfunction!(kernel::kernel_status, module)?)?;
        module.add_function(wrap_pyfunction!(kernel::kernel_unload, module)?)?;
    }
    module.add("WORKLOADS", scenario::bench::WORKLOADS.map(|w| w.name).to_vec())
}

/// The text of the scenario file at `path`; refuses what is too large or not UTF-8.
#[pyfunction]
fn load(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    guarded(py, || scenario::load(&path))?.map_err(input_error)
}

/// The scenario with every default spelt out, as TOML that can be run again.
#[pyfunction]
#[pyo3(signature = (text, file="scenario", overrides=vec![]))]
fn resolve(py: Python<'_>, text: &str, file: &str, overrides: Vec<String>) -> PyResult<String> {
    Ok(read(py, text, file, &overrides)?.resolved_toml())
}

/// The scenario with its algorithms of the user's own, if it names some.
pub(crate) fn read(
    py: Python<'_>,
    text: &str,
    file: &str,
    overrides: &[String],
) -> PyResult<Scenario> {
    Ok(read_to_run(py, text, file, overrides)?.0)
}

/// The scenario likewise, and whether a run of it keeps the interpreter: some of its algorithms are in Python.
fn read_to_run(
    py: Python<'_>,
    text: &str,
    file: &str,
    overrides: &[String],
) -> PyResult<(Scenario, bool)> {
    let read = || Scenario::with_overrides(text, file, overrides);
    let mut scenario = guarded(py, read)?.map_err(input_error)?;
    let library = PythonLibrary::new(file);
    if scenario.has_custom_algorithms() {
        scenario.bind(&library).map_err(|error| input_error(error.in_file(file)))?;
    }
    Ok((scenario, library.has_classes()))
}

/// What the scenario says, but hardly means.
#[pyfunction]
#[pyo3(signature = (text, file="scenario", overrides=vec![]))]
fn warnings(
    py: Python<'_>,
    text: &str,
    file: &str,
    overrides: Vec<String>,
) -> PyResult<Vec<String>> {
    let warnings = read(py, text, file, &overrides)?.warnings();
    Ok(warnings.iter().map(scenario::Warning::to_string).collect())
}

/// Runs a scenario once. Several times a second it looks for an interrupt from
/// the keyboard, which ends it.
#[pyfunction]
fn run<'py>(
    py: Python<'py>,
    text: &str,
    file: &str,
    overrides: Vec<String>,
    options: options::Run,
) -> PyResult<Bound<'py, PyDict>> {
    let options = scenario::RunOptions::from(options);
    let (scenario, in_python) = read_to_run(py, text, file, &overrides)?;
    let interrupt = OnceLock::new();
    let watch = || match Python::attach(|py| py.check_signals()) {
        Ok(()) => false,
        Err(error) => interrupt.set(error).is_ok(),
    };
    let work = || scenario::run_watched(&scenario, &options, &watch);
    let result = match in_python {
        true => guarded_attached(py, work)?,
        false => guarded(py, work)?,
    };
    if let Some(interrupt) = interrupt.into_inner() {
        return Err(interrupt);
    }
    results::to_dict(py, result.map_err(|error| run_error(py, error))?)
}

/// Runs replications of a scenario. Between slices of the work it looks for an interrupt from
/// the keyboard.
#[pyfunction]
fn run_batch<'py>(
    py: Python<'py>,
    text: &str,
    file: &str,
    overrides: Vec<String>,
    options: options::Batch,
) -> PyResult<Bound<'py, PyList>> {
    let options::Batch { seed, replications, first, jobs, trace_hash } = options;
    let (scenario, in_python) = read_to_run(py, text, file, &overrides)?;
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = if jobs == 0 { cores() } else { jobs };
    // Algorithms in Python take turns with the interpreter whatever the threads.
    let jobs = if in_python { 1 } else { jobs };
    let out = PyList::empty(py);
    // Slices grow while they are short, so that threads do not wait for each
    // other at the end of each, and an interrupt is heard within a second.
    let mut slice = jobs as u64;
    let last = first.saturating_add(replications);
    let mut next = first;
    while next < last {
        let end = last.min(next.saturating_add(slice));
        let work = || scenario::run_batch(&scenario, seed, next..end, jobs, trace_hash);
        let results = if in_python { guarded_attached(py, work)? } else { guarded(py, work)? };
        let mut wall = 0.0;
        for result in results {
            let result = result.map_err(|error| run_error(py, error))?;
            wall += result.run.wall_s / jobs as f64;
            out.append(results::to_dict(py, result)?)?;
        }
        py.check_signals()?;
        if wall < 0.5 {
            slice = slice.saturating_mul(2);
        }
        next = end;
    }
    Ok(out)
}

/// The lines (name, summary, reference) of a catalogue.
#[pyfunction]
fn catalogue(kind: &str) -> PyResult<Vec<(&'static str, String, &'static str)>> {
    let entries = scenario::catalogue(kind).ok_or_else(|| {
        let kinds = scenario::KINDS.join(", ");
        InputError::new_err(format!("catalogue `{kind}`: allowed: {kinds}"))
    })?;
    Ok(entries.into_iter().map(|e| (e.name, e.summary, e.reference)).collect())
}

/// The JSON Schema of scenarios, as text.
#[pyfunction]
fn schema() -> String {
    format!("{:#}", scenario::json_schema())
}

fn input_error(error: scenario::InputError) -> PyErr {
    InputError::new_err(error.to_string())
}

fn run_error(py: Python<'_>, error: RunError) -> PyErr {
    match error {
        RunError::Input(error) => input_error(error),
        RunError::Algorithm { at, failure } => algorithms::error(py, at, *failure),
        error => PyOSError::new_err(error.to_string()),
    }
}
