"""How a figure looks: titles, limits, and the line, marker and colour of each series."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKERS = "os^Dvx+"
DASHES = ("-", "--", "-.", ":")
LETTERS = 8
"""Points of the letters of a figure for a paper."""


@dataclass(frozen=True)
class Look:
    """The way in which one series is drawn; the label is the series' name unless given."""

    line: str = "-"
    marker: str = ""
    colour: str = ""
    size: float = 3.0
    label: str = ""
    """Not in the legend if it begins with `_`."""
    steps: bool = False


@dataclass(frozen=True)
class Plot:
    """Titles, limits and the look of each series; series without one get the next colour."""

    title: str
    x: str
    y: str
    looks: Mapping[str, Look] = field(default_factory=dict)
    xlim: tuple[float, float] | None = None
    ylim: tuple[float, float] | None = None
    legend: Literal["upper left", "upper right", "lower left", "lower right"] = "upper left"
    """The corner of the legend."""
    log: str = ""
    """Axes with a logarithmic scale: any of `x` and `y`."""
    xticks: tuple[float, ...] = ()
    """Where the x axis has ticks, if not where matplotlib puts them."""


def description(csv_file: Path) -> Path:
    """Where a figure's titles, limits and looks are kept, as JSON."""
    return csv_file.with_suffix(".plot.json")


def read(csv_file: Path) -> tuple[str, Plot]:
    """The form, `times` or `points`, and the titles and looks of a figure that was drawn."""
    value = json.loads(description(csv_file).read_text(encoding="utf-8"))
    form = str(value.pop("form"))
    value["looks"] = {name: Look(**look) for name, look in value["looks"].items()}
    for name in ("xlim", "ylim"):
        value[name] = None if value[name] is None else tuple(value[name])
    return form, Plot(**value | {"xticks": tuple(value["xticks"])})
