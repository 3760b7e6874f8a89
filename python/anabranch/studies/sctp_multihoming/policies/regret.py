"""What it costs not to know the best policy beforehand.

The regret of a policy under a condition is by how much longer its transfers take than those of
the policy that is best there, as a share. Which one is best, and where a policy does worst, is
chosen on half of the replications and measured on the other, so that a lucky draw does not count
as merit: the best once on each half, the worst on the replications with even numbers.
Replications are paired: all policies see the same draws of the links.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anabranch import stats
from anabranch.stats import Estimate
from anabranch.studies.sctp_multihoming.conditions import Paths
from anabranch.studies.sctp_multihoming.policies.conditions import Case, case

Times = Mapping[Case, list[float]]
"""Seconds of each replication."""
Array = NDArray[np.float64]
EVEN, ODD = slice(0, None, 2), slice(1, None, 2)
"""Halves of the replications."""


@dataclass(frozen=True)
class Regret:
    """Of a policy over all conditions."""

    mean: Estimate
    worst: Estimate
    where: Paths
    """The condition at which it does worst."""


@dataclass(frozen=True)
class Table:
    """Times of policies under one set of rules: by policy, condition and replication."""

    rules: str
    policies: Sequence[str]
    paths: Sequence[Paths]
    seconds: Array

    @classmethod
    def of(cls, times: Times, rules: str, policies: Sequence[str], paths: Sequence[Paths]) -> Table:
        """Collects what was measured."""
        rows = [[times[case(policy, rules, each)] for each in paths] for policy in policies]
        return cls(rules, policies, paths, np.array(rows))

    def times(self, policy: str) -> Array:
        """By condition and replication."""
        found: Array = self.seconds[self.policies.index(policy)]
        return found

    def change(self, policy: str, reference: str) -> Estimate:
        """By what share the policy takes longer than another, over all conditions."""
        ratios = self.times(policy) / self.times(reference) - 1
        return stats.mean(ratios.mean(axis=0).tolist())

    def change_from_better(self, policy: str, references: Sequence[str]) -> Array:
        """By what share it takes longer than the better of others, which is chosen for each
        condition; by condition and replication."""
        others = np.stack([self.times(reference) for reference in references])
        better = others.mean(axis=2).argmin(axis=0)
        found: Array = self.times(policy) / others[better, np.arange(len(self.paths))] - 1
        return found

    def best(self, half: slice = slice(None)) -> list[str]:
        """The best policy of each condition, by a part of the replications."""
        indices = self.seconds[:, :, half].mean(axis=2).argmin(axis=0)
        return [self.policies[index] for index in indices]

    def _ratios(self, policy: str) -> Array:
        """Times over those of the best policy of each condition, less 1; the best by the other
        half of the replications."""
        found = np.empty_like(self.times(policy))
        for chosen_by, measured in ((EVEN, ODD), (ODD, EVEN)):
            best = [self.policies.index(name) for name in self.best(chosen_by)]
            seconds = self.seconds[best, np.arange(len(self.paths))]
            found[:, measured] = self.times(policy)[:, measured] / seconds[:, measured] - 1
        return found

    def regret(self, policy: str) -> Regret:
        """Of a policy against the best of each condition."""
        ratios = self._ratios(policy)
        worst = int(ratios[:, EVEN].mean(axis=1).argmax())
        return Regret(
            stats.mean(ratios.mean(axis=0).tolist()),
            stats.mean(ratios[worst, ODD].tolist()),
            self.paths[worst],
        )

    def least(self, policies: Sequence[str]) -> str:
        """The policy with the least mean regret."""
        return min(policies, key=lambda name: float(self._ratios(name).mean()))
