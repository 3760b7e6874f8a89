"""`anabranch sweep`: parameters times replications, continued after any interruption."""

from __future__ import annotations

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

from anabranch import report
from anabranch import sweep as sweeps
from anabranch.commands.options import PATH, Named, console, jobs_option
from anabranch.errors import RunError
from anabranch.native import interruptible
from anabranch.report.sweep import sweep_tables
from anabranch.sweep import executors
from anabranch.sweep.shown import Shown, latex, markdown

MOST = 100
"""Rows of a table on the terminal."""

ALIKE = (
    "All replications came out the same: nothing in this scenario draws at random, so that there"
    " are no intervals. Random loss, jitter, `start_spread` or traffic by a law would."
)

ONE_OF_THEM = "A metric with `of` is that of one of them, see docs/sweep.md."

FORMS = {"markdown": markdown, "latex": latex}
"""What writes a table for a paper, by the name of its form."""


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
    "--out",
    type=PATH,
    default=Path("results/sweep"),
    show_default=True,
    metavar="DIR",
    help="Where the dataset goes.",
)
def sweep(*, plan: Path, executor: str, jobs: int, resume: bool, table: str, out: Path) -> None:
    """Runs every combination of a sweep's parameters; writes DIR/summary.csv and DIR/runs."""
    description = sweeps.load(plan)
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
                    out, executor=crew, resume=resume, progress=advance, damaged=tell
                )
            )
    finally:
        crew.close()
    means, pairs = sweep_tables(result)
    _print(terminal, means, table)
    if pooled := result.pooled():
        terminal.print(f"{' '.join(pooled)} {ONE_OF_THEM}")
    if result.alike():
        terminal.print(ALIKE)
    if pairs.rows:
        terminal.print("\nDifferences, paired by replication", style="bold")
        _print(terminal, pairs, table)
    report.write_sweep_report(out, plan.stem, result)
    terminal.print(f"{out / 'summary.csv'}, {out / 'runs'}, {out / 'report.html'}")
    if failures := result.failures():
        labels, reason = failures[0]
        raise RunError(f"{len(failures)} points failed, the first {labels}: {reason}")


def _print(terminal: Console, shown: Shown, form: str) -> None:
    if form in FORMS:
        click.echo(FORMS[form](shown))
    else:
        terminal.print(_table(shown))


def _table(shown: Shown) -> Table:
    table = Table(box=None, header_style="bold")
    for name in shown.columns:
        table.add_column(name, justify="right" if name in ("mean", "difference", "n") else "left")
    for row in shown.rows[:MOST]:
        table.add_row(*row)
    if len(shown.rows) > MOST:
        table.add_row(f"... and {len(shown.rows) - MOST} more")
    return table
