"""Many runs of one series over time: the median of the runs at each date, and a band around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from anabranch.plotting.frame import REPLICATION, Frame

DATES = 300
"""Dates at which the runs are compared, equally far from each other."""
QUANTILES = (0.1, 0.5, 0.9)
"""Of the runs: where the band begins, the line, and where the band ends."""
SAYS = "bands from the 10th to the 90th percentile"
"""What the band is, for a caption."""


def over_runs(frame: Frame, keys: Sequence[str]) -> pd.DataFrame:
    """A row for each date and combination of the other keys: `y`, the median over the runs that
    have a value then, `low`, `high`, and `n`, how many runs those are.

    A line ends where fewer than half of the runs have a value: what is left of them are the slowest
    alone.
    """
    apart = [key for key in dict.fromkeys(keys) if key != frame.x]
    times = frame.data[frame.x].to_numpy(dtype=float)
    edges = np.linspace(times.min(), times.max(), DATES + 1)
    dates = (edges[:-1] + edges[1:]) / 2 if frame.moments else edges
    parts = []
    for key, rows in _groups(frame.data, apart):
        runs = [
            _in_intervals(run, frame, edges) if frame.moments else _at(run, frame, dates)
            for _, run in rows.groupby(REPLICATION, sort=False)
        ]
        values = np.array(runs)
        count = np.isfinite(values).sum(axis=0)
        kept = count * 2 >= max(len(runs), 1)
        low, middle, high = np.nanquantile(values[:, kept], QUANTILES, axis=0)
        columns = {frame.x: dates[kept], "y": middle, "low": low, "high": high, "n": count[kept]}
        parts.append(pd.DataFrame(columns).assign(**dict(zip(apart, key, strict=True))))
    return pd.concat(parts, ignore_index=True)


def _groups(data: pd.DataFrame, apart: list[str]) -> list[tuple[tuple[Any, ...], pd.DataFrame]]:
    if not apart:
        return [((), data)]
    return [(key, rows) for key, rows in data.groupby(apart, sort=False, observed=True)]


def _at(run: pd.DataFrame, frame: Frame, dates: NDArray[Any]) -> NDArray[Any]:
    """The value in force at each date: none before the first sample, or when the line has ended."""
    times, values = run[frame.x].to_numpy(dtype=float), run[frame.y].to_numpy(dtype=float)
    before = np.searchsorted(times, dates, side="right") - 1
    found = values[np.maximum(before, 0)]
    return np.where((before >= 0) & (dates <= times[-1]), found, np.nan)


def _in_intervals(run: pd.DataFrame, frame: Frame, edges: NDArray[Any]) -> NDArray[Any]:
    """The mean of the samples in each interval; none where there is no sample."""
    times, values = run[frame.x].to_numpy(dtype=float), run[frame.y].to_numpy(dtype=float)
    count, _ = np.histogram(times, edges)
    total, _ = np.histogram(times, edges, weights=values)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
