"""`anabranch timeline`: what happened in a run and when, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from anabranch import results
from anabranch import timeline as timelines
from anabranch.commands.options import PATH
from anabranch.errors import InputError
from anabranch.report.lanes import KINDS, kinds_of
from anabranch.timeline import Event


@click.command()
@click.argument("directory", type=PATH, metavar="DIR")
@click.option(
    "--events",
    metavar="KIND,...",
    help=f"Events to show, any of {', '.join(KINDS)}; all unless some are named.",
)
def timeline(*, directory: Path, events: str | None) -> None:
    """Prints what happened in a run and when: outages, timeouts, states of paths, and why.

    The rows are those of DIR/timeline.csv, which `run`, `live` and `replay` write; `--explore`
    observes all of them.
    """
    kinds = kinds_of(events)
    happened, _end = results.happened(directory)
    shown = [event for event in happened if event.kind in kinds]
    if not shown:
        there = dict.fromkeys(event.kind for event in happened)
        allowed = f"what happened in the run: {', '.join(there)}"
        raise InputError.about("command line", "--events", str(events), allowed)
    click.echo("\n".join(_lines(shown)))
    if {event.kind for event in happened} == {"flow"}:
        click.echo(f"flows alone; there is more of {timelines.NEEDED}", err=True)


def _lines(events: Sequence[Event]) -> Iterator[str]:
    """A line for each event below the names of the columns; what was brought about by nothing that
    is known has no cause."""
    rows = [("from", "to", "lane", "kind", "detail", "cause")]
    for event in events:
        until = "" if event.until_s is None else f"{event.until_s:.2f} s"
        since = f"{event.time_s:.2f} s"
        rows.append((since, until, event.lane, event.kind, event.detail, event.cause))
    if not any(event.cause for event in events):
        rows = [(*row[:-1], "") for row in rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        times = [cell.rjust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        words = [cell.ljust(width) for cell, width in zip(row[2:], widths[2:], strict=True)]
        yield "  ".join((*times, *words)).rstrip()
