"""The result of a study, as files keep it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from anabranch.files import write_text
from anabranch.tables import write_csv
from anabranch.verdicts import Claim, claim_from

FILE = "result.json"
CAVEAT = (
    "Quick grid: it judges fewer conditions with fewer replications, so verdicts may differ from"
    " the published ones (docs/studies.md)."
)
"""Of a study over a quick grid."""
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
    "rule",
    "scope",
)


@dataclass(frozen=True)
class FigureEntry:
    """A figure's file stem and its caption."""

    stem: str
    caption: str
    claims: tuple[str, ...] = ()
    """The claims that it shows; a figure of the paper is found by its number, too."""


@dataclass(frozen=True)
class StudyResult:
    """All that the report needs to know of a finished study."""

    name: str
    title: str
    reference: str
    question: str
    abstract: str
    """What an author would say of it; empty for a report card."""
    strength: str
    """How much was run: `quick`, `default` or `full`."""
    claims: list[Claim]
    figures: list[FigureEntry]
    choices: list[str]
    findings: list[str]
    scenario: str
    facts: dict[str, Any] = field(default_factory=dict)
    headline: str = ""
    """The file stem of the figure that stands beside the abstract; empty for a report card."""

    @property
    def headline_figure(self) -> FigureEntry | None:
        """The figure that stands beside the abstract; none if it was not drawn."""
        return next((figure for figure in self.figures if figure.stem == self.headline), None)

    @property
    def caveat(self) -> str:
        """What to know before reading the verdicts of a quick grid; else empty."""
        return CAVEAT if self.strength == "quick" else ""

    def save(self, directory: Path) -> None:
        """Writes `result.json` and `measures.csv` into the study's folder."""
        rows = [row for claim in self.claims for row in claim.measure_rows(self.name)]
        write_csv(directory / "measures.csv", MEASURE_COLUMNS, rows)
        shallow = {field.name: getattr(self, field.name) for field in fields(self)}
        claims = claims_to_file(self.claims)
        value = {
            **shallow,
            "claims": claims,
            "figures": [asdict(figure) for figure in self.figures],
        }
        write_text(directory / FILE, json.dumps(value, indent=1) + "\n")

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


def claims_to_file(claims: Iterable[Claim]) -> list[dict[str, Any]]:
    """Claims as files keep them."""
    return [claim.to_file() for claim in claims]
