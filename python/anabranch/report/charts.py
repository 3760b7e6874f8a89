"""Charts as the page's script reads them: JSON whose columns are octets in base64.

A chart that was drawn from a table with `anabranch.figures` is read back from
`<stem>.csv` and `<stem>.plot.json`.
"""

from __future__ import annotations

import base64
import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from anabranch import looks, tables

Kind = Literal[
    "line", "steps", "dots", "crosses", "bars", "points", "columns", "spans", "marks", "ticks",
    "bands",
]  # fmt: skip
DASH_OF = {"": 0, "-": 0, "none": 0, "--": 1, "-.": 2, ":": 3}
"""The page's number of a dash."""
MARKS = 4
"""Marks of points that a page has."""


@dataclass(frozen=True)
class Trace:
    """One series of a chart, which can be switched off."""

    name: str
    kind: Kind
    """`marks` are points without a line, with intervals where there are any; `bars` are vertical
    strokes from `y` to `high`; `points` a line with marks and intervals; `columns` rise from zero
    and are `width` wide, `bands` reach from `low` to `high`; `spans` last from `x` to `high` on the
    lane `y`; `ticks` are strokes at the lower edge of the lane `y`."""
    x: Any
    y: Any
    low: Any = None
    high: Any = None
    colour: int = 0
    """Index into the page's palette, which has a light and a dark form."""
    dash: int = 0
    """0 solid, 1 dashed, 2 dashes and dots, 3 dotted."""
    mark: int = 0
    """Of points: 0 a circle, 1 a square, 2 a triangle, 3 a diamond. Of bars: 1 has caps at both
    ends, 3 a diamond in the middle. Of dots: 1 is a ring."""
    width: float = 0.0
    """Of columns, and of spans as a share of the lane."""
    opacity: float = 1.0
    group: str = ""
    """What it belongs to: of a chart with several groups the page shows one or all."""
    note: str = ""
    """What was left out."""
    texts: Sequence[str] = ()
    """What the page says of each of its elements at the cursor, beside its name and date."""
    legend: bool = True
    shown: bool = True
    """To begin with."""

    def encoded(self) -> dict[str, Any]:
        """Encodes the trace for the page."""
        value: dict[str, Any] = {"name": self.name, "kind": self.kind, "colour": self.colour}
        optional: dict[str, Any] = {"dash": self.dash, "mark": self.mark, "width": self.width}
        optional |= {"group": self.group, "note": self.note}
        value |= {key: given for key, given in optional.items() if given}
        if self.opacity < 1:
            value["opacity"] = self.opacity
        if any(self.texts):
            value["texts"] = list(self.texts)
        if not self.legend:
            value["legend"] = False
        if not self.shown:
            value["shown"] = False
        for name in ("x", "y", "low", "high"):
            if (column := getattr(self, name)) is not None:
                value[name] = encode(column)
        return value


@dataclass(frozen=True)
class Chart:
    """Axes with traces; charts with the same `link` zoom together in x."""

    title: str
    x: str
    y: str
    traces: list[Trace]
    link: str = ""
    log: str = ""
    """Axes with a logarithmic scale: any of `x` and `y`."""
    xlim: tuple[float, float] | None = None
    ylim: tuple[float, float] | None = None
    tall: bool = False
    series: str = ""
    """What the series are values of, for the legend."""
    xnames: list[str] = field(default_factory=list)
    """The names of an axis of names, at 0, 1, 2 and so on."""
    ynames: list[str] = field(default_factory=list)
    """The same of the vertical axis: states."""
    notes: list[str] = field(default_factory=list)

    def encoded(self) -> dict[str, Any]:
        """Encodes the chart for the page."""
        return {
            "title": self.title,
            "x": self.x,
            "y": self.y,
            "link": self.link,
            "log": self.log,
            "xlim": self.xlim,
            "ylim": self.ylim,
            "tall": self.tall,
            "series": self.series,
            "xnames": self.xnames,
            "ynames": self.ynames,
            "notes": self.notes,
            "traces": [trace.encoded() for trace in self.traces],
        }


def encode(column: Any) -> str:
    """A column as text: `u4:` 32-bit naturals or `f8:` floats, little-endian, in base64."""
    values = np.asarray(column)
    if values.dtype.kind in "fiub" and values.size:
        whole = np.all(np.isfinite(values)) and np.all(values == np.floor(values))
        if whole and values.min() >= 0 and values.max() < 2**32:
            return "u4:" + base64.b64encode(values.astype("<u4").tobytes()).decode("ascii")
    return "f8:" + base64.b64encode(values.astype("<f8").tobytes()).decode("ascii")


def from_figure(csv_file: Path) -> Chart | None:
    """The chart of a figure; `None` if it was not drawn by `anabranch.figures`."""
    try:
        form, plot = looks.read(csv_file)
        rows = tables.read_csv(csv_file)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    columns = ("time_s", "value") if form == "times" else ("x", "mean", "ci_low", "ci_high")
    data: dict[str, list[list[float]]] = {}
    for row in rows:
        lists = data.setdefault(row["series"], [[] for _ in columns])
        for values, column in zip(lists, columns, strict=True):
            values.append(float(row[column]))
    traces = [
        _trace(index, name, lists, plot.looks.get(name), form)
        for index, (name, lists) in enumerate(data.items())
    ]
    traces = apart(traces)
    return Chart(plot.title, plot.x, plot.y, traces, log=plot.log, xlim=plot.xlim, ylim=plot.ylim)


def _trace(
    index: int, name: str, lists: list[list[float]], look: looks.Look | None, form: str
) -> Trace:
    look = look or (looks.Look(steps=True) if form == "times" else looks.Look(marker="o"))
    kind: Kind = "line"
    if not look.line or look.line == "none":
        kind = "crosses" if look.marker == "x" else "dots"
    elif look.steps:
        kind = "steps"
    elif look.marker:
        kind = "points"
    low, high = lists[2:] if form != "times" and look.marker else (None, None)
    colour = _nearest(look.colour) if look.colour else index
    label = look.label or name
    return Trace(
        label.removeprefix("_"),
        kind,
        lists[0],
        lists[1],
        low,
        high,
        colour=colour % len(looks.COLOURS),
        dash=DASH_OF.get(look.line, 0),
        mark=max(looks.MARKERS.find(look.marker), 0) % MARKS if look.marker else 0,
        legend=not label.startswith("_"),
    )


def _nearest(colour: str) -> int:
    """The colour of the page's palette that is nearest to one that figures may name."""
    to_rgb = importlib.import_module("matplotlib.colors").to_rgb  # half a second that few need

    def distance(index: int) -> float:
        pairs = zip(to_rgb(looks.COLOURS[index]), to_rgb(colour), strict=True)
        return float(sum((a - b) ** 2 for a, b in pairs))

    return min(range(len(looks.COLOURS)), key=distance)


def apart(traces: list[Trace]) -> list[Trace]:
    """The traces with other dashes and marks where two of the legend would look the same."""
    taken: set[tuple[Any, ...]] = set()
    found = []
    for trace in traces:
        choices = [trace]
        if trace.legend and trace.kind in ("line", "steps", "points", "columns"):
            choices += [
                replace(trace, colour=colour % len(looks.COLOURS), dash=dash, mark=dash)
                for colour in range(trace.colour, trace.colour + len(looks.COLOURS))
                for dash in range(len(looks.DASHES))
            ]
        elif trace.legend and trace.kind in ("dots", "crosses", "bars"):
            colours = range(trace.colour, trace.colour + len(looks.COLOURS))
            choices += [replace(trace, colour=each % len(looks.COLOURS)) for each in colours]
        chosen = next((each for each in choices if _look(each) not in taken), trace)
        if chosen.legend:
            taken.add(_look(chosen))
        found.append(chosen)
    return found


def _look(trace: Trace) -> tuple[Any, ...]:
    return (trace.kind in ("dots", "crosses", "bars"), trace.colour, trace.dash)
