"""Writes docs/studies.md: every claim of every study with its verdict and what was measured.

    python tests/studies_page.py RESULTS PAGE

RESULTS is the folder of `anabranch reproduce`, at full size. `make studies` runs both.
"""

from __future__ import annotations

import sys
from pathlib import Path

from anabranch import studies
from anabranch.studies.results import Claim, StudyResult

HEAD = """\
# Studies

A study is a published system, or a question: its scenario, its claims as code, its figures.
Verdicts are computed from the runs; a claim of several numbers holds if all do, and in part if
some do. The numbers are means with 95 % intervals. Shown are the first number behind each claim
and each that does not hold; `results/STUDY/measures.csv` has all of them.

Written by `make studies`; do not edit.
"""


def main(results: Path, page: Path) -> None:
    """Writes the page; ends with a message if a study has not run at full size."""
    parts = [HEAD]
    for name in studies.ALL:
        result = StudyResult.load(results / name)
        if result is None or result.quick:
            sys.exit(f"{results / name}: no result at full size; run `anabranch reproduce {name}`")
        parts.append(section(result))
    page.write_text("\n".join(parts), encoding="utf-8")


def section(result: StudyResult) -> str:
    """A study: its question, a row for each claim."""
    folder = f"../python/anabranch/studies/{result.name.replace('-', '_')}/README.md"
    rows = "\n".join(row(claim) for claim in result.claims)
    return (
        f"## [`{result.name}`]({folder}): {result.title}\n\n{result.question}\n\n"
        f"| | claim | verdict | measured |\n|---|---|---|---|\n{rows}\n"
    )


def row(claim: Claim) -> str:
    """Number, statement, verdict and the numbers that head it."""
    numbers = "; ".join(
        f"{m.quantity}: {m.measured.interval_text()}"
        + (f" (expected {m.expected:g})" if m.expected is not None else "")
        for m in claim.headline()
    )
    cells = (claim.claim, claim.statement, claim.verdict.value, numbers)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
