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

from anabranch.errors import AnabranchError, one_line

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
    status = _status()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    if status == INTERRUPTED:
        # A worker may still be inside the core, which cannot be interrupted:
        # leave at once. Every file is whole because files appear by renaming.
        sys.stderr.flush()
        os._exit(INTERRUPTED)
    sys.exit(status)


def _status() -> int:
    try:
        result = command.main(standalone_mode=False)
    except (click.exceptions.Abort, KeyboardInterrupt):
        return _fail("interrupted; finished results are kept", INTERRUPTED)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code
    except click.exceptions.ClickException as error:
        return _fail(error.format_message(), error.exit_code)
    except AnabranchError as error:
        return _fail(str(error), error.exit_status)
    except BrokenPipeError:
        # The reader of our output left (`anabranch list | head`): not a failure.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if os.environ.get("ANABRANCH_TRACEBACK"):
            raise
        hint = "set ANABRANCH_TRACEBACK=1 to see where"
        return _fail(f"broken invariant: {type(error).__name__}: {error} ({hint})", 1)
    # Without standalone mode click returns the status of --help and --version.
    return result if isinstance(result, int) else 0


def _fail(message: str, status: int) -> int:
    with contextlib.suppress(OSError):
        click.echo(f"anabranch: {one_line(message)}", err=True)
    return status
