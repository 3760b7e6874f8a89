"""Writes docs/studies.md: every claim of every study with its verdict and what was measured.

    python tests/studies_page.py RESULTS PAGE

RESULTS is the folder of `anabranch reproduce --full`. `make studies` runs both.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from anabranch import studies
from anabranch.studies.results import StudyResult
from anabranch.verdicts import Claim, Statement, Verdict
from anabranch.verdicts.claim import verdict_text

HEAD = """\
# Studies

A study is a published system, or a question: its scenario, its claims as code, its figures.
Verdicts are computed from the runs, by the grammar of [verdicts.md](verdicts.md): a claim of a
paper is judged as published, under the paper's own configuration, and beside that over our grid.
Numbers are means with intervals that hold at 95 % over all looks at the replications; of what has
no chance in it, the range over the conditions. Shown are the first number behind each claim and
each that does not hold; `results/STUDY/measures.csv` has all of them.

Written by `make studies`; do not edit.
"""


def main(results: Path, page: Path) -> None:
    """Writes the page; ends with a message if a study has not run at full strength."""
    parts = [HEAD]
    for name in studies.ALL:
        result = StudyResult.load(results / name)
        if result is None or result.strength != "full":
            sys.exit(
                f"{results / name}: no result at full strength; run `anabranch reproduce --full"
                f" {name}`"
            )
        parts.append(section(result))
    page.write_text("\n".join(parts), encoding="utf-8")


def section(result: StudyResult) -> str:
    """A study: its question, a row for each claim."""
    folder = f"../python/anabranch/studies/{result.name.replace('-', '_')}/README.md"
    rows = "\n".join(row(claim) for claim in result.claims)
    return (
        f"## [`{result.name}`]({folder}): {result.title}\n\n{result.question}\n\n"
        f"{result.abstract}\n\n"
        "| | claim | verdict | over our grid | measured |\n|---|---|---|---|---|\n"
        f"{rows}\n"
    )


def row(claim: Claim) -> str:
    """Name, sentence, both verdicts and the numbers that head them."""
    over_grid = "" if claim.grid_verdict is None else verdict_text(claim.grid)
    parts = [numbers(claim.headline())]
    if claim.grid_verdict is not None:
        failing = [it for it in claim.grid if it.verdict not in (None, Verdict.HOLDS)]
        parts += [f"Over the grid: {numbers(failing)}"] if failing else []
    cells = (claim.claim, claim.sentence, claim.verdict_text(), over_grid, ". ".join(parts))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def numbers(statements: Sequence[Statement]) -> str:
    """Each with its rule and, if it is not clear from the verdict, its own verdict."""
    return "; ".join(
        f"{it.quantity}: {it.measured.interval_text()}"
        + (f" (expected {it.expected_text})" if it.rule is not None else "")
        + (f" {it.verdict.value}" if it.verdict not in (None, Verdict.HOLDS) else "")
        for it in statements
    )


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
