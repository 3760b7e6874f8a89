"""Figures of a report card: rate over time where the capacity changes, and harm by buffer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from anabranch import figures
from anabranch.evaluate.card import Card
from anabranch.evaluate.check import Check, Scale
from anabranch.evaluate.checks import sharing
from anabranch.experiment import RunResult
from anabranch.library.entry import Window
from anabranch.rows import CsvRow
from anabranch.studies.results import FigureEntry
from anabranch.studies.study import Context
from anabranch.tables import POINT_COLUMNS, TIME_COLUMNS, write_csv

OVER_TIME = {
    "sudden-changes": "Rate of one flow while the path has 20, 4 and again 20 Mbit/s",
    "varying-delay": "Rate of one flow while the round trip is 40 and 80 ms in turn",
}


def draw(context: Context, card: Card, windows: Mapping[str, Window]) -> list[FigureEntry]:
    """Writes what the chosen checks give figures for."""
    drawn = []
    for check in card.checks:
        if check.name in OVER_TIME:
            drawn.append(_over_time(context, card, check, windows))
    for standard in ("reno", "cubic"):
        if any(check.name == f"harm-to-{standard}" for check in card.checks):
            drawn.append(_harm(context, card, standard))
    return drawn


def _over_time(
    context: Context, card: Card, check: Check, windows: Mapping[str, Window]
) -> FigureEntry:
    """The first replication of each algorithm, its rate over half a second."""
    scale = Scale(context.quick)
    built = [check.scenarios(windows[name], scale)[0] for name in card.algorithms]
    results = context.compute([], [(each, scale.replications) for each in built], series=True)
    rows: list[CsvRow] = []
    for name, batch in zip(card.algorithms, results.batches, strict=True):
        rows += [{"series": name, "time_s": t, "value": v} for t, v in _rate(batch[0])]
    path = context.directory / f"{check.name}.csv"
    write_csv(path, TIME_COLUMNS, rows)
    title = OVER_TIME[check.name]
    # Room for the legend above the 20 Mbit/s of the path.
    figures.time_series(path, figures.Plot(title, "time (s)", "rate (Mbit/s)", ylim=(0.0, 28.0)))
    return FigureEntry(check.name, f"{title}; the first replication.")


def _rate(run: RunResult, window: float = 0.5) -> Sequence[tuple[float, float]]:
    """When each window begins, and the rate in it in Mbit/s."""
    series = run.series["f.received"]
    times, values = series["time_s"], series["value"]
    dates = np.arange(window, float(times[-1]), window)
    at = np.searchsorted(times, dates, side="right") - 1
    octets = np.where(at >= 0, values[at], 0.0)
    rates = np.diff(octets, prepend=0.0) * 8 / window / 1e6
    return list(zip((dates - window).tolist(), rates.tolist(), strict=True))


def _harm(context: Context, card: Card, standard: str) -> FigureEntry:
    check = next(check for check in card.checks if check.name == f"harm-to-{standard}")
    rows = []
    for algorithm in card.algorithms:
        for buffer, quantity in zip(sharing.BUFFERS, check.quantities, strict=True):
            estimate = card.estimates[check.name, quantity.name, algorithm]
            rows.append(
                {
                    "series": algorithm,
                    "x": buffer,
                    "mean": estimate.mean,
                    "ci_low": estimate.ci_low,
                    "ci_high": estimate.ci_high,
                    "n": estimate.n,
                }
            )
    path = context.directory / f"{check.name}.csv"
    write_csv(path, POINT_COLUMNS, rows)
    title = f"Harm to two flows of {standard} by two others"
    plot = figures.Plot(
        title, "buffer (BDP)", f"harm to {standard}", ylim=(0.0, 1.02), legend="lower left"
    )
    figures.points(path, plot)
    fair = "0.75 is an equal share of what a flow has alone; the interval is Student's t at 95 %."
    return FigureEntry(check.name, f"{title}. {fair}")
