"""Goals as a table and two figures, goodput around an event, goodput by receive buffer."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from anabranch.experiment import RunResult
from anabranch.figures import Plot
from anabranch.rows import CsvRow
from anabranch.stats import Sample
from anabranch.studies import drawing
from anabranch.studies.mcubic import measures as m
from anabranch.studies.mcubic.conditions import Run
from anabranch.studies.mcubic.figures import looks
from anabranch.studies.mcubic.further import conditions
from anabranch.studies.mcubic.further import measures as f
from anabranch.studies.results import FigureEntry
from anabranch.tables import write_csv

GOALS = {
    "against_best_path": f.against_best_path,
    "harm_first": f.harm(0),
    "harm_second": f.harm(1),
    "balance": f.balance,
}
CONDITION = ("scheme", "rates", "round_trips", "losses", "buffer")


def write_all(directory: Path, results: m.Results, quick: bool) -> list[FigureEntry]:
    """Writes every figure's CSV, SVG and PNG, and the table of goals."""
    _goal_table(directory, results, quick)
    kinds = conditions.part("events", quick)["kinds"]
    return [
        *(_goals(directory, results, quick, stem) for stem in TITLES),
        *(_event(directory, results, quick, kind) for kind in kinds),
        *_blocking(directory, results, quick),
    ]


def _schemes(results: m.Results, quick: bool) -> list[str]:
    """Those that were run."""
    first, schemes = conditions.grid(quick)[0], conditions.part("goals", quick)["schemes"]
    return [scheme for scheme in schemes if first.with_scheme(scheme) in results]


def _goal_table(directory: Path, results: m.Results, quick: bool) -> None:
    """`goals.csv`: every scheme under every condition, mean and interval of each goal."""
    rows = []
    for scheme in _schemes(results, quick):
        for plain in conditions.grid(quick):
            run = plain.with_scheme(scheme)
            row: CsvRow = {
                "scheme": scheme,
                "rates": "{:g}:{:g}".format(*run.rates),
                "round_trips": "{:g}:{:g}".format(*run.round_trips),
                "losses": "{:g}:{:g}".format(*run.losses),
                "buffer": run.buffer,
                "mbit_s": m.sample(results, run, m.goodput).estimate.mean,
            }
            for name, goal in GOALS.items():
                found = goal(results, run).estimate
                row |= {
                    name: found.mean,
                    f"{name}_low": found.ci_low,
                    f"{name}_high": found.ci_high,
                }
            rows.append(row)
    write_csv(directory / "goals.csv", CONDITION, rows)


TITLES = {
    "goal1": (
        "against_best_path",
        "goodput against one CUBIC flow on the better path",
        "relative change",
    ),
    "goal2_first": (
        "harm_first",
        "goodput that the single-path flow on the first path loses",
        "share of it",
    ),
    "goal2_second": (
        "harm_second",
        "goodput that the single-path flow on the second path loses",
        "share of it",
    ),
    "goal3": ("balance", "data sent on the better path", "share of all"),
}
"""By figure: the goal, its title and its axis."""


def _goals(directory: Path, results: m.Results, quick: bool, stem: str) -> FigureEntry:
    """A goal under each condition of the grid, in the order of `goals.csv`."""
    goal, text, axis = TITLES[stem]
    title = f"Goal {stem[4]}: {text}"
    schemes = _schemes(results, quick)
    rows = [
        {
            "series": scheme,
            "x": number,
            **vars(GOALS[goal](results, run.with_scheme(scheme)).estimate),
        }
        for scheme in schemes
        for number, run in enumerate(conditions.grid(quick), start=1)
    ]
    plot = Plot(title, "condition, as listed in goals.csv", axis, looks(schemes))
    return drawing.points(directory, stem, rows, plot, f"{title}, by condition.")


def _event(directory: Path, results: m.Results, quick: bool, kind: str) -> FigureEntry:
    """Goodput in bins of some seconds, over replications."""
    p = conditions.part("events", quick)
    rows = []
    width = 5
    for scheme in p["schemes"]:
        run = conditions.event(scheme, kind, quick)
        if run not in results:
            continue
        for start in np.arange(run.warm_up - 20, run.end, width).tolist():
            found = _between(results, run, start, start + width)
            rows.append(
                {"series": scheme, "x": start + width / 2 - run.warm_up, **vars(found.estimate)}
            )
    plot = Plot(
        f"The second path {_verb(kind)} at 0 s",
        "time (s)",
        "goodput of the connection (Mbit/s)",
        looks(p["schemes"]),
        legend="upper right",
    )
    caption = f"Goodput of the connection around the time when the second path {_verb(kind)}."
    return drawing.points(directory, f"path_{kind}", rows, plot, caption)


def _between(results: m.Results, run: Run, start: float, end: float) -> Sample:
    """Goodput of the connection in a part of the run."""

    def goodput(_run: Run, result: RunResult) -> float:
        return m.goodput_between(result, m.CONNECTION, start, end)

    return m.sample(results, run, goodput)


def _verb(kind: str) -> str:
    return f"gets {kind}" if kind in ("slower", "faster") else kind


def _blocking(directory: Path, results: m.Results, quick: bool) -> list[FigureEntry]:
    p = conditions.part("blocking", quick)
    entries = []
    for scheduler in p["schedulers"]:
        cells = {
            (scheme, receive): conditions.blocking(scheme, scheduler, receive, quick)
            for scheme in p["schemes"]
            for receive in p["receive"]
        }
        rows = [
            {
                "series": scheme,
                "x": receive,
                **vars(m.sample(results, run, m.goodput).estimate),
            }
            for (scheme, receive), run in cells.items()
            if run in results
        ]
        if not rows:
            continue
        plot = Plot(
            f"Receive buffer, {scheduler}",
            "receive buffer, rates times the longest round-trip time",
            "goodput of the connection (Mbit/s)",
            looks(p["schemes"]),
            log="x",
        )
        stem = f"blocking_{scheduler.replace('-', '_')}"
        caption = f"Goodput against the receive buffer, scheduler {scheduler}."
        entries.append(drawing.points(directory, stem, rows, plot, caption))
    return entries
