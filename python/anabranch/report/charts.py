"""Charts as the page's script reads them: JSON whose columns are octets in base64.

A chart that was drawn from a table with `anabranch.figures` is read back from
`<stem>.csv` and `<stem>.plot.json`.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from anabranch import looks, tables

Kind = Literal["line", "steps", "dots", "crosses", "bars", "points"]


@dataclass(frozen=True)
class Trace:
    """One series of a chart, which can be switched off."""

    name: str
    kind: Kind
    """`bars` are vertical strokes from `y` to `high`; `points` a line with marks and intervals."""
    x: Any
    y: Any
    low: Any = None
    high: Any = None
    colour: int = 0
    """Index into the page's palette, which has a light and a dark form."""
    dash: bool = False
    group: str = ""
    """What it belongs to: of a chart with several groups the page shows one or all."""
    note: str = ""
    """What was left out."""
    legend: bool = True
    shown: bool = True
    """To begin with."""

    def encoded(self) -> dict[str, Any]:
        """The trace for the page."""
        value: dict[str, Any] = {"name": self.name, "kind": self.kind, "colour": self.colour}
        optional = {"dash": self.dash, "group": self.group, "note": self.note}
        value |= {key: given for key, given in optional.items() if given}
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
    notes: list[str] = field(default_factory=list)

    def encoded(self) -> dict[str, Any]:
        """The chart for the page."""
        return {
            "title": self.title,
            "x": self.x,
            "y": self.y,
            "link": self.link,
            "log": self.log,
            "xlim": self.xlim,
            "ylim": self.ylim,
            "tall": self.tall,
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
        value = json.loads(looks.description(csv_file).read_text(encoding="utf-8"))
        form = value.pop("form")
        given = {name: looks.Look(**look) for name, look in value.pop("looks").items()}
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
        _trace(index, name, lists, given.get(name), form)
        for index, (name, lists) in enumerate(data.items())
    ]
    return Chart(
        value["title"],
        value["x"],
        value["y"],
        traces,
        log=value["log"],
        xlim=_pair(value["xlim"]),
        ylim=_pair(value["ylim"]),
    )


def _pair(value: list[float] | None) -> tuple[float, float] | None:
    return None if value is None else (value[0], value[1])


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
    colour = index
    if look.colour in looks.COLOURS:
        colour = looks.COLOURS.index(look.colour)
    label = look.label or name
    return Trace(
        label.removeprefix("_"),
        kind,
        lists[0],
        lists[1],
        low,
        high,
        colour=colour % len(looks.COLOURS),
        dash=look.line in ("--", ":", "-."),
        legend=not label.startswith("_"),
    )
