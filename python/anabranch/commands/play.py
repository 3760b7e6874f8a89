"""`anabranch play`: the playground, a page on this machine."""

from __future__ import annotations

import click

from anabranch.commands.options import browse_option, port_option
from anabranch.play import lab
from anabranch.play.document import opened_file
from anabranch.play.serving import serve


@click.command()
@click.argument("scenario", required=False, metavar="[SCENARIO.toml|library:NAME|lab:NAME|ADDRESS]")
@port_option
@browse_option
def play(scenario: str | None, port: int, browse: bool) -> None:
    """Opens a page with the scenario as a picture and a knob for every parameter.

    Each turn of a knob runs the scenario again. ADDRESS is one that the page gave out: it is opened
    with all knobs as they were. The server listens on 127.0.0.1 alone, behind a random token.
    """
    name, _, fragment = (scenario or "").partition("#")
    file = opened_file(name) if name and not name.startswith("http") else None
    serve(
        file,
        port=port,
        fragment=f"#{fragment}" if fragment else "",
        browse=browse,
        lab=lab.course(),
    )
