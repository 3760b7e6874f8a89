"""Draws the figure of each window algorithm's source, and writes it into the algorithm's page.

    python tests/figures_page.py DOCS [NAME ...]

Figures go to `DOCS/images/algorithms`, captions into the section of each page. `make
algorithm-figures` runs it.
"""

from __future__ import annotations

import re
import sys
import tempfile
import textwrap
from pathlib import Path

from algorithm_figures import FIGURES
from algorithm_figures.chart import Chart
from anabranch import figures
from anabranch.plotting import paper
from anabranch.studies import drawing

IMAGES = Path("images/algorithms")
HEADING = "## Beside its source\n"
BEFORE = "\n## Choices\n"
"""The section before which a new one comes."""
COLUMNS = 1.5
WIDTH = 126
"""Columns of a line of the page."""


def page_of(algorithm: str) -> str:
    """The stem of the page, and of the figure, of an algorithm."""
    return algorithm.replace("++", "-plus-plus")


def draw(name: str, chart: Chart, out: Path) -> None:
    """Draws one figure."""
    with tempfile.TemporaryDirectory() as place:
        table = Path(place) / f"{page_of(name)}.csv"
        drawing.points(table.parent, table.stem, chart.rows(), chart.plot(), "")
        paper.save(figures.redrawn(table, paper.size(COLUMNS, None)), out)


def section(name: str, chart: Chart) -> str:
    """The section of the page: figure and caption."""
    image = f"![{chart.y} by {chart.x}]"
    image += f"(../{IMAGES}/{page_of(name)}.svg)"
    # No line begins with a sign of a formula, which Markdown takes for an item of a list.
    glued = re.sub(r" ([-+=*/]) ", "\0\\1 ", chart.caption())
    caption = textwrap.fill(glued, WIDTH, break_on_hyphens=False, break_long_words=False)
    return f"{HEADING}\n{image}\n\n{caption.replace(chr(0), ' ')}\n"


def with_section(text: str, new: str) -> str:
    """A page with its section, in the place of an older one.

    >>> with_section("# A\\n\\n## Choices\\n\\n- b\\n", HEADING)
    '# A\\n\\n## Beside its source\\n\\n## Choices\\n\\n- b\\n'
    >>> with_section("# A\\n\\n## Beside its source\\n\\nold\\n\\n## Choices\\n\\n- b\\n", HEADING)
    '# A\\n\\n## Beside its source\\n\\n## Choices\\n\\n- b\\n'
    """
    begin = text.find(HEADING)
    if begin < 0:
        begin = text.index(BEFORE) + 1
        end = begin
    else:
        end = text.find("\n## ", begin + 1) + 1 or len(text)
    return f"{text[:begin]}{new}\n{text[end:]}"


def main(docs: Path, names: list[str]) -> None:
    """Draws the figures of the named algorithms, of all unless some are named."""
    (docs / IMAGES).mkdir(parents=True, exist_ok=True)
    for name in names or FIGURES:
        if name not in FIGURES:
            sys.exit(f"{name}: no figure of this name; there are: {', '.join(FIGURES)}")
        chart = FIGURES[name]()
        if chart.deviation > chart.tolerance:
            sys.exit(f"{name}: the points are too far from the source's curve: {chart.caption()}")
        draw(name, chart, docs / IMAGES / f"{page_of(name)}.svg")
        page = docs / "algorithms" / f"{page_of(name)}.md"
        text = with_section(page.read_text(encoding="utf-8"), section(name, chart))
        page.write_text(text, encoding="utf-8")
        print(f"{name}: {chart.caption()}")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), sys.argv[2:])
