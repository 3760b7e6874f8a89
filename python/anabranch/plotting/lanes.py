"""The timeline of a run as a figure for a paper: what happened when, in a lane for each link, flow
and path, as the report has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from anabranch.errors import InputError
from anabranch.looks import COLOURS
from anabranch.nearest import one_of
from anabranch.plotting import paper
from anabranch.report.charts import Chart, Trace
from anabranch.report.lanes import KINDS, timeline_chart
from anabranch.timeline import NEEDED, Event

LANE = 0.2
"""Inches of a lane."""
AROUND = 0.5
"""Inches of the axis and of the air around the legend below it."""
KEY, LETTER, ROW = 0.5, 0.05, 0.14
"""Inches of a key of the legend, of a letter after it, and of a row."""
MARKS = ("o", "s", "^", "D")
"""Of a trace's `mark`, as the report draws it."""
LOW = 0.42
"""From the middle of a lane down to its ticks, as a share of the lane."""


def figure(
    events: Sequence[Event],
    end_s: float,
    *,
    columns: float = 2.0,
    height: float | None = None,
    axes: Axes | None = None,
    kinds: Sequence[str] = (),
) -> Figure:
    """The events of a run that ended then, those of some kinds unless of all; an `InputError` if
    only its flows are known."""
    for kind in kinds:
        if kind not in KINDS:
            raise InputError.about("plot", "--events", kind, one_of(kind, KINDS))
    chart = timeline_chart(events, end_s, "", kinds or KINDS)
    if chart is None:
        raise InputError.about("plot", "timeline", "nothing happened", NEEDED)
    if not chart.traces:
        there = dict.fromkeys(event.kind for event in events)
        allowed = f"what happened in the run: {', '.join(there)}"
        raise InputError.about("plot", "--events", ",".join(kinds), allowed)
    if axes is not None:
        axes.legend(handles=_draw(axes, chart), fontsize=6.5)
        drawn = axes.get_figure(root=True)
        assert isinstance(drawn, Figure)
        return drawn
    width, _ = paper.size(columns, height)
    entry = KEY + LETTER * max(len(trace.name) for trace in chart.traces)
    fit = max(int(width / entry), 1)
    tall = height or LANE * len(chart.ynames) + AROUND + ROW * -(-len(chart.traces) // fit)
    made = Figure(figsize=(width, tall), layout="constrained")
    handles = _draw(made.subplots(), chart)
    made.legend(handles=handles, ncols=fit, loc="outside lower center", fontsize=6.5, frameon=False)
    return made


def _draw(axes: Axes, chart: Chart) -> list[Any]:
    """Draws into the axes, and returns what the legend has."""
    handles = [_spans(axes, trace) if trace.kind == "spans" else _points(axes, trace)
               for trace in chart.traces]  # fmt: skip
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
