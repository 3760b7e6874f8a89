"""The claims of a study in each environment that its trials ran in: simulated, on real packets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.studies.live import LiveOutcome
from anabranch.verdicts import Claim, Statement


@dataclass(frozen=True)
class Environment:
    """Where the trials ran: a column of the tables."""

    name: str
    says: str
    """Which hosts are real."""


@dataclass(frozen=True)
class Line:
    """A number behind a claim: what it is, and what was measured in each environment."""

    scope: str
    statements: Sequence[Statement | None]
    """One of each environment, in their order; none where it was not measured there."""

    @property
    def quantity(self) -> str:
        """Returns what was measured, with its unit."""
        return self._one.quantity

    @property
    def expected(self) -> str:
        """The rule in short; empty of a number that is not judged."""
        return self._one.expected_text

    @property
    def _one(self) -> Statement:
        return next(each for each in reversed(self.statements) if each)


@dataclass(frozen=True)
class Judged:
    """A claim in all environments."""

    claims: Sequence[Claim]
    """One of each environment, in their order."""

    @property
    def claim(self) -> str:
        """Returns its short name."""
        return self.claims[0].claim

    @property
    def sentence(self) -> str:
        """Returns what it says."""
        return self.claims[0].sentence

    @property
    def differs(self) -> bool:
        """Whether its verdict is not the same everywhere."""
        return len({each.verdict for each in self.claims}) > 1

    def lines(self) -> list[Line]:
        """All its numbers, the first of which heads it. Where an environment lacks some, since
        trials did not end there, they are told apart by their names."""
        every = [
            [(scope, each) for scope, of in claim.scopes() for each in of] for claim in self.claims
        ]
        if len({len(each) for each in every}) == 1:
            return [Line(row[0][0], [each for _, each in row]) for row in zip(*every, strict=True)]
        named = [{(scope, each.quantity): each for scope, each in of} for of in every]
        return [
            Line(key[0], [of.get(key) for of in named])
            for key in dict.fromkeys(key for of in named for key in of)
        ]


@dataclass(frozen=True)
class Shown:
    """What the page of a study shows of its live trials."""

    environments: Sequence[Environment]
    judged: Sequence[Judged]
    trials: int
    """In each environment."""

    @property
    def differing(self) -> list[str]:
        """The claims whose verdict is not the same everywhere."""
        return [each.claim for each in self.judged if each.differs]


def shown(outcome: LiveOutcome) -> Shown:
    """The environments as columns, the simulated one first, and each claim as a row."""
    environments = [
        Environment("simulated", "Virtual time, with our stack at every host."),
        Environment("live", f"Real packets in real time. {outcome.setting}"),
        *(
            Environment(each.name, f"Real packets in real time. {each.setting}")
            for each in outcome.further
        ),
    ]
    columns = (outcome.simulated, outcome.live, *(each.claims for each in outcome.further))
    judged = [Judged(claims) for claims in zip(*columns, strict=True)]
    return Shown(environments, judged, sum(timing.trials for timing in outcome.timings))
