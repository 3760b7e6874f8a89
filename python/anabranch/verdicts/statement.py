"""A quantity, what was measured of it, and a rule."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from anabranch.rows import CsvRow
from anabranch.stats import Estimate, Exact, Sample
from anabranch.verdicts.rule import Rule
from anabranch.verdicts.verdict import Verdict

Measured = Sample | Exact | Estimate


@dataclass(frozen=True)
class Statement:
    """One number that a claim speaks of."""

    quantity: str
    """With its unit."""
    measured: Estimate
    rule: Rule | None = None
    """`None` for a number that is reported, but not judged."""
    verdict: Verdict | None = None
    minor: bool = False
    """Whether the claim keeps its meaning without it."""
    held: int = 0
    """Conditions in which it holds, of those without chance."""
    sources: frozenset[Hashable] = field(default=frozenset(), compare=False)
    """The conditions whose replications decide it."""

    @classmethod
    def of(
        cls, quantity: str, measured: Measured, rule: Rule | None = None, *, minor: bool = False
    ) -> Statement:
        """Judges what was measured: replications, conditions without chance, or an estimate."""
        estimate = measured if isinstance(measured, Estimate) else measured.estimate
        sources = measured.sources if isinstance(measured, Sample) else frozenset()
        if rule is None:
            return cls(quantity, estimate, sources=sources)
        if isinstance(measured, Exact):
            held = sum(rule.allows(value) for value in measured.values)
            verdict = rule.judge_each(measured)
            return cls(quantity, estimate, rule, verdict, minor, held)
        return cls(quantity, estimate, rule, rule.judge(estimate), minor, sources=sources)

    def unjudged(self, prefix: str = "") -> Statement:
        """Returns the number without its rule."""
        return replace(self, quantity=f"{prefix}{self.quantity}", rule=None, verdict=None)

    @property
    def expected(self) -> float | None:
        """The value or the bound that the claim names."""
        return None if self.rule is None else self.rule.expected

    @property
    def expected_text(self) -> str:
        """The rule in short."""
        return "" if self.rule is None else self.rule.text

    def text(self) -> str:
        """`quantity: 6.03 (6.02 to 6.05, n = 20), expected 6 ± 0.5`."""
        text = f"{self.quantity}: {self.measured.text()}"
        if self.rule is None:
            return text
        where = f", in {self.held} of {self.measured.n}" if self.verdict is Verdict.PARTLY else ""
        return f"{text}, expected {self.rule.text}{where}"

    def judged_by(self) -> str:
        """How a range over conditions was judged, where it does not show: it is not an interval."""
        if not self.measured.exact or not 0 < self.held < self.measured.n:
            return ""
        if self.verdict is Verdict.PARTLY:
            return f"in {self.held} of {self.measured.n} conditions"
        return "by the mean over the conditions" if self.verdict is not Verdict.UNDECIDED else ""

    def needed(self) -> int | None:
        """About how many replications would decide it, if mean and spread stay; `None` if it is
        decided, or if the mean lies on the rule's end."""
        if self.verdict is not Verdict.UNDECIDED or self.rule is None or self.measured.n < 2:
            return None
        half = (self.measured.ci_high - self.measured.ci_low) / 2
        distance = self.rule.distance(self.measured.mean)
        return math.ceil(self.measured.n * (half / distance) ** 2) if distance > 0 else None

    def takes(self) -> str:
        """Says what it would take to decide it."""
        needed = self.needed()
        if self.measured.n == 0:
            return "that it happens at all"
        if self.measured.n == 1:
            return "a second run"
        if needed is None or needed > 1000 * self.measured.n:
            return "another margin: the mean lies on this one"
        return f"about {needed} replications in place of {self.measured.n}"

    def row(self) -> CsvRow:
        """Returns its columns of `measures.csv`."""
        return {
            "quantity": self.quantity,
            "verdict": None if self.verdict is None else self.verdict.value,
            "expected": self.expected,
            "measured": self.measured.mean,
            "ci_low": self.measured.ci_low,
            "ci_high": self.measured.ci_high,
            "n": self.measured.n,
            "rule": self.expected_text,
        }

    def to_file(self) -> dict[str, Any]:
        """The statement as files keep it; `statement_from` reads it."""
        return {
            "quantity": self.quantity,
            "measured": asdict(self.measured),
            "rule": None if self.rule is None else self.rule.to_file(),
            "verdict": None if self.verdict is None else self.verdict.value,
            "minor": self.minor,
            "held": self.held,
        }


def statement_from(value: dict[str, Any]) -> Statement:
    """Reads a statement as files keep it."""
    rule = value["rule"]
    return Statement(
        value["quantity"],
        Estimate(**value["measured"]),
        None if rule is None else Rule.from_file(rule),
        None if value["verdict"] is None else Verdict(value["verdict"]),
        value["minor"],
        value["held"],
    )
