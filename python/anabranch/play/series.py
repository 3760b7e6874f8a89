"""Series of a run as the page draws them: on one grid of dates, as octets in base64."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.library import quantities
from anabranch.play.document import Table
from anabranch.play.limits import MOST_SERIES, SAMPLES
from anabranch.recorded import Recorded
from anabranch.rows import Flow, Path

DRAWN = {
    "cwnd": ("cwnd", "path_cwnd"),
    "rtt": ("srtt", "path_srtt"),
    "queue": ("queue",),
}
"""What the page draws beside rates, and the kinds of series that it is made of."""
RATES = 150
"""Intervals of a run over which rates are means."""


TIMESTAMPS = 12
"""Octets of a segment that timestamps take (RFC 7323)."""


def segments(resolved: Table) -> dict[str, float]:
    """Octets of data in a full segment by the name of an entry of flows, of those over TCP."""
    found: dict[str, float] = {}
    for flow in resolved.get("flows", ()):
        tcp = flow.get("tcp", {})
        if "mss" in tcp and flow.get("protocol", "tcp") == "tcp":
            size = quantities.octets(tcp["mss"])
            found[str(flow["name"])] = size - TIMESTAMPS * bool(tcp.get("timestamps"))
    return found


def encode(column: Any, kind: str = "f4") -> str:
    """A column as the page reads it: `f4:` or `f8:` and little-endian octets in base64.

    >>> encode([1.0])
    'f4:AACAPw=='
    """
    octets = np.ascontiguousarray(column, dtype=f"<{kind}").tobytes()
    return f"{kind}:{base64.b64encode(octets).decode('ascii')}"


def drawn(result: Recorded, end_s: float) -> Table:
    """All series on the dates `end_s / samples`, `2 end_s / samples`, ...: of each stretch the
    largest value, so that no peak is lost."""
    edges = np.linspace(0, end_s, SAMPLES + 1)
    series = result.series
    several = {
        name.split(".", 1)[0] for name in series if name.endswith(".path_cwnd")
    }  # whose totals say less than their paths
    found: Table = {"end_s": end_s, "samples": SAMPLES, "rates": RATES}
    for what, kinds in DRAWN.items():
        chosen = {
            name.rpartition(".")[0]: columns
            for name, columns in series.items()
            if name.rpartition(".")[2] in kinds
            and not (name.split(".")[0] in several and name.endswith((".cwnd", ".srtt")))
        }
        found[what] = {
            name: encode(_largest(columns, edges)) for name, columns in _most(what, chosen).items()
        }
    grid = np.linspace(0, end_s, RATES + 1)
    lanes = [name.removesuffix(".receives") for name in series if name.endswith(".receives")]
    found["arrivals"] = bool(lanes)
    if lanes:
        rates = {lane: _arrived(series, lane, grid) for lane in lanes[:MOST_SERIES]}
    else:
        names = [name for name in series if name.endswith(".received")][:MOST_SERIES]
        rates = {name.removesuffix(".received"): _rate(series[name], grid) for name in names}
    found["rate"] = {name: encode(rate) for name, rate in rates.items()}
    return found


def late_mean(columns: Mapping[str, Any], end_s: float) -> float:
    """The mean of a step series over the second half of a run, by time; zero before its begin."""
    at, values = _late_steps(columns, end_s)
    return float(np.where(at >= 0, values[np.maximum(at, 0)], 0).mean()) if len(values) else 0.0


def late_rtt(result: Recorded, name: str) -> float | None:
    """The mean of a series of round-trip times over the second half of the run, by time, in
    seconds; none before the first."""
    at, values = _late_steps(result.series.get(name, {"time_s": [], "value": []}), result.run.end_s)
    known = at[at >= 0]
    return float(values[known].mean()) if len(known) else None


def _late_steps(
    columns: Mapping[str, Any], end_s: float
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The values of a step series, and which of them stands at each of many dates in the second
    half of a run; -1 before the first."""
    grid = np.linspace(end_s / 2, end_s, 20_000)
    at = np.searchsorted(columns["time_s"], grid, side="right") - 1
    return at, np.asarray(columns["value"], dtype=float)


def late_goodput(result: Recorded, flow: Flow) -> float:
    """Mbit/s of a flow in order: over the second half of the run, or since it started, of one that
    goes on; of one that has ended all of it. Observe `received`."""
    series, begin = result.series.get(f"{flow.flow}.received"), _late(result, flow)
    if series is None or begin is None:
        return flow.goodput_bps / 1e6
    before = np.searchsorted(series["time_s"], begin, side="right")
    counted = float(series["value"][before - 1]) if before else 0.0
    return (flow.bytes - counted) * 8e-6 / (result.run.end_s - begin)


def late_path_rate(result: Recorded, flow: Flow, path: Path) -> float | None:
    """The same of the data that came for the first time over a path of the flow; none where that
    is not known. Observe `packets`."""
    lane, begin = lane_of(result, path), _late(result, flow)
    if lane is None or begin is None:
        return None if path.goodput_bps is None else path.goodput_bps / 1e6
    sends, receives = result.series[f"{lane}.sends"], result.series[f"{lane}.receives"]
    offsets, sent = np.unique(sends["value"], return_index=True)
    arrived, first = np.unique(receives["value"], return_index=True)
    late = np.asarray(receives["time_s"])[first] > begin
    lengths = np.asarray(sends["len"], dtype=np.float64)[sent]
    came = lengths[np.searchsorted(offsets, arrived[late])]
    return float(came.sum()) * 8e-6 / (result.run.end_s - begin)


def _late(result: Recorded, flow: Flow) -> float | None:
    """The date from which on a flow that goes on is measured; none of one that has ended, or whose
    answers are what counts."""
    begin = max(result.run.end_s / 2, flow.start_s)
    goes_on = flow.finish_s is None and flow.closed is None and not flow.reverse_bytes
    return begin if goes_on and begin < result.run.end_s else None


def lane_of(result: Recorded, path: Path) -> str | None:
    """What the series of a path's packets begin with; none where they were not observed."""
    between = f"{path.flow}.{path.from_}-{path.to}"
    names = (f"{between}.{path.subflow}", between, f"{path.flow}.{path.to}")
    return next((name for name in names if f"{name}.receives" in result.series), None)


def _most(what: str, chosen: Mapping[str, Any]) -> Mapping[str, Any]:
    """The first series; of queues those that filled, the fullest first."""
    if what == "queue":
        peak = {name: float(np.max(each["value"], initial=0)) for name, each in chosen.items()}
        least = max(1.0, max(peak.values(), default=0.0) / 8)
        names = sorted(chosen, key=lambda name: -peak[name])
        chosen = {name: chosen[name] for name in names if peak[name] > least}
    return dict(list(chosen.items())[:MOST_SERIES])


def _largest(columns: Mapping[str, Any], edges: NDArray[Any]) -> NDArray[Any]:
    """The largest value of a step series in each stretch between two edges, that at its begin
    included; not a number before the first record."""
    times, values = columns["time_s"], np.asarray(columns["value"], dtype=np.float64)
    if len(times) == 0:
        return np.full(len(edges) - 1, np.nan)
    values = np.where(np.isfinite(values), values, np.nan)
    at = np.searchsorted(times, edges, side="right")
    held = np.where(at > 0, values[np.maximum(at - 1, 0)], np.nan)
    largest = held[:-1].copy()
    starts, ends = at[:-1], at[1:]
    filled = ends > starts
    if np.any(filled):
        peaks = np.fmax.reduceat(values, starts[filled])
        last = np.flatnonzero(filled)[-1]
        if ends[last] < len(values):  # reduceat goes on to the end
            peaks[-1] = np.fmax.reduce(values[starts[last] : ends[last]])
        largest[filled] = np.fmax(largest[filled], peaks)
    return largest


def _arrived(series: Mapping[str, Any], lane: str, grid: NDArray[Any]) -> NDArray[Any]:
    """Mean rate between the dates of `grid`, in Mbit/s, of the data that came to the receiver over
    a connection, subflow or path, in order or not. A packet is as long as the one that was sent
    with the same first octet."""
    sends, receives = series[f"{lane}.sends"], series[f"{lane}.receives"]
    order = np.argsort(sends["value"], kind="stable")
    offsets = np.asarray(sends["value"])[order]
    at = np.minimum(np.searchsorted(offsets, receives["value"]), max(len(offsets) - 1, 0))
    lengths = np.asarray(sends["len"], dtype=np.float64)[order][at] if len(offsets) else []
    counted = np.concatenate(([0.0], np.cumsum(lengths)))
    come = counted[np.searchsorted(receives["time_s"], grid, side="right")]
    return np.diff(come) * 8e-6 / np.diff(grid)


def _rate(columns: Mapping[str, Any], grid: NDArray[Any]) -> NDArray[Any]:
    """Mean rate between the dates of `grid`, in Mbit/s, of a series that counts octets."""
    times, values = columns["time_s"], np.asarray(columns["value"], dtype=np.float64)
    counted = np.concatenate(([0.0], values))[np.searchsorted(times, grid, side="right")]
    return np.diff(counted) * 8e-6 / np.diff(grid)
