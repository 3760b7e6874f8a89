"""Times of policies, what one gains on another, and what it costs not to know the best beforehand.

The regret of a policy under a condition is by how much longer its transfers take than those of
the policy that is best there, as a share. Which one is best, and where a policy does worst, is
chosen for each replication by all others, so that a lucky draw does not count as merit.
Replications are paired: all policies see the same draws of the links.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.stats import Sample
from anabranch.studies.replications import Replicated
from anabranch.studies.sctp_multihoming import measures
from anabranch.studies.sctp_multihoming.conditions import Paths
from anabranch.studies.sctp_multihoming.policies.conditions import case

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Regret:
    """Of a policy over all conditions."""

    mean: Sample
    worst: Sample
    where: Paths
    """The condition at which it does worst."""


@dataclass(frozen=True)
class Table:
    """Times of policies under one set of rules."""

    results: Replicated[Any]
    """By case."""
    rules: str
    policies: Sequence[str]
    paths: Sequence[Paths]

    def times(self, policy: str, paths: Paths) -> Sample:
        """Seconds of each replication."""
        return self.results.sample(case(policy, self.rules, paths), measures.seconds)

    def change(self, policy: str, reference: str) -> Sample:
        """By what share the policy takes longer than another, over all conditions."""
        return Sample.across([self._change(policy, reference, paths) for paths in self.paths])

    def _change(self, policy: str, reference: str, paths: Paths) -> Sample:
        """A share of the mean time of the other."""
        theirs = self.times(reference, paths)
        return (self.times(policy, paths) - theirs) / float(theirs.values.mean())

    def from_better(self, policy: str, references: Sequence[str], paths: Paths) -> Sample:
        """By what share it takes longer than the better of others, which is chosen for each
        replication by all others."""
        others = [self.times(reference, paths) for reference in references]
        better = Sample.across(others, np.min)
        length = len(better.values)
        table = np.stack([other.values[:length] for other in others])
        chosen = np.argmin(without(table), axis=0)
        values = table[chosen, np.arange(length)]
        theirs = Sample(values, better.sources, better.looks)
        return (self.times(policy, paths) - theirs) / float(values.mean())

    @cached_property
    def seconds(self) -> Array:
        """By policy, condition and replication, as many as all have."""
        rows = [
            [self.times(policy, paths).values for paths in self.paths] for policy in self.policies
        ]
        length = min(len(values) for row in rows for values in row)
        return np.array([[values[:length] for values in row] for row in rows])

    def best(self) -> list[str]:
        """The best policy of each condition."""
        indices = self.seconds.mean(axis=2).argmin(axis=0)
        return [self.policies[index] for index in indices]

    @cached_property
    def ratios(self) -> Array:
        """Times over those of the best policy of each condition, less 1; the best by the other
        replications."""
        best = without(self.seconds).argmin(axis=0)
        reference = np.take_along_axis(self.seconds, best[None], axis=0)
        found: Array = self.seconds / reference - 1
        return found

    def regret(self, policy: str) -> Regret:
        """Of a policy against the best of each condition."""
        ratios = self.ratios[self.policies.index(policy)]
        worst = without(ratios).argmax(axis=0)
        where = self.paths[int(ratios.mean(axis=1).argmax())]
        return Regret(
            Sample.of(ratios.mean(axis=0)),
            Sample.of(ratios[worst, np.arange(ratios.shape[1])]),
            where,
        )

    def least(self, policies: Sequence[str]) -> str:
        """The policy with the least mean regret."""
        return min(policies, key=lambda name: float(self.ratios[self.policies.index(name)].mean()))


def without(values: Array) -> Array:
    """The mean over the last axis without each of its elements.

    >>> without(np.array([1.0, 2.0, 6.0])).tolist()
    [4.0, 3.5, 1.5]
    """
    count = values.shape[-1]
    if count < 2:
        return values
    found: Array = (values.sum(axis=-1, keepdims=True) - values) / (count - 1)
    return found
