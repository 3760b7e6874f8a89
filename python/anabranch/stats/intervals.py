"""Means with their confidence intervals, and paired differences.

Intervals are Student's t at 95 % unless said otherwise. One sample gives an
interval of no width: for a deterministic scripted run the value is exact.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Estimate:
    """A mean, its confidence interval and the number of samples behind it."""

    mean: float
    ci_low: float
    ci_high: float
    n: int
    exact: bool = field(default=False, repr=False)
    """The samples are conditions without chance, and the ends are the smallest and the largest."""

    def scaled(self, factor: float) -> Estimate:
        """The estimate of `factor`, which is positive, times the quantity."""
        ends = (self.ci_low * factor, self.ci_high * factor)
        return replace(self, mean=self.mean * factor, ci_low=ends[0], ci_high=ends[1])

    def negated(self) -> Estimate:
        """The estimate of the quantity with the other sign."""
        return replace(self, mean=-self.mean, ci_low=-self.ci_high, ci_high=-self.ci_low)

    def within(self, low: float, high: float) -> Estimate:
        """The interval as far as it lies between the least and the largest value that the quantity
        can have; the mean, which does, stays.

        >>> Estimate(0.98, 0.93, 1.03, 4).within(0, 1).text()
        '0.98 (0.93 to 1.00, n = 4)'
        """
        ends = (max(self.ci_low, low), min(self.ci_high, high))
        return replace(self, ci_low=min(ends[0], self.mean), ci_high=max(ends[1], self.mean))

    def excludes(self, value: float) -> bool:
        """Whether `value` lies outside the interval."""
        return not self.ci_low <= value <= self.ci_high

    def text(self, digits: int = 2) -> str:
        """`6.00 (5.98 to 6.02, n = 20)`."""
        if math.isnan(self.mean):
            return "no samples"
        interval = self.interval_text(digits)
        if self.exact:
            return interval
        if self.n == 1:
            return f"{interval} (n = 1)"
        return f"{interval.removesuffix(')')}, n = {self.n})"

    def interval_text(self, digits: int = 2) -> str:
        """`6.00 (5.98 to 6.02)`; of one sample the mean alone. No zero has a minus."""
        mean, low, high = (f"{each:z.{digits}f}" for each in (self.mean, self.ci_low, self.ci_high))
        if self.n <= 1:
            return mean
        if self.exact:
            if self.ci_low == self.ci_high:
                return f"{mean} (in all {self.n} conditions)"
            return f"{mean} ({low} to {high} in {self.n} conditions)"
        return f"{mean} ({low} to {high})"


def finite(samples: Iterable[float], confidence: float = 0.95) -> NDArray[np.float64]:
    """The samples as an array; what no statistic can use is refused."""
    if not 0 < confidence < 1:
        raise ValueError(f"confidence = {confidence}; allowed: between 0 and 1")
    values = np.asarray(list(samples), dtype=float)
    if not np.isfinite(values).all():
        raise ValueError("a sample is not a finite number")
    return values


def _student(degrees: int, share: float) -> float:
    """Quantile of Student's t; SciPy is imported for the first one."""
    return float(importlib.import_module("scipy.special").stdtrit(degrees, share))


def mean(samples: Iterable[float], confidence: float = 0.95) -> Estimate:
    """Mean and t interval; samples that are not numbers are refused.

    >>> mean([1.0, 2.0, 3.0]).text()
    '2.00 (-0.48 to 4.48, n = 3)'
    >>> mean([7.0])
    Estimate(mean=7.0, ci_low=7.0, ci_high=7.0, n=1)
    """
    values = finite(samples, confidence)
    count = int(values.size)
    if count == 0:
        return Estimate(math.nan, math.nan, math.nan, 0)
    if values.min() == values.max():
        # A mean of equal numbers may differ from them in its last digit.
        return Estimate(float(values[0]), float(values[0]), float(values[0]), count)
    centre, spread = float(values.mean()), float(values.std(ddof=1))
    quantile = _student(count - 1, (1 + confidence) / 2)
    half = quantile * spread / math.sqrt(count)
    return Estimate(centre, centre - half, centre + half, count)


def paired(first: Iterable[float], second: Iterable[float], confidence: float = 0.95) -> Estimate:
    """Mean of `first - second`, sample by sample: both saw the same network."""
    differences = [a - b for a, b in zip(first, second, strict=True)]
    return mean(differences, confidence)


def slope(x: Iterable[float], y: Iterable[float], confidence: float = 0.95) -> Estimate:
    """Slope of the least-squares line with its t interval (n - 2 degrees of freedom)."""
    xs, ys = np.asarray(list(x), dtype=float), np.asarray(list(y), dtype=float)
    if xs.size != ys.size or xs.size < 3 or float(np.ptp(xs)) == 0.0:
        raise ValueError("a slope needs three points or more and two different x")
    centred = xs - xs.mean()
    square = float(centred @ centred)
    gradient = float(centred @ ys) / square
    residual = ys - ys.mean() - gradient * centred
    error = math.sqrt(float(residual @ residual) / (xs.size - 2) / square)
    half = _student(int(xs.size) - 2, (1 + confidence) / 2) * error
    return Estimate(gradient, gradient - half, gradient + half, int(xs.size))
