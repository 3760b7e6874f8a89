"""Writes the tables of docs/forensics.md anew, in place.

    python tests/forensics_page.py RESULTS PAGE

RESULTS has STUDY/forensics.json of each study that the page has tables of, between the lines
`<!-- STUDY -->` and `<!-- /STUDY -->`. `make forensics` runs the searches and this. The prose
around the tables is written by hand.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

import pages
from anabranch.studies.forensics import Fit, Number, Search, load


def main(results: Path, page: Path) -> None:
    """Rewrites each study's tables."""

    def lines(study: str) -> Iterator[str]:
        for search in load(results / study):
            yield from of_search(search)

    pages.fill(page, lines)


def of_search(search: Search) -> Iterator[str]:
    """The best fit with its numbers, and what each parameter does to it."""
    best = search.best
    yield from ("", f"### {search.title}", "")
    setting = "; ".join(f"{name}: {value}" for name, value in best.setting.items())
    yield f"Best of {len(search.fits)} settings, with a residual of {best.rms:.3f}: {setting}."
    yield f"By chance a single run of this very setting would have one of {best.spread:.3f}."
    for title, numbers in groupby(best.numbers, key=lambda number: number.place.partition(",")[0]):
        yield from ("", *of_numbers(title, list(numbers)))
    yield from ("", *of_groups(best))
    yield from ("", *of_parameters(search), "")


def of_numbers(title: str, numbers: Sequence[Number]) -> Iterator[str]:
    """A row for each group, a column for each place: found; published."""
    places = list(dict.fromkeys(number.place for number in numbers))
    heads = [place.partition(", ")[2] for place in places]
    yield f"| {title}: ours; the paper's | {' | '.join(heads)} |"
    yield "|---" * (len(places) + 1) + "|"
    for group, of in groupby(numbers, key=lambda number: number.group):
        row = {each.place: f"{each.found:.2f}; {each.published:g}" for each in of}
        yield f"| `{group}` | {' | '.join(row.get(place, '') for place in places)} |"


def of_groups(fit: Fit) -> Iterator[str]:
    """The residual of each group."""
    groups = fit.by_group()
    yield f"| residual | {' | '.join(f'`{group}`' for group in groups)} | all |"
    yield "|---" * (len(groups) + 2) + "|"
    yield f"| | {' | '.join(f'{value:.3f}' for value in groups.values())} | {fit.rms:.3f} |"


def of_parameters(search: Search) -> Iterator[str]:
    """The residual by the value of each parameter."""
    yield "| parameter | value | residual, the others as in the best fit | the others free |"
    yield "|---|---|---|---|"
    for name, value, alone, free in search.sensitivity():
        mark = "**" if search.best.setting[name] == value else ""
        here = "" if alone is None else f"{alone:.3f}"
        yield f"| {name} | {mark}{value}{mark} | {here} | {free:.3f} |"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
