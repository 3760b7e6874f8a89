"""`anabranch sweep`: parameters times replications, continued after any interruption."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from anabranch import report
from anabranch import sweep as sweeps
from anabranch.commands.options import PATH, Named, console, jobs_option
from anabranch.errors import InputError, RunError
from anabranch.native import interruptible
from anabranch.nearest import one_of
from anabranch.report.sweep import sweep_tables
from anabranch.sweep import executors
from anabranch.sweep.shown import Shown, latex, markdown

MOST = 100
"""Rows of a table on the terminal."""

ALIKE = (
    "All replications came out the same: nothing in this scenario draws at random, so that there"
    " are no intervals. Random loss, jitter, `start_spread` or traffic by a law would."
)

ONE_OF_THEM = "A metric with `of` is that of one of them, of one path with `path`: docs/sweep.md."

PAIRED = "Differences, paired by replication"


@dataclass(frozen=True)
class Form:
    """How tables are written for a paper."""

    table: Callable[[Shown], str]
    heading: str
    """With a place for its words."""


FORMS = {"markdown": Form(markdown, "**{}**\n"), "latex": Form(latex, "% {}")}


@click.command()
@click.argument("plan", type=PATH, metavar="SWEEP.toml")
@click.option(
    "--executor",
    default="local",
    show_default=True,
    metavar="|".join(executors.ALL),
    help="Where runs are computed; RAY_ADDRESS names the cluster.",
)
@jobs_option
@click.option("--resume", is_flag=True, help="Continue the sweep that DIR holds.")
@click.option(
    "--table",
    type=Named(["text", *FORMS]),
    default="text",
    show_default=True,
    metavar=f"text|{'|'.join(FORMS)}",
    help="How the tables are printed; with --resume those of a finished sweep, at once.",
)
@click.option(
    "--metric",
    "chosen",
    multiple=True,
    metavar="NAME",
    help="A metric that the printed tables have, and no other; may be repeated.",
)
@click.option(
    "--against",
    multiple=True,
    metavar="[NAME=]VALUE",
    help="What paired differences are from; may be repeated.  [default: each first value]",
)
@click.option(
    "--out",
    type=PATH,
    default=Path("results/sweep"),
    show_default=True,
    metavar="DIR",
    help="Where the dataset goes.",
)
def sweep(
    *,
    plan: Path,
    executor: str,
    jobs: int,
    resume: bool,
    table: str,
    chosen: tuple[str, ...],
    against: tuple[str, ...],
    out: Path,
) -> None:
    """Runs every combination of a sweep's parameters; writes DIR/summary.csv and DIR/runs."""
    description = sweeps.load(plan)
    names = [metric.name for metric in description.metrics]
    for name in chosen:
        if name not in names:
            raise InputError.about("command line", "--metric", name, one_of(name, names))
    terminal = console()
    crew = executors.named(executor, jobs)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    try:
        with Progress(*columns, console=terminal, disable=not terminal.is_terminal) as bar:
            task = bar.add_task(plan.stem, total=None)

            def advance(done: int, total: int) -> None:
                bar.update(task, completed=done, total=total)

            def tell(damaged: str) -> None:
                click.echo(f"{damaged}; its runs are computed again", err=True)

            result = interruptible(
                lambda: description.run(
                    out,
                    executor=crew,
                    resume=resume,
                    against=against,
                    progress=advance,
                    damaged=tell,
                )
            )
    finally:
        crew.close()
    means, pairs = sweep_tables(result, chosen)
    notes = [f"{' '.join(pooled)} {ONE_OF_THEM}"] if (pooled := result.pooled()) else []
    notes += [ALIKE] if result.alike() else result.constant(chosen)
    report.write_sweep_report(out, plan.stem, result)
    files = f"{out / 'summary.csv'}, {out / 'runs'}, {out / 'report.html'}"
    if table in FORMS:
        # Tables alone, for a file; all else is for the eye.
        _write(FORMS[table], means, pairs)
        click.echo("\n".join([*notes, files]), err=True)
    else:
        terminal.print(_table(means))
        for note in notes:
            terminal.print(note)
        if pairs.rows:
            terminal.print(f"\n{PAIRED}", style="bold")
            terminal.print(_table(pairs))
        terminal.print(files)
    if failures := result.failures():
        labels, reason = failures[0]
        raise RunError(f"{len(failures)} points failed, the first {labels}: {reason}")


def _write(form: Form, means: Shown, pairs: Shown) -> None:
    click.echo(form.table(means))
    if pairs.rows:
        click.echo(f"\n{form.heading.format(PAIRED)}")
        click.echo(form.table(pairs))


def _table(shown: Shown) -> Table:
    table = Table(box=None, header_style="bold")
    for name in shown.columns:
        table.add_column(name, justify="right" if name in ("mean", "difference", "n") else "left")
    for row in shown.rows[:MOST]:
        table.add_row(*row)
    if len(shown.rows) > MOST:
        table.add_row(f"... and {len(shown.rows) - MOST} more")
    return table
