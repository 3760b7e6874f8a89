"""`anabranch view`: opens the report of a result."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from anabranch.commands.options import PATH
from anabranch.errors import InputError


@click.command()
@click.argument("directory", type=PATH, metavar="DIR")
def view(directory: Path) -> None:
    """Opens DIR/report.html in a browser, or says where it is when there is none."""
    page = directory / "report.html"
    if not page.is_file():
        allowed = "a directory that `anabranch run` or `anabranch reproduce` wrote"
        raise InputError.about(str(directory), "report.html", "missing", allowed)
    click.echo(str(page.resolve()))
    try:
        webbrowser.get()
    except webbrowser.Error:
        return
    webbrowser.open(page.resolve().as_uri())
