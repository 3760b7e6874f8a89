"""What a check is: scenarios, numbers that are read off their runs, and a rule for each number."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from anabranch import si
from anabranch.experiment import RunResult, Scenario
from anabranch.library.entry import Window
from anabranch.stats import Estimate
from anabranch.verdicts import Statement, at_least, at_most

Direction = Literal["at least", "at most"]

STANDARDS = ("reno", "cubic")
"""RFC 5681 and RFC 9438: bounds come from what they measure themselves."""


@dataclass(frozen=True)
class Scale:
    """The size of the runs of a check."""

    quick: bool

    def seconds(self, full: float) -> float:
        """Returns how long a run lasts: a third of it when quick."""
        return full / 3 if self.quick else full

    @property
    def replications(self) -> int:
        """The number of runs of each scenario."""
        return 5 if self.quick else 10


@dataclass(frozen=True)
class Rule:
    """A bound that comes from the standards' means: `factor` times the one that is kinder to the
    candidate, and `slack` beyond it."""

    direction: Direction
    factor: float
    slack: float = 0.0

    def bound(self, standards: Sequence[Estimate]) -> float:
        """The bound for what these estimates of the standards say."""
        means = [each.mean for each in standards]
        if self.direction == "at least":
            return self.factor * min(means) - self.slack
        return self.factor * max(means) + self.slack

    def judged(self, quantity: str, measured: Estimate, standards: Sequence[Estimate]) -> Statement:
        """The number with its verdict: the whole interval, a part of it or none is within."""
        return _judged(self.direction, self.bound(standards), quantity, measured)

    def text(self) -> str:
        """Returns the rule in words."""
        kind = "lower" if self.direction == "at least" else "higher"
        factor = "" if self.factor == 1.0 else f"{self.factor:g} times "
        sign = "less" if self.direction == "at least" else "plus"
        slack = f" {sign} {self.slack:g}" if self.slack else ""
        return f"{self.direction} {factor}the {kind} of reno and cubic{slack}"


@dataclass(frozen=True)
class Fixed:
    """A bound that is the same whatever the standards measure."""

    direction: Direction
    value: float

    def judged(self, quantity: str, measured: Estimate, _: Sequence[Estimate]) -> Statement:
        """The number with its verdict, as a `Rule` gives it."""
        return _judged(self.direction, self.value, quantity, measured)

    def text(self) -> str:
        """Returns the rule in words."""
        return f"{self.direction} {self.value:g}"


def _judged(direction: Direction, bound: float, quantity: str, measured: Estimate) -> Statement:
    low = direction == "at least"
    rule = at_least(bound) if low else at_most(bound)
    text = f"{'≥' if low else '≤'} {si.number(bound)}"  # a mean has no six digits to show
    return Statement.of(quantity, measured, replace(rule, text=text))


@dataclass(frozen=True)
class Quantity:
    """A number that is read off the runs of a check, with its rule."""

    name: str
    """With its unit."""
    read: Callable[[Sequence[RunResult]], float]
    """From one replication of each of the check's scenarios."""
    rule: Rule | Fixed
    most: float = math.inf
    """The largest value that it can have: no interval goes beyond."""
    least: float = -math.inf
    """The smallest value that it can have."""


@dataclass(frozen=True)
class Check:
    """A check that answers one question of RFC 9743."""

    name: str
    section: str
    question: str
    setting: str
    """The scenario in words."""
    scenarios: Callable[[Window, Scale], list[Scenario]]
    quantities: Sequence[Quantity]

    def reference(self) -> str:
        """Returns the section of the RFC: `RFC 9743 §5.1.1`."""
        return f"RFC 9743 {self.section}"
