"""Times of transfers, differences between schemes, and where two schemes change places."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from anabranch import stats
from anabranch.experiment import RunResult
from anabranch.stats import Estimate
from anabranch.studies.sctp_multihoming.conditions import Batch

Times = Mapping[Batch, list[float]]
"""Seconds of each replication."""


def seconds(run: RunResult) -> float:
    """From the start of the transfer until all of it is at the receiver."""
    flow = run.flows[0]
    if flow["finish_s"] is None:
        raise ValueError(f"a transfer did not end: {flow}")
    return float(flow["finish_s"]) - float(flow["start_s"])


def differences(times: Times, ours: Batch, theirs: Batch) -> list[float]:
    """By how many seconds ours takes longer, in each replication that both have."""
    return [a - b for a, b in zip(times[ours], times[theirs], strict=False)]


def longer(times: Times, ours: Batch, theirs: Batch) -> Estimate:
    """The mean of that."""
    return stats.mean(differences(times, ours, theirs))


def relative(times: Times, ours: Batch, theirs: Batch) -> list[float]:
    """The same as shares of theirs."""
    return [a / b - 1 for a, b in zip(times[ours], times[theirs], strict=False)]


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
    series = run.series[name]
    dates = np.append(series["time_s"], run.run["end_s"])
    return float(np.average(series["value"], weights=np.diff(dates)))
