"""The report card: what was found of every algorithm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anabranch.evaluate.check import Check
from anabranch.rows import CsvRow
from anabranch.stats import Estimate
from anabranch.verdicts import Statement, Verdict

COLUMNS = (
    "check",
    "section",
    "quantity",
    "algorithm",
    "mean",
    "ci_low",
    "ci_high",
    "n",
    "bound",
    "rule",
    "verdict",
)


@dataclass(frozen=True)
class Card:
    """The findings on every algorithm, as a report card."""

    candidate: str
    algorithms: Sequence[str]
    checks: Sequence[Check]
    estimates: dict[tuple[str, str, str], Estimate]
    """By check, quantity and algorithm."""
    measures: dict[tuple[str, str, str], Statement]
    """The same, judged."""

    def verdict(self, check: str, algorithm: str) -> Verdict:
        """Whether all, some or none of the check's quantities are within their bounds."""
        found = [
            m.verdict for key, m in self.measures.items() if (key[0], key[2]) == (check, algorithm)
        ]
        return Verdict.of_all(each for each in found if each is not None)

    def rows(self) -> list[CsvRow]:
        """A row for each check, quantity and algorithm."""
        rows: list[CsvRow] = []
        for check in self.checks:
            for quantity in check.quantities:
                for algorithm in self.algorithms:
                    measure = self.measures[check.name, quantity.name, algorithm]
                    estimate = measure.measured
                    rows.append(
                        {
                            "check": check.name,
                            "section": check.reference(),
                            "quantity": quantity.name,
                            "algorithm": algorithm,
                            "mean": estimate.mean,
                            "ci_low": estimate.ci_low,
                            "ci_high": estimate.ci_high,
                            "n": estimate.n,
                            "bound": measure.expected,
                            "rule": quantity.rule.text(),
                            "verdict": None if measure.verdict is None else measure.verdict.value,
                        }
                    )
        return rows
