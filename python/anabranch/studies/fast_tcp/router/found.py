"""What was run, whether it has chance in it or not, and how pairs of conditions compare."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from anabranch.experiment import RunResult
from anabranch.stats import Exact, Sample
from anabranch.studies.fast_tcp.router import measures
from anabranch.studies.fast_tcp.router.conditions import Run
from anabranch.studies.replications import Replicated

Metric = Callable[[RunResult], float]
Pair = tuple[Run, Run]
"""A condition with Fast-TCP, and the same with the plain router."""


@dataclass(frozen=True)
class Found:
    """Replications of random conditions, and the one run of each of the others."""

    results: Replicated[Run]
    fixed: Mapping[Run, RunResult] = field(default_factory=dict)

    def __contains__(self, run: Run) -> bool:
        return run in self.results or run in self.fixed

    def sample(self, run: Run, metric: Metric) -> Sample:
        """A number of each replication; of a run without chance its one number."""
        if run in self.fixed:
            return Sample.of([metric(self.fixed[run])])
        return self.results.sample(run, metric)

    def change(self, ours: Run, theirs: Run, metric: Metric = measures.megabytes) -> Sample:
        """By which share the first has more."""
        return self.sample(ours, metric).change_from(self.sample(theirs, metric))

    def pairs(self, kept: Callable[[Run], bool], law: str = "fast-tcp") -> list[Pair]:
        """Conditions with a law that are kept, each with the plain router's."""
        ours = {run for run in (*self.results, *self.fixed) if run.router == law}
        pairs = [(run, run.with_router("plain")) for run in sorted(ours) if kept(run)]
        return [(run, plain) for run, plain in pairs if plain in self]


def over(
    samples: Sequence[Sample], statistic: Callable[[NDArray[np.float64]], float] = np.mean
) -> Sample | Exact:
    """A statistic over conditions within each replication; those without chance each by itself.

    A condition counts in the replications in which it has a number.

    >>> seen = [Sample.of([1.0, math.nan], {"r"}), Sample.of([3.0, 5.0], {"r"})]
    >>> over(seen).values.tolist()
    [2.0, 5.0]
    """

    def known(row: NDArray[np.float64]) -> float:
        numbers = row[np.isfinite(row)]
        return float(statistic(numbers)) if numbers.size else math.nan

    if any(each.sources for each in samples):
        return Sample.across(samples, known).known()
    return Exact.of(each.values[0] for each in samples)


def alone(sample: Sample) -> Sample | Exact:
    """One condition: the replications that have a number, or the one run without chance."""
    return sample.known() if sample.sources else Exact.of(sample.values)
