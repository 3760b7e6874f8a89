"""Tables 1 to 3 with the published numbers beside ours, figures 3, 5 and 6, and K'."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.figures import COLOURS, MARKERS, Look, Plot
from anabranch.studies import drawing
from anabranch.studies.mcubic import conditions, formula
from anabranch.studies.mcubic import measures as m
from anabranch.studies.mcubic.conditions import Run, part, plan
from anabranch.studies.results import FigureEntry

Rows = list[dict[str, Any]]
SECOND = "second path (Mbit/s)"
TRIP = "round-trip time (ms)"
OTHER_TRIP = "round-trip time of the second path (ms)"


def write_all(directory: Path, results: m.Results, quick: bool) -> list[FigureEntry]:
    """Writes every figure's CSV, SVG and PNG; returns their captions in order."""

    def sheet(name: str, x: str, cell: Callable[[str, float, bool], Run], axis: str) -> Sheet:
        p = part(name, quick)
        return Sheet(directory, results, quick, p["schemes"], p[x], cell, axis)

    first = sheet("distinct", "second", conditions.distinct, SECOND)
    second = sheet("equal", "round_trip", conditions.equal, TRIP)
    third = sheet("unequal", "second", conditions.unequal, OTHER_TRIP)
    return [
        first.table("table1", m.fairness, "Jain's index"),
        second.table("table2", m.ratio, "connection over TCP"),
        third.table("table3", m.ratio, "connection over TCP"),
        first.throughput("fig3_connection", "multipath"),
        first.throughput("fig3_tcp1", "tcp1"),
        first.throughput("fig3_tcp2", "tcp2"),
        second.throughput("fig5_connection", "multipath"),
        second.throughput("fig5_tcp", "tcp1"),
        third.throughput("fig6_connection", "multipath"),
        third.throughput("fig6_tcp", "tcp1"),
        _by_formula(directory),
    ]


@dataclass(frozen=True)
class Sheet:
    """The figures of one experiment."""

    directory: Path
    results: m.Results
    quick: bool
    schemes: list[str]
    x: list[float]
    cell: Callable[[str, float, bool], Run]
    axis: str

    def table(self, stem: str, metric: m.Metric, what: str) -> FigureEntry:
        """Ours with intervals, and the paper's as dotted lines."""
        rows, published = self._rows(metric), plan()["published"][stem]
        for scheme in (scheme for scheme in self.schemes if scheme in published):
            for x, value in zip(published["x"], published[scheme], strict=True):
                exact = {"mean": value, "ci_low": value, "ci_high": value, "n": 1}
                rows.append({"series": f"{scheme}, paper", "x": x, **exact})
        plot = Plot(f"{stem.capitalize()}: {what}", self.axis, what, looks(self.schemes))
        caption = f"{what} with 95 % intervals; dotted: as published."
        return drawing.points(self.directory, stem, rows, plot, caption)

    def throughput(self, stem: str, flow: str) -> FigureEntry:
        """Goodput of one flow."""
        whose = "the connection" if flow == m.CONNECTION else f"the single-path flow {flow}"
        rows = self._rows(lambda run, result: m.goodput(run, result, flow))
        plot = Plot(f"Goodput of {whose}", self.axis, "Mbit/s", looks(self.schemes))
        return drawing.points(self.directory, stem, rows, plot, f"Goodput of {whose}.")

    def _rows(self, metric: m.Metric) -> Rows:
        return [
            {
                "series": scheme,
                "x": x,
                **vars(m.mean(self.results, self.cell(scheme, x, self.quick), metric)),
            }
            for scheme in self.schemes
            for x in self.x
        ]


def looks(schemes: Sequence[str]) -> dict[str, Look]:
    """A colour for each scheme; what was published is dotted, and not in the legend."""
    found = {}
    for index, scheme in enumerate(schemes):
        colour = COLOURS[index % len(COLOURS)]
        found[scheme] = Look("-", MARKERS[index % len(MARKERS)], colour)
        found[f"{scheme}, paper"] = Look(":", "", colour, label=f"_{scheme}, paper")
    return found


def _by_formula(directory: Path) -> FigureEntry:
    names = (
        "K', this path",
        "K', congested path",
        "mcubic-share, this path",
        "mcubic-share, congested path",
    )
    rows: Rows = []
    for left in np.geomspace(0.05, 1, 30).tolist():
        both = (*formula.shifted(left), *formula.shifted_by_shares(left))
        rows += [
            {"series": name, "x": left, "mean": y, "ci_low": y, "ci_high": y, "n": 1}
            for name, y in zip(names, both, strict=True)
        ]
    curves = {
        name: Look("-" if index % 2 == 0 else "--", "", COLOURS[index // 2])
        for index, name in enumerate(names)
    }
    axis = "Wmax of the congested path, over what it was"
    plot = Plot(
        "Time to the plateau when one of two equal paths becomes congested",
        axis,
        "over the time before",
        curves,
        log="x",
        legend="upper right",
    )
    caption = "K' by the paper's formula, and the time to the plateau in mcubic-share (claim C6)."
    return drawing.points(directory, "k_prime", rows, plot, caption)
