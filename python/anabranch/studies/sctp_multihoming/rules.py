"""The table of the claims' verdicts under every set of rules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anabranch.studies.sctp_multihoming.claims import ABOUT_TCP, Judged
from anabranch.tables import write_csv

COLUMNS = (
    "claim",
    "tcp",
    "sctp",
    "claim_verdict",
    "quantity",
    "verdict",
    "expected",
    "measured",
    "ci_low",
    "ci_high",
    "n",
)


def write(directory: Path, judged: Judged) -> None:
    """`rules.csv`: every measure of every claim under every set of rules."""
    write_csv(directory / "rules.csv", COLUMNS, _rows(judged))


def _rows(judged: Judged) -> Iterator[dict[str, Any]]:
    about_tcp = list(judged)[: len(ABOUT_TCP)]
    for name, found in judged.items():
        for world, claim in found:
            rules = {"tcp": world.tcp if name in about_tcp else None, "sctp": world.sctp}
            verdict = {"claim_verdict": claim.verdict.value}
            for row in claim.measure_rows(""):
                del row["study"]
                yield {**row, **rules, **verdict}
