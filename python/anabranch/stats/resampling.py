"""Intervals that assume no distribution: the bootstrap, and quantiles by order statistics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr, ndtr, ndtri

from anabranch.stats.intervals import Estimate, finite

Samples = NDArray[np.float64]


def bootstrap(
    samples: Iterable[float],
    statistic: Callable[[Samples], float] = lambda values: float(values.mean()),
    confidence: float = 0.95,
    *,
    resamples: int = 2000,
    seed: int = 1,
) -> Estimate:
    """Any statistic of a sample with its bias-corrected and accelerated (BCa) interval.

    B. Efron, "Better bootstrap confidence intervals", JASA 82 (1987), eq. 6.8:
    the interval is that of the resampled statistics between the levels
    `Phi(z0 + (z0 + z) / (1 - a (z0 + z)))` with `z = -+ Phi^-1((1 + confidence) / 2)`,
    `z0` from the share of resamples below the statistic and `a` from the jackknife.
    The generator is seeded: the same samples give the same interval.

    >>> bootstrap([1.0, 2.0, 3.0, 4.0, 10.0], lambda values: float(np.median(values))).mean
    3.0
    """
    values = finite(samples, confidence)
    count = int(values.size)
    if count == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    centre = float(statistic(values))
    if count == 1 or float(np.ptp(values)) == 0.0:
        return Estimate(centre, centre, centre, count)
    generator = np.random.Generator(np.random.PCG64(seed))
    draws = generator.integers(count, size=(resamples, count))
    replicates = np.array([statistic(values[draw]) for draw in draws])
    # Ties, as a median has them, count half.
    below = np.mean(replicates < centre) + np.mean(replicates == centre) / 2
    below = min(max(float(below), 1 / (2 * resamples)), 1 - 1 / (2 * resamples))
    bias = float(ndtri(below))
    acceleration = _acceleration(values, statistic)
    tail = float(ndtri((1 + confidence) / 2))
    levels = []
    for z in (bias - tail, bias + tail):
        slowed = 1 - acceleration * z
        levels.append(float(ndtr(bias + z / slowed)) if slowed > 0 else float(z > 0))
    low, high = np.quantile(replicates, levels)
    return Estimate(centre, float(low), float(high), count)


def _acceleration(values: Samples, statistic: Callable[[Samples], float]) -> float:
    """A sixth of the skewness of the jackknife's values."""
    left_out = np.array([statistic(np.delete(values, n)) for n in range(values.size)])
    deviations = left_out.mean() - left_out
    square = float((deviations**2).sum())
    return float((deviations**3).sum()) / (6 * square**1.5) if square > 0 else 0.0


def quantile(samples: Iterable[float], level: float, confidence: float = 0.95) -> Estimate:
    """A quantile with the interval that order statistics give, without any assumption.

    The number of samples below the quantile is binomial: the interval runs from
    the `l`-th to the `u`-th smallest sample, which are the outermost that are
    needed for `P(l <= B < u) >= confidence`, half of the rest on each side. With
    too few samples for that it is infinite on that side. The quantile itself is
    linear between samples, as in NumPy.

    >>> quantile(range(1, 101), 0.5)
    Estimate(mean=50.5, ci_low=40.0, ci_high=61.0, n=100)
    """
    if not 0 < level < 1:
        raise ValueError(f"level = {level}; allowed: between 0 and 1")
    values = np.sort(finite(samples, confidence))
    count = int(values.size)
    if count == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    rest = (1 - confidence) / 2
    # P(B <= k) for all k.
    below = bdtr(np.arange(count + 1), count, level)
    # The greatest l with P(B < l) <= rest, and the least u with P(B >= u) <= rest.
    lower = int(np.searchsorted(below, rest, side="right"))
    upper = int(np.searchsorted(below, 1 - rest)) + 1
    low = float(values[lower - 1]) if lower >= 1 else -math.inf
    high = float(values[upper - 1]) if upper <= count else math.inf
    return Estimate(float(np.quantile(values, level)), low, high, count)
