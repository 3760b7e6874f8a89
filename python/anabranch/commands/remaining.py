"""Estimates how long the studies that are left will take, and tells it while they run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

PRIOR_S = 20.0
"""What studies are known to take weighs as much as having run for so long as expected: a study of a
few seconds says little of how fast this machine is."""
LINES_S = 30.0
"""Seconds between two lines where there is no terminal."""


@dataclass
class Remaining:
    """An estimate that begins with what studies are known to take, and learns how fast this machine
    is from those that have ended and from the runs of the one that is under way."""

    expected: Mapping[str, float]
    """Seconds of each study, in the order in which they run; empty if nothing is known."""
    clock: Callable[[], float] = time.monotonic
    _ended: dict[str, float] = field(default_factory=dict)
    """Seconds of each study that has ended."""
    _name: str = ""
    _begun: float = 0.0
    _done: int = 0
    _total: int = 0
    _stage: float = 0.0
    """When the runs began of which `_done` of `_total` have finished."""

    def begin(self, name: str) -> None:
        """Notes that a study begins."""
        self._name, self._begun, self._done, self._total = name, self.clock(), 0, 0

    def advance(self, done: int, total: int) -> None:
        """Notes how many runs of this stage of the study have finished."""
        if total != self._total or done < self._done:
            self._stage = self.clock()
        self._done, self._total = done, total

    def end(self) -> None:
        """Notes that the study has ended."""
        self._ended[self._name] = self.clock() - self._begun
        self._name = ""

    def of_study(self) -> float:
        """Seconds that the study under way will still take: what is left of what it should take,
        and no less than its present runs need at the rate at which they finish."""
        if not self._name:
            return 0.0
        now = self.clock()
        left = self.expected.get(self._name, 0.0) * self._slowness() - (now - self._begun)
        if self._done:
            runs = (now - self._stage) * (self._total - self._done) / self._done
            left = max(left, runs)
        return max(left, 0.0)

    def of_all(self) -> float:
        """Seconds until the last study has ended."""
        later = (
            each for name, each in self.expected.items() if name not in {*self._ended, self._name}
        )
        return self.of_study() + sum(later) * self._slowness()

    def text(self) -> str:
        """`about 20 s to go, all studies about 11 min`, or that nothing is known."""
        if self._name not in self.expected and not self._done:
            return "time to go unknown"
        study = f"about {span(self.of_study())} to go"
        if not self.expected.keys() - self._ended.keys() - {self._name}:
            return study
        return f"{study}, all studies about {span(self.of_all())}"

    def runs(self) -> str:
        """`120 of 400 runs`, of this stage."""
        return f"{self._done} of {self._total} runs"

    def _slowness(self) -> float:
        """How much longer studies take here than expected; one that takes longer counts at once."""
        known = PRIOR_S + sum(self.expected.get(name, 0.0) for name in self._ended)
        taken = PRIOR_S + sum(each for name, each in self._ended.items() if name in self.expected)
        slowness = taken / known
        own = self.expected.get(self._name, 0.0)
        if not own:
            return slowness
        return max(slowness, (taken + self.clock() - self._begun) / (known + own))


def span(seconds: float) -> str:
    """Writes a length of time: `40 s`, `11 min`, `2.5 h`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


class _Left(ProgressColumn):
    """What is left, as it is when it is drawn."""

    def __init__(self, remaining: Remaining) -> None:
        super().__init__()
        self._remaining = remaining

    def render(self, task: Task) -> Text:
        del task
        return Text(self._remaining.text())


@contextmanager
def shown(
    name: str, remaining: Remaining, terminal: Console
) -> Iterator[Callable[[int, int], None]]:
    """Shows how far a study is while it runs: a bar on a terminal, else a line on the standard
    error now and then. Gives what is to be called with (runs finished, runs in all)."""
    remaining.begin(name)
    if terminal.is_terminal:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            _Left(remaining),
        )
        with Progress(*columns, console=terminal) as progress:
            task = progress.add_task(name, total=None)

            def drawn(done: int, total: int) -> None:
                remaining.advance(done, total)
                progress.update(task, completed=done, total=total)

            yield drawn
    else:
        told = remaining.clock()
        if name in remaining.expected:
            click.echo(f"{name}: {remaining.text()}", err=True)

        def written(done: int, total: int) -> None:
            nonlocal told
            remaining.advance(done, total)
            if remaining.clock() - told >= LINES_S:
                told = remaining.clock()
                click.echo(f"{name}: {remaining.runs()}, {remaining.text()}", err=True)

        yield written
    remaining.end()
