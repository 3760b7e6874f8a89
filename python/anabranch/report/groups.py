"""Many flows at one look: groups by name, with sums and percentiles, and how long they took."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from anabranch import si
from anabranch.report.cells import Cell, Shown
from anabranch.report.charts import Chart, Trace, apart
from anabranch.rows import Transfer

FEW = 3
"""Flows of one name that make a group."""
PERCENTILES = (50, 95, 99)


def groups(flows: Sequence[Transfer]) -> dict[str, list[Transfer]]:
    """Flows whose names differ in the number at their end alone, by what comes before it."""
    found: dict[str, list[Transfer]] = {}
    for flow in flows:
        found.setdefault(re.sub(r"-[0-9]+$", "", flow.flow), []).append(flow)
    return {name: group for name, group in found.items() if len(group) >= FEW}


def group_table(flows: Sequence[Transfer]) -> Shown | None:
    """A row for each group; nothing where there is none."""
    rows = [_row(name, group) for name, group in groups(flows).items()]
    columns = ["group", "flows", "finished", "bytes", "goodput, mean", "retransmitted", "timeouts"]
    columns += [f"completion, {each} %" for each in PERCENTILES]
    return Shown("flows by group", columns, rows) if rows else None


def _row(name: str, group: list[Transfer]) -> list[Cell]:
    took = [flow.completion_s for flow in group if flow.completion_s is not None]
    times = [float(np.percentile(took, each)) if took else float("nan") for each in PERCENTILES]
    numbers = [
        (len(group), si.COUNT),
        (len(took), si.COUNT),
        (sum(flow.bytes for flow in group), "B"),
        (float(np.mean([flow.goodput_bps for flow in group])), "bit/s"),
        (sum(flow.retransmitted_packets for flow in group), si.COUNT),
        (sum(flow.timeouts or 0 for flow in group), si.COUNT),
        *((time, "s") for time in times),
    ]
    return [Cell(name), *(Cell(si.text(value, unit), repr(value)) for value, unit in numbers)]


def completion_chart(flows: Sequence[Transfer]) -> Chart | None:
    """The distribution of completion times of each group; nothing where there is none."""
    took = {
        name: sorted(flow.took_s() for flow in group if flow.finish_s is not None)
        for name, group in groups(flows).items()
    }
    took = {name: times for name, times in took.items() if len(times) >= FEW}
    if not took:
        return None
    scaled = si.scale([time for times in took.values() for time in times], "s")
    traces = []
    for index, (name, times) in enumerate(took.items()):
        x = [scaled.of(time) for time in (times[0], *times)]
        shares = [at / len(times) for at in range(len(times) + 1)]
        traces.append(Trace(name, "steps", x, shares, colour=index % 7, dash=index // 7 % 4))
    axis = scaled.axis("completion time")
    return Chart("Completion times", axis, "share of the flows", apart(traces), ylim=(0.0, 1.02))
