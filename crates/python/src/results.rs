//! Results as dictionaries and NumPy arrays.

mod measured;

use anabranch_scenario::{
    AttackRow, EventRow, FlowRow, LinkRow, ListenRow, MemoryRow, MessageRow, NamedSeries, PathRow,
    PortRow, RegulatorRow, RunInfo, RunResult, Warning,
};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// The dictionary of a run.
pub(crate) fn to_dict<'py>(py: Python<'py>, mut result: RunResult) -> PyResult<Bound<'py, PyDict>> {
    let flows: PyResult<Vec<_>> = result.flows.iter().map(|row| flow(py, row)).collect();
    let links: PyResult<Vec<_>> = result.links.iter().map(|row| link(py, row)).collect();
    let all = PyDict::new(py);
    for named in std::mem::take(&mut result.series) {
        all.set_item(named.name.clone(), series(py, named)?)?;
    }
    let dict = PyDict::new(py);
    dict.set_item("flows", PyList::new(py, flows?)?)?;
    dict.set_item("series", all)?;
    dict.set_item("links", PyList::new(py, links?)?)?;
    let regulators = result.regulators.iter().map(|row| regulator(py, row));
    let regulators = regulators.collect::<PyResult<Vec<_>>>()?;
    dict.set_item("regulators", PyList::new(py, regulators)?)?;
    let lines = result.lines.iter().map(|row| port(py, row, result.run.end_s));
    dict.set_item("lines", PyList::new(py, lines.collect::<PyResult<Vec<_>>>()?)?)?;
    let paths = result.paths.iter().map(|row| path(py, row)).collect::<PyResult<Vec<_>>>()?;
    dict.set_item("paths", PyList::new(py, paths)?)?;
    let messages = result.messages.iter().map(|row| messages(py, row));
    let messages = messages.collect::<PyResult<Vec<_>>>()?;
    dict.set_item("messages", PyList::new(py, messages)?)?;
    measured::set(py, &dict, &result)?;
    let listeners = result.listeners.iter().map(|row| listener(py, row));
    dict.set_item("listeners", PyList::new(py, listeners.collect::<PyResult<Vec<_>>>()?)?)?;
    let attacks = result.attacks.iter().map(|row| attack(py, row));
    dict.set_item("attacks", PyList::new(py, attacks.collect::<PyResult<Vec<_>>>()?)?)?;
    let memory = result.memory.iter().map(|row| memory(py, row));
    dict.set_item("memory", PyList::new(py, memory.collect::<PyResult<Vec<_>>>()?)?)?;
    let events = result.events.iter().map(|row| event(py, row));
    dict.set_item("events", PyList::new(py, events.collect::<PyResult<Vec<_>>>()?)?)?;
    dict.set_item("run", info(py, &result.run)?)?;
    Ok(dict)
}

fn listener<'py>(py: Python<'py>, row: &ListenRow) -> PyResult<Bound<'py, PyDict>> {
    let (found, report) = (&row.result, &row.result.report);
    let dict = PyDict::new(py);
    dict.set_item("name", &row.name)?;
    for (name, count) in [
        ("accepted", found.accepted),
        ("strangers", found.strangers as u64),
        ("gave_way", found.gave_way),
        ("bytes", found.bytes),
        ("half_open", report.half_open as u64),
        ("most_half_open", found.peak_half_open as u64),
        ("waiting", report.waiting as u64),
        ("dropped", report.dropped),
        ("overflows", report.overflows),
        ("cookies_sent", report.cookies_sent),
        ("cookies_accepted", report.cookies_accepted),
        ("most_memory", found.peak_memory),
    ] {
        dict.set_item(name, count)?;
    }
    Ok(dict)
}

fn event<'py>(py: Python<'py>, row: &EventRow) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("time_s", row.time_s)?;
    dict.set_item("until_s", row.until_s)?;
    dict.set_item("flow", &row.flow)?;
    dict.set_item("host", &row.host)?;
    dict.set_item("end", row.end)?;
    dict.set_item("path", &row.path)?;
    dict.set_item("kind", row.kind)?;
    dict.set_item("event", &row.event)?;
    dict.set_item("cause", &row.cause)?;
    dict.set_item("count", row.count)?;
    Ok(dict)
}

fn attack<'py>(py: Python<'py>, row: &AttackRow) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("name", &row.name)?;
    dict.set_item("packets", row.result.packets)?;
    dict.set_item("bytes", row.result.bytes)?;
    dict.set_item("answers", row.result.answers)?;
    Ok(dict)
}

fn memory<'py>(py: Python<'py>, row: &MemoryRow) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("host", &row.host)?;
    dict.set_item("mean_bytes", row.result.mean())?;
    dict.set_item("most_bytes", row.result.peak)?;
    dict.set_item("last_bytes", row.result.last)?;
    Ok(dict)
}

fn flow<'py>(py: Python<'py>, row: &FlowRow) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("flow", &row.flow)?;
    dict.set_item("protocol", row.protocol)?;
    dict.set_item("start_s", row.start_s)?;
    dict.set_item("finish_s", row.finish_s)?;
    dict.set_item("bytes", row.bytes)?;
    dict.set_item("goodput_bps", row.goodput_bps)?;
    dict.set_item("retransmitted_packets", row.retransmitted_packets)?;
    dict.set_item("fast_retransmits", row.fast_retransmits)?;
    dict.set_item("timeouts", row.timeouts)?;
    dict.set_item("reverse_bytes", row.reverse_bytes)?;
    dict.set_item("established", row.established)?;
    dict.set_item("closed", row.closed)?;
    dict.set_item("outcome", row.outcome.name())?;
    dict.set_item("why", row.why.as_deref())?;
    dict.set_item("wrong_octets", row.wrong_octets)?;
    dict.set_item("undone_reductions", row.undone_reductions)?;
    dict.set_item("tail_loss_probes", row.tail_loss_probes)?;
    dict.set_item("spurious_retransmissions", row.spurious_retransmissions)?;
    dict.set_item("fallback", row.fallback)?;
    Ok(dict)
}

/// The columns of a series; they are moved, not copied.
pub(crate) fn series<'py>(
    py: Python<'py>,
    named_series: NamedSeries,
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("time_s", PyArray1::from_vec(py, named_series.time_s))?;
    dict.set_item("value", PyArray1::from_vec(py, named_series.value))?;
    let sends = named_series.name.ends_with(".sends");
    if sends || named_series.name.ends_with(".sacks") || named_series.name.ends_with(".drops") {
        dict.set_item("len", PyArray1::from_vec(py, named_series.len))?;
    }
    if sends {
        dict.set_item("retransmission", PyArray1::from_vec(py, named_series.retransmission))?;
    }
    Ok(dict)
}

fn link<'py>(py: Python<'py>, row: &LinkRow) -> PyResult<Bound<'py, PyDict>> {
    let c = &row.counters;
    let dict = PyDict::new(py);
    dict.set_item("name", &row.name)?;
    for (name, count) in [
        ("received", c.received),
        ("delivered", c.delivered),
        ("dropped_queue", c.dropped_queue),
        ("dropped_aqm", c.dropped_aqm),
        ("dropped_loss", c.dropped_loss),
        ("dropped_corrupt", c.dropped_corrupt),
        ("dropped_mtu", c.dropped_mtu),
        ("marked", c.marked),
        ("duplicated", c.duplicated),
        ("queued", c.queued),
        ("bytes_received", c.bytes_received),
        ("bytes_delivered", c.bytes_delivered),
        ("bytes_dropped", c.bytes_dropped),
        ("bytes_duplicated", c.bytes_duplicated),
        ("bytes_queued", c.bytes_queued),
    ] {
        dict.set_item(name, count)?;
    }
    dict.set_item("utilisation", row.utilisation)?;
    measured::distribution(
        &dict,
        "queue_",
        "",
        row.queueing.and_then(|queueing| queueing.packets),
    )?;
    measured::distribution(
        &dict,
        "queue_delay_",
        "_s",
        row.queueing.and_then(|queueing| queueing.delay),
    )?;
    Ok(dict)
}

fn path<'py>(py: Python<'py>, row: &PathRow) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("flow", &row.flow)?;
    dict.set_item("from", &row.from)?;
    dict.set_item("to", &row.to)?;
    dict.set_item("subflow", row.subflow)?;
    dict.set_item("state", row.state)?;
    dict.set_item("packets", row.packets)?;
    dict.set_item("retransmitted_packets", row.retransmitted_packets)?;
    dict.set_item("bytes", row.bytes)?;
    dict.set_item("new_bytes", row.new_bytes)?;
    dict.set_item("goodput_bps", row.goodput_bps)?;
    dict.set_item("fast_retransmits", row.fast_retransmits)?;
    dict.set_item("timeouts", row.timeouts)?;
    dict.set_item("heartbeats", row.heartbeats)?;
    dict.set_item("errors", row.errors)?;
    dict.set_item("cwnd", row.cwnd)?;
    dict.set_item("srtt_s", row.srtt_s)?;
    dict.set_item("rto_s", row.rto_s)?;
    Ok(dict)
}

fn messages<'py>(py: Python<'py>, row: &MessageRow) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("flow", &row.flow)?;
    dict.set_item("made", row.made)?;
    dict.set_item("delivered", row.delivered)?;
    dict.set_item("delay_s", row.delay_s)?;
    dict.set_item("longest_delay_s", row.longest_delay_s)?;
    dict.set_item("wait_s", row.wait_s)?;
    dict.set_item("longest_wait_s", row.longest_wait_s)?;
    Ok(dict)
}

fn regulator<'py>(py: Python<'py>, row: &RegulatorRow) -> PyResult<Bound<'py, PyDict>> {
    let c = &row.counters;
    let dict = PyDict::new(py);
    dict.set_item("name", &row.name)?;
    for (name, count) in [
        ("received", c.received),
        ("released", c.released),
        ("delayed", c.delayed),
        ("dropped", c.dropped),
        ("held", c.held),
        ("most_held", c.most_held),
        ("bytes_received", c.bytes_received),
        ("bytes_released", c.bytes_released),
        ("bytes_dropped", c.bytes_dropped),
        ("bytes_held", c.bytes_held),
    ] {
        dict.set_item(name, count)?;
    }
    dict.set_item("total_delay_s", c.total_delay.as_secs_f64())?;
    dict.set_item("longest_delay_s", c.longest_delay.as_secs_f64())?;
    Ok(dict)
}

fn port<'py>(py: Python<'py>, row: &PortRow, end_s: f64) -> PyResult<Bound<'py, PyDict>> {
    let c = &row.counters;
    let dict = PyDict::new(py);
    dict.set_item("name", &row.name)?;
    for (name, count) in [
        ("received", c.received),
        ("forward_rm", c.forward_rm),
        ("backward_rm", c.backward_rm),
        ("delivered", c.delivered),
        ("dropped", c.dropped),
        ("queued", c.queued),
        ("most_waiting", c.most_waiting),
    ] {
        dict.set_item(name, count)?;
    }
    let taken = (c.received - c.dropped).max(1) as f64;
    dict.set_item("mean_wait_s", c.waited.as_secs_f64() / taken)?;
    dict.set_item("utilisation", c.busy.as_secs_f64() / end_s.max(f64::MIN_POSITIVE))?;
    Ok(dict)
}

fn info<'py>(py: Python<'py>, run: &RunInfo) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("version", run.version)?;
    dict.set_item("seed", run.seed)?;
    dict.set_item("replication", run.replication)?;
    dict.set_item("generator", run.generator)?;
    dict.set_item("events", run.events)?;
    dict.set_item("packet_hops", run.packet_hops)?;
    dict.set_item("dropped_checksum", run.dropped_checksum)?;
    dict.set_item("icmp_withheld", run.icmp_withheld)?;
    dict.set_item("wall_s", run.wall_s)?;
    dict.set_item("cpu_s", run.cpu_s)?;
    dict.set_item("end_s", run.end_s)?;
    dict.set_item("ended", run.ended.name())?;
    dict.set_item("cores", run.cores)?;
    dict.set_item("one_core", &run.one_core)?;
    dict.set_item("trace_hash", run.trace_hash.map(|hash| format!("{hash:016x}")))?;
    dict.set_item("warnings", run.warnings.iter().map(Warning::to_string).collect::<Vec<_>>())?;
    dict.set_item("resolved", &run.resolved)?;
    Ok(dict)
}
