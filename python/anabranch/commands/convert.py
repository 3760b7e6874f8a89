"""`anabranch convert`: links of other tools as a scenario."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from anabranch import convert as converting
from anabranch.commands.options import PATH
from anabranch.errors import InputError
from anabranch.files import read_text, write_text


@click.command()
@click.argument("file", type=PATH, metavar="FILE|-")
@click.option(
    "--ends",
    nargs=2,
    default=("a", "b"),
    show_default="a b",
    metavar="FROM TO",
    help="Nodes of a link that does not name its own.",
)
@click.option(
    "--line",
    default=converting.LINE,
    show_default=True,
    metavar="RATE",
    help="Rate of a line of which nothing is said.",
)
@click.option("--out", type=PATH, metavar="FILE", help="Writes there, not on the terminal.")
def convert(*, file: Path, ends: tuple[str, str], line: str, out: Path | None) -> None:
    """Converts links of other tools to a scenario: hosts, `[[links]]` and a flow to try them with.

    FILE has commands of Linux's `tc` (netem, tbf, htb, pfifo, bfifo, codel, fq_codel,
    cake), links of Mininet (a Python file with addLink(...), or parameters such as bw=10,
    delay='5ms', loss=1), a command line of Mahimahi (mm-link, mm-delay, mm-loss) or one of
    its traces. With `-` they come from standard input. What has no counterpart is an error
    that says so.
    """
    from_input = str(file) == "-"
    text = sys.stdin.read() if from_input else read_text(file)
    name = "standard input" if from_input else str(file)
    if not text.strip():
        allowed = "commands of tc or Mahimahi, a trace of Mahimahi, or links of Mininet"
        empty = "is empty" if from_input else "the file is empty"
        raise InputError(f"{name}: {empty}; allowed: {allowed}")
    found = converting.convert(text, name, ends, line)
    if out is None:
        click.echo(found.toml(), nl=False)
    else:
        write_text(out, found.beside(out.parent).toml())
