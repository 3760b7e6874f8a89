"""The part of a study that runs live, as the study describes it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from anabranch.rows import CsvRow
from anabranch.trials import Trial
from anabranch.trials.worlds import Results
from anabranch.verdicts import Claim


@dataclass(frozen=True)
class LiveWorld:
    """A second way to run the same trials on real packets, with other hosts real."""

    name: str
    """In file names and tables."""
    setting: str
    """Who is real, and who is ours."""
    real: Callable[[Trial], Trial]
    """The trial there."""


@dataclass(frozen=True)
class LivePart:
    """The trials of a study on real packets, and what they say of its claims."""

    trials: Callable[[bool, Path], list[Trial]]
    """All trials, few with `True`; the folder is for programs that are built."""
    judge: Callable[[Results, bool], list[Claim]]
    """The claims by the study's own rules, from either world."""
    together: int
    """Trials at a time."""
    setting: str
    """Who is real, and who is ours."""
    changed: Sequence[str] = ()
    """What is not as in the simulated study, and why."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Claims that are not carried live, and why."""
    quick_together: int | None = None
    """Trials at a time in a quick run, if others."""
    further: tuple[LiveWorld, ...] = ()
    """The same trials with other hosts real."""
    tables: Callable[[Results, bool], list[CsvRow]] | None = None
    """Numbers beside the claims: rows with table, series, x, mean, ci_low, ci_high and n."""
