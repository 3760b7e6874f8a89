"""Several runs laid over each other: their series in the same charts, their flows side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from anabranch import observed, results, si, tables
from anabranch.errors import InputError
from anabranch.files import output_directory, write_text
from anabranch.plotting.frame import Frame
from anabranch.report.cells import Cell, Shown
from anabranch.report.charts import Chart, Trace
from anabranch.report.explorer import calm
from anabranch.report.lanes import timeline_chart
from anabranch.report.page import Charts, render

MOST_RUNS = 7
"""As many as there are colours."""
MOST_TRACES = 28
LINK = "runs"
"""All charts over time move together."""
COMPARED = ("completion_s", "bytes", "goodput_bps", "retransmitted_packets", "timeouts")
"""Columns of flows that are laid side by side."""
FIRST = ("arrivals", "delivery", "cwnd", "path_cwnd", "srtt", "path_srtt", "queue")
"""The kinds of series that come first."""


def write_overlay(directory: Path, places: Sequence[Path]) -> Path:
    """`report.html` of several runs in `directory`; returns its path."""
    if len(places) > MOST_RUNS:
        allowed = f"{MOST_RUNS} runs at most, a colour each"
        raise InputError.about("command line", "DIR", f"{len(places)} runs", allowed)
    results.check_runs(places)
    names = results.names(places)
    charts = Charts()
    happened = [charts.add(chart) for chart in timelines(places)]
    numbers = [charts.add(chart) for chart in overlay_charts(places)]
    page = render(
        "overlay.html.j2",
        charts,
        names=names,
        table=differences(places),
        happened=happened,
        numbers=numbers,
    )
    path = output_directory(directory) / "report.html"
    write_text(path, page)
    return path


def timelines(places: Sequence[Path]) -> list[Chart]:
    """What happened in each run, of those that observed more than when flows began and ended."""
    found = []
    for place, name in zip(places, results.names(places), strict=True):
        if (place / "timeline.csv").is_file():
            events, end_s = results.happened(place)
            if chart := timeline_chart(events, end_s, LINK):
                found.append(replace(chart, title=f"Timeline of {name}"))
    return found


def overlay_charts(places: Sequence[Path]) -> list[Chart]:
    """A chart for each kind of series that all runs observed: a run has a colour, a flow a dash."""
    kinds = [results.observed_kinds(place) for place in places]
    common = [kind for kind in kinds[0] if all(kind in each for each in kinds)]
    order = {kind: at for at, kind in enumerate(FIRST)}
    chosen = [kind for kind in common if kind not in (*observed.LANE, "received")]
    chosen.sort(key=lambda kind: (order.get(kind, len(FIRST)), kind))
    names = results.names(places)
    return [_chart(results.frame(places, kind), names) for kind in chosen]


def _chart(frame: Frame, names: Sequence[str]) -> Chart:
    subject = frame.varied[-1]
    means = frame.data.groupby(subject, sort=False)[frame.y].mean()
    kept = set(means.nlargest(MOST_TRACES // len(names)).index)
    data = frame.data[frame.data[subject].isin(kept)]
    subjects = [str(each) for each in frame.values(subject) if each in kept]
    scaled = si.scale(data[frame.y], frame.unit)
    traces = []
    for (name, of), rows in data.groupby(["result", subject], sort=False):
        at = subjects.index(str(of))
        traces.append(
            Trace(
                f"{name}: {of}" if len(subjects) > 1 else str(name),
                "steps",
                *_ended(rows["time_s"], rows[frame.y] / scaled.factor),
                colour=names.index(name),
                dash=at % 4,
                group=str(of) if len(subjects) > 1 else "",
            )
        )
    states = list(observed.STATES) if frame.y == "path_state" else []
    more = len(means) - len(kept)
    notes = [f"{more} more of each run, which are smaller, are in the files."] if more else []
    title = frame.label[:1].upper() + frame.label[1:]
    if frame.y.startswith("path_") and "path" not in frame.label:
        title += " of each path"
    axis = scaled.axis(frame.label)
    chart = Chart(title, "time (s)", axis, traces, link=LINK, ynames=states, notes=notes)
    return chart if states else calm(chart)


def _ended(times: pd.Series[float], values: pd.Series[float]) -> tuple[Any, Any]:
    """A curve that stops where its run did: other runs of the chart go on."""
    return np.append(times, times.iloc[-1]), np.append(values, np.nan)


def differences(places: Sequence[Path]) -> Shown:
    """A row for each flow and column: the value in each run, and of all but the first by how much
    it differs from that."""
    names = results.names(places)
    flows = [{row["flow"]: row for row in tables.read_csv(p / "flows.csv")} for p in places]
    rows = []
    for flow in dict.fromkeys(name for each in flows for name in each):
        for column in COMPARED:
            texts = [each.get(flow, {}).get(column, "") for each in flows]
            values = [float(text) if text else float("nan") for text in texts]
            if not all(pd.isna(values)):
                shown = [_cell(value, values[0], column, n) for n, value in enumerate(values)]
                rows.append([Cell(flow), Cell(si.name_of(column)), *shown])
    return Shown("flows side by side", ["flow", "quantity", *names], rows)


def _cell(value: float, first: float, column: str, at: int) -> Cell:
    """A value, and of another run than the first its difference from that one."""
    text = si.text(value, si.unit_of(column))
    if at and first and not pd.isna(value) and not pd.isna(first):
        text = f"{text} ({(value - first) / abs(first) * 100:+.1f} %)"
    return Cell(text, "" if pd.isna(value) else repr(value))
