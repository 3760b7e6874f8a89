"""Times of transfers, where two schemes change places, and how long a timeout stays backed off."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from anabranch.experiment import RunResult
from anabranch.stats import Estimate


def seconds(run: RunResult) -> float:
    """From the application's call until all of it is at the receiver."""
    return run.flows[0].took_s()


def crossing(x: Sequence[float], differences: Sequence[Estimate]) -> Estimate:
    """Where a difference turns from negative to positive, by straight lines between the points;
    the interval is where the ends of the differences' intervals do. An end of `x` where it does
    not turn."""
    centre = _root(x, [d.mean for d in differences])
    low = _root(x, [d.ci_high for d in differences])
    high = _root(x, [d.ci_low for d in differences])
    return Estimate(centre, min(low, centre), max(high, centre), differences[0].n)


def _root(x: Sequence[float], y: Sequence[float]) -> float:
    if y[0] > 0:
        return float(x[0])
    for (x0, y0), (x1, y1) in itertools.pairwise(zip(x, y, strict=True)):
        if y0 <= 0 < y1:
            return float(x0 + (x1 - x0) * -y0 / (y1 - y0))
    return float(x[-1])


def mean_over_time(run: RunResult, name: str) -> float:
    """Mean over a run of a value that holds until it changes."""
    values, lengths = _held(run, name)
    return float(np.average(values, weights=lengths))


def share_above(run: RunResult, name: str, bound: float) -> float:
    """Share of a run's time in which such a value is above a bound."""
    values, lengths = _held(run, name)
    return float(lengths[values > bound].sum() / lengths.sum())


def backed_off(run: RunResult, name: str) -> float:
    """Mean seconds that a timeout stays backed off: from where it was doubled, or twice in a row,
    until it is next measured. Time in that state over the number of times that it ended, so that
    what the run's end cuts off is not taken for short; `nan` if it never ended."""
    values, lengths = _held(run, name)
    total, ended, high = 0.0, 0, False
    for before, value, length in zip(values, values[1:], lengths[1:], strict=False):
        if value >= DOUBLED * before:
            high = True
        elif high and value < before:
            high, ended = False, ended + 1
        total += length if high else 0.0
    return total / ended if ended else float("nan")


DOUBLED = 1.99
"""A timeout that rises by this factor was backed off; a measurement alone raises it by less."""


def _held(run: RunResult, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Values in order, and how long each held."""
    series = run.series[name]
    dates = np.append(series["time_s"], run.run.end_s)
    return series["value"], np.diff(dates)
