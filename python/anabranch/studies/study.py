"""What a study is, and what it is given to run with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from anabranch.studies.results import StudyResult


@dataclass(frozen=True)
class Context:
    """Where a study writes, how large it runs and whom it tells."""

    directory: Path
    quick: bool
    jobs: int
    progress: Callable[[int, int], None]
    """Called with (runs finished, runs in all)."""


@dataclass(frozen=True)
class Study:
    """One paper's experiments."""

    name: str
    title: str
    reference: str
    run: Callable[[Context], StudyResult]
