"""A claim: a sentence, its statements, and the verdict that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from anabranch.rows import CsvRow
from anabranch.verdicts.statement import Statement, statement_from
from anabranch.verdicts.verdict import Verdict

PUBLISHED, GRID = "as published", "over the grid"


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, or a question of ours; the first statement heads it."""

    claim: str
    """Its short name, `C1`."""
    sentence: str
    statements: Sequence[Statement]
    """Of a paper's claim: under the paper's own configuration and at its operating point. They
    give the verdict."""
    note: str
    grid: Sequence[Statement] = field(default=())
    """The same claim over our grid of conditions."""
    source: str = ""
    """Where the paper says it, and at which operating point."""

    @property
    def verdict(self) -> Verdict:
        """What the statements say together, or those over the grid if there are no others."""
        return verdict_of(self.statements or self.grid)

    @property
    def grid_verdict(self) -> Verdict | None:
        """What the grid says, if it is judged beside the paper's own case."""
        judged = self.statements and any(each.rule for each in self.grid)
        return verdict_of(self.grid) if judged else None

    @property
    def head(self) -> Statement:
        """The statement that heads the claim."""
        return (self.statements or self.grid)[0]

    def scopes(self) -> list[tuple[str, Sequence[Statement]]]:
        """The statements with what they are about: the paper's own case, our grid."""
        if not self.grid:
            return [("", self.statements)]
        parts = ((PUBLISHED, self.statements), (GRID, self.grid))
        return [(name, statements) for name, statements in parts if statements]

    def everything(self) -> list[Statement]:
        """All statements, those as published first."""
        return [*self.statements, *self.grid]

    def headline(self) -> list[Statement]:
        """The first number, and each other that does not hold."""
        head, *others = self.statements or self.grid
        return [head, *(other for other in others if other.verdict not in (None, Verdict.HOLDS))]

    def telling(self) -> list[Statement]:
        """The same numbers, first one that says why the claim does not plainly hold, if any does:
        where there is room for a single number, it is that one."""
        numbers = self.headline()
        mixed = (n for n, each in enumerate(numbers) if each.verdict not in (None, Verdict.HOLDS))
        first = next(mixed, 0)
        return [numbers[first], *numbers[:first], *numbers[first + 1 :]]

    def verdict_text(self) -> str:
        """The verdict, of one in part with how many statements hold."""
        return verdict_text(self.statements or self.grid)

    def finding(self) -> str:
        """One sentence in numbers; what holds, fails and is undecided is named."""
        return f"{self.claim} {self.verdict_text()}: {spelled_out(self.statements or self.grid)}."

    def row(self, study: str) -> CsvRow:
        """The claim as a row of `claims.csv`."""
        head = self.head
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
            "grid_verdict": None if self.grid_verdict is None else self.grid_verdict.value,
        }

    def measure_rows(self, study: str) -> list[CsvRow]:
        """Every number behind the claim, as rows of `measures.csv`."""
        return [
            {"study": study, "claim": self.claim, "scope": scope, **statement.row()}
            for scope, statements in self.scopes()
            for statement in statements
        ]

    def to_file(self) -> dict[str, Any]:
        """The claim as files keep it; `claim_from` reads it."""
        return {
            "claim": self.claim,
            "sentence": self.sentence,
            "statements": [statement.to_file() for statement in self.statements],
            "note": self.note,
            "grid": [grid.to_file() for grid in self.grid],
            "source": self.source,
        }


def verdict_of(statements: Sequence[Statement]) -> Verdict:
    """Returns the verdict that judged statements give together."""
    judged = [statement for statement in statements if statement.verdict is not None]
    return Verdict.of_all(
        [each.verdict for each in judged if each.verdict and not each.minor],
        [each.verdict for each in judged if each.verdict and each.minor],
    )


def verdict_text(statements: Sequence[Statement]) -> str:
    """The verdict in words: `holds in part, 3 of 5`."""
    verdict = verdict_of(statements)
    word = str(verdict.value)
    if verdict is not Verdict.PARTLY:
        return word
    judged = [statement for statement in statements if statement.verdict is not None]
    if len(judged) == 1:
        return f"{word}, {judged[0].held} of {judged[0].measured.n}"
    held = sum(each.verdict is Verdict.HOLDS for each in judged)
    return f"{word}, {held} of {len(judged)}"


def spelled_out(statements: Sequence[Statement]) -> str:
    """The head of what holds; all that holds in part, fails or is undecided."""
    groups = {
        verdict: [statement for statement in statements if statement.verdict is verdict]
        for verdict in Verdict
    }
    mixed = sum(bool(group) for group in groups.values()) > 1
    parts = []
    for verdict, group in groups.items():
        if not group:
            continue
        shown = group[:1] if verdict is Verdict.HOLDS and not mixed else group
        texts = [each.text() for each in shown]
        if verdict is Verdict.UNDECIDED:
            texts = [f"{each.text()} (it would take {each.takes()})" for each in shown]
        numbers = "; ".join(texts)
        parts.append(f"{verdict.value}: {numbers}" if mixed else numbers)
    return ". ".join(parts)


def claim_from(value: dict[str, Any]) -> Claim:
    """Reads a claim as files keep it."""
    return Claim(
        value["claim"],
        value["sentence"],
        [statement_from(each) for each in value["statements"]],
        value["note"],
        [statement_from(each) for each in value["grid"]],
        value["source"],
    )
