"""Opening the playground: a free port of loopback, a token, a browser."""

from __future__ import annotations

import contextlib
import secrets
import socket
import webbrowser

import click
import uvicorn

from anabranch.errors import InputError
from anabranch.play.document import Opened, Table
from anabranch.play.pool import Pool
from anabranch.play.server import application


def listening(port: int) -> socket.socket:
    """A socket of loopback; port 0 takes a free one."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind(("127.0.0.1", port))
    except OSError as error:
        found.close()
        reason = f"{port} ({error.strerror})"
        raise InputError.about("command line", "--port", reason, "a free port, or 0") from None
    found.listen()  # a browser that comes before the workers have loaded waits
    return found


def serve(file: Opened | None, *, port: int, fragment: str, browse: bool, lab: Table) -> None:
    """Serves the playground until Ctrl-C."""
    token = secrets.token_urlsafe(18)
    with listening(port) as ours:
        address = f"http://127.0.0.1:{ours.getsockname()[1]}/{token}/{fragment}"
        click.echo(address)
        click.echo("Only this machine can open it, with this address. Ctrl-C ends it.", err=True)
        if browse:
            _browse(address)
        app = application(file, token, Pool(file), lab)
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, server_header=False, ws="none"
        )
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[ours])


def _browse(address: str) -> None:
    try:
        webbrowser.get()
    except webbrowser.Error:
        return
    webbrowser.open(address)
