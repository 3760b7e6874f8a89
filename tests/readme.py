"""The counts in the README and in the overview, which come from pages that are generated.

`make standards` and `make studies` write them anew; a test compares them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
OVERVIEW = ROOT / "docs" / "overview.md"
STUDIES = ROOT / "docs" / "studies.md"

STANDARDS = re.compile(r"\d+ standards requirement by requirement: .*?(?=, and each says why)")
STUDY = re.compile(
    r"(\| \[`([\w-]+)`\]\(\.\./python/anabranch/studies/.*?\) \| .*? \| )(.*?)( \| .*)"
)
CLAIM = re.compile(r"\| ([\w-]+) \| .* \| ((?:holds|does not hold|undecided)[^|]*) \| [^|]* \| .*")
"""The name of a claim, and its verdict as published."""

WORDS = (
    ("holds", "1 holds", "{} hold"),
    ("holds in part", "1 in part", "{} in part"),
    ("does not hold", "1 does not", "{} do not"),
    ("undecided", "1 undecided", "{} undecided"),
)


def with_standards(text: str, standards: int, counts: Mapping[str, int]) -> str:
    """The README with the number of standards and of their rows by status."""
    told = (
        f"{standards} standards requirement by requirement: {counts['rows']} rows,"
        f" {counts['met']} met, with place and test; {counts['deviates']} deviate,"
        f" {counts['missing']} are missing"
    )
    text, found = STANDARDS.subn(told, text)
    assert found == 1, f"{README}: the line of docs/standards is not as tests/readme.py knows it"
    return text


def with_studies(text: str, page: str) -> str:
    """The overview with how many claims of each study hold, by the page of all studies."""
    verdicts = claims(page)
    return STUDY.sub(lambda row: f"{row[1]}{counted(verdicts[row[2]])}{row[4]}", text)


def claims(page: str) -> dict[str, Counter[str]]:
    """Of each study how many claims of its paper, C1, C2, ..., have which verdict; of one that has
    none so named, how many of all."""
    found: dict[str, Counter[str]] = {}
    for part in page.split("\n## [`")[1:]:
        rows = part.partition("<details")[0].splitlines()
        told = [(match[1], match[2]) for row in rows if (match := CLAIM.fullmatch(row))]
        paper = [each for each in told if re.fullmatch(r"C\d+", each[0])] or told
        verdicts = Counter(verdict.partition(",")[0] for _, verdict in paper)
        found[part.partition("`")[0]] = verdicts
    return found


def counted(verdicts: Mapping[str, int]) -> str:
    """Verdicts in words.

    >>> counted({"holds": 6, "does not hold": 1, "undecided": 0})
    '6 hold, 1 does not'
    """
    told = [
        one if verdicts[verdict] == 1 else many.format(verdicts[verdict])
        for verdict, one, many in WORDS
        if verdicts.get(verdict)
    ]
    return ", ".join(told)
