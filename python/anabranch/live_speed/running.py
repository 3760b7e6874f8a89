"""A live run of the benchmark, and what ends it early."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anabranch.errors import RunError
from anabranch.experiment import LiveResult, Scenario


class Missing(RunError):
    """A measure cannot run on this machine, and why."""


def live(
    scenario: str, programs: Sequence[tuple[str, str]] = (), logs: Path = Path()
) -> LiveResult:
    """Runs the text of a scenario; Ctrl-C ends the benchmark."""
    result = Scenario(scenario).live(programs=programs, logs=logs)
    result.raise_interrupt()
    return result
