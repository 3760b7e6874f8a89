"""Writes the tables of docs/mcubic.md anew, in place: those beside the paper's and that of goals.

    python tests/mcubic_page.py RESULTS PAGE

RESULTS is the folder of `anabranch reproduce mcubic`, at full size. `make mcubic` runs both. The
prose around the tables, and the verdicts, are written by hand.
"""

from __future__ import annotations

import re
import sys
from itertools import groupby
from pathlib import Path

from anabranch import tables
from anabranch.stats import Estimate
from anabranch.studies.mcubic.conditions import plan
from anabranch.studies.mcubic.further import conditions as further
from anabranch.studies.results import StudyResult
from anabranch.verdicts import Statement

PUBLISHED = {1: ".2f", 2: "g", 3: "g"}
"""The paper's tables, and how its numbers are shown."""
UNCOUPLED = "cubic"
FIRST = "change of goodput against a CUBIC on the better path"
SECOND = "part of its goodput that the neighbour loses which loses most"
THIRD = "part of the octets on the better path"


def main(results: Path, page: Path) -> None:
    """Rewrites the page; ends with a message if the study has not run at full size."""
    folder = results / "mcubic"
    result = StudyResult.load(folder)
    if result is None or result.strength != "full":
        sys.exit(f"{folder}: no result at full size; run `anabranch reproduce mcubic`")
    text = page.read_text(encoding="utf-8")
    for number, style in PUBLISHED.items():
        rows = beside_the_paper(folder, f"table{number}", style)
        text = with_body(text, f"Table {number}: ", rows)
    text = with_body(text, "## Goals of RFC 6356", goals(result))
    page.write_text(text, encoding="utf-8")


def with_body(text: str, start: str, rows: list[str]) -> str:
    """The text with other rows in the first table after the line that begins so."""
    table = rf"(^{re.escape(start)}.*?^\|---[^\n]*\n)(?:\|[^\n]*\n)+"
    body = "".join(f"{row}\n" for row in rows)
    pattern = re.compile(table, re.MULTILINE | re.DOTALL)
    text, found = pattern.subn(lambda it: it[1] + body, text, count=1)
    if not found:
        sys.exit(f"the page has no table after a line that begins with {start!r}")
    return text


def beside_the_paper(folder: Path, stem: str, style: str) -> list[str]:
    """A row for each scheme; after the semicolon what the paper has."""
    published = plan()["published"][stem]
    rows = tables.read_csv(folder / f"{stem}.csv")
    ours = [row for row in rows if not row["series"].endswith(", paper")]
    lines = []
    for scheme, of in groupby(ours, key=lambda row: row["series"]):
        said = dict(zip(published["x"], published.get(scheme, []), strict=False))
        cells = [
            estimate(row).interval_text()
            + (f"; {said[float(row['x'])]:{style}}" if float(row["x"]) in said else "")
            for row in of
        ]
        lines.append(f"| `{scheme}` | {' | '.join(cells)} |")
    return lines


def estimate(row: dict[str, str]) -> Estimate:
    """The number of a row of a figure's CSV."""
    mean, low, high = (float(row[name]) for name in ("mean", "ci_low", "ci_high"))
    return Estimate(mean, low, high, int(row["n"]))


def goals(result: StudyResult) -> list[str]:
    """A row for each scheme: the three goals, the third without its interval."""
    measures = {claim.claim: claim.everything() for claim in result.claims}
    # MCubic's own measures head M1 and M2, and bear no name.
    columns = (
        {**by_scheme(FIRST, measures["M1"]), "mcubic": measures["M1"][0].measured},
        {**by_scheme(SECOND, measures["M2"]), "mcubic": measures["M2"][0].measured},
        by_scheme(THIRD, measures["M3"]),
    )
    lines = []
    for scheme in further.part("goals", quick=False)["schemes"]:
        name = f"uncoupled `{scheme}`" if scheme == UNCOUPLED else f"`{scheme}`"
        first, second, third = (column[scheme] for column in columns)
        cells = (percent(first), percent(second), f"{third.mean:.0%}".replace("%", " %"))
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def by_scheme(quantity: str, measures: list[Statement]) -> dict[str, Estimate]:
    """A quantity's numbers by the scheme that its measures end with."""
    start = f"{quantity}, "
    return {
        m.quantity.removeprefix(start): m.measured for m in measures if m.quantity.startswith(start)
    }


def percent(of: Estimate) -> str:
    """`+46 % (32 to 60)`, with the sign of a minus."""
    mean, low, high = (round(100 * value) for value in (of.mean, of.ci_low, of.ci_high))
    text = f"{'+' if mean > 0 else ''}{mean} % ({low} to {high})"
    return text.replace("-", "\N{MINUS SIGN}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
