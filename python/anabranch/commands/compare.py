"""`anabranch compare`: one scenario in virtual and in real time, side by side."""

from __future__ import annotations

from dataclasses import asdict
from itertools import groupby
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from anabranch import comparison, report, tables
from anabranch.commands.namespace import become_root_of_a_namespace
from anabranch.commands.options import PATH, console, set_option
from anabranch.comparison import COLUMNS, HOLDS, Comparison
from anabranch.files import output_directory
from anabranch.observed import MEASURES
from anabranch.report.comparison import shown

REPLICATIONS = 5


@click.command()
@click.argument("scenario", type=PATH, metavar="SCENARIO.toml|SWEEP.toml")
@click.option(
    "--replications",
    type=click.IntRange(1, 1000),
    help="Copies in each world; the links of each draw for themselves.  [default: the sweep's, or"
    f" {REPLICATIONS}]",
)
@click.option(
    "--parallel",
    type=click.IntRange(1, 1000),
    help="Copies that run live at the same time, in one emulator.  [default: as many as it holds]",
)
@set_option
@click.option(
    "--margin",
    type=click.FloatRange(0, 100),
    default=comparison.MARGIN * 100,
    show_default=True,
    metavar="PERCENT",
    help="Differences up to this share of the live mean would not matter.",
)
@click.option(
    "--out",
    type=PATH,
    default=Path("results/compare"),
    show_default=True,
    metavar="DIR",
    help="Where the results go.",
)
def compare(
    *,
    scenario: Path,
    replications: int | None,
    parallel: int | None,
    assignments: tuple[str, ...],
    margin: float,
    out: Path,
) -> None:
    """Runs one scenario in the simulator and live, and shows both side by side.

    External hosts are our stack in the simulator and the kernel's in the live runs. Each copy
    has the same draws in both worlds: the k-th packet of a link has the same fate. A sweep's file
    compares each of its points. Algorithms are compared with each other by a sweep.
    """
    points, wanted = comparison.points(scenario, list(assignments))
    count = replications or wanted or REPLICATIONS
    become_root_of_a_namespace()
    comparison.has_kernels(scenario, points)
    directory = output_directory(out)
    terminal = console()
    columns = (TextColumn("live"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=terminal, disable=not terminal.is_terminal) as bar:
        task = bar.add_task("live", total=None)
        found = comparison.compare(
            points,
            count,
            directory,
            together=parallel,
            margin=margin / 100,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    names = list(points[0].labels)
    tables.write_csv(
        directory / "compare.csv", (*names, *COLUMNS), [row.cells() for row in found.rows]
    )
    timings = [
        asdict(each) | {"doubts": "; ".join(each.doubts), "load_pps": load}
        for each, load in zip(found.timings, found.loads, strict=True)
    ]
    tables.write_csv(directory / "timing.csv", list(timings[0]), timings)
    _print(terminal, found)
    report.write_comparison_report(directory, scenario.name, found, count)
    terminal.print(f"{count} copies in each world; {directory / 'report.html'}, {directory}")
    _warn(found)


def _print(terminal: Console, found: Comparison) -> None:
    """A table for each point, under its name."""
    for title, group in groupby(found.rows, key=lambda row: row.title):
        rows = list(group)
        if title:
            terminal.print(f"\n{title}", style="bold")
        table = Table(box=None, header_style="bold")
        for heading in ("flow", "measure"):
            table.add_column(heading)
        for heading in ("simulated", "live", "live - simulated", "margin"):
            table.add_column(heading, justify="right")
        table.add_column("verdict")
        for row in rows:
            table.add_row(row.flow, MEASURES[row.measure].name, *shown(row, rows), row.verdict)
        terminal.print(table)


def _warn(found: Comparison) -> None:
    """What the reader has to know of the timing, on standard error."""
    over = max(found.loads)
    if over > HOLDS:
        click.echo(
            f"warning: {over:.0f} packets a second at once; an emulator holds about {HOLDS} of"
            " them, see docs/live.md; lateness decides",
            err=True,
        )
    if found.left_out:
        click.echo(f"{found.left_out} copies did not end live, and are left out", err=True)
    for doubt in found.doubts:
        click.echo(f"doubtful: {doubt}", err=True)
