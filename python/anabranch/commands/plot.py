"""`anabranch plot`: a figure for a paper, of any result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from anabranch import figures, results
from anabranch.commands.options import PATH
from anabranch.errors import ABSENT, InputError
from anabranch.nearest import one_of
from anabranch.plotting import KINDS, Chart, Request, caption, chart, drawing, lanes, paper
from anabranch.report.lanes import KINDS as KINDS_OF_EVENTS
from anabranch.report.lanes import kinds_of
from anabranch.studies.results import StudyResult

MOST = 100
"""Numbers that are printed of a figure."""


@click.command()
@click.argument("result", type=PATH, metavar="RESULT...", nargs=-1, required=True)
@click.option(
    "--out",
    type=PATH,
    default=Path("figure.pdf"),
    show_default=True,
    metavar="FIGURE",
    help="Where the figure goes: .pdf, .svg or .png.",
)
@click.option(
    "--y",
    "shown",
    metavar="NAME",
    multiple=True,
    help="What is shown, one thing a figure: a metric, TABLE.COLUMN, or a series.",
)
@click.option("--x", metavar="COLUMN", help="The horizontal axis.")
@click.option("--by", metavar="COLUMN", help="What has a series for each of its values.")
@click.option("--panels", metavar="COLUMN", help="What has a panel for each of its values.")
@click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Rows to keep: NAME=VALUE[,VALUE], !=, <, <=, >, >=; may be repeated.",
)
@click.option("--kind", metavar="|".join(KINDS), help="How it is drawn.")
@click.option(
    "--against",
    metavar="[NAME=]VALUE",
    help="With --kind paired: what the others are compared with.  [default: the first value]",
)
@click.option("--log", default="", metavar="x|y|xy", help="Axes with a logarithmic scale.")
@click.option(
    "--events",
    metavar="KIND,...",
    help=f"With --y timeline: events to show, any of {', '.join(KINDS_OF_EVENTS)}.",
)
@click.option(
    "--from", "begin", type=float, metavar="SECONDS", help="With --y timeline: when it begins."
)
@click.option("--to", "end", type=float, metavar="SECONDS", help="With --y timeline: when it ends.")
@click.option(
    "--figure",
    "stem",
    metavar="NAME",
    help="Of a study or an evaluation: which figure; without it all are listed.",
)
@click.option(
    "--columns", type=float, default=1.0, show_default=True, help="Width in columns of a paper."
)
@click.option("--height", type=float, metavar="INCHES", help="Height, if not two thirds of it.")
def plot(
    *,
    result: tuple[Path, ...],
    out: Path,
    shown: tuple[str, ...],
    stem: str | None,
    columns: float,
    height: float | None,
    x: str | None,
    by: str | None,
    panels: str | None,
    where: tuple[str, ...],
    kind: str | None,
    against: str | None,
    log: str,
    events: str | None,
    begin: float | None,
    end: float | None,
) -> None:
    """Draws a figure for a paper of what `run`, `sweep`, `compare` or `reproduce` wrote.

    Several runs are laid over each other. What is not said follows from what varies: numbers go
    on the horizontal axis, names become series, and intervals are over replications.
    """
    paper.checked(out)
    if len(shown) > 1:
        allowed = "one --y: a figure shows one thing"
        raise InputError.about("command line", "--y", " and ".join(shown), allowed)
    y = shown[0] if shown else None
    size = paper.size(columns, height)
    span = (begin, end)
    request = Request(x, by, panels, where, kind, against, log)
    files = results.studies(result[0]) if len(result) == 1 else []
    if files and not (result[0] / "flows.csv").is_file():
        allowed = "nothing of a study: its figures are drawn as the study says; see --figure"
        _refuse({"y": y, **vars(request)}, allowed)
        if events is not None:
            raise InputError.about("command line", "--events", events, allowed)
        _refuse_span(span)
        paper.save(figures.redrawn(_of_study(result[0], files, stem), size), out)
    elif y == results.TIMELINE:
        allowed = "nothing beside --y timeline; --events, --from and --to choose what is shown"
        _refuse(vars(request), allowed)
        several = results.names(result) if len(result) > 1 else [""]
        happened = map(results.happened, result)
        runs = [(name, *each) for name, each in zip(several, happened, strict=True)]
        kinds = kinds_of(events)
        drawn = lanes.together(runs, columns=columns, height=height, kinds=kinds, span=span)
        paper.save(drawn, out)
    elif events is not None:
        raise InputError.about("command line", "--events", events, "with --y timeline alone")
    elif stem is not None:
        raise InputError.about("command line", "--figure", stem, "of a study's results alone")
    else:
        _refuse_span(span)
        of = results.frame(result, y)
        made = chart(of, request)
        paper.save(drawing.draw(made, *size), out)
        for remark in _remarks(made, size[1]):
            click.echo(remark, err=True)
    click.echo(str(out))


def _refuse(given: Mapping[str, object], allowed: str) -> None:
    """Refuses the first of some options that was given, each empty or nothing unless it was."""
    for name, value in given.items():
        if value:
            shown = " and ".join(value) if isinstance(value, tuple) else str(value)
            raise InputError.about("command line", f"--{name}", shown, allowed)


def _refuse_span(span: lanes.Span) -> None:
    """Refuses dates where no timeline is drawn."""
    for name, date in zip(("--from", "--to"), span, strict=True):
        if date is not None:
            allowed = "with --y timeline alone; --where 'time_s>=1' chooses of a series"
            raise InputError.about("command line", name, f"{date:g}", allowed)


def _remarks(made: Chart, height: float) -> Iterator[str]:
    """What a caption has to say of a figure so high, and what the figure does not show."""
    if says := caption(made):
        yield says
    yield from (f"  {difference}" for difference in made.numbers[:MOST])
    if len(made.numbers) > MOST:
        yield f"  ... and {len(made.numbers) - MOST} more"
    if count := drawing.hidden(made, height):
        behind = "1 interval is" if count == 1 else f"{count} intervals are"
        yield f"{behind} narrower than the mark of the mean"
    if made.beyond:
        fate = "count in the shares" if made.kind == "cdf" else "are not drawn"
        yield f"values of 0 or below, which a logarithmic axis has not: {made.beyond}; they {fate}"
    if made.pooled:
        values = ", ".join(f"{name} ({n} values)" for name, n in made.pooled.items())
        yield f"pooled over {values}; --by, --panels or --where keeps them apart"
    if made.left_out:
        choose = f"--where {made.series}=... chooses"
        yield f"{made.left_out} smaller series are not drawn; {choose}"


def _of_study(place: Path, files: list[Path], stem: str | None) -> Path:
    """The table of the figure that is asked for; a study's first figure unless one is."""
    named = {str(file.relative_to(place).with_suffix("")): file for file in files}
    if stem is None:
        found = StudyResult.load(place)
        stem = found.headline if found else None
        if stem is None and len(named) > 1:
            raise InputError.about("command line", "--figure", ABSENT, one_of("", named))
        stem = stem or next(iter(named))
        if len(named) > 1:
            click.echo(f"figure {stem} of {one_of('', named)}; --figure chooses", err=True)
    if stem not in named:
        raise InputError.about("command line", "--figure", stem, one_of(stem, named))
    return named[stem]
