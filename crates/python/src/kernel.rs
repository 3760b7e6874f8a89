//! `kernel`: window algorithms of ours in the running kernel.

use crate::InputError;
use crate::guard::guarded;
use anabranch_kernel::{ALGORITHMS, Algorithm, Counts};
use anabranch_live::{KernelControl, LiveError, control};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Returns the algorithms that can be loaded: the scenario's name, and whether it is coupled.
#[pyfunction]
pub(crate) fn kernel_algorithms() -> Vec<(&'static str, bool)> {
    ALGORITHMS.iter().map(|algorithm| (algorithm.name, algorithm.is_coupled())).collect()
}

/// Loads an algorithm until it is unloaded; the name by which the kernel knows it.
#[pyfunction]
#[pyo3(signature = (algorithm, name=None))]
pub(crate) fn kernel_load(
    py: Python<'_>,
    algorithm: &str,
    name: Option<String>,
) -> PyResult<String> {
    let Some(known) = Algorithm::from_name(algorithm) else {
        let names: Vec<_> = ALGORITHMS.iter().map(|algorithm| algorithm.name).collect();
        let message = format!("NAME: `{algorithm}`: allowed: {}", names.join(", "));
        return Err(InputError::new_err(message));
    };
    let name = name.unwrap_or_else(|| format!("ab_{}", known.short));
    let load = || {
        let loaded = KernelControl::load(known, &name)?;
        loaded.keep().map(|()| name.clone())
    };
    guarded(py, load)?.map_err(of_system)
}

/// Returns the algorithms that are loaded: name and counters of each.
#[pyfunction]
pub(crate) fn kernel_status(py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
    let kept = guarded(py, control::kept)?.map_err(of_system)?;
    let list = PyList::empty(py);
    for kept in kept {
        list.append(counts_dict(py, &kept.name, &kept.counts)?)?;
    }
    Ok(list)
}

/// Takes one out of the kernel.
#[pyfunction]
pub(crate) fn kernel_unload(py: Python<'_>, name: &str) -> PyResult<()> {
    guarded(py, || control::unload(name))?.map_err(of_system)
}

/// A row of an algorithm in the kernel.
pub(crate) fn counts_dict<'py>(
    py: Python<'py>,
    name: &str,
    counts: &Counts,
) -> PyResult<Bound<'py, PyDict>> {
    let row = PyDict::new(py);
    row.set_item("name", name)?;
    row.set_item("flows", counts.flows)?;
    row.set_item("coupled", counts.coupled)?;
    row.set_item("no_storage", counts.no_storage)?;
    row.set_item("no_connection", counts.no_connection)?;
    row.set_item("no_slot", counts.no_slot)?;
    Ok(row)
}

fn of_system(error: LiveError) -> PyErr {
    PyOSError::new_err(error.to_string())
}
