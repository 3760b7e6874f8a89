"""Reading input and writing results so that no one ever sees half a file.

A result is written beside its destination and then renamed: a reader, or a
run that continues after an interruption, finds the whole file or none.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from anabranch.errors import InputError, RunError
from anabranch.nearest import nearest

LARGEST_TEXT = 64 << 20
"""Octets of the largest text that is read."""

EXAMPLES = "examples"
"""The folder of a clone that the documentation's commands name."""


def read_text(path: Path) -> str:
    """The text of an input file, or an `InputError` that says why it has none."""
    allowed = "a readable UTF-8 text file"
    try:
        with path.open("rb") as handle:
            octets = handle.read(LARGEST_TEXT + 1)  # what has no end, as /dev/zero, is not read on
    except FileNotFoundError:
        raise absent(path, "file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"{path}: cannot be read: {reason}; allowed: {allowed}") from None
    if len(octets) > LARGEST_TEXT:
        most = f"{LARGEST_TEXT >> 20} MiB"
        raise InputError(f"{path}: is larger than {most}; allowed: {allowed} of at most {most}")
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError as error:
        value = f"octet {error.object[error.start]:#04x} at offset {error.start}"
        raise InputError.about(str(path), "encoding", value, allowed) from None


def absent(path: Path, what: str) -> InputError:
    """The error of an input that does not exist, with a name beside it that is nearly the same."""
    there = sorted(each.name for each in path.parent.iterdir()) if path.parent.is_dir() else []
    meant = nearest(path.name, there)
    hint = "" if meant is None else f"; did you mean `{path.with_name(meant)}`?"
    if path.parts[:1] == (EXAMPLES,) and not Path(EXAMPLES).is_dir():
        hint = (
            "; the examples are in a clone of the repository (docs/install.md), not in the package"
        )
    return InputError(f"{path}: there is no such {what}{hint}")


def output_directory(path: Path) -> Path:
    """Creates `path` if need be and proves that files can be written there."""
    allowed = "a directory that exists or can be created, and is writable"
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"--out {path}: cannot be written: {reason}; allowed: {allowed}") from None
    return path


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary path in the same folder that becomes `path` on success."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
        os.close(handle)
    except OSError as error:
        raise RunError(f"{path}: cannot be written: {error.strerror}") from None
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise RunError(f"{path}: cannot be written: {error.strerror or error}") from None
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str) -> None:
    """Writes a text file atomically, with `\\n` line ends on every platform."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a binary file atomically."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
