"""Writes docs/studies.md: of every study its abstract, a figure, and every claim with its verdict.

    python tests/studies_page.py RESULTS PAGE [STUDY...]

With names of studies only their sections are written anew. RESULTS is the folder of
`anabranch reproduce --full`; a run at the default strength will do, and the page then says so. The
figures are written into `images/studies` beside PAGE, and the counts of claims into the overview.
`make studies` runs both.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Collection
from pathlib import Path

import pages
import readme
from anabranch import studies
from anabranch.studies.results import FigureEntry, StudyResult
from anabranch.verdicts import Claim
from anabranch.verdicts.claim import verdict_text

HEAD = """\
# Studies

A study is a published system, or a question: its scenario, its claims as code, its figures.
Verdicts are computed from the runs, by the rules of [verdicts.md](verdicts.md): a claim of a
paper is judged as published, under the paper's own configuration, and beside that over our grid.
Numbers are means with intervals that hold at 95 % over all looks at the replications; of what has
no chance in it, the range over the conditions. The tables show the first number behind each claim;
below each, folded, are all numbers behind verdicts that are not plain, and
`results/STUDY/measures.csv` has every number.

Written by `make studies`; do not edit.
"""
IMAGES = Path("images/studies")


SECTION = "\n## [`"
"""What the section of a study begins with; its name follows."""


def main(results: Path, page: Path, names: Collection[str]) -> None:
    """Writes the page; ends with a message if a study has not run over the whole grid."""
    if unknown := set(names) - set(studies.ALL):
        sys.exit(f"no study is called {', '.join(sorted(unknown))}; there are {[*studies.ALL]}")
    kept = sections(page.read_text(encoding="utf-8")) if names else {}
    parts = [HEAD]
    for name in studies.ALL:
        if name in kept and name not in names:
            parts.append(kept[name])
            continue
        result = StudyResult.load(results / name)
        if result is None or result.strength == "quick":
            sys.exit(f"{results / name}: no result; run `anabranch reproduce --full {name}`")
        parts.append(section(result, figure(results / name, result, page.parent)))
    text = "\n".join(parts)
    page.write_text(text, encoding="utf-8")
    front = readme.OVERVIEW.read_text(encoding="utf-8")
    readme.OVERVIEW.write_text(readme.with_studies(front, text), encoding="utf-8")


def sections(page: str) -> dict[str, str]:
    """The sections of a page by the study's name.

    >>> sections("# Studies\\n\\n## [`a`](f): A\\n\\n## [`b`](f): B\\n")
    {'a': '## [`a`](f): A\\n', 'b': '## [`b`](f): B\\n'}
    """
    parts = page.split(SECTION)[1:]
    return {part.partition("`")[0]: SECTION[1:] + part for part in parts}


def figure(folder: Path, result: StudyResult, docs: Path) -> str:
    """The study's figure, copied beside the page, as Markdown."""
    entry = result.headline_figure
    if entry is None:
        sys.exit(f"{folder}: no figure {result.headline!r}")
    image = IMAGES / f"{result.name}.png"
    (docs / IMAGES).mkdir(parents=True, exist_ok=True)
    shutil.copyfile(folder / f"{entry.stem}.png", docs / image)
    return f"![{alternative(entry)}]({image})\n\n*{entry.caption}*"


def alternative(entry: FigureEntry) -> str:
    """The caption without what would end an image's text in Markdown."""
    return entry.caption.replace("[", "(").replace("]", ")")


def section(result: StudyResult, picture: str) -> str:
    """A study: its question, abstract and figure, a row for each claim, what does not hold."""
    folder = f"../python/anabranch/studies/{result.name.replace('-', '_')}/README.md"
    rows = "\n".join(row(claim) for claim in result.claims)
    rest = "\n".join(pages.statements(result.claims))
    return (
        f"## [`{result.name}`]({folder}): {result.title}\n\n*{result.question}*\n\n"
        f"{result.abstract}\n\n{picture}\n\n"
        f"{result.facts['runs']} runs, version {result.facts['version']}, strength"
        f" `{result.strength}`.\n\n"
        "| | claim | verdict | over our grid | measured |\n|---|---|---|---|---|\n"
        f"{rows}\n\n" + (f"What fails, and what is undecided:\n\n{rest}\n" if rest else "")
    )


def row(claim: Claim) -> str:
    """Name, sentence, both verdicts and the number that heads them."""
    over_grid = "" if claim.grid_verdict is None else verdict_text(claim.grid)
    cells = (claim.claim, claim.sentence, claim.verdict_text(), over_grid, claim.head.text())
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
