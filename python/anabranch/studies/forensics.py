"""Which settings a paper's numbers may come from: what it leaves open, searched.

A search has parameters, and for each setting of them the numbers that runs give beside those that
were published. How well a setting fits is the root of the mean squared residual. Nothing of this
decides a verdict: a setting that fits is a likely one, not a proven one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from anabranch.files import write_text

FILE = "forensics.json"


@dataclass(frozen=True)
class Number:
    """A published number, and what a setting gives."""

    group: str
    """What is summed up together, such as a scheme."""
    place: str
    """Where it stands in the paper: table and column."""
    published: float
    found: float
    residual: float
    """What was found less what was published, on the scale on which the search adds."""
    spread: float = 0.0
    """Standard deviation from run to run, on the same scale; 0 of a single run."""


@dataclass(frozen=True)
class Fit:
    """A setting and the numbers that it gives."""

    setting: Mapping[str, str]
    """The value of each parameter, as readers see it."""
    numbers: Sequence[Number]

    @property
    def rms(self) -> float:
        """Root of the mean squared residual."""
        return rms(number.residual for number in self.numbers)

    @property
    def spread(self) -> float:
        """The residual that one run of this very setting would have, about."""
        return rms(number.spread for number in self.numbers)

    def by_group(self) -> dict[str, float]:
        """Returns the root of the mean squared residual of each group."""
        groups = dict.fromkeys(number.group for number in self.numbers)
        return {
            group: rms(number.residual for number in self.numbers if number.group == group)
            for group in groups
        }


@dataclass(frozen=True)
class Search:
    """All settings that were tried, for the same numbers."""

    title: str
    fits: Sequence[Fit]

    @property
    def best(self) -> Fit:
        """The setting with the smallest residuals."""
        return min(self.fits, key=lambda fit: fit.rms)

    def sensitivity(self) -> list[tuple[str, str, float | None, float]]:
        """For each value of each parameter: the residual with all others as in the best fit (if
        that was tried), and the least one with all others free."""
        best = self.best.setting
        rows = []
        for name in best:
            for value in dict.fromkeys(fit.setting[name] for fit in self.fits):
                beside = {**best, name: value}
                alone = [fit.rms for fit in self.fits if dict(fit.setting) == beside]
                free = min(fit.rms for fit in self.fits if fit.setting[name] == value)
                rows.append((name, value, alone[0] if alone else None, free))
        return rows


def rms(residuals: Iterable[float]) -> float:
    """Root of the mean square.

    >>> rms([3.0, -3.0])
    3.0
    """
    squares = [residual**2 for residual in residuals]
    return math.sqrt(sum(squares) / len(squares))


def save(folder: Path, searches: Iterable[Search]) -> None:
    """Writes `forensics.json` into a study's folder."""
    write_text(folder / FILE, json.dumps([asdict(search) for search in searches], indent=1) + "\n")


def load(folder: Path) -> list[Search]:
    """Reads the fits back from their file."""
    text = (folder / FILE).read_text(encoding="utf-8")
    return [
        Search(
            search["title"],
            [
                Fit(fit["setting"], [Number(**number) for number in fit["numbers"]])
                for fit in search["fits"]
            ],
        )
        for search in json.loads(text)
    ]
