"""`anabranch evaluate`: the checks of RFC 9743 for a window algorithm, beside the standards."""

from __future__ import annotations

from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from anabranch import evaluate as evaluation
from anabranch.commands.options import PATH, VERDICT_STYLE, console, jobs_option
from anabranch.evaluate import Card
from anabranch.files import output_directory
from anabranch.native import interruptible
from anabranch.report.study import write_card
from anabranch.studies.study import Context, Strength


@click.command()
@click.argument("algorithm")
@click.option(
    "--against",
    "baselines",
    multiple=True,
    metavar="NAME",
    help="Shown beside reno and cubic, which are always there; bbr unless given.",
)
@click.option("--check", "names", multiple=True, metavar="NAME", help="Only this check; repeated.")
@click.option("--label", metavar="TEXT", help="What tables call it; one of your own by its name.")
@click.option("--quick", is_flag=True, help="Shorter runs and five replications, not ten.")
@jobs_option
@click.option(
    "--out",
    type=PATH,
    default=Path("results/evaluate"),
    show_default=True,
    metavar="DIR",
    help="Where the card goes; one that is already there is continued.",
)
def evaluate(
    *,
    algorithm: str,
    baselines: tuple[str, ...],
    names: tuple[str, ...],
    label: str | None,
    quick: bool,
    jobs: int,
    out: Path,
) -> None:
    """Examines ALGORITHM as RFC 9743 asks; writes DIR/checks.csv and DIR/report.html.

    ALGORITHM is a name of `anabranch list algorithms`, a table with its options in
    braces, or one of your own: in Python, my.py:MyControl, or a shared library, libmine.so.
    """
    directory = output_directory(out)
    names = evaluation.with_earlier(directory, evaluation.label_of(algorithm, label), names)
    terminal = console()
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=terminal, disable=not terminal.is_terminal) as progress:
        task = progress.add_task(label or algorithm, total=None)

        def advance(done: int, total: int) -> None:
            progress.update(task, completed=done, total=total)

        strength = Strength.QUICK if quick else Strength.DEFAULT
        context = Context(directory, strength, jobs, advance)
        card, result = interruptible(
            lambda: evaluation.evaluate(
                algorithm,
                context,
                baselines=baselines or evaluation.BASELINES,
                names=names,
                label=label,
            )
        )
    result.save(directory)
    write_card(directory, card, result)
    # Numbers beside each other or they say nothing: wider than a narrow terminal, if need be.
    terminal.width = max(terminal.width, 160)
    terminal.print(_table(card))
    for finding in result.findings:
        terminal.print(finding)
    terminal.print(f"{directory / 'checks.csv'}, {directory / 'report.html'}")


def _table(card: Card) -> Table:
    """A row for each quantity: the candidate beside its bound and the others."""
    table = Table(box=None, header_style="bold")
    table.add_column("check", no_wrap=True)
    table.add_column("RFC 9743", no_wrap=True)
    table.add_column("quantity", no_wrap=True)
    for name in card.algorithms:
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("bound", justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for check in card.checks:
        first = (check.name, check.section)
        for quantity in check.quantities:
            found = [card.measures[check.name, quantity.name, name] for name in card.algorithms]
            verdict = found[0].verdict
            table.add_row(
                *first,
                quantity.name,
                found[0].measured.interval_text(),
                *(f"{each.measured.mean:.2f}" for each in found[1:]),
                found[0].expected_text,
                "" if verdict is None else f"[{VERDICT_STYLE[verdict.value]}]{verdict.value}[/]",
            )
            first = ("", "")
    return table
