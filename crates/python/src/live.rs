//! `live`: a scenario in real time.

use crate::guard::guarded;
use crate::kernel::counts_dict;
use crate::{options, results, run_error};
use anabranch_scenario::RunError;
use anabranch_scenario::live::{LiveOptions, LiveResult, Precision, Stop, live as run_live};
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Time between two looks at signals and the limit.
const LOOK: Duration = Duration::from_millis(20);

/// Runs a scenario once in real time. An interrupt from the keyboard stops it;
/// the result then says so. So does `limit_s`, after which it is stopped.
#[pyfunction]
pub(crate) fn live<'py>(
    py: Python<'py>,
    text: &str,
    file: &str,
    overrides: Vec<String>,
    options: options::Live,
) -> PyResult<Bound<'py, PyDict>> {
    let limit_s = options.limit_s;
    let options = LiveOptions::from(options);
    let scenario = crate::read(py, text, file, &overrides)?;
    let file = file.to_owned();
    let stop = Arc::new(OnceLock::new());
    let tell = stop.clone();
    let work = move || {
        let in_file = |error| match error {
            RunError::Input(error) => RunError::Input(error.in_file(&file)),
            other => other,
        };
        run_live(&scenario, &options, |item| drop(tell.set(item))).map_err(in_file)
    };
    // A thread that the interpreter knows already enters it at less cost.
    let worker = std::thread::spawn(|| Python::attach(|py| py.detach(work)));
    let (mut interrupted, mut waited) = (false, Duration::ZERO);
    while !worker.is_finished() {
        py.detach(|| std::thread::sleep(LOOK));
        waited += LOOK;
        interrupted |= py.check_signals().is_err();
        let too_long = limit_s.is_some_and(|limit| waited.as_secs_f64() > limit);
        if let (true, Some(stop)) = (interrupted || too_long, stop.get()) {
            Stop::stop(stop);
        }
    }
    let joined = guarded(py, || match worker.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    })?;
    let result = joined.map_err(|error| run_error(py, error))?;
    let live = live_dict(py, &result)?;
    live.set_item("interrupted", interrupted)?;
    let dict = results::to_dict(py, result.result)?;
    dict.set_item("live", live)?;
    Ok(dict)
}

/// Makes the process root in a user namespace of its own, where the kernel
/// allows that. It must have a single thread.
#[pyfunction]
pub(crate) fn enter_user_namespace() -> PyResult<()> {
    anabranch_scenario::live::enter_user_namespace()
        .map_err(|error| PyOSError::new_err(error.to_string()))
}

fn live_dict<'py>(py: Python<'py>, live_result: &LiveResult) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let Precision { lateness, .. } = &live_result.precision;
    let late = PyDict::new(py);
    late.set_item("packets", lateness.count())?;
    for (name, q) in [("median_s", 0.5), ("p99_s", 0.99), ("p999_s", 0.999)] {
        late.set_item(name, lateness.quantile(q).as_secs_f64())?;
    }
    late.set_item("max_s", lateness.max().as_secs_f64())?;
    dict.set_item("lateness", late)?;
    dict.set_item("longest_absence_s", live_result.precision.longest_absence.as_secs_f64())?;
    dict.set_item("started_monotonic_s", live_result.precision.started.as_secs_f64())?;
    dict.set_item("loop_cpu_s", live_result.precision.cpu.as_secs_f64())?;
    dict.set_item(
        "shortest_round_trip_s",
        live_result.precision.shortest_round_trip.as_secs_f64(),
    )?;
    dict.set_item("doubts", live_result.precision.doubts())?;
    dict.set_item("scheduling", live_result.precision.scheduling.name())?;
    dict.set_item("unprivileged", live_result.precision.unprivileged)?;
    dict.set_item("kernel_senders", &live_result.kernel_senders)?;
    dict.set_item("stopped", live_result.stopped)?;
    let sockets = PyList::empty(py);
    for socket in &live_result.sockets {
        let row = PyDict::new(py);
        row.set_item("flow", &socket.flow)?;
        row.set_item("host", &socket.host)?;
        row.set_item("ends", socket.ends.map(|ends| ends.map(|end| end.to_string())))?;
        row.set_item("congestion_control", socket.congestion_control.as_deref())?;
        for (name, value) in &socket.fields {
            row.set_item(name, value)?;
        }
        sockets.append(row)?;
    }
    dict.set_item("sockets", sockets)?;
    let ports = PyList::empty(py);
    for port in &live_result.ports {
        let row = PyDict::new(py);
        row.set_item("name", &port.name)?;
        row.set_item("entered", port.counters.entered)?;
        row.set_item("left", port.counters.left)?;
        row.set_item("ignored", port.counters.ignored)?;
        row.set_item("refused", port.counters.refused)?;
        row.set_item("overrun", port.counters.overrun)?;
        row.set_item("first_ignored", port.first_ignored.map(|error| error.to_string()))?;
        row.set_item("first_refused", &port.first_refused)?;
        row.set_item("doubts", live_result.precision.doubts_of(&port.lateness))?;
        ports.append(row)?;
    }
    dict.set_item("ports", ports)?;
    let controls = PyList::empty(py);
    for control in &live_result.controls {
        let row = counts_dict(py, &control.name, &control.counts)?;
        row.set_item("window", &control.window)?;
        controls.append(row)?;
    }
    dict.set_item("controls", controls)?;
    let programs = PyList::empty(py);
    for program in &live_result.programs {
        let row = PyDict::new(py);
        row.set_item("host", &program.host)?;
        row.set_item("command", &program.command)?;
        row.set_item("status", program.status)?;
        row.set_item("failure", &program.failure)?;
        programs.append(row)?;
    }
    dict.set_item("programs", programs)?;
    Ok(dict)
}
