"""The command `anabranch`: gathers the commands and owns the exit status.

0 done, 1 the run failed, 2 the input is wrong, 130 interrupted. Whatever goes
wrong, a person sees one line and never a traceback.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys

import click

from anabranch import output
from anabranch.errors import AnabranchError, StuckError, one_line
from anabranch.output import OutputError

INTERRUPTED = 130


COMMANDS = {
    "reproduce": "reproduce",
    "run": "run",
    "sweep": "sweep",
    "live": "live",
    "compare": "compare",
    "evaluate": "evaluate",
    "check": "check",
    "replay": "replay",
    "drill": "drill",
    "list": "list_things",
    "bench": "bench",
    "view": "view",
}
"""The modules of `anabranch.commands`, in the order of the help, and the command in each."""


class Commands(click.Group):
    """Imports a command when it is called: most need neither figures nor studies."""

    def list_commands(self, _context: click.Context) -> list[str]:
        """All names, for the help."""
        return list(COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """The command of that name, or nothing."""
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"anabranch.commands.{name}")
        found: click.Command = getattr(module, COMMANDS[name])
        return found


@click.command(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="anabranch", prog_name="anabranch")
def command() -> None:
    """A laboratory for transport protocols.

    Scenarios are TOML files; results are tables, figures and packet captures.
    """


def main() -> None:
    """Entry point of the script; ends the process with the exit status."""
    output.check()
    status, at_once = _status()
    try:
        output.flush()
    except OutputError as error:
        status = _fail(str(error), status or 1)
    if at_once:
        # A worker may still be inside the core, which cannot be interrupted:
        # leave. Every file is whole because files appear by renaming.
        with contextlib.suppress(OSError):
            sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def _status() -> tuple[int, bool]:
    """The exit status, and whether nothing may be waited for."""
    try:
        result = command.main(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        return _fail("interrupted; finished results are kept", INTERRUPTED), True
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code, False
    except click.exceptions.ClickException as error:
        return _fail(error.format_message(), error.exit_code), False
    except AnabranchError as error:
        return _fail(str(error), error.exit_status), isinstance(error, StuckError)
    except SystemExit as ended:
        return (ended.code if isinstance(ended.code, int) else int(ended.code is not None)), False
    except BaseException as error:
        if os.environ.get("ANABRANCH_TRACEBACK"):
            raise
        hint = "set ANABRANCH_TRACEBACK=1 to see where"
        return _fail(f"broken invariant: {type(error).__name__}: {error} ({hint})", 1), False
    # Without standalone mode click returns the status of --help and --version.
    return (result if isinstance(result, int) else 0), False


def _fail(message: str, status: int) -> int:
    with contextlib.suppress(OSError):
        click.echo(f"anabranch: {one_line(message)}", err=True)
    return status
