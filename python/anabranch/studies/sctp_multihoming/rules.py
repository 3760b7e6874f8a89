"""The table of the claims' statements under every set of rules."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from anabranch.studies.replications import Replicated
from anabranch.studies.sctp_multihoming.claims import ABOUT_POLICIES, ABOUT_TCP
from anabranch.studies.sctp_multihoming.conditions import Batch
from anabranch.studies.sctp_multihoming.worlds import of_policies, with_tcp
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
    "rule",
)


def write(directory: Path, results: Replicated[Batch], quick: bool) -> None:
    """`rules.csv`: every statement of every claim under every set of rules."""
    write_csv(directory / "rules.csv", COLUMNS, _rows(results, quick))


def _rows(results: Replicated[Batch], quick: bool) -> Iterator[dict[str, Any]]:
    for abouts, worlds in ((ABOUT_TCP, with_tcp), (ABOUT_POLICIES, of_policies)):
        for about in abouts:
            for world in worlds(results, quick):
                claim = about(world)
                rules = {
                    "tcp": world.tcp if about in ABOUT_TCP else None,
                    "sctp": world.sctp,
                    "claim": claim.claim,
                    "claim_verdict": claim.verdict.value,
                }
                yield from ({**statement.row(), **rules} for statement in claim.statements)
