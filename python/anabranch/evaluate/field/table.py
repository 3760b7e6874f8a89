"""The table of the field: of every algorithm each number with its interval and verdict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anabranch.errors import InputError
from anabranch.evaluate.card import COLUMNS, Card
from anabranch.evaluate.check import Check
from anabranch.evaluate.field.cards import Kept
from anabranch.evaluate.field.facts import Facts
from anabranch.stats import Estimate, Looks
from anabranch.tables import read_csv, write_csv
from anabranch.verdicts import Statement, Verdict

FILE = "field.csv"
Key = tuple[str, str, str]
"""Check, quantity, algorithm."""


@dataclass(frozen=True)
class Field:
    """What was found of every algorithm."""

    algorithms: Sequence[str]
    checks: Sequence[str]
    estimates: Mapping[Key, Estimate]
    judged: Mapping[Key, Verdict]
    bounds: Mapping[Key, float]
    facts: Facts

    @classmethod
    def load(cls, directory: Path) -> Field:
        """Reads what `write` has written; an `InputError` where no run has finished."""
        facts = Facts.load(directory)
        if facts is None or not (directory / FILE).exists():
            allowed = "a folder in which `anabranch evaluate --all` has finished"
            raise InputError.about(str(directory), "DIR", str(directory), allowed)
        return cls._of(read_csv(directory / FILE), facts)

    @classmethod
    def _of(cls, rows: Iterable[Mapping[str, Any]], facts: Facts) -> Field:
        table = list(rows)
        found: dict[Key, Estimate] = {}
        judged: dict[Key, Verdict] = {}
        bounds: dict[Key, float] = {}
        for row in table:
            key = (row["check"], row["quantity"], row["algorithm"])
            mean, low, high = (_number(row[name]) for name in ("mean", "ci_low", "ci_high"))
            found[key] = Estimate(mean, low, high, int(row["n"]))
            judged[key] = Verdict(row["verdict"])
            bounds[key] = _number(row["bound"])
        algorithms = list(dict.fromkeys(row["algorithm"] for row in table))
        checks = list(dict.fromkeys(row["check"] for row in table))
        return cls(algorithms, checks, found, judged, bounds, facts)

    def estimate(self, check: str, quantity: str, algorithm: str) -> Estimate | None:
        """A number; `None` where the check was not run."""
        return self.estimates.get((check, quantity, algorithm))

    def quantities(self, check: str) -> list[str]:
        """The quantities of a check."""
        return list(dict.fromkeys(key[1] for key in self.estimates if key[0] == check))

    def verdict(self, check: str, algorithm: str) -> Verdict:
        """What the quantities of a check say together."""
        return Verdict.of_all(
            verdict for key, verdict in self.judged.items() if key[::2] == (check, algorithm)
        )

    def counts(self, algorithm: str) -> Counter[Verdict]:
        """How often each verdict was given to an algorithm, by check."""
        return Counter(self.verdict(check, algorithm) for check in self.checks)


def write(
    directory: Path,
    algorithms: Sequence[str],
    checks: Sequence[Check],
    found: Mapping[tuple[str, str], Kept],
    *,
    standards: Mapping[tuple[str, str], Sequence[Estimate]],
    looks: Looks,
    facts: Facts,
) -> Field:
    """Judges what was found by algorithm and check; writes `field.csv` and `field.json`."""
    estimates: dict[Key, Estimate] = {}
    measures: dict[Key, Statement] = {}
    for check in checks:
        for quantity in check.quantities:
            bounds = standards[check.name, quantity.name]
            for each in algorithms:
                at = (check.name, quantity.name, each)
                estimates[at] = found[each, check.name].estimate(quantity, looks)
                measures[at] = quantity.rule.judged(quantity.name, estimates[at], bounds)
    rows = Card("", algorithms, checks, estimates, measures).rows()
    write_csv(directory / FILE, COLUMNS, rows)
    facts.save(directory)
    return Field.load(directory)


def _number(text: str) -> float:
    return float(text) if text else math.nan
