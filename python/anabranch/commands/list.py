"""`anabranch list`: what there is, with a line and a reference each."""

from __future__ import annotations

import click
from rich.table import Table
from rich.text import Text

from anabranch import library, studies
from anabranch.commands.options import Named, console
from anabranch.experiment import catalogue

KINDS = (
    "algorithms",
    "destinations",
    "failovers",
    "schedulers",
    "path-managers",
    "queues",
    "transmitters",
    "regulators",
    "allocations",
    "impairments",
    "attacks",
    "topologies",
    "observers",
    "scenarios",
    "studies",
)


OTHERS = {"windows": "algorithms", "recovery": "algorithms"}
"""Fields of scenarios whose values are listed under another name."""


@click.command("list")
@click.argument("kind", type=Named(KINDS, OTHERS), required=False)
def list_things(kind: str | None) -> None:
    """Lists algorithms, queues, topologies and so on; all without KIND."""
    terminal = console()
    for each in KINDS if kind is None else (kind,):
        table = Table(box=None, show_header=False, pad_edge=False)
        table.add_column(no_wrap=True, style="bold")
        table.add_column()
        for name, summary, reference in _entries(each):
            table.add_row(name, Text.assemble(summary, "\n", (reference, "dim")))
        if kind is None:
            terminal.print(f"[underline]{each}[/]")
        terminal.print(table)


def _entries(kind: str) -> list[tuple[str, str, str]]:
    if kind == "studies":
        return [(study.name, study.title, study.reference) for study in studies.ALL.values()]
    if kind == "scenarios":
        return [(entry.name, entry.summary, _parameters(entry)) for entry in library.ALL.values()]
    return catalogue(kind)


def _parameters(entry: library.Entry) -> str:
    """The source, and what may be set."""
    given = ", ".join(
        name if value is None else f"{name}={str(value).lower() if value is True else value}"
        for name, value in entry.parameters().items()
    )
    return f"{entry.reference}; {given}"
