"""Random sequences of events that try whether a controller keeps what it must."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anabranch.algorithms.loading import name_of
from anabranch.native import core, guarded


@dataclass(frozen=True)
class Violation:
    """An invariant that a controller broke."""

    invariant: str
    meaning: str
    problem: str
    """With which values."""
    file: str | None
    line: int | None
    setting: str
    """Of the path."""
    steps: list[tuple[str, int | None]]
    """The shortest sequence that was found: events, and the window in octets after each;
    `None` after the last, where it broke."""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " if self.file else ""
        lines = [f"{self.invariant}: {self.meaning}", f"  {where}{self.problem}"]
        lines.append(f"  path: {self.setting}")
        for number, (event, window) in enumerate(self.steps, 1):
            left = "" if window is None else f" -> {window} octets"
            lines.append(f"  {number}. {event}{left}")
        return "\n".join(lines)


def check(
    controller: str | type,
    options: Mapping[str, Any] | None = None,
    *,
    cases: int = 200,
    steps: int = 100,
    seed: int = 1,
) -> list[Violation]:
    """Tries a controller, by name or class: the invariants that it broke, each once.

    `cases` sequences of at most `steps` events are drawn from `seed`.
    """
    name = controller if isinstance(controller, str) else name_of(controller)
    with guarded():
        found = core.check(name, dict(options or {}), cases, steps, seed)
    return [Violation(**row) for row in found]


def invariants() -> list[tuple[str, str]]:
    """Name and meaning of all that is looked at."""
    with guarded():
        return core.invariants()
