"""One run as charts that move together: the time-sequence diagram, windows, queues, rates.

What is drawn is what the scenario observed; `Scenario.explored` observes all of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from anabranch.experiment import RunResult, Series
from anabranch.observed import AXES, LANE, rate
from anabranch.report import thinning
from anabranch.report.charts import Chart, Trace

MOST_PACKETS = 12_000
"""Packets of one kind drawn of each flow or path; what was lost or sent again comes on top."""
MOST_SAMPLES = 6_000
"""Samples drawn of a curve."""
MOST_SERIES = 24
"""Series in one chart; the others are in their files."""
RATE_INTERVALS = 200
"""Throughput is the mean over this part of the run."""

LINK = "run"
COLOURS = (0, 5, 4, 2, 3, 6)
AGAIN, SACKED, LOST, ACKED, SENT = 1, 2, 3, 6, COLOURS
TOGETHER = (
    ("Windows", "octets", ("cwnd", "path_cwnd", "ssthresh", "path_ssthresh", "in_flight",
                           "path_in_flight")),
    ("Queues", "waiting packets", ("queue", "regulator")),
    ("Round-trip times", "seconds", ("srtt", "path_srtt", "path_rto")),
)  # fmt: skip
"""Quantities of one unit that are drawn in one chart."""
SAYS = {"ssthresh": "ssthresh", "in_flight": "in flight", "srtt": "smoothed RTT", "rto": "RTO"}


def charts(result: RunResult) -> list[Chart]:
    """The charts of a run, the time-sequence diagram first; none if nothing was observed."""
    kinds: dict[str, list[str]] = {}
    for name in sorted(result.series):
        kinds.setdefault(name.rpartition(".")[2], []).append(name)
    found = list(_sequence(result, kinds)) + list(_rates(result, kinds))
    done = {"received", *LANE}
    for title, axis, members in TOGETHER:
        names = [name for kind in members for name in kinds.get(kind, ())]
        done.update(members)
        if names:
            found.append(_curves(result, title, axis, names))
    for kind, names in kinds.items():
        if kind not in done:
            axis, title = AXES.get(kind, (kind, kind))
            found.append(_curves(result, title, axis, names))
    return found


def _sequence(result: RunResult, kinds: dict[str, list[str]]) -> Iterator[Chart]:
    lanes = [name.removesuffix(".sends") for name in kinds.get("sends", ())]
    if not lanes:
        return
    traces: list[Trace] = []
    notes: list[str] = []
    chunks = {flow["flow"] for flow in result.flows if flow["protocol"] == "sctp"}
    for index, lane in enumerate(lanes[:MOST_SERIES]):
        in_chunks = any(lane == flow or lane.startswith(f"{flow}.") for flow in chunks)
        series = {kind: result.series[f"{lane}.{kind}"] for kind in LANE}
        traces += _lane(lane, COLOURS[index % len(COLOURS)], series, in_chunks, len(lanes) > 1)
    notes += _left_out(len(lanes), "flows and paths")
    notes += [f"{trace.name}: {trace.note}." for trace in traces if trace.note]
    axis = "octets from the start of the stream"
    if chunks:
        axis = "chunks" if len(chunks) == len(result.flows) else "octets (SCTP: chunks)"
    yield Chart("Time-sequence", "time (s)", axis, traces, link=LINK, tall=True, notes=notes)


def _lane(
    lane: str, colour: int, series: dict[str, Series], in_chunks: bool, several: bool
) -> list[Trace]:
    """What was sent, sent again, acknowledged, selectively acknowledged, received and lost."""
    prefix = f"{lane}: " if several else ""
    sends, sacks = series["sends"], series["sacks"]
    again = np.asarray(sends["retransmission"], dtype=bool)
    tall: Any = 1 if in_chunks else sends["len"]
    ends = sends["value"] + tall

    def trace(name: str, kind: Any, x: Any, y: Any, colour: int, **more: Any) -> Trace:
        return Trace(prefix + name, kind, x, y, colour=colour, group=lane, **more)

    first = np.flatnonzero(~again)
    kept = first[thinning.packets(len(first), MOST_PACKETS)]
    times, values = sends["time_s"], sends["value"]
    blocks = thinning.packets(len(sacks["time_s"]), MOST_PACKETS)
    arrived = thinning.packets(len(series["receives"]["time_s"]), MOST_PACKETS)
    acks = series["acks"]
    acked = thinning.curve(acks["time_s"], acks["value"], MOST_SAMPLES)
    drops = series["drops"]
    return [
        trace("sent", "bars", times[kept], values[kept], colour, high=ends[kept],
              note=_thinned(len(kept), len(first))),
        trace("acknowledged", "steps", acks["time_s"][acked], acks["value"][acked], ACKED,
              note=_thinned(len(acked), len(acks["time_s"]))),
        trace("SACK blocks", "bars", sacks["time_s"][blocks], sacks["value"][blocks], SACKED,
              high=(sacks["value"] + sacks["len"])[blocks],
              note=_thinned(len(blocks), len(sacks["time_s"]))),
        trace("sent again", "bars", times[again], values[again], AGAIN, high=ends[again]),
        trace("received", "dots", series["receives"]["time_s"][arrived],
              series["receives"]["value"][arrived], 4,
              note=_thinned(len(arrived), len(series["receives"]["time_s"])), shown=False),
        trace("lost", "crosses", drops["time_s"], drops["value"], LOST),
    ]  # fmt: skip


def _rates(result: RunResult, kinds: dict[str, list[str]]) -> Iterator[Chart]:
    names = kinds.get("received", ())
    end = float(result.run["end_s"])
    if not names or not end > 0:
        return
    interval = end / RATE_INTERVALS
    traces = []
    for index, name in enumerate(names[:MOST_SERIES]):
        middles, rates = rate(result.series[name], interval, end)
        label = name.removesuffix(".received")
        colour = COLOURS[index % len(COLOURS)]
        traces.append(
            Trace(label, "steps", middles - interval / 2, rates / 1e6, colour=colour, group=label)
        )
    notes = [f"Means over {interval:.4g} s.", *_left_out(len(names), "flows")]
    yield Chart("Throughput", "time (s)", "Mbit/s", traces, link=LINK, notes=notes)


def _curves(result: RunResult, title: str, axis: str, names: list[str]) -> Chart:
    kinds = {name.rpartition(".")[2] for name in names}
    traces = []
    for index, name in enumerate(names[:MOST_SERIES]):
        label, _, kind = name.rpartition(".")
        series = result.series[name]
        kept = thinning.curve(series["time_s"], series["value"], MOST_SAMPLES)
        short = SAYS.get(kind.removeprefix("path_"), kind.removeprefix("path_"))
        traces.append(
            Trace(
                f"{label}: {short}" if len(kinds) > 1 else label,
                "steps",
                series["time_s"][kept],
                series["value"][kept],
                colour=index % 7,
                dash="ssthresh" in kind,
                group="" if kind in ("queue", "regulator") else label,
                note=_thinned(len(kept), len(series["time_s"])),
            )
        )
    notes = [f"{trace.name}: {trace.note}." for trace in traces if trace.note]
    return Chart(
        title, "time (s)", axis, traces, link=LINK, notes=[*_left_out(len(names), "series"), *notes]
    )


def _thinned(kept: int, count: int) -> str:
    return "" if kept == count else f"{kept:,} of {count:,} are drawn"


def _left_out(count: int, what: str) -> list[str]:
    more = count - MOST_SERIES
    return [f"{more} more {what} are in the files."] if more > 0 else []
