"""Replications of many conditions, as many as a study's statements need."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from anabranch.experiment import RunResult, Scenario
from anabranch.stats import Looks, Sample
from anabranch.verdicts import Claim, Statement, Verdict

Key = TypeVar("Key", bound=Hashable)


class Replicated(Mapping[Key, list[RunResult]], Generic[Key]):
    """The replications of every condition, in order of their numbers."""

    def __init__(self, runs: Mapping[Key, list[RunResult]], looks: Looks | None = None) -> None:
        self._runs = runs
        self._looks = looks

    def __getitem__(self, key: Key) -> list[RunResult]:
        return self._runs[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._runs)

    def __len__(self) -> int:
        return len(self._runs)

    def joined(self, others: Mapping[Key, list[RunResult]]) -> Replicated[Key]:
        """With runs of other conditions, in which nothing is random."""
        return Replicated({**self._runs, **others}, self._looks)

    def sample(self, key: Key, read: Callable[[RunResult], float]) -> Sample:
        """A number of each replication of a condition."""
        return Sample.of((read(result) for result in self[key]), [key], self._looks)


@dataclass(frozen=True)
class Decided(Generic[Key]):
    """Results and claims when the replications stopped."""

    results: Replicated[Key]
    claims: list[Claim]


def decide(
    scenarios: Mapping[Key, Scenario],
    judge: Callable[[Replicated[Key]], list[Claim]],
    compute: Callable[[Mapping[Key, int]], Mapping[Key, list[RunResult]]],
    looks: Looks,
) -> Decided[Key]:
    """Replicates each condition until what it is needed for is decided, or the budget is spent.

    `compute` gives so many replications of each condition that it is asked for. After each look,
    the conditions of undecided statements go on to the next; the others are not read again.
    """
    wanted = dict.fromkeys(scenarios, looks.first)
    runs = dict(compute(wanted))
    while True:
        results = Replicated(runs, looks)
        claims = judge(results)
        statements = [everything for claim in claims for everything in claim.everything()]
        further = more_wanted(statements, wanted, looks)
        if not further:
            return Decided(results, claims)
        wanted |= further
        runs |= compute(further)


def more_wanted(
    statements: Iterable[Statement], have: Mapping[Key, int], looks: Looks
) -> dict[Key, int]:
    """The conditions that undecided statements need more of, and how many they need next."""
    further: dict[Key, int] = {}
    for statement in statements:
        if statement.verdict is not Verdict.UNDECIDED:
            continue
        # Samples are paired as far as all go: those with the fewest replications bind.
        sources = [key for key in have if key in statement.sources]
        fewest = min((have[key] for key in sources), default=0)
        following = looks.after(fewest)
        if following is not None:
            further |= {key: following for key in sources if have[key] == fewest}
    return further
