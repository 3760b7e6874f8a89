"""`anabranch view`: opens the report of a result, or serves it."""

from __future__ import annotations

import functools
import http.server
import importlib
import webbrowser
from pathlib import Path
from typing import Any

import click

from anabranch.commands.options import PATH, browse_option
from anabranch.errors import InputError
from anabranch.files import absent

MOST_BELOW = 12
"""Folders that are named where one without a report was given."""


@click.command()
@click.argument("directories", type=PATH, metavar="DIR...", nargs=-1, required=True)
@click.option(
    "--serve",
    is_flag=True,
    help="Serve DIR on this machine alone (127.0.0.1) until Ctrl-C, e.g. for a browser at the"
    " other end of `ssh -L`.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8000,
    show_default=True,
    help="With --serve: where; 0 takes a free one.",
)
@browse_option
@click.option(
    "--out",
    type=PATH,
    default=Path("results/view"),
    show_default=True,
    metavar="DIR",
    help="Of several runs: where their page goes.",
)
def view(*, directories: tuple[Path, ...], serve: bool, port: int, browse: bool, out: Path) -> None:
    """Opens DIR/report.html in a browser, or says where it is when there is none.

    Several runs are laid over each other on one page, with a table of their differences.
    """
    directory = directories[0]
    if len(directories) > 1:
        overlay = importlib.import_module("anabranch.report.overlay")
        directory = overlay.write_overlay(out, directories).parent
    page = directory / "report.html"
    if not page.is_file():
        if not directory.exists():
            raise absent(directory, "folder")
        raise InputError(f"{directory}: has no report.html; allowed: {_with_reports(directory)}")
    if serve:
        _serve(directory, port)
        return
    click.echo(str(page.resolve()))
    if not browse:
        return
    try:
        webbrowser.get()
    except webbrowser.Error:
        return
    webbrowser.open(page.resolve().as_uri())


def _with_reports(directory: Path) -> str:
    """What to name in place of a folder without a report: those below it that have one."""
    below = sorted(str(page.parent) for page in directory.glob("*/report.html"))
    if not below:
        return "a directory that `anabranch run`, `live`, `sweep` or `reproduce` wrote"
    return f"a directory with a report: {', '.join(below[:MOST_BELOW])}"


class _Quiet(http.server.SimpleHTTPRequestHandler):
    """Files of a folder, without a line per request."""

    def log_message(self, format: str, *args: Any) -> None:
        """Logs nothing, in place of every request."""


def _serve(directory: Path, port: int) -> None:
    handler = functools.partial(_Quiet, directory=str(directory))
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        reason = f"{port} ({error.strerror})"
        raise InputError.about("command line", "--port", reason, "a free port, or 0") from None
    with server:
        click.echo(f"http://127.0.0.1:{server.server_port}/report.html")
        server.serve_forever()
