//! What applications had of a run: datagrams, pings, calls, videos, loads of pages.

use anabranch_scenario::{DatagramRow, Distribution, LoadRow, RunResult, VideoRow};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Puts the tables of a run.
pub(super) fn set<'py>(
    py: Python<'py>,
    dict: &Bound<'py, PyDict>,
    result: &RunResult,
) -> PyResult<()> {
    let all = |rows: Vec<PyResult<Bound<'py, PyDict>>>| {
        PyList::new(py, rows.into_iter().collect::<PyResult<Vec<_>>>()?)
    };
    let rows = &result.datagrams;
    dict.set_item("datagrams", all(rows.iter().map(|row| datagrams(py, row)).collect())?)?;
    // An echo comes in the direction back: its row tells of the flow.
    let pings = rows.iter().filter(|row| row.is_echo);
    dict.set_item("pings", all(pings.map(|row| ping(py, row, rows)).collect())?)?;
    let calls = rows.iter().filter(|row| row.codec.is_some());
    dict.set_item("calls", all(calls.map(|row| call(py, row)).collect())?)?;
    dict.set_item("videos", all(result.videos.iter().map(|row| video(py, row)).collect())?)?;
    dict.set_item("loads", all(result.loads.iter().map(|row| load(py, row)).collect())?)?;
    Ok(())
}

/// Puts `PREFIXmeanSUFFIX`, quantiles and maximum.
pub(super) fn distribution(
    dict: &Bound<'_, PyDict>,
    prefix: &str,
    suffix: &str,
    of: Option<Distribution>,
) -> PyResult<()> {
    let put =
        |name: &str, value: Option<f64>| dict.set_item(format!("{prefix}{name}{suffix}"), value);
    put("mean", of.map(|distribution| distribution.mean))?;
    put("p50", of.map(|distribution| distribution.p50))?;
    put("p95", of.map(|distribution| distribution.p95))?;
    put("p99", of.map(|distribution| distribution.p99))?;
    put("max", of.map(|distribution| distribution.max))
}

/// A part of a whole that is there.
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn datagrams<'py>(py: Python<'py>, row: &DatagramRow) -> PyResult<Bound<'py, PyDict>> {
    let (s, dict) = (&row.summary, PyDict::new(py));
    dict.set_item("flow", &row.flow)?;
    for (name, count) in [
        ("sent", s.sent),
        ("received", s.received),
        ("duplicates", s.duplicates),
        ("under_way", s.under_way),
        ("lost", s.losses.lost),
        ("loss_runs", s.losses.runs),
        ("longest_loss_run", s.losses.longest),
        ("reordered", s.reordered),
    ] {
        dict.set_item(name, count)?;
    }
    dict.set_item("loss_ratio", ratio(s.losses.lost, s.sent - s.under_way.min(s.sent)))?;
    dict.set_item("reordered_ratio", ratio(s.reordered, s.received))?;
    distribution(&dict, "delay_", "_s", s.delay)?;
    dict.set_item("jitter_s", s.jitter.map(|jitter| jitter.last))?;
    dict.set_item("jitter_mean_s", s.jitter.map(|jitter| jitter.mean))?;
    dict.set_item("jitter_max_s", s.jitter.map(|jitter| jitter.max))?;
    Ok(dict)
}

fn ping<'py>(
    py: Python<'py>,
    row: &DatagramRow,
    rows: &[DatagramRow],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let flow = row.flow.strip_suffix(".reverse").unwrap_or(&row.flow);
    let probes = rows.iter().find(|probe| probe.flow == flow).map(|probe| &probe.summary);
    let echoes = &row.summary;
    let sent = probes.map_or(0, |probes| probes.sent);
    let under_way = probes.map_or(0, |probes| probes.under_way) + echoes.under_way;
    let lost = sent.saturating_sub(echoes.received + under_way);
    dict.set_item("flow", flow)?;
    dict.set_item("sent", sent)?;
    dict.set_item("answered", echoes.received)?;
    dict.set_item("under_way", under_way)?;
    dict.set_item("lost", lost)?;
    dict.set_item("loss_ratio", ratio(lost, sent.saturating_sub(under_way)))?;
    distribution(&dict, "rtt_", "_s", echoes.round_trip)?;
    Ok(dict)
}

fn call<'py>(py: Python<'py>, row: &DatagramRow) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    let heard = row.summary.call;
    let quality = heard.and_then(|call| call.quality);
    dict.set_item("flow", &row.flow)?;
    dict.set_item("codec", row.codec)?;
    dict.set_item("sent", row.summary.sent)?;
    dict.set_item("lost", row.summary.losses.lost)?;
    dict.set_item("late", heard.map(|call| call.late))?;
    dict.set_item("unplayed_ratio", quality.map(|quality| quality.unplayed))?;
    dict.set_item("burst_ratio", quality.map(|quality| quality.burst_ratio))?;
    dict.set_item("mouth_to_ear_s", quality.map(|quality| quality.mouth_to_ear.as_secs_f64()))?;
    dict.set_item("rating", quality.map(|quality| quality.rating))?;
    dict.set_item("mos", quality.map(|quality| quality.mos))?;
    Ok(dict)
}

fn video<'py>(py: Python<'py>, row: &VideoRow) -> PyResult<Bound<'py, PyDict>> {
    let (s, dict) = (&row.summary, PyDict::new(py));
    dict.set_item("flow", &row.flow)?;
    dict.set_item("selection", row.selection)?;
    dict.set_item("segments", s.segments)?;
    dict.set_item("mean_rate_bps", s.mean_rate_bps)?;
    dict.set_item("switches", s.switches)?;
    dict.set_item("stalls", s.stalls)?;
    dict.set_item("stalled_s", s.stalled.as_secs_f64())?;
    dict.set_item("startup_s", s.startup.map(|startup| startup.as_secs_f64()))?;
    dict.set_item("played_s", s.played.as_secs_f64())?;
    Ok(dict)
}

fn load<'py>(py: Python<'py>, row: &LoadRow) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("flow", &row.flow)?;
    dict.set_item("begun", row.summary.begun)?;
    dict.set_item("complete", row.summary.complete)?;
    distribution(&dict, "load_time_", "_s", row.summary.time)?;
    Ok(dict)
}
