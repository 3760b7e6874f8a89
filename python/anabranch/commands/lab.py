"""`anabranch lab`: the lab on the playground, its notebooks, its answers."""

from __future__ import annotations

from pathlib import Path

import click

from anabranch.commands.options import PATH, browse_option, port_option
from anabranch.files import output_directory, write_text
from anabranch.play import lab as course
from anabranch.play.lab import answers as teacher
from anabranch.play.lab import notebooks as books
from anabranch.play.serving import serve


@click.command()
@port_option
@browse_option
@click.option("--notebooks", type=PATH, metavar="DIR", help="Write the exercises as notebooks.")
@click.option(
    "--answers", type=PATH, metavar="FILE", help="Write the teacher's page, measured now."
)
def lab(port: int, browse: bool, notebooks: Path | None, answers: Path | None) -> None:
    """Opens a lab of 90 minutes: six exercises on the playground.

    Slow start, the sawtooth, near and far servers, bufferbloat, seven losses under four recovery
    schemes, two paths and coupling. With --notebooks or --answers it writes files in place of that.
    """
    if notebooks is not None:
        for path in books.write(output_directory(notebooks)):
            click.echo(str(path))
    if answers is not None:
        write_text(answers, teacher.page())
        click.echo(str(answers))
    if notebooks is None and answers is None:
        first = course.exercises()[0]
        fragment = f"#scenario={first.scenario}&lab={first.id}"
        serve(None, port=port, fragment=fragment, browse=browse, lab=course.course())
