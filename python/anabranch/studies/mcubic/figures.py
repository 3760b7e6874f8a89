"""Tables 1 to 3 with the published numbers beside ours, and figures 3, 5 and 6."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch.experiment import RunResult
from anabranch.figures import COLOURS, MARKERS, Look, Plot
from anabranch.rows import CsvRow
from anabranch.studies import drawing
from anabranch.studies.mcubic import curves, scope
from anabranch.studies.mcubic import measures as m
from anabranch.studies.mcubic.conditions import COLUMNS, Run, Size, plan
from anabranch.studies.mcubic.scope import Scope
from anabranch.studies.results import FigureEntry

Rows = list[CsvRow]
AXES = {
    "distinct": "second path (Mbit/s)",
    "equal": "round-trip time (ms)",
    "unequal": "round-trip time of the second path (ms)",
}
FIGURES = {
    "distinct": ("fig3", (m.CONNECTION, "tcp1", "tcp2")),
    "equal": ("fig5", (m.CONNECTION, "tcp1")),
    "unequal": ("fig6", (m.CONNECTION, "tcp1")),
}
"""Of each experiment: the paper's figure of goodput, and the flows in it."""
GRID = "_grid"
"""What the names of files end with that are about our grid."""


def write_all(directory: Path, results: m.Results, size: Size) -> list[FigureEntry]:
    """Writes every figure's CSV, SVG and PNG; returns their captions in order."""
    found = []
    for at, suffix in ((scope.published(results, size), ""), (scope.grid(results, size), GRID)):
        sheets = [Sheet(directory, at, suffix, name, plan()["schemes"]) for name in COLUMNS]
        found += [sheet.table(f"table{n}") for n, sheet in enumerate(sheets, start=1)]
        found += [sheet.throughput(flow) for sheet in sheets for flow in FIGURES[sheet.name][1]]
    return [*found, *curves.write_all(directory)]


@dataclass(frozen=True)
class Sheet:
    """The figures of one experiment in one scope."""

    directory: Path
    at: Scope
    suffix: str
    name: str
    schemes: Sequence[str]

    @property
    def where(self) -> str:
        """For captions."""
        return "over our grid" if self.suffix else "in the paper's test bed"

    def table(self, stem: str) -> FigureEntry:
        """Ours with intervals, and the paper's as dotted lines."""
        fair = self.name == "distinct"
        what = "Jain's index" if fair else "connection over TCP"
        rows = self._rows(m.index if fair else m.ratio)
        published = plan()["published"][self.name]
        for scheme in (scheme for scheme in self.schemes if scheme in published):
            for x, value in zip(published["x"], published[scheme], strict=True):
                exact = {"mean": value, "ci_low": value, "ci_high": value, "n": 1}
                rows.append({"series": f"{scheme}, paper", "x": x, **exact})
        title = f"{stem.capitalize()}: {what}, {self.where}"
        plot = Plot(title, AXES[self.name], what, looks(self.schemes))
        caption = f"{what} with its intervals, {self.where}; dotted: as published."
        return drawing.points(self.directory, f"{stem}{self.suffix}", rows, plot, caption)

    def throughput(self, flow: str) -> FigureEntry:
        """Goodput of one flow."""
        whose = "the connection" if flow == m.CONNECTION else f"the single-path flow {flow}"
        alone = flow != m.CONNECTION and self.name != "distinct"
        end = {m.CONNECTION: "connection"}.get(flow, "tcp" if alone else flow)

        def goodput(run: Run, result: RunResult) -> float:
            return m.goodput(run, result, flow)

        rows = self._rows(lambda results, run: m.sample(results, run, goodput))
        title = f"Goodput of {whose}, {self.where}"
        plot = Plot(title, AXES[self.name], "Mbit/s", looks(self.schemes))
        stem = f"{FIGURES[self.name][0]}_{end}{self.suffix}"
        return drawing.points(self.directory, stem, rows, plot, f"{title}.")

    def _rows(self, measure: m.Measure) -> Rows:
        return [
            {
                "series": scheme,
                "x": x,
                **vars(self.at.sample(self.name, scheme, x, measure).estimate),
            }
            for scheme in self.schemes
            for x in self.at.columns(self.name)
            if self.at.cell(self.name, scheme, x) in self.at.results
        ]


def looks(schemes: Sequence[str]) -> dict[str, Look]:
    """A colour for each scheme; what was published is dotted, and not in the legend."""
    found = {}
    for index, scheme in enumerate(schemes):
        colour = COLOURS[index % len(COLOURS)]
        found[scheme] = Look("-", MARKERS[index % len(MARKERS)], colour)
        found[f"{scheme}, paper"] = Look(":", "", colour, label=f"_{scheme}, paper")
    return found
