"""Standard output of the command: what cannot be written ends it with one line.

Click and Rich each have their own way with an output that is full or that nobody reads any
more; here it is an error like any other, of which only the second is not told.
"""

from __future__ import annotations

import io
import os
import sys
from typing import Any

from anabranch.errors import RunError


class OutputError(RunError):
    """Standard output takes nothing more."""


class ReaderLeftError(OutputError):
    """Nobody reads standard output any more, as after `| head`: nothing is said of it."""


class _Checked(io.FileIO):
    """A file descriptor that says once that it takes nothing more, and then drops all."""

    failed = False

    def write(self, data: Any, /) -> int:
        if self.failed:
            return len(data)
        try:
            return super().write(data)
        except OSError as error:
            self.failed = True
            reason = error.strerror or str(error)
            kind = ReaderLeftError if isinstance(error, BrokenPipeError) else OutputError
            raise kind(f"standard output: cannot be written: {reason}") from None


def check() -> None:
    """Has every error of standard output raise `OutputError` from now on."""
    _take_free_descriptors()
    old = sys.stdout
    try:
        number = old.fileno() if old is not None else 1
    except (OSError, ValueError):
        return  # a stream of somebody else's, in memory
    raw = _Checked(number, "w", closefd=False)
    encoding, errors = (old.encoding, old.errors) if old is not None else ("utf-8", None)
    lines = raw.isatty()
    sys.stdout = io.TextIOWrapper(io.BufferedWriter(raw), encoding, errors, line_buffering=lines)


def flush() -> None:
    """Writes what waits; raises `OutputError` where that is not possible."""
    sys.stdout.flush()


def _take_free_descriptors() -> None:
    """Standard streams that are closed are not what the next file is opened as."""
    while (number := os.open(os.devnull, os.O_RDONLY)) <= 2:
        os.set_inheritable(number, True)
    os.close(number)
