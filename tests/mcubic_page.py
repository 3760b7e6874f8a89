"""Writes the tables of docs/mcubic.md anew, in place; the prose around them is written by hand.

    python tests/mcubic_page.py RESULTS PAGE

RESULTS is the folder of `anabranch reproduce mcubic --full`; a run at the default strength will do,
and the page then says so. `make mcubic` runs both.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import pages
from anabranch import tables
from anabranch.stats import Estimate
from anabranch.studies.mcubic.conditions import COLUMNS, plan
from anabranch.studies.mcubic.further import claims as further_claims
from anabranch.studies.mcubic.further import conditions as further
from anabranch.studies.results import StudyResult
from anabranch.verdicts import Claim, Statement
from anabranch.verdicts.claim import verdict_text

STYLES = {"table1": ".2f", "table2": "g", "table3": "g"}
"""The paper's tables, and how its numbers are shown."""
UNCOUPLED = "cubic"
MINUS = "\N{MINUS SIGN}"


def main(results: Path, page: Path) -> None:
    """Rewrites the page; ends with a message if the study has not run over the whole grid."""
    folder = results / "mcubic"
    result = StudyResult.load(folder)
    if result is None or result.strength == "quick":
        sys.exit(f"{folder}: no result; run `anabranch reproduce mcubic --full`")
    pages.fill(page, lambda name: part(folder, result, name))


def part(folder: Path, result: StudyResult, name: str) -> Iterator[str]:
    """The lines of a part of the page."""
    claims = {claim.claim: claim for claim in result.claims}
    if name == "facts":
        return facts(result)
    if name == "verdicts":
        return verdicts(result.claims)
    if name == "goals":
        return goals(result)
    if name.startswith("table"):
        return beside_the_paper(folder, name)
    kind, _, claim = name.partition(" ")
    if kind != "claim" or claim not in claims:
        sys.exit(f"the page has a part {name!r}; there is no such table or claim")
    return measures(claims[claim])


def facts(result: StudyResult) -> Iterator[str]:
    """What the numbers are of."""
    yield (
        f"Numbers are of version {result.facts['version']}, strength `{result.strength}`,"
        f" {result.facts['runs']} runs: means with the intervals that decide"
        " ([verdicts.md](verdicts.md))."
    )


def verdicts(claims: Sequence[Claim]) -> Iterator[str]:
    """A row for each claim, and what stands behind verdicts that are not plain."""
    yield "| | claim | as published | over our grid |"
    yield "|---|---|---|---|"
    for claim in claims:
        second = verdict_text(claim.grid) if claim.grid_verdict else ""
        yield f"| {claim.claim} | {claim.sentence} | {verdict_text(claim.statements)} | {second} |"
    yield ""
    yield from pages.statements(claims)


def beside_the_paper(folder: Path, stem: str) -> Iterator[str]:
    """A row for each scheme; after the semicolon what the paper has."""
    table = stem.removesuffix("_grid")
    published = plan()["published"][list(COLUMNS)[list(STYLES).index(table)]]
    rows = tables.read_csv(folder / f"{stem}.csv")
    ours = [row for row in rows if not row["series"].endswith(", paper")]
    xs = list(dict.fromkeys(float(row["x"]) for row in ours))
    yield f"| | {' | '.join(f'{x:g}' for x in xs)} |"
    yield "|---" * (len(xs) + 1) + "|"
    for scheme, of in groupby(ours, key=lambda row: row["series"]):
        said = dict(zip(published["x"], published.get(scheme, []), strict=False))
        cells = [
            estimate(row).interval_text()
            + (f"; {said[float(row['x'])]:{STYLES[table]}}" if float(row["x"]) in said else "")
            for row in of
        ]
        yield f"| `{scheme}` | {' | '.join(cells)} |".replace(" -", f" {MINUS}")


def estimate(row: dict[str, str]) -> Estimate:
    """The number of a row of a figure's CSV."""
    mean, low, high = (float(row[name]) for name in ("mean", "ci_low", "ci_high"))
    return Estimate(mean, low, high, int(row["n"]))


def measures(claim: Claim) -> Iterator[str]:
    """Every number behind a claim, judged or not."""
    yield "| | expected | measured | |"
    yield "|---|---|---|---|"
    for scope, statements in claim.scopes():
        for statement in statements:
            where = f" ({scope})" if scope else ""
            verdict = "" if statement.verdict is None else statement.verdict.value
            measured = statement.measured.text().replace("-", MINUS)
            expected = statement.expected_text
            yield f"| {statement.quantity}{where} | {expected} | {measured} | {verdict} |"


def goals(result: StudyResult) -> Iterator[str]:
    """A row for each scheme: the three goals, the second on either path."""
    found = [
        statement
        for claim in result.claims
        for statement in claim.statements
        if claim.claim[0] == "M"
    ]
    harms = [further_claims.SECOND.format(which) for which in PATHS]
    columns = [by_scheme(what, found) for what in (further_claims.FIRST, *harms)]
    third = by_scheme(further_claims.THIRD, found)
    heads = (
        "1: change against a CUBIC on the better path",
        "2: the neighbour on the first path loses",
        "on the second path",
        "3: octets on the better path",
    )
    yield f"| | {' | '.join(heads)} |"
    yield "|---|---|---|---|---|"
    for scheme in further.part("goals", quick=False)["schemes"]:
        if scheme in third:
            name = f"uncoupled `{scheme}`" if scheme == UNCOUPLED else f"`{scheme}`"
            cells = [percent(column[scheme]) for column in (*columns, third)]
            yield f"| {name} | {' | '.join(cells)} |"


PATHS = [which for which, _ in further_claims.HARMS]


def by_scheme(quantity: str, measured: list[Statement]) -> dict[str, Estimate]:
    """A quantity's numbers by the scheme that its measures end with."""
    start = f"{quantity}, "
    return {
        m.quantity.removeprefix(start): m.measured for m in measured if m.quantity.startswith(start)
    }


def percent(of: Estimate) -> str:
    """`46 % (32 to 60)`, with the sign of a minus."""
    mean, low, high = (round(100 * value) for value in (of.mean, of.ci_low, of.ci_high))
    return f"{mean} % ({low} to {high})".replace("-", MINUS)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
