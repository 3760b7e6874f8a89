"""Sets of rules under which the same claims are judged."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from anabranch.stats import Sample
from anabranch.studies.replications import Replicated
from anabranch.studies.sctp_multihoming import blocks, conditions, measures
from anabranch.studies.sctp_multihoming.conditions import Batch, Paths, plan


@dataclass(frozen=True)
class World:
    """The transfers under one set of TCP's rules and one of SCTP's."""

    results: Replicated[Batch]
    tcp: str = conditions.PAPER["tcp"]
    sctp: str = conditions.PAPER["sctp"]
    grid: Mapping[str, Any] = field(default_factory=plan)
    """The losses, rates and delays, by figure."""
    block: int = 1
    """Transfers in a replication."""
    simulated: bool = True
    """Whether transfers without loss have no chance in them."""

    @property
    def name(self) -> str:
        """Its rules, short."""
        return f"SCTP {self.sctp}, TCP {self.tcp}"

    @property
    def equal(self) -> float:
        """The alternate's loss, per cent, at which the two policies of figure 4 are equal while
        the primary loses as much as in figures 5 and 6."""
        return conditions.equal(self.sctp)

    def batch(self, scheme: str, paths: Paths) -> Batch:
        """The scheme's batch here."""
        rules = {"tcp": self.tcp, "sctp": self.sctp}
        return conditions.batch(scheme, paths, rules[conditions.protocol(scheme)])

    def seconds(self, scheme: str, paths: Paths) -> Sample:
        """Mean times of its transfers, by blocks."""
        sample = self.results.sample(self.batch(scheme, paths), measures.seconds)
        return blocks.of(sample, self.block)

    def longer(self, ours: str, theirs: str, paths: Paths) -> Sample:
        """By how many seconds one scheme takes longer than the other."""
        return self.seconds(ours, paths) - self.seconds(theirs, paths)

    def change(self, ours: str, theirs: str, paths: Paths) -> Sample:
        """The same as a share of the other's mean time."""
        return self.share(self.longer(ours, theirs, paths), theirs, paths)

    def share(self, seconds: Sample, scheme: str, paths: Paths) -> Sample:
        """Seconds as a share of the mean time of a scheme: figures compare mean times, whose ratio
        is not the mean of the ratios."""
        return seconds / float(self.seconds(scheme, paths).values.mean())

    def mean_change(self, ours: str, theirs: str, each: Iterable[Paths]) -> Sample:
        """The mean of changes over several paths, in each replication."""
        return Sample.across([self.change(ours, theirs, paths) for paths in each])


def with_tcp(results: Replicated[Batch], quick: bool) -> list[World]:
    """Sets of rules for both protocols: the paper's first, then others, which mostly change one
    thing."""
    return [
        World(results, tcp, sctp, block=conditions.block(tcp, sctp, quick))
        for tcp, sctp in conditions.pairs(quick)
    ]


def of_policies(results: Replicated[Batch], quick: bool) -> list[World]:
    """Sets of SCTP's rules under which the policies are compared; the paper's first."""
    tcp = conditions.PAPER["tcp"]
    return [
        World(results, tcp, sctp, block=conditions.block(tcp, sctp, quick))
        for sctp in conditions.policies(quick)
    ]
