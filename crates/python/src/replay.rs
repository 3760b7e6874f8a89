//! `replay`: a capture as a run.

use crate::guard::guarded;
use crate::results;
use anabranch_scenario::replay::{ReadError, Replay, replay as read};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// What the packets of the capture at `path` tell.
#[pyfunction]
pub(crate) fn replay(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let work = || whole(&path).map(|file| read(&file));
    let map_err = guarded(py, work)?.map_err(|error| PyOSError::new_err(error.to_string()))?;
    let mut found = map_err.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let dict = PyDict::new(py);
    dict.set_item("flows", flows(py, &found)?)?;
    let all = PyDict::new(py);
    for series in std::mem::take(&mut found.series) {
        all.set_item(series.name.clone(), results::series(py, series)?)?;
    }
    dict.set_item("series", all)?;
    let run = PyDict::new(py);
    run.set_item("end_s", found.end_s)?;
    run.set_item("application", &found.application)?;
    run.set_item("other_packets", found.others)?;
    run.set_item("cut", found.is_cut)?;
    let interfaces = PyList::empty(py);
    for interface in &found.interfaces {
        let row = PyDict::new(py);
        row.set_item("name", &interface.name)?;
        row.set_item("packets", interface.packets)?;
        interfaces.append(row)?;
    }
    run.set_item("interfaces", interfaces)?;
    dict.set_item("run", run)?;
    Ok(dict)
}

/// The octets of a capture; of what is none, its first ones alone: it may have no end.
fn whole(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = std::fs::File::open(path)?;
    let mut octets = Vec::new();
    file.by_ref().take(4096).read_to_end(&mut octets)?;
    if !matches!(read(&octets), Err(ReadError::NotACapture)) {
        file.read_to_end(&mut octets)?;
    }
    Ok(octets)
}

fn flows<'py>(py: Python<'py>, replay: &Replay) -> PyResult<Bound<'py, PyList>> {
    let rows = PyList::empty(py);
    for flow in &replay.flows {
        let row = PyDict::new(py);
        row.set_item("flow", &flow.flow)?;
        row.set_item("protocol", flow.protocol)?;
        row.set_item("start_s", flow.start_s)?;
        row.set_item("finish_s", flow.finish_s)?;
        row.set_item("bytes", flow.bytes)?;
        row.set_item("goodput_bps", flow.goodput_bps)?;
        row.set_item("retransmitted_packets", flow.retransmitted_packets)?;
        // What packets do not tell.
        row.set_item("fast_retransmits", py.None())?;
        row.set_item("timeouts", py.None())?;
        row.set_item("packets", flow.packets)?;
        row.set_item("established", flow.established)?;
        rows.append(row)?;
    }
    Ok(rows)
}
