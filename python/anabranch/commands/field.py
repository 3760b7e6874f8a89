"""`anabranch evaluate` of several algorithms: the table of the field."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from anabranch.commands.options import console
from anabranch.evaluate import field
from anabranch.evaluate.field import drawings, summary
from anabranch.evaluate.field.findings import findings
from anabranch.evaluate.field.table import FILE, Field
from anabranch.files import output_directory
from anabranch.native import interruptible

LINE_S = 30.0
"""Seconds between two lines of progress where there is no terminal."""


def evaluate_field(
    own: Sequence[str],
    *,
    everything: bool,
    names: Sequence[str],
    quick: bool,
    first_look: bool,
    jobs: int,
    out: Path,
) -> None:
    """Runs the checks of all, prints the table, and writes it with its figures."""
    directory = output_directory(out)
    windows = field.contenders(own, everything)
    terminal = console()
    with _progress(terminal) as advance:
        settings = field.Settings(
            directory, quick, jobs, first_look, names, progress=advance, notice=_notice
        )
        found = interruptible(lambda: field.run(windows, settings))
    figures = drawings.draw(directory, found)
    terminal.width = max(terminal.width, 160)
    terminal.print(_table(found))
    terminal.print(f"Means; {directory / FILE} has their intervals and bounds.\n")
    for finding in findings(found):
        terminal.print(finding.replace("**", ""))
    facts = found.facts
    terminal.print(f"{facts.runs} runs, {facts.cpu_s / 60:.1f} min of processor time")
    written = [directory / FILE, *(directory / f"{stem}.svg" for stem in figures)]
    terminal.print(", ".join(map(str, written)))


def _notice(text: str) -> None:
    click.echo(text, err=True)


class _Lines:
    """Progress as lines of a log, for standard error that is no terminal."""

    def __init__(self) -> None:
        self._began = self._told = time.monotonic()
        self._already: int | None = None

    def __call__(self, done: int, total: int, label: str) -> None:
        now = time.monotonic()
        if self._already is None:
            self._already = done - 1
        if now - self._told < LINE_S and done < total:
            return
        self._told = now
        left = (now - self._began) / max(1, done - self._already) * (total - done)
        click.echo(
            f"{done} of {total} looks at checks, {label}; {now - self._began:.0f} s,"
            f" about {left:.0f} s left",
            err=True,
        )


@contextmanager
def _progress(terminal: Console) -> Iterator[field.Progress]:
    """A bar with the time that is left; in a log a line now and then."""
    if not terminal.is_terminal:
        yield _Lines()
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    # Checks differ in length, algorithms hardly: the speed is a mean over minutes.
    with Progress(*columns, console=terminal, speed_estimate_period=300) as bar:
        task = bar.add_task("algorithms", total=None)

        def advance(done: int, total: int, label: str) -> None:
            bar.update(task, completed=done, total=total, description=label)

        yield advance


def _table(found: Field) -> Table:
    """A row for each algorithm: what a reader looks for first."""
    table = Table(box=None, header_style="bold")
    table.add_column("algorithm", no_wrap=True)
    columns = summary.columns(found)
    for column in columns:
        table.add_column(column.head, justify="right")
    for verdict in summary.VERDICTS:
        table.add_column(verdict.value, justify="right", min_width=len("undecided"))
    for algorithm in found.algorithms:
        counts = found.counts(algorithm)
        numbers = (column.of(found, algorithm) for column in columns)
        cells = (
            "" if number is None else f"{number.mean:.{column.digits}f}"
            for column, number in zip(columns, numbers, strict=True)
        )
        table.add_row(algorithm, *cells, *(str(counts[each]) for each in summary.VERDICTS))
    return table
