"""What the numbers of a table are of: code, machine, dates, runs, processor time."""

from __future__ import annotations

import functools
import json
import os
import platform
import subprocess
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from anabranch.evaluate.field.cards import Kept
from anabranch.files import write_text
from anabranch.native import core
from anabranch.stats import Looks

FILE = "field.json"


@dataclass(frozen=True)
class Facts:
    """Where, when and how much."""

    strength: str
    """`quick` or `full`."""
    looks: list[int]
    """After how many replications was looked."""
    level: float
    """The level of each interval."""
    version: str
    commits: list[str]
    """Of the source tree, where there is one."""
    dates: list[str]
    """UTC days on which runs were computed."""
    runs: int
    cpu_s: float
    machine: str

    @classmethod
    def of(cls, kept: Iterable[Kept], looks: Looks, quick: bool) -> Facts:
        """What the cards say, and this machine."""
        cards = list(kept)
        return cls(
            strength=strength_name(quick),
            looks=list(looks.sizes),
            level=looks.level,
            version=core.__version__,
            commits=sorted({each.commit for each in cards} - {""}),
            dates=sorted({each.date for each in cards} - {""}),
            runs=sum(each.runs for each in cards),
            cpu_s=round(sum(each.cpu_s for each in cards), 1),
            machine=machine(),
        )

    def save(self, directory: Path) -> None:
        """Writes `field.json`."""
        write_text(directory / FILE, json.dumps(asdict(self), indent=1) + "\n")

    @classmethod
    def load(cls, directory: Path) -> Facts | None:
        """Reads it back; `None` where no run has finished."""
        try:
            return cls(**json.loads((directory / FILE).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None


def strength_name(quick: bool) -> str:
    """Returns `quick` or `full`."""
    return "quick" if quick else "full"


@functools.cache
def commit() -> str:
    """The commit of the source tree that this package is in, with `-dirty` where it was changed;
    empty for an installed package."""
    root = Path(__file__).resolve().parents[4]
    if not (root / ".git").exists():
        return ""
    command = ["git", "-C", str(root), "describe", "--always", "--dirty", "--exclude=*"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def machine() -> str:
    """Processor, its number, system: `Xeon ..., 2 processors, Linux 6.1 x86_64`."""
    system = f"{platform.system()} {platform.release().partition('-')[0]} {platform.machine()}"
    return f"{_processor()}, {os.cpu_count()} processors, {system}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or "an unknown processor"
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "an unknown processor"
