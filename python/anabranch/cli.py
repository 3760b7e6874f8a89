"""The command `anabranch`: gathers the commands and owns the exit status.

0 done, 1 the run failed, 2 the input is wrong, 130 interrupted. Whatever goes
wrong, a person sees one line and never a traceback.
"""

from __future__ import annotations

import contextlib
import difflib
import importlib
import os
import sys
from dataclasses import dataclass

import click

from anabranch import output
from anabranch.errors import AnabranchError, StuckError, one_line
from anabranch.output import OutputError, ReaderLeftError

INTERRUPTED = 130


@dataclass(frozen=True)
class Entry:
    """A command: its function in the module of `anabranch.commands`, and what the help says."""

    function: str
    summary: str


COMMANDS = {
    "run": Entry("run", "Runs one scenario in virtual time."),
    "live": Entry("live", "Runs one scenario in real time, against kernels and programs."),
    "kernel": Entry("kernel", "Loads window algorithms into the running kernel."),
    "compare": Entry("compare", "Runs one scenario in both worlds and shows them side by side."),
    "sweep": Entry("sweep", "Runs every combination of parameters, with replications."),
    "reproduce": Entry(
        "reproduce", "Runs the studies of published papers and judges their claims."
    ),
    "evaluate": Entry("evaluate", "Examines a window algorithm as RFC 9743 asks."),
    "check": Entry("check", "Tries whether a window algorithm keeps what every one must."),
    "new": Entry("new", "Writes a folder to begin with, for an algorithm in Rust."),
    "convert": Entry("convert", "Converts links of tc, Mininet or Mahimahi to a scenario."),
    "replay": Entry("replay", "Reads a packet capture as if it were a run."),
    "drill": Entry("drill", "Runs packetdrill scripts."),
    "list": Entry("list_things", "Lists algorithms, queues, topologies and so on."),
    "schema": Entry("schema", "Writes the JSON Schema of scenarios, for editors."),
    "bench": Entry("bench", "Measures how fast this machine simulates."),
    "timeline": Entry("timeline", "Prints what happened in a run, and when and why."),
    "plot": Entry("plot", "Draws a figure for a paper of any result."),
    "play": Entry("play", "Opens a page that runs a scenario again with each turn of a knob."),
    "lab": Entry("lab", "Opens a lab of 90 minutes on the playground, or writes its notebooks."),
    "view": Entry("view", "Opens the report of a result."),
}
"""The commands in the order of the help; each is imported when it is called."""


class Commands(click.Group):
    """Imports a command when it is called: most need neither figures nor studies."""

    def list_commands(self, _context: click.Context) -> list[str]:
        """Returns the names of all commands, for the help."""
        return list(COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """The command of that name, or nothing."""
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"anabranch.commands.{name}")
        found: click.Command = getattr(module, COMMANDS[name].function)
        return found

    def resolve_command(
        self, context: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolves a name as click does, and suggests the nearest one for an unknown name."""
        near = difflib.get_close_matches(args[0], COMMANDS, n=1)
        if args[0] not in COMMANDS and near and not args[0].startswith("-"):
            context.fail(f"no such command {args[0]!r}; did you mean {near[0]!r}?")
        return super().resolve_command(context, args)

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """Names and summaries, for which nothing is imported."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


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
    except ReaderLeftError as error:
        status = status or error.exit_status
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
        return _fail("interrupted; what is finished is in its folder", INTERRUPTED), True
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return error.exit_code, False
    except click.exceptions.ClickException as error:
        return _fail(error.format_message(), error.exit_code), False
    except ReaderLeftError as error:
        return error.exit_status, False
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
