//! The boundary: work runs without the interpreter's lock, and a panic does
//! not cross it.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work` with the interpreter released. A panic, which is a broken
/// invariant of ours, becomes a `RuntimeError` that asks for a report.
pub(crate) fn guarded<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> PyResult<R> {
    told(py.detach(|| catch_unwind(AssertUnwindSafe(work))))
}

/// Does what [`guarded`] does with the interpreter kept, for work that calls it again and again.
pub(crate) fn guarded_attached<R>(_py: Python<'_>, work: impl FnOnce() -> R) -> PyResult<R> {
    told(catch_unwind(AssertUnwindSafe(work)))
}

fn told<R>(outcome: std::thread::Result<R>) -> PyResult<R> {
    outcome.map_err(|panic| {
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        PyRuntimeError::new_err(format!(
            "a defect of anabranch {}: {text}; please report it with the scenario and the seed",
            env!("CARGO_PKG_VERSION")
        ))
    })
}
