"""`anabranch reproduce`: runs studies, judges their claims, writes the report."""

from __future__ import annotations

from pathlib import Path

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from anabranch import report, studies
from anabranch.commands.options import PATH, console, interruptible, jobs_option
from anabranch.errors import InputError
from anabranch.files import output_directory
from anabranch.studies.results import StudyResult, Verdict
from anabranch.studies.study import Context

STYLE = {Verdict.HOLDS: "green", Verdict.PARTLY: "yellow", Verdict.FAILS: "red"}


@click.command()
@click.argument("names", nargs=-1, metavar="[STUDY]...")
@click.option("--quick", is_flag=True, help="A smaller grid of conditions.")
@jobs_option
@click.option(
    "--out",
    type=PATH,
    default=Path("results"),
    show_default=True,
    metavar="DIR",
    help="Where the results go; a result that is already there is continued.",
)
def reproduce(names: tuple[str, ...], quick: bool, jobs: int, out: Path) -> None:
    """Runs the studies (all by default), prints a verdict per claim, writes DIR/report.html."""
    for name in names:
        if name not in studies.ALL:
            raise InputError.about("command line", "STUDY", name, ", ".join(studies.ALL))
    directory = output_directory(out)
    terminal = console()
    chosen = [studies.ALL[name] for name in dict.fromkeys(names or studies.ALL)]
    results: list[StudyResult] = []
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    for study in chosen:
        with Progress(*columns, console=terminal, disable=not terminal.is_terminal) as progress:
            task = progress.add_task(study.name, total=None)

            def advance(done: int, total: int, task=task, progress=progress) -> None:  # type: ignore[no-untyped-def]
                progress.update(task, completed=done, total=total)

            context = Context(directory / study.name, quick=quick, jobs=jobs, progress=advance)
            result = interruptible(lambda study=study, context=context: study.run(context))  # type: ignore[misc]
        result.save(directory / study.name)
        results.append(result)
        report.write_study_report(directory)
        terminal.print(_verdicts(result))
    terminal.print(f"{directory / 'claims.csv'}, {directory / 'report.html'}")


def _verdicts(result: StudyResult) -> Table:
    """A line per claim: its first number, and each that does not hold."""
    table = Table(title=result.title, title_justify="left", box=None, header_style="bold")
    table.add_column("claim", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("quantity")
    table.add_column("expected")
    table.add_column("mean (95 %)", no_wrap=True)
    table.add_column("n", no_wrap=True, justify="right")
    for claim in result.claims:
        verdict = f"[{STYLE[claim.verdict]}]{claim.verdict.value}[/]"
        first = (claim.claim, verdict)
        for measure in claim.headline():
            number, n = measure.measured.interval_text(), str(measure.measured.n)
            table.add_row(*first, measure.quantity, measure.expected_text, number, n)
            first = ("", "")
    return table
