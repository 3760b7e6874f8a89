"""Verdicts, claims and the result of a study, as files keep them."""

from __future__ import annotations

import enum
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from anabranch.files import write_text
from anabranch.stats import Estimate
from anabranch.tables import write_csv

FILE = "result.json"
MEASURE_COLUMNS = (
    "study",
    "claim",
    "quantity",
    "verdict",
    "expected",
    "measured",
    "ci_low",
    "ci_high",
    "n",
)


class Verdict(enum.Enum):
    """What the measurement says about a claim."""

    HOLDS = "holds"
    PARTLY = "holds in part"
    FAILS = "does not hold"

    @classmethod
    def within(cls, estimate: Estimate, expected: float, tolerance: float) -> Verdict:
        """Holds if the whole interval is within `tolerance` of what is expected;
        in part if the mean is within twice that; else it does not hold."""
        ends = (estimate.ci_low, estimate.ci_high)
        if all(abs(end - expected) <= tolerance for end in ends):
            return cls.HOLDS
        if abs(estimate.mean - expected) <= 2 * tolerance:
            return cls.PARTLY
        return cls.FAILS

    @classmethod
    def worst(cls, *verdicts: Verdict) -> Verdict:
        """The verdict of a claim with several parts: all, some or none hold."""
        if all(verdict is cls.HOLDS for verdict in verdicts):
            return cls.HOLDS
        if all(verdict is cls.FAILS for verdict in verdicts):
            return cls.FAILS
        return cls.PARTLY


@dataclass(frozen=True)
class Measure:
    """One number that a claim predicts: its name with the unit, and both values."""

    quantity: str
    expected: float | None
    """`None` for a number that is reported but not judged."""
    measured: Estimate
    verdict: Verdict | None = None

    @classmethod
    def near(cls, quantity: str, expected: float, measured: Estimate, tolerance: float) -> Measure:
        """A number judged by `Verdict.within`."""
        return cls(quantity, expected, measured, Verdict.within(measured, expected, tolerance))

    @classmethod
    def at_most(cls, quantity: str, bound: float, measured: Estimate) -> Measure:
        """Holds if the whole interval is at most `bound`, in part if it reaches below."""
        if measured.ci_high <= bound:
            verdict = Verdict.HOLDS
        else:
            verdict = Verdict.PARTLY if measured.ci_low <= bound else Verdict.FAILS
        return cls(quantity, bound, measured, verdict)

    @classmethod
    def at_least(cls, quantity: str, bound: float, measured: Estimate) -> Measure:
        """Holds if the whole interval is at least `bound`, in part if it reaches above."""
        if measured.ci_low >= bound:
            verdict = Verdict.HOLDS
        else:
            verdict = Verdict.PARTLY if measured.ci_high >= bound else Verdict.FAILS
        return cls(quantity, bound, measured, verdict)

    def text(self) -> str:
        """`quantity: 6.03 (6.02 to 6.05, n = 20), expected 6`."""
        text = f"{self.quantity}: {self.measured.text()}"
        return text if self.expected is None else f"{text}, expected {self.expected:g}"

    @property
    def expected_text(self) -> str:
        """The expected value, short."""
        return "" if self.expected is None else f"{self.expected:g}"


@dataclass(frozen=True)
class Claim:
    """One claim of a paper beside what was measured; the first measure heads it."""

    claim: str
    statement: str
    measures: list[Measure]
    note: str

    @property
    def verdict(self) -> Verdict:
        """All, some or none of the judged measures hold."""
        return Verdict.worst(*(m.verdict for m in self.measures if m.verdict is not None))

    def headline(self) -> list[Measure]:
        """The first number, and each other that does not hold."""
        head, *others = self.measures
        return [head, *(m for m in others if m.verdict not in (None, Verdict.HOLDS))]

    def finding(self) -> str:
        """One sentence in numbers; what does not hold is named."""
        parts = "; ".join(measure.text() for measure in self.headline())
        return f"{self.claim} {self.verdict.value}: {parts}."

    def row(self, study: str) -> dict[str, Any]:
        """The claim as a row of `claims.csv`."""
        head = self.measures[0]
        return {
            "study": study,
            "claim": self.claim,
            "verdict": self.verdict.value,
            "expected": head.expected,
            "measured": head.measured.mean,
            "ci_low": head.measured.ci_low,
            "ci_high": head.measured.ci_high,
            "n": head.measured.n,
            "note": self.note,
            "quantity": head.quantity,
            "world": "simulated",
        }

    def measure_rows(self, study: str) -> list[dict[str, Any]]:
        """Every number behind the claim, as rows of `measures.csv`."""
        return [
            {
                "study": study,
                "claim": self.claim,
                "quantity": m.quantity,
                "verdict": None if m.verdict is None else m.verdict.value,
                "expected": m.expected,
                "measured": m.measured.mean,
                "ci_low": m.measured.ci_low,
                "ci_high": m.measured.ci_high,
                "n": m.measured.n,
            }
            for m in self.measures
        ]


@dataclass(frozen=True)
class FigureEntry:
    """A figure's file stem and its caption."""

    stem: str
    caption: str


@dataclass(frozen=True)
class StudyResult:
    """All that the report needs to know of a finished study."""

    name: str
    title: str
    reference: str
    question: str
    quick: bool
    claims: list[Claim]
    figures: list[FigureEntry]
    choices: list[str]
    findings: list[str]
    scenario: str
    facts: dict[str, Any] = field(default_factory=dict)

    def save(self, directory: Path) -> None:
        """Writes `result.json` and `measures.csv` into the study's folder."""
        rows = [row for claim in self.claims for row in claim.measure_rows(self.name)]
        write_csv(directory / "measures.csv", MEASURE_COLUMNS, rows)
        text = json.dumps(asdict(self), indent=1, default=lambda value: value.value)
        write_text(directory / FILE, text + "\n")

    @classmethod
    def load(cls, directory: Path) -> StudyResult | None:
        """Reads it back; `None` when the study has no finished result there."""
        try:
            value = json.loads((directory / FILE).read_text(encoding="utf-8"))
            value["claims"] = [claim_from(claim) for claim in value["claims"]]
            value["figures"] = [FigureEntry(**figure) for figure in value["figures"]]
            return cls(**value)
        except (OSError, ValueError, TypeError, KeyError):
            return None


def claim_from(value: dict[str, Any]) -> Claim:
    """A claim as files keep it."""
    measures = [
        Measure(
            m["quantity"],
            m["expected"],
            Estimate(**m["measured"]),
            None if m["verdict"] is None else Verdict(m["verdict"]),
        )
        for m in value["measures"]
    ]
    return Claim(value["claim"], value["statement"], measures, value["note"])
