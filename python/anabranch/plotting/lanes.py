"""The timeline of a run as a figure for a paper: what happened when, in a lane for each link, flow
and path, as the report has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from anabranch.errors import InputError
from anabranch.looks import COLOURS
from anabranch.plotting import paper
from anabranch.report.charts import Chart, Trace
from anabranch.report.lanes import FORMS, KINDS, timeline_chart
from anabranch.timeline import NEEDED, Event

LANE = 0.2
"""Inches of a lane."""
NAME = 0.25
"""Inches of the name of a run, where there are several."""
AROUND = 0.5
"""Inches of the axis and of the air around the legend below it."""
KEY, LETTER, ROW = 0.5, 0.05, 0.14
"""Inches of a key of the legend, of a letter after it, and of a row."""
MARKS = ("o", "s", "^", "D")
"""Of a trace's `mark`, as the report draws it."""
LOW = 0.42
"""From the middle of a lane down to its ticks, as a share of the lane."""


Run = tuple[str, Sequence[Event], float]
"""The name of a run, its events, and when it ended."""


Span = tuple[float | None, float | None]
"""From which second to which; a date that is `None` is that of the beginning, or of the end."""


def figure(
    events: Sequence[Event],
    end_s: float,
    *,
    columns: float = 2.0,
    height: float | None = None,
    axes: Axes | None = None,
    kinds: Sequence[str] = KINDS,
) -> Figure:
    """The events of a run that ended then, those of some kinds unless of all; an `InputError` if
    only its flows are known."""
    run = ("", events, end_s)
    if axes is None:
        return together([run], columns=columns, height=height, kinds=kinds)
    handles = _draw(axes, _chart(run, kinds))
    axes.legend(handles=list(handles.values()), fontsize=6.5)
    drawn = axes.get_figure(root=True)
    assert isinstance(drawn, Figure)
    return drawn


def together(
    runs: Sequence[Run],
    *,
    columns: float = 2.0,
    height: float | None = None,
    kinds: Sequence[str] = KINDS,
    span: Span = (None, None),
) -> Figure:
    """The events of several runs below each other, over the same time, which is the whole time or
    a part of it."""
    begin = 0.0 if span[0] is None else span[0]
    end = max(end_s for _, _, end_s in runs) if span[1] is None else span[1]
    if not 0 <= begin < end:
        name, date = ("--to", end) if span[1] is not None else ("--from", begin)
        allowed = f"--from before --to, from 0 to {max(end_s for _, _, end_s in runs):g} s"
        raise InputError.about("plot", name, f"{date:g}", allowed)
    if span != (None, None):
        runs = [(name, _within(events, begin, end), last) for name, events, last in runs]
    charts = [_chart(run, kinds) for run in runs]
    width, _ = paper.size(columns, height)
    names = dict.fromkeys(trace.name for chart in charts for trace in chart.traces)
    entry = KEY + LETTER * max(map(len, names))
    fit = max(int(width / entry), 1)
    heights = [LANE * len(chart.ynames) + (NAME if run[0] else 0)
               for run, chart in zip(runs, charts, strict=True)]  # fmt: skip
    tall = height or sum(heights) + AROUND + ROW * -(-len(names) // fit)
    made = Figure(figsize=(width, tall), layout="constrained")
    every = made.subplots(len(runs), sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    keys: dict[str, Any] = {}
    for axes, chart, (name, _, _) in zip(every, charts, runs, strict=True):
        keys |= _draw(axes, chart)
        if name:
            axes.set_title(name, fontsize=8, loc="left")
            axes.label_outer()
    every[0].set_xlim(begin, end)
    handles = [keys[form.name] for form in FORMS if form.name in keys]
    made.legend(handles=handles, ncols=fit, loc="outside lower center", fontsize=6.5, frameon=False)
    return made


def _within(events: Sequence[Event], begin: float, end: float) -> list[Event]:
    """The events that happen in a part of the time, what lasts cut to it."""
    found = []
    for event in events:
        until = event.time_s if event.until_s is None else event.until_s
        if event.time_s <= end and until >= begin:
            until_s = None if event.until_s is None else min(until, end)
            found.append(replace(event, time_s=max(event.time_s, begin), until_s=until_s))
    return found


def _chart(run: Run, kinds: Sequence[str]) -> Chart:
    """What is drawn of a run, or an `InputError` where that is nothing."""
    name, events, end_s = run
    chart = timeline_chart(events, end_s, "", kinds)
    if chart is None:
        raise InputError.about(name or "plot", "timeline", "nothing happened", NEEDED)
    if not chart.traces:
        there = dict.fromkeys(event.kind for event in events)
        allowed = f"what happened in the run: {', '.join(there)}"
        raise InputError.about(name or "plot", "--events", ",".join(kinds), allowed)
    return chart


def _draw(axes: Axes, chart: Chart) -> dict[str, Any]:
    """Draws into the axes, and returns what the legend has, by its name."""
    handles = {
        trace.name: _spans(axes, trace) if trace.kind == "spans" else _points(axes, trace)
        for trace in chart.traces
    }
    axes.set_yticks(range(len(chart.ynames)), chart.ynames, fontsize=7)
    axes.set_ylim(-0.6, len(chart.ynames) - 0.4)
    axes.set_xlim(*(chart.xlim or (None, None)))
    axes.set_xlabel("time (s)", fontsize=8)
    axes.tick_params(axis="x", labelsize=7)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="x", color="#dddddd", linewidth=0.5)
    axes.set_axisbelow(True)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    return handles


def _spans(axes: Axes, trace: Trace) -> Patch:
    assert trace.high is not None
    style: dict[str, Any] = {
        "color": COLOURS[trace.colour],
        "alpha": trace.opacity,
        "linewidth": 0,
    }
    for start, end, lane in zip(trace.x, trace.high, trace.y, strict=True):
        axes.broken_barh([(start, end - start)], (lane - trace.width / 2, trace.width), **style)
    return Patch(label=trace.name, **style)


def _points(axes: Axes, trace: Trace) -> Any:
    style: dict[str, Any] = {"marker": MARKS[trace.mark % len(MARKS)], "markersize": 3}
    if trace.kind == "crosses":
        style = {"marker": "x", "markersize": 3, "markeredgewidth": 0.8}
    elif trace.kind == "dots":
        style = {"marker": ".", "markersize": 2.5}
    elif trace.kind == "ticks":
        style = {"marker": "|", "markersize": 2.5, "markeredgewidth": 0.6}
    lanes = [lane - LOW for lane in trace.y] if trace.kind == "ticks" else trace.y
    colour = COLOURS[trace.colour]
    (drawn,) = axes.plot(
        trace.x, lanes, linestyle="none", color=colour, label=trace.name, clip_on=False, **style
    )
    return drawn
