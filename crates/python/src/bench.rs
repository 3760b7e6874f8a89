//! The speed workloads.

use crate::InputError;
use crate::guard::guarded;
use anabranch_scenario::bench::{Measurement, measure};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Runs a speed workload (`WORKLOADS`): one dictionary a variant.
#[pyfunction]
pub(crate) fn bench<'py>(py: Python<'py>, workload: &str) -> PyResult<Bound<'py, PyList>> {
    let measurements = guarded(py, || measure(workload))?;
    let measurements = measurements.map_err(|error| InputError::new_err(error.to_string()))?;
    let rows: PyResult<Vec<_>> = measurements.into_iter().map(|m| to_dict(py, m)).collect();
    PyList::new(py, rows?)
}

fn to_dict(py: Python<'_>, measurement: Measurement) -> PyResult<Bound<'_, PyDict>> {
    let Measurement { workload, variant, sim_s, cpu_s, wall_s, packet_hops, peak_memory, extra } =
        measurement;
    let dict = PyDict::new(py);
    dict.set_item("workload", workload)?;
    dict.set_item("variant", variant)?;
    dict.set_item("sim_s", sim_s)?;
    dict.set_item("cpu_s", cpu_s)?;
    dict.set_item("wall_s", wall_s)?;
    dict.set_item("packet_hops", packet_hops)?;
    dict.set_item("packet_hops_per_core_s", packet_hops as f64 / cpu_s)?;
    dict.set_item("peak_memory_bytes", peak_memory)?;
    for (name, value) in extra {
        dict.set_item(name, value)?;
    }
    Ok(dict)
}
