"""`anabranch reproduce`: runs studies, judges their claims, writes the report."""

from __future__ import annotations

from pathlib import Path

import click
from rich.console import Console, Group
from rich.markup import escape

from anabranch import studies
from anabranch.commands.namespace import become_root_of_a_namespace
from anabranch.commands.options import PATH, VERDICT_STYLE, console, jobs_option
from anabranch.commands.remaining import Remaining, shown
from anabranch.errors import InputError
from anabranch.files import output_directory
from anabranch.native import interruptible
from anabranch.nearest import one_of
from anabranch.report.study import write_example, write_study_report
from anabranch.studies.live import LiveOutcome
from anabranch.studies.results import StudyResult
from anabranch.studies.study import Context, Strength
from anabranch.verdicts.claim import verdict_text


@click.command()
@click.argument("names", nargs=-1, metavar="[STUDY]...")
@click.option("--quick", "strength", flag_value="quick", help="A smaller grid of conditions.")
@click.option(
    "--full",
    "strength",
    flag_value="full",
    help="Replications until everything is decided or hopeless, as docs/studies.md shows it.",
)
@click.option(
    "--live",
    is_flag=True,
    help="On real packets: claims are judged live, and in virtual time beside it. Needs Linux and"
    " root, see docs/live.md.",
)
@jobs_option
@click.option(
    "--out",
    type=PATH,
    default=Path("results"),
    show_default=True,
    metavar="DIR",
    help="Where the results go; a result that is already there is continued.",
)
def reproduce(
    names: tuple[str, ...], strength: str | None, live: bool, jobs: int, out: Path
) -> None:
    """Runs the studies (all by default, the shortest first), prints a verdict per claim, writes
    DIR/report.html."""
    size = Strength(strength or "default")
    for name in names:
        if name not in studies.ALL:
            raise InputError.about("command line", "STUDY", name, one_of(name, studies.ALL))
    possible = [name for name in studies.ALL if not live or studies.ALL[name].live]
    for name in names:
        if name not in possible:
            allowed = f"with `--live` {', '.join(possible)}"
            raise InputError.about("command line", "STUDY", name, allowed)
    if live:
        become_root_of_a_namespace()
    directory = output_directory(out)
    terminal = console()
    chosen = [
        studies.ALL[name] for name in dict.fromkeys(names or studies.cheapest_first(possible))
    ]
    known = {} if live else studies.expected_seconds([each.name for each in chosen], size, jobs)
    remaining = Remaining(known)
    for study in chosen:
        with shown(study.name, remaining, terminal) as advance:
            context = Context(directory / study.name, size, jobs, advance)
            # A live run hears Ctrl-C itself, in the main thread.
            result = (
                study.run_live(context)
                if live
                else interruptible(lambda study=study, context=context: study.run(context))  # type: ignore[misc]
            )
        result.save(directory / study.name)
        if isinstance(result, StudyResult):
            finished = result
            interruptible(lambda each=finished: write_example(directory / each.name, each))  # type: ignore[misc]
        write_study_report(directory)
        if isinstance(result, StudyResult):
            terminal.print(_verdicts(result))
        else:
            _print_live(study.title, result, terminal)
    terminal.print(f"{directory / 'claims.csv'}, {directory / 'report.html'}")


def _verdicts(result: StudyResult) -> Group:
    """Of each claim its verdict and sentence, then its first number and each that does not hold."""
    lines = [f"[bold]{result.title}[/]"]
    if result.caveat:
        lines.append(result.caveat)
    for claim in result.claims:
        verdict = f"[{VERDICT_STYLE[claim.verdict.value]}]{claim.verdict_text()}[/]"
        lines.append(f"[bold]{claim.claim}[/] {verdict}: {escape(claim.sentence)}")
        numbers = [escape(statement.text()) for statement in claim.headline()]
        if claim.grid_verdict is not None:
            style = VERDICT_STYLE[claim.grid_verdict.value]
            numbers.append(f"over our grid: [{style}]{verdict_text(claim.grid)}[/]")
        lines += [f"    {number}" for number in numbers]
    return Group(*lines)


def _print_live(title: str, outcome: LiveOutcome, terminal: Console) -> None:
    """Each claim with both verdicts, its first number and those that differ, in both worlds; then
    how precise the emulator was."""
    terminal.print(f"[bold]{title}, live[/]")
    width = max(14, *(len(live.claim) for _, live in outcome.pairs))
    terminal.print(f"{'claim':<{width}} {'simulated':<14} {'live':<14} numbers: simulated / live")
    for simulated, live in outcome.pairs:
        found = (simulated.verdict, live.verdict)
        verdicts = (f"[{VERDICT_STYLE[each.value]}]{each.value:<14}[/]" for each in found)
        cells = f"{live.claim:<{width}} {' '.join(verdicts)}"
        for before, after in zip(simulated.everything(), live.everything(), strict=True):
            if cells.strip() or before.verdict is not after.verdict:
                numbers = " / ".join(each.measured.text() for each in (before, after))
                expected = f", expected {after.expected_text}" if after.expected_text else ""
                terminal.print(f"{cells} {after.quantity}: {numbers}{expected}")
                cells = " " * (width + 30)
    for name, why in outcome.left_out.items():
        terminal.print(f"not carried live: {name}: {why}")
    terminal.print(outcome.setting)
    for change in outcome.changed:
        terminal.print(f"not as in the simulated study: {change}")
    terminal.print(outcome.lateness)
    for world in outcome.further:
        terminal.print(f"[bold]world {world.name}[/]: {world.setting}")
        for claim in world.claims:
            style = VERDICT_STYLE[claim.verdict.value]
            head = claim.head
            number = f"{head.quantity}: {head.measured.text()}"
            terminal.print(f"{claim.claim:<{width}} [{style}]{claim.verdict.value:<14}[/] {number}")
    batches = [(timing, "") for timing in outcome.doubtful]
    batches += [
        (timing, f"{world.name}, ") for world in outcome.further for timing in world.timings
    ]
    for timing, where in batches:
        for doubt in timing.doubts:
            name = f"{where}{timing.batch} of {outcome.name}"
            click.echo(f"doubtful: {name}: {doubt}", err=True)
