"""What the scripts that write pages share.

In a page whose prose is written by hand a table stands between the lines `<!-- NAME -->` and
`<!-- /NAME -->`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from anabranch.verdicts import Claim, Statement, Verdict

PART = re.compile(r"(<!-- ([\w -]+) -->\n).*?(<!-- /\2 -->)", re.DOTALL)


def fill(page: Path, lines: Callable[[str], Iterable[str]]) -> None:
    """Writes each part of the page anew: `lines` gives those of a name."""

    def filled(match: re.Match[str]) -> str:
        body = "\n".join(lines(match[2])).strip("\n")
        return f"{match[1]}\n{body}\n\n{match[3]}"

    text, count = PART.subn(filled, page.read_text(encoding="utf-8"))
    if not count:
        sys.exit(f"{page}: no lines `<!-- NAME -->` and `<!-- /NAME -->`")
    page.write_text(text, encoding="utf-8")


def statements(claims: Iterable[Claim]) -> Iterator[str]:
    """A folded table of all statements behind verdicts that are not plain: what holds, what fails,
    what is undecided and what it would take."""
    rows = [
        statement_row(claim, scope, each)
        for claim in claims
        for scope, of in claim.scopes()
        if {item.verdict for item in of} - {None, Verdict.HOLDS}
        for each in of
        if each.verdict is not None
    ]
    if rows:
        yield '<details markdown="1"><summary>All numbers behind verdicts that are mixed</summary>'
        yield ""
        yield "| | quantity | expected | measured | verdict |\n|---|---|---|---|---|"
        yield from rows
        yield ""
        yield "</details>"


def statement_row(claim: Claim, scope: str, statement: Statement) -> str:
    """A line of that table."""
    verdict = "" if statement.verdict is None else statement.verdict.value
    if statement.verdict is Verdict.UNDECIDED:
        verdict = f"{verdict}; would take {statement.takes()}"
    elif statement.verdict is Verdict.PARTLY:
        verdict = f"{verdict}, {statement.held} of {statement.measured.n}"
    name = f"{claim.claim} {scope}".strip()
    cells = (name, statement.quantity, statement.expected_text, statement.measured.text(), verdict)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
