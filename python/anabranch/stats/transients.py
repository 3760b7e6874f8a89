"""What changes over time: warm-up, convergence, response to a change.

Series are steps: a value holds from its date until the next.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def warm_up(samples: ArrayLike) -> int:
    """Returns how many samples to leave out at the start (MSER-5).

    K. White, "An effective truncation heuristic for bias reduction in simulation
    output", Simulation 69(6), 1997: of means of five samples each, leave out the
    first `d` that make `sum (x - mean)^2 / (n - d)^2` of the rest least, looking
    at no more than half of them (beyond that the rest says too little).

    >>> warm_up([100.0] * 10 + [1.0, 2.0] * 20)
    10
    """
    values = np.asarray(samples, dtype=float)
    batches = values[: values.size // 5 * 5].reshape(-1, 5).mean(axis=1)
    if batches.size < 2:
        return 0
    best, least = 0, np.inf
    for cut in range(batches.size // 2 + 1):
        rest = batches[cut:]
        error = float(((rest - rest.mean()) ** 2).sum()) / rest.size**2
        if error < least:
            best, least = cut, error
    return best * 5


def step_mean(times: ArrayLike, values: ArrayLike, start: float, end: float) -> float:
    """The mean of a step series between two dates, weighted by time.

    >>> step_mean([0.0, 1.0], [10.0, 20.0], 0.5, 2.0)
    16.666666666666668
    """
    dates, levels = _series(times, values)
    if not dates[0] <= start < end:
        raise ValueError(f"from {start} to {end}: allowed: from {dates[0]} on, and in order")
    inside = (dates > start) & (dates < end)
    edges = np.concatenate(([start], dates[inside], [end]))
    held = levels[np.searchsorted(dates, edges[:-1], side="right") - 1]
    return float((held * np.diff(edges)).sum() / (end - start))


def convergence_time(
    times: ArrayLike, shares: Sequence[ArrayLike], fairness: float = 0.95
) -> float | None:
    """Seconds from the first date until Jain's index of the shares stays at `fairness` or above.

    `shares` has a series for each flow (throughput over equal intervals), all at
    the same dates. `None` when the last one is still below.

    >>> convergence_time([0.0, 1.0, 2.0, 3.0], [[9, 8, 5, 5], [1, 2, 5, 5]])
    2.0
    """
    dates = np.asarray(times, dtype=float)
    table = np.asarray(shares, dtype=float)
    if table.ndim != 2 or table.shape != (len(shares), dates.size) or dates.size == 0:
        raise ValueError("every flow needs one share for each date")
    square = (table**2).sum(axis=0) * len(shares)
    # Nobody has anything: nobody has less than another.
    index = np.where(square > 0, table.sum(axis=0) ** 2 / np.where(square > 0, square, 1), 1.0)
    return _settled(dates, index >= fairness)


def responsiveness_time(
    times: ArrayLike, values: ArrayLike, change: float, target: float, tolerance: float = 0.1
) -> float | None:
    """Seconds after a change until a series comes within `tolerance` of `target` and stays.

    Settling time, as control theory has it: the tolerance is a share of the
    target. `None` when it does not stay until the end.

    >>> responsiveness_time([0.0, 1.0, 2.0, 3.0, 4.0], [10, 10, 7, 5.2, 5.1], 1.0, 5.0)
    2.0
    """
    dates, levels = _series(times, values)
    if not target > 0 or not tolerance > 0:
        raise ValueError(f"target = {target}, tolerance = {tolerance}; allowed: above 0")
    after = dates >= change
    if not after.any():
        raise ValueError(f"change = {change}; allowed: a date within the series")
    near = np.abs(levels[after] - target) <= tolerance * target
    settled = _settled(dates[after], near)
    return None if settled is None else settled + float(dates[after][0]) - change


def _settled(dates: Array, good: NDArray[np.bool_]) -> float | None:
    """From the first date to the one from which on all is good."""
    if not good[-1]:
        return None
    bad = np.flatnonzero(~good)
    first = int(bad[-1]) + 1 if bad.size else 0
    return float(dates[first] - dates[0])


def _series(times: ArrayLike, values: ArrayLike) -> tuple[Array, Array]:
    dates, levels = np.asarray(times, dtype=float), np.asarray(values, dtype=float)
    if dates.ndim != 1 or dates.shape != levels.shape or dates.size == 0:
        raise ValueError("a series needs as many values as dates, one or more")
    return dates, levels
