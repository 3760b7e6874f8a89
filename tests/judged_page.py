"""Writes what each window algorithm was judged against, from the pages that have the measurements.

    python tests/judged_page.py DOCS

`make algorithm-figures`, `make solo` and `make fidelity-windows` write those pages; this one is
written after them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from algorithm_figures import FIGURES
from figures_page import HEADING, page_of

PAGE = "algorithms/judged.md"
HEAD = """\
# What each algorithm was judged against

    python tests/judged_page.py docs

*Its source*: an equation or a figure of the paper, RFC or draft, beside what a run of ours does;
the largest deviation of a point from the curve, and what a test allows. The page of each algorithm
has the figure, and says why where the two are apart.

*A kernel*: the same window algorithm in Linux ([ours in C through BPF](../kernel.md), or the
kernel's own) on 20 Mbit/s and 40 ms in real time. It says how much later than in the simulator a
transfer of 3 MB completes, and how much larger the mean window is, without loss
([all losses, intervals](../fidelity.md#our-windows-in-the-kernel)). Other algorithms have not been
compared with a kernel.

*Alone*: the least percentage of an idle link that one flow uses, of nine links of 1 to 100 Mbit/s
and 10 to 800 ms, after a start-up that is long enough ([all nine](solo.md)).

[The field](../field.md) has each beside CUBIC and Reno, and the checks of RFC 9743.

| window | its source | largest deviation | a kernel: completion, window | alone |
|---|---|---|---|---|
"""
CAPTION = re.compile(
    r"Lines: (?P<source>.*?)\. Points: (?P<measured>.*?)\."
    r" Largest deviation: (?P<deviation>[^(]+) \(allowed: (?P<allowed>[^)]+)\)",
    re.DOTALL,
)


def cells(line: str) -> list[str]:
    """The cells of a row of a table, without what surrounds them.

    >>> cells("| `reno` | 100 | 36, *99* |")
    ['reno', '100', '36, *99*']
    """
    return [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]


def tables(text: str) -> Iterator[list[str]]:
    """The rows of all tables of a page whose first cell is a name."""
    yield from (cells(line) for line in text.splitlines() if line.startswith("| `"))


def caption(text: str) -> re.Match[str]:
    """The caption of the figure of a page."""
    section = text[text.index(HEADING) :]
    found = CAPTION.search(" ".join(section.split()))
    assert found, "the section has a caption"
    return found


def alone(docs: Path) -> dict[str, float]:
    """The least percentage of the links of solo.md, after the longer start-up if there are two."""
    least: dict[str, float] = {}
    for name, _, *links in tables((docs / "algorithms/solo.md").read_text(encoding="utf-8")):
        percents = [float(re.findall(r"[\d.]+", link)[-1]) for link in links]
        least[name] = min([*percents, least.get(name, 200.0)])
    return least


def kernels(docs: Path) -> dict[str, str]:
    """Completion and mean window in a kernel beside the simulator's, over one path without loss."""
    text = (docs / "fidelity.md").read_text(encoding="utf-8")
    one_path = text[text.index("### One path") : text.index("### Two paths")]
    rows = (row for row in tables(one_path) if row[1] == "no loss")
    return {row[0]: ", ".join(re.findall(r"[-+][\d.]+ %", row[2] + row[4])) for row in rows}


def page(docs: Path) -> str:
    """The page, whole."""
    least, kernel = alone(docs), kernels(docs)
    lines = []
    for name in FIGURES:
        stem = page_of(name)
        found = caption((docs / "algorithms" / f"{stem}.md").read_text(encoding="utf-8"))
        source = found["source"].replace("|", "\\|")
        apart = f"{found['deviation'].strip()}; allowed {found['allowed']}"
        used = f"{least[name]:g} %" if name in least else ""
        lines.append(
            f"| [`{name}`]({stem}.md) | {source} | {apart} | {kernel.get(name, '')} | {used} |\n"
        )
    return HEAD + "".join(lines)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    place = Path(sys.argv[1])
    (place / PAGE).write_text(page(place), encoding="utf-8")
