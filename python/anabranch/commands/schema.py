"""`anabranch schema`: the JSON Schema of scenarios, by which editors complete and check them."""

from __future__ import annotations

import json
from pathlib import Path

import click

from anabranch import experiment
from anabranch.commands.options import PATH
from anabranch.files import write_text


@click.command()
@click.option(
    "--out", type=PATH, metavar="FILE", help="Write it there, instead of to standard output."
)
def schema(out: Path | None) -> None:
    """Writes the JSON Schema of scenarios (draft 2020-12).

    Editors that read `#:schema FILE` in the first line of a TOML file complete fields, tell their
    meaning, and mark what is wrong: VS Code with Even Better TOML, and all that use taplo.
    """
    text = json.dumps(experiment.schema(), indent=1, ensure_ascii=False) + "\n"
    if out is None:
        click.echo(text, nl=False)
    else:
        write_text(out, text)
