"""What a figure of an algorithm shows: its source's curves, and what was measured beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from anabranch.looks import COLOURS, DASHES, MARKERS, Look, Plot

Points = Sequence[tuple[float, float]]
FINE = 200
"""Points of a drawn curve."""


@dataclass(frozen=True)
class Series:
    """One curve of the source, and the points that were measured beside it."""

    name: str
    law: Callable[[float], float]
    points: Points = ()
    span: tuple[float, float] | None = None
    """Where the curve is drawn; as far as the points reach unless given."""


@dataclass(frozen=True)
class Chart:
    """A figure as data: axes, curves, points, and what its caption says of them."""

    x: str
    y: str
    series: Sequence[Series]
    source: str
    """Which equation of which source the curves are."""
    measured: str
    """What the points are, and the scenario, in a line."""
    tolerance: float
    """How far the points may be from the curve: a part of its value, or in `unit`. It is about what
    was found; where that is far from nothing, `finding` says why."""
    unit: str = ""
    """The unit of deviations; without one they are parts of the curve's value."""
    traces: Mapping[str, Points] = field(default_factory=dict)
    """What was measured over time, and is drawn but not compared."""
    finding: str = ""
    """What the caption says besides."""
    log: str = ""
    xlim: tuple[float, float] | None = None
    ylim: tuple[float, float] | None = None
    legend: Literal["upper left", "upper right", "lower left", "lower right"] = "upper left"

    @property
    def deviation(self) -> float:
        """The largest distance of a point from its curve."""
        return max(
            abs(y - each.law(x)) if self.unit else abs(y / each.law(x) - 1)
            for each in self.series
            for x, y in each.points
        )

    def caption(self) -> str:
        """Which equation, what was measured, and the largest deviation."""
        finding = f" {self.finding}" if self.finding else ""
        distance, allowed = (self._number(each) for each in (self.deviation, self.tolerance))
        return (
            f"Lines: {self.source}. Points: {self.measured}. Largest deviation: {distance}"
            f" (allowed: {allowed}).{finding}"
        )

    def _number(self, value: float) -> str:
        if self.unit:
            return f"{value:.2g} {self.unit}"
        return f"{100 * value:.1f} %" if value < 0.1 else f"{100 * value:.0f} %"

    def plot(self) -> Plot:
        """Titles, limits and looks: a curve and its points have one colour."""
        looks = {name: Look("-", colour="#999999") for name in self.traces}
        for index, each in enumerate(self.series):
            colour = COLOURS[index % len(COLOURS)]
            dashes, marker = DASHES[index % len(DASHES)], MARKERS[index % len(MARKERS)]
            looks[each.name] = Look(dashes, colour=colour)
            looks[f"{each.name}, measured"] = Look("", marker, colour)
        return Plot(
            "",
            self.x,
            self.y,
            looks,
            xlim=self.xlim,
            ylim=self.ylim,
            log=self.log,
            legend=self.legend,
        )

    def rows(self) -> Iterator[dict[str, Any]]:
        """The lines of the table that the figure is drawn from."""
        for name, points in self.traces.items():
            yield from (_row(name, x, y) for x, y in points)
        for each in self.series:
            yield from (_row(each.name, x, each.law(x)) for x in self._fine(each))
            yield from (_row(f"{each.name}, measured", x, y) for x, y in each.points)

    def _fine(self, series: Series) -> Sequence[float]:
        low, high = series.span or (series.points[0][0], series.points[-1][0])
        if "x" in self.log:
            return [float(each) for each in np.geomspace(low, high, FINE)]
        return [float(each) for each in np.linspace(low, high, FINE)]


def _row(name: str, x: float, y: float) -> dict[str, Any]:
    return {"series": name, "x": x, "mean": y, "ci_low": y, "ci_high": y, "n": 1}
