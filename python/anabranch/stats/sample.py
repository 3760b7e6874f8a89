"""Numbers of which each replication gives one, and arithmetic on them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from anabranch.stats.intervals import Estimate, mean
from anabranch.stats.sequential import Looks

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sample:
    """A quantity's value in each replication.

    Replication i of any two samples has the same seed: arithmetic pairs them by number, as far
    as both go, and what comes out is a sample again. Conditions under the same seed are not
    independent, replications are: a mean over conditions is one number a replication
    (`across`), and its interval is over replications alone.
    """

    values: Values
    sources: frozenset[Hashable] = frozenset()
    """The conditions that it was computed from: where more replications would help."""
    looks: Looks | None = None
    """The plan by which the number of replications was found; `None` if it was fixed before."""
    bounds: tuple[float, float] = (-np.inf, np.inf)
    """The least and the largest value that the quantity can have; arithmetic forgets them."""

    def within(self, low: float, high: float) -> Sample:
        """The same of a quantity that can have no value beyond: no interval goes there.

        >>> Sample.of([0.99, 0.97, 1.0]).within(0, 1).estimate.ci_high
        1.0
        """
        return replace(self, bounds=(low, high))

    @classmethod
    def of(
        cls,
        values: Iterable[float],
        sources: Iterable[Hashable] = (),
        looks: Looks | None = None,
    ) -> Sample:
        """Makes a sample from the values in order of replications."""
        return cls(np.asarray(list(values), dtype=float), frozenset(sources), looks)

    @classmethod
    def across(
        cls, samples: Sequence[Sample], statistic: Callable[[Values], float] = np.mean
    ) -> Sample:
        """A statistic of several samples, replication by replication.

        >>> a, b = Sample.of([1.0, 2.0, 9.0]), Sample.of([3.0, 4.0])
        >>> Sample.across([a, b]).values.tolist()
        [2.0, 3.0]
        """
        if not samples:
            raise ValueError("a statistic of no samples")
        length = min(len(each.values) for each in samples)
        table = np.stack([each.values[:length] for each in samples], axis=1)
        return cls(
            np.array([float(statistic(row)) for row in table]),
            frozenset().union(*(each.sources for each in samples)),
            next((each.looks for each in samples if each.looks), None),
        )

    def _paired(self, other: Sample | float, operation: Callable[..., Values]) -> Sample:
        if isinstance(other, Sample):
            return Sample.across([self, other], lambda row: float(operation(row[0], row[1])))
        return Sample(operation(self.values, other), self.sources, self.looks)

    def __add__(self, other: Sample | float) -> Sample:
        return self._paired(other, np.add)

    def __sub__(self, other: Sample | float) -> Sample:
        return self._paired(other, np.subtract)

    def __mul__(self, other: Sample | float) -> Sample:
        return self._paired(other, np.multiply)

    def __truediv__(self, other: Sample | float) -> Sample:
        with np.errstate(divide="ignore", invalid="ignore"):
            return self._paired(other, np.divide)

    def change_from(self, other: Sample) -> Sample:
        """The difference from `other` as a share of it.

        >>> Sample.of([3.0]).change_from(Sample.of([2.0])).values.tolist()
        [0.5]
        """
        return self / other - 1.0

    def change_of_means(self, other: Sample) -> Sample:
        """The difference of the means as a share of the mean of `other`, which a replication
        where `other` is 0 does not spoil.

        The values are those of the ratio of means made linear at the means (the delta method), so
        that their mean is the change and their spread is its spread.

        >>> Sample.of([3.0, 5.0, 1.0]).change_of_means(Sample.of([2.0, 4.0, 0.0])).estimate.mean
        0.5
        """
        length = min(len(self.values), len(other.values))
        mean = float(np.mean(other.values[:length]))
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = float(np.divide(np.mean(self.values[:length]), mean))
        return (self - other * ratio) / mean + (ratio - 1.0)

    def known(self) -> Sample:
        """Without replications that have no value, as when the event never came."""
        return Sample(self.values[np.isfinite(self.values)], self.sources, self.looks)

    @property
    def estimate(self) -> Estimate:
        """Mean and t interval, at the level that the looks leave to each.

        >>> Sample.of([1.0, 2.0, 3.0]).estimate.text()
        '2.00 (-0.48 to 4.48, n = 3)'
        """
        level = 0.95 if self.looks is None else self.looks.level
        return mean(self.values, level).within(*self.bounds)


@dataclass(frozen=True)
class Exact:
    """The values of a quantity that has no chance in it, one for each condition."""

    values: tuple[float, ...]
    together: bool = False
    """Whether what is claimed is about their mean, not about each of them."""

    @classmethod
    def of(cls, values: Iterable[float]) -> Exact:
        """Makes a sample from the values in order of conditions; each is what a claim speaks of."""
        return cls(tuple(float(value) for value in values))

    @classmethod
    def mean_of(cls, values: Iterable[float]) -> Exact:
        """The same, where a claim speaks of their mean."""
        return replace(cls.of(values), together=True)

    def __truediv__(self, divisor: float) -> Exact:
        return replace(self, values=tuple(value / divisor for value in self.values))

    @property
    def estimate(self) -> Estimate:
        """Mean, smallest and largest: a range over the conditions, not an interval.

        >>> Exact.of([5, 6, 5, 5]).estimate.text()
        '5.25 (5.00 to 6.00 in 4 conditions)'
        """
        known = [value for value in self.values if np.isfinite(value)]
        if not known:
            return Estimate(float("nan"), float("nan"), float("nan"), 0, exact=True)
        return Estimate(float(np.mean(known)), min(known), max(known), len(known), exact=True)
