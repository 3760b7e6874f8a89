"""`anabranch list`: what there is, with a line and a reference each."""

from __future__ import annotations

import click
from rich.table import Table
from rich.text import Text

from anabranch import studies
from anabranch.commands.options import console
from anabranch.experiment import catalogue

KINDS = (
    "algorithms",
    "destinations",
    "schedulers",
    "queues",
    "transmitters",
    "regulators",
    "impairments",
    "topologies",
    "observers",
    "studies",
)


@click.command("list")
@click.argument("kind", type=click.Choice(KINDS), required=False)
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
    return catalogue(kind)
