"""Sets of rules under which the same claims are judged."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from anabranch.stats import Estimate
from anabranch.studies.sctp_multihoming import conditions, measures
from anabranch.studies.sctp_multihoming.conditions import Batch, Paths, plan
from anabranch.studies.sctp_multihoming.measures import Times


@dataclass(frozen=True)
class World:
    """The times under one set of TCP's rules and one of SCTP's."""

    times: Times
    tcp: str = conditions.PAPER["tcp"]
    sctp: str = conditions.PAPER["sctp"]
    grid: Mapping[str, Any] = field(default_factory=plan)
    """The losses, rates and delays, by figure."""

    def batch(self, scheme: str, paths: Paths) -> Batch:
        """The scheme's batch here."""
        rules = {"tcp": self.tcp, "sctp": self.sctp}
        return conditions.batch(scheme, paths, rules[conditions.protocol(scheme)])

    def longer(self, ours: str, theirs: str, paths: Paths) -> Estimate:
        """By how many seconds one scheme takes longer than the other."""
        return measures.longer(self.times, self.batch(ours, paths), self.batch(theirs, paths))

    def differences(self, ours: str, theirs: str, paths: Paths) -> list[float]:
        """The same in each replication."""
        return measures.differences(self.times, self.batch(ours, paths), self.batch(theirs, paths))

    def relative(self, ours: str, theirs: str, paths: Paths) -> list[float]:
        """The same as shares of the other's time."""
        return measures.relative(self.times, self.batch(ours, paths), self.batch(theirs, paths))


def with_tcp(times: Times) -> list[World]:
    """Each set of TCP's rules with each of SCTP's; the paper's first."""
    part = plan()["variants"]
    return [World(times, *rules) for rules in itertools.product(part["tcp"], part["sctp"])]


def of_policies(times: Times) -> list[World]:
    """Each set of SCTP's rules under which the policies are compared; the paper's first."""
    return [World(times, sctp=rules) for rules in plan()["variants"]["policies"]]
