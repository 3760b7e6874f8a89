"""The independent SCTP peer: a small program on usrsctp, built where it is needed."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

from anabranch.errors import RunError

SOURCE = Path(__file__).with_suffix(".c")
BEGAN = re.compile(r"began at ([\d.]+)")
SAID = re.compile(r"got (\d+) wrong (\d+)(?: at ([\d.]+))?")


def built(directory: Path) -> str:
    """The program as a word of the shell, compiled into the folder unless it is there."""
    program = directory / "usrsctp_peer"
    if program.exists() and program.stat().st_mtime > SOURCE.stat().st_mtime:
        return shlex.quote(str(program.resolve()))
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise RunError("live SCTP needs a C compiler (Debian: gcc, libc6-dev)")
    directory.mkdir(parents=True, exist_ok=True)
    libraries = ["-lusrsctp", "-lpthread"]
    command = [compiler, "-O1", "-o", str(program), str(SOURCE), *libraries]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RunError(
            f"live SCTP needs usrsctp (Debian: libusrsctp-dev): {done.stderr.strip()[:400]}"
        )
    return shlex.quote(str(program.resolve()))


def began(log: Path) -> float | None:
    """When the program began to connect, by the monotonic clock; `None` of one that listens."""
    try:
        said = BEGAN.search(log.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    return None if said is None else float(said.group(1))


def read(log: Path) -> tuple[int, int, float | None] | None:
    """Octets, how many of them are wrong, and when the last came by the monotonic clock."""
    try:
        said = SAID.search(log.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    if said is None:
        return None
    octets, wrong, at = said.groups()
    return int(octets), int(wrong), None if at is None else float(at)
