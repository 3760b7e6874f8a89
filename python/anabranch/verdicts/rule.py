"""Which values of a quantity make a statement true.

Every rule has a margin: what would not matter to a user. It is chosen from the use, before the
runs: a transfer that is one per cent faster is not called faster, a window that is half a segment
off is not called another.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from anabranch.stats import Estimate, Exact
from anabranch.verdicts.verdict import Verdict


@dataclass(frozen=True)
class Rule:
    """The values from `low` to `high` make a statement true."""

    low: float
    high: float
    expected: float
    """The value or the bound that the claim names."""
    text: str
    """The rule for readers: `7 +- 0.5`, `<= 0 (+ 0.02)`, `< 0 by 0.02`."""

    def to_file(self) -> dict[str, Any]:
        """The rule as files keep it: JSON has no infinity, an open end is `None`."""
        low, high = (None if math.isinf(end) else end for end in (self.low, self.high))
        return {"low": low, "high": high, "expected": self.expected, "text": self.text}

    @classmethod
    def from_file(cls, value: dict[str, Any]) -> Rule:
        """The rule that `to_file` wrote."""
        low = -math.inf if value["low"] is None else float(value["low"])
        high = math.inf if value["high"] is None else float(value["high"])
        return cls(low, high, float(value["expected"]), str(value["text"]))

    def judge(self, estimate: Estimate) -> Verdict:
        """By the whole interval: within, outside, or undecided. One draw has no interval."""
        if estimate.n == 0 or (estimate.n == 1 and not estimate.exact):
            return Verdict.UNDECIDED
        if self.low <= estimate.ci_low and estimate.ci_high <= self.high:
            return Verdict.HOLDS
        if estimate.ci_high < self.low or self.high < estimate.ci_low:
            return Verdict.FAILS
        return Verdict.UNDECIDED

    def judge_each(self, exact: Exact) -> Verdict:
        """By each condition, which has no chance in it: all, some or none are within; or by their
        mean."""
        known = [value for value in exact.values if math.isfinite(value)]
        if exact.together and known:
            known = [sum(known) / len(known)]
        if not known:
            return Verdict.UNDECIDED
        held = sum(self.allows(value) for value in known)
        if held in (0, len(known)):
            return Verdict.HOLDS if held else Verdict.FAILS
        return Verdict.PARTLY

    def allows(self, value: float) -> bool:
        """Whether the value makes the statement true."""
        return self.low <= value <= self.high

    def distance(self, value: float) -> float:
        """Returns the distance from the nearest end of the rule's values."""
        return min(abs(value - end) for end in (self.low, self.high))


def near(expected: float, margin: float) -> Rule:
    """The quantity is what is expected, `margin` more or less.

    >>> near(7, 0.5).text
    '7 ± 0.5'
    """
    text = f"{expected:g} ± {margin:g}" if margin else f"{expected:g}"
    return Rule(expected - margin, expected + margin, expected, text)


def at_most(bound: float, margin: float = 0.0) -> Rule:
    """The quantity is no more than the bound; up to `margin` more is as good as the bound.

    >>> at_most(0, 0.02).text
    '≤ 0 (+ 0.02)'
    """
    text = f"≤ {bound:g} (+ {margin:g})" if margin else f"≤ {bound:g}"
    return Rule(-math.inf, bound + margin, bound, text)


def at_least(bound: float, margin: float = 0.0) -> Rule:
    """The quantity is no less than the bound; up to `margin` less is as good as the bound.

    >>> at_least(1).text
    '≥ 1'
    """
    text = f"≥ {bound:g} (- {margin:g})" if margin else f"≥ {bound:g}"
    return Rule(bound - margin, math.inf, bound, text)


def less(bound: float, by: float) -> Rule:
    """The quantity is below the bound, by so much that it matters.

    >>> less(0, 0.02).text
    '< 0 by 0.02'
    """
    return Rule(-math.inf, bound - by, bound, f"< {bound:g} by {by:g}")


def more(bound: float, by: float) -> Rule:
    """The quantity is above the bound, by so much that it matters.

    >>> more(0, 0.02).allows(0.01)
    False
    """
    return Rule(bound + by, math.inf, bound, f"> {bound:g} by {by:g}")
