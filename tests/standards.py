"""The tables of requirements: one file for each standard, in `crates/CRATE/standards/`.

    python tests/standards.py pages            writes docs/standards/
    python tests/standards.py check            is it all up to date, and does what rows name exist
    python tests/standards.py sentences TEXTS  rows beside sentences with a keyword, by section

TEXTS is a folder with the texts of the standards, `rfc9293.txt`, or the sources `rfc9260.xml` and
`rfc9438-source.md`. Sections with fewer rows than sentences that have a keyword are shown.
"""

from __future__ import annotations

import re
import sys
import tomllib
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import readme

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "standards"
FILES = "crates/*/standards/*.toml"

LEVELS = ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY", "rule")
STATUSES = ("met", "deviates", "missing", "not applicable")
ID = re.compile(r"((?:\d+|[A-Z])(?:\.\d+)*)-(\d+)")
KEYWORD = re.compile(
    r"\b(MUST|SHALL|SHOULD|MAY|REQUIRED|RECOMMENDED|OPTIONAL)\b(?! (be interpreted|level))"
)
DEFINES = {
    ".rs": r"\b(?:fn|struct|enum|trait|const|static|type|mod|macro_rules!)\s+{}\b",
    ".py": r"\b(?:def|class)\s+{}\b|^{}\b",
}
"""How the languages of this project define a name."""


@dataclass(frozen=True)
class Requirement:
    """What a standard asks in one place, and what becomes of it here."""

    id: str
    """Section and number within it, `3.8.3-2`, in the order of the text."""
    level: str
    """The keyword of RFC 2119, or `rule` where the text has none."""
    says: str
    """What is asked, in words of this project."""
    status: str
    """One of `STATUSES`."""
    code: list[str] = field(default_factory=list)
    """Where it is done: `FILE::NAME`."""
    test: list[str] = field(default_factory=list)
    """What fails if it is not: `FILE::NAME`, or a packetdrill script."""
    why: str = ""
    """Of what is not met: what is done in its place, and why."""
    label: str = ""
    """The standard's own name of the requirement, `MUST-14`."""

    @property
    def section(self) -> str:
        """The section that asks it."""
        return self.id.rpartition("-")[0]

    @property
    def order(self) -> tuple[tuple[tuple[str, int], ...], int]:
        """Where it stands in the text; appendices, which have letters, come last."""
        section, _, number = self.id.rpartition("-")
        parts = tuple(
            ("", int(each)) if each.isdigit() else (each, 0) for each in section.split(".")
        )
        return parts, int(number)


@dataclass(frozen=True)
class Standard:
    """A standard and all that it asks."""

    file: Path
    title: str
    requirements: list[Requirement]

    @property
    def name(self) -> str:
        """`rfc9293`."""
        return self.file.stem

    def counts(self) -> dict[str, int]:
        """Rows of each status, and met rows without a test as `untested`."""
        counts = Counter(requirement.status for requirement in self.requirements)
        untested = sum(
            requirement.status == "met" and not requirement.test
            for requirement in self.requirements
        )
        return {status: counts[status] for status in STATUSES} | {"untested": untested}


def read(file: Path) -> Standard:
    """A standard's file; raises `ValueError` that names what is wrong in it."""
    value = tomllib.loads(file.read_text(encoding="utf-8"))
    known = {field.name for field in fields(Requirement)}
    rows = []
    for row in value["requirement"]:
        if unknown := set(row) - known:
            raise ValueError(f"{file}: {row.get('id')}: unknown {sorted(unknown)}")
        rows.append(Requirement(**row))
    return Standard(file, value["title"], rows)


def everything() -> list[Standard]:
    """All standards, by name."""
    return sorted((read(file) for file in ROOT.glob(FILES)), key=lambda each: each.name)


def defects(standard: Standard) -> Iterator[str]:
    """What is wrong with the rows: order, words, places that do not exist."""
    before: Any = ((), 0)
    for requirement in standard.requirements:
        where = f"{standard.name} {requirement.id}"
        if not ID.fullmatch(requirement.id):
            yield f"{where}: an id is SECTION-NUMBER, like 3.8.3-2"
            continue
        if requirement.order <= before:
            yield f"{where}: out of order"
        before = requirement.order
        if requirement.level not in LEVELS:
            yield f"{where}: level {requirement.level!r}; allowed: {', '.join(LEVELS)}"
        if requirement.status not in STATUSES:
            yield f"{where}: status {requirement.status!r}; allowed: {', '.join(STATUSES)}"
        if requirement.status == "met" and not requirement.code:
            yield f"{where}: met, but no place in the code"
        if not requirement.why and (requirement.status != "met" or not requirement.test):
            yield f"{where}: {requirement.status} without a reason or a test"
        yield from (
            f"{where}: {fault}"
            for place in requirement.code + requirement.test
            if (fault := lacks(place))
        )


def lacks(place: str) -> str | None:
    """What a place lacks to exist: its file, or the name in it."""
    file, _, name = place.partition("::")
    text = source(file)
    if text is None:
        return f"there is no file {file}"
    suffix = Path(file).suffix
    for part in name.split("::") if name else []:
        pattern = DEFINES.get(suffix, "{}").replace("{}", re.escape(part))
        if not re.search(pattern, text, re.MULTILINE):
            return f"{file} defines no {part}"
    return None


@cache
def source(file: str) -> str | None:
    """The text of a file of the repository."""
    path = ROOT / file
    return path.read_text(encoding="utf-8") if path.is_file() else None


def page(standard: Standard) -> str:
    """The table as a page."""
    counts = standard.counts()
    told = ", ".join(f"{counts[status]} {status}" for status in STATUSES)
    tested = f" Of those met {counts['untested']} have no test yet." if counts["untested"] else ""
    parts = [
        f"# {standard.title}\n",
        f"{len(standard.requirements)} requirements, in the order of the text and in our own words:"
        f" {told}.{tested}\n",
        f"Written by `make standards` from `{standard.file.relative_to(ROOT)}`; do not edit.\n",
    ]
    for section, rows in groupby(
        standard.requirements, key=lambda requirement: requirement.section
    ):
        parts.append(f"## {section}\n")
        parts.append("| | level | requirement | status | code | test |\n|---|---|---|---|---|---|")
        parts += [line(row) for row in rows]
        parts.append("")
    return "\n".join(parts)


def line(requirement: Requirement) -> str:
    """A row of a page."""
    says = f"{requirement.says} *{requirement.why}*" if requirement.why else requirement.says
    number = requirement.id.rpartition("-")[2]
    level = f"{requirement.level} ({requirement.label})" if requirement.label else requirement.level
    status = (
        requirement.status
        if requirement.status in ("met", "not applicable")
        else f"**{requirement.status}**"
    )
    cells = (number, level, says, status, links(requirement.code), links(requirement.test))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def links(places: list[str]) -> str:
    """Each as its name, with a link to its file."""
    return ", ".join(
        f"[`{name or Path(file).name}`](../../{file})"
        for file, _, name in (place.partition("::") for place in places)
    )


def index(standards: list[Standard]) -> str:
    """The page that lists all tables."""
    head = (
        "# Standards, requirement by requirement\n\nEach table has a row for every requirement of a"
        " standard, in the order of its text: what is asked, whether it is met, where in the code,"
        " and the test that fails when it is not. A deviation says what is done in its place.\n\n"
        "| standard | rows | met | of these untested | deviate | missing | not applicable |\n"
        "|---|---:|---:|---:|---:|---:|---:|\n"
    )
    rows = []
    for standard in standards:
        counts = standard.counts()
        order = ("met", "untested", "deviates", "missing", "not applicable")
        cells = " | ".join(str(counts[name]) for name in order)
        rows.append(
            f"| [{standard.title}]({standard.name}.md) | {len(standard.requirements)} | {cells} |"
        )
    return head + "\n".join(rows) + "\n\nWritten by `make standards`; do not edit.\n"


def pages(standards: list[Standard]) -> dict[Path, str]:
    """All pages with their texts, and the README, which counts the rows."""
    found = {PAGES / f"{standard.name}.md": page(standard) for standard in standards}
    front = readme.README.read_text(encoding="utf-8")
    return {
        PAGES / "README.md": index(standards),
        readme.README: readme.with_standards(front, len(standards), total(standards)),
        **found,
    }


def total(standards: list[Standard]) -> Counter[str]:
    """Rows of all tables, by status and in all."""
    found = Counter(rows=sum(len(each.requirements) for each in standards))
    for standard in standards:
        found.update(standard.counts())
    return found


def sentences(text: Path) -> Counter[str]:
    """How many sentences with a keyword each numbered section of a standard's text has."""
    counts: Counter[str] = Counter()
    for section, body in sections(text):
        for sentence in re.split(r"(?<=[.:;])\s+(?=[A-Z(])", " ".join(body.split())):
            counts[section] += bool(KEYWORD.search(sentence))
    return counts


def sections(text: Path) -> Iterator[tuple[str, str]]:
    """The numbered sections of a text, each without the sections within it."""
    if text.suffix == ".xml":
        yield from _of_xml(ET.parse(text).getroot().find("middle"), ())
    elif text.suffix == ".md":
        yield from _of_markdown(text.read_text(encoding="utf-8"))
    else:
        heading = r"^(\d+(?:\.\d+)*)\.  ?\S.*$"
        parts = re.split(heading, text.read_text(encoding="utf-8"), flags=re.MULTILINE)
        yield from zip(parts[1::2], parts[2::2], strict=True)


def _of_xml(element: ET.Element | None, number: tuple[int, ...]) -> Iterator[tuple[str, str]]:
    """The sections of an element of RFC XML, numbered as the published text has them."""
    if element is None:
        return
    inner = [each for each in element if each.tag == "section"]
    if number:
        own = (" ".join(part.itertext()) for part in element if part.tag not in ("section", "name"))
        yield ".".join(map(str, number)), " ".join(own)
    for at, section in enumerate(inner, 1):
        yield from _of_xml(section, (*number, at))


def _of_markdown(text: str) -> Iterator[tuple[str, str]]:
    """The sections of a source in Markdown, whose headings have no numbers."""
    parts = re.split(r"^(#+) .*$", text.split("--- middle", 1)[-1], flags=re.MULTILINE)
    number: list[int] = []
    for marks, body in zip(parts[1::2], parts[2::2], strict=True):
        depth = len(marks)
        number = [*number[:depth], *[0] * (depth - len(number))]
        number[depth - 1] += 1
        yield ".".join(map(str, number)), body


def compare(texts: Path) -> None:
    """Prints the sections that have fewer rows than sentences with a keyword."""
    for standard in everything():
        files = sorted(texts.glob(f"{standard.name}*"))
        if not files:
            continue
        rows = Counter(requirement.section for requirement in standard.requirements)
        asked = sentences(files[0])
        print(f"{standard.name}: {rows.total()} rows, {asked.total()} sentences with a keyword")
        for section, count in asked.items():
            if rows[section] < count:
                print(f"  {section}: {rows[section]} rows, {count} sentences")


def main(arguments: list[str]) -> None:
    """One of the three commands."""
    match arguments:
        case ["pages"]:
            PAGES.mkdir(parents=True, exist_ok=True)
            for path, text in pages(everything()).items():
                path.write_text(text, encoding="utf-8")
        case ["check"]:
            standards = everything()
            found = [fault for standard in standards for fault in defects(standard)]
            found += [
                f"{path.relative_to(ROOT)}: not as `make standards` writes it"
                for path, text in pages(standards).items()
                if not path.is_file() or path.read_text(encoding="utf-8") != text
            ]
            sys.exit("\n".join(found) or 0)
        case ["sentences", texts]:
            compare(Path(texts))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
