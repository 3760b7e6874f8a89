"""`anabranch evaluate`: the checks of RFC 9743 for a window algorithm, beside the standards."""

from __future__ import annotations

import textwrap
from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from anabranch import evaluate as evaluation
from anabranch.commands.field import evaluate_field
from anabranch.commands.options import PATH, VERDICT_STYLE, console, jobs_option
from anabranch.errors import InputError
from anabranch.evaluate import Card
from anabranch.evaluate.checks import ALL, FIELD
from anabranch.files import output_directory
from anabranch.native import interruptible
from anabranch.report.study import write_card
from anabranch.studies.study import Context, Strength

CHECKS = "\b\n" + textwrap.fill(
    f"Checks of RFC 9743, {len(ALL)}: {', '.join(check.name for check in ALL)}. Beside them, of the"
    f" table of several: {', '.join(check.name for check in FIELD[len(ALL) :])}.",
    width=76,
    break_on_hyphens=False,
)
"""Below the help; a name stays whole."""


@click.command(epilog=CHECKS)
@click.argument("algorithms", nargs=-1, metavar="[ALGORITHM]...")
@click.option("--all", "everything", is_flag=True, help="Every one of `anabranch list algorithms`.")
@click.option(
    "--against",
    "baselines",
    multiple=True,
    metavar="NAME",
    help="Shown beside reno and cubic, which are always there; bbr unless given. Of one ALGORITHM.",
)
@click.option("--check", "names", multiple=True, metavar="NAME", help="Only this check; repeated.")
@click.option(
    "--label", metavar="TEXT", help="What tables call one ALGORITHM; one of your own by its name."
)
@click.option("--quick", is_flag=True, help="Shorter runs and fewer replications.")
@click.option(
    "--first-look",
    is_flag=True,
    help="Of several: leave undecided what five replications do not decide.",
)
@jobs_option
@click.option(
    "--out",
    type=PATH,
    show_default="results/evaluate, of several ALGORITHMs results/field",
    metavar="DIR",
    help="Where the result goes; one that is already there is continued.",
)
def evaluate(
    *,
    algorithms: tuple[str, ...],
    everything: bool,
    baselines: tuple[str, ...],
    names: tuple[str, ...],
    label: str | None,
    quick: bool,
    first_look: bool,
    jobs: int,
    out: Path | None,
) -> None:
    """Examines ALGORITHM as RFC 9743 asks; writes DIR/checks.csv and DIR/report.html.

    ALGORITHM is a name of `anabranch list algorithms`, a table with its options in
    braces, or one of your own: in Python, my.py:MyControl, or a shared library, libmine.so.

    Of several, or with --all, writes one table of them all, DIR/field.csv, and its
    figures; replications stop when they decide.
    """
    if everything or len(algorithms) > 1:
        _only_of_one(baselines, label)
        evaluate_field(
            algorithms,
            everything=everything,
            names=names,
            quick=quick,
            first_look=first_look,
            jobs=jobs,
            out=out or Path("results/field"),
        )
        return
    if first_look:
        allowed = "with several ALGORITHMs or --all: one card has a fixed number of replications"
        raise InputError.about("command line", "--first-look", "given", allowed)
    if not algorithms:
        allowed = "an algorithm, such as cubic or my.py:MyControl, several, or --all"
        raise InputError.about("command line", "ALGORITHM", "(missing)", allowed)
    _card(
        algorithms[0],
        baselines=baselines,
        names=names,
        label=label,
        quick=quick,
        jobs=jobs,
        out=out or Path("results/evaluate"),
    )


def _only_of_one(baselines: tuple[str, ...], label: str | None) -> None:
    """Options that say nothing about several algorithms."""
    allowed = "with one ALGORITHM and without --all: tables of several have each by its name"
    for option, value in (("--against", " ".join(baselines)), ("--label", label)):
        if value:
            raise InputError.about("command line", option, value, allowed)


def _card(
    algorithm: str,
    *,
    baselines: tuple[str, ...],
    names: tuple[str, ...],
    label: str | None,
    quick: bool,
    jobs: int,
    out: Path,
) -> None:
    """The report card of one algorithm."""
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
                *(f"{each.measured.mean:z.2f}" for each in found[1:]),
                found[0].expected_text,
                "" if verdict is None else f"[{VERDICT_STYLE[verdict.value]}]{verdict.value}[/]",
            )
            first = ("", "")
    return table
