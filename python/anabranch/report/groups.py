"""Many flows at one look: groups by name, with sums and percentiles, and how long they took."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from anabranch import si
from anabranch.report.cells import Cell, Shown
from anabranch.report.charts import Chart, Trace, apart
from anabranch.rows import Transfer

FEW = 3
"""Flows of one name that make a group."""
PERCENTILES = (50, 95, 99)


def groups(flows: Sequence[Transfer], few: int = FEW) -> dict[str, list[Transfer]]:
    """Flows whose names differ in the number at their end alone, by what comes before it: `few` of
    them or more."""
    found: dict[str, list[Transfer]] = {}
    for flow in flows:
        found.setdefault(re.sub(r"-[0-9]+$", "", flow.flow), []).append(flow)
    return {name: group for name, group in found.items() if len(group) >= few}


COLUMNS = {
    "flows": si.COUNT,
    "finished": si.COUNT,
    "bytes": "B",
    "goodput, mean": "bit/s",
    "retransmitted": si.COUNT,
    "timeouts": si.COUNT,
    "completion, mean": "s",
    **{f"completion, {each} %": "s" for each in PERCENTILES},
}
"""What the table has of each group, with the unit."""


def group_table(found: Mapping[str, Sequence[Transfer]]) -> Shown | None:
    """A row for each group; nothing where there is none."""
    if not found:
        return None
    numbers = [_numbers(group) for group in found.values()]
    columns = [
        [Cell(text, repr(value)) for value, text in zip(each, si.texts(each, unit), strict=True)]
        for each, unit in zip(zip(*numbers, strict=True), COLUMNS.values(), strict=True)
    ]
    rows = [[Cell(name), *cells] for name, *cells in zip(found, *columns, strict=True)]
    return Shown("flows by group", ["group", *COLUMNS], rows)


def _numbers(group: Sequence[Transfer]) -> list[float]:
    """The numbers of `COLUMNS`."""
    took = [flow.completion_s for flow in group if flow.completion_s is not None]
    return [
        len(group),
        len(took),
        sum(flow.bytes for flow in group),
        float(np.mean([flow.goodput_bps for flow in group])),
        sum(flow.retransmitted_packets for flow in group),
        sum(flow.timeouts or 0 for flow in group),
        float(np.mean(took)) if took else float("nan"),
        *(float(np.percentile(took, each)) if took else float("nan") for each in PERCENTILES),
    ]


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
