"""What is kept of each algorithm: a number of every replication, quantity and check.

A card is a JSON file. What it has of a check is under a key: a hash of all that the numbers are a
function of, which are the resolved scenarios, the native module and the functions that read
numbers off runs. What has another key is of other code or options: it is told and computed again.
"""

from __future__ import annotations

import functools
import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from anabranch.errors import InputError
from anabranch.evaluate import check as check_module
from anabranch.evaluate.check import Quantity
from anabranch.experiment import Scenario
from anabranch.files import write_text
from anabranch.native import code_fingerprint
from anabranch.stats import Estimate, Looks, Sample
from anabranch.tables import file_name

FORMAT = 1
"""Raised when the layout of the files changes."""


@dataclass
class Kept:
    """What a check has found of an algorithm so far."""

    key: str
    values: dict[str, list[float | None]] = field(default_factory=dict)
    """By quantity, in order of replications; `None` where a replication has no value."""
    runs: int = 0
    cpu_s: float = 0.0
    date: str = ""
    """The UTC day of the last replication."""
    commit: str = ""

    @property
    def replications(self) -> int:
        """The number of finished replications."""
        return min(map(len, self.values.values()), default=0)

    def estimate(self, quantity: Quantity, looks: Looks) -> Estimate:
        """The mean over replications that have a value, at the level that the looks leave."""
        values = [value for value in self.values[quantity.name] if value is not None]
        return Sample.of(values, looks=looks).within(quantity.least, quantity.most).estimate


class Card:
    """The file of one algorithm, which grows by a check at a time."""

    def __init__(self, directory: Path, label: str, strength: str) -> None:
        self.label = label
        self.strength = strength
        self._path = directory / f"{_file(label)}.json"
        self._lock = threading.Lock()
        stored, self._checks = _load(self._path)
        if stored not in ("", strength):
            # Hours of work would go, and numbers of both do not stand beside each other.
            allowed = f"a folder of its own for a {strength} run: this one has a {stored} run"
            raise InputError.about("command line", "--out", str(directory.parent), allowed)

    def get(self, check: str, key: str) -> Kept | None:
        """What there is of a check under the key."""
        found = self._checks.get(check)
        return found if found is not None and found.key == key else None

    def stale(self, keys: Mapping[str, str]) -> list[str]:
        """The checks of which there is something under another key."""
        return [
            name for name, key in keys.items() if name in self._checks and not self.get(name, key)
        ]

    def put(self, check: str, kept: Kept) -> None:
        """Keeps what was found, in the file too."""
        with self._lock:
            self._checks[check] = kept
            checks = {name: asdict(each) for name, each in self._checks.items()}
            value = {
                "format": FORMAT,
                "algorithm": self.label,
                "strength": self.strength,
                "checks": checks,
            }
            write_text(self._path, json.dumps(value, indent=1) + "\n")


def key(scenarios: Sequence[Scenario]) -> str:
    """Names what the numbers of a check are a function of."""
    texts = [scenario.resolved() for scenario in scenarios]
    identity = json.dumps([FORMAT, code_fingerprint(), _readings(), texts])
    return hashlib.sha256(identity.encode()).hexdigest()[:32]


@functools.cache
def _readings() -> str:
    """A hash of the source of all that reads numbers off runs."""
    folder = Path(check_module.__file__).parent
    digest = hashlib.sha256()
    for path in [folder / "paths.py", *sorted((folder / "checks").glob("*.py"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _file(label: str) -> str:
    """A file name; labels that differ only in what no file name has are told apart by a hash."""
    name = file_name(label)
    return name if name == label else f"{name}-{hashlib.sha256(label.encode()).hexdigest()[:8]}"


def _load(path: Path) -> tuple[str, dict[str, Kept]]:
    """Strength and checks of the file; nothing if there is none that can be read."""
    try:
        value: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if value["format"] != FORMAT:
            return "", {}
        checks = {name: Kept(**kept) for name, kept in value["checks"].items()}
        return str(value["strength"]), checks
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return "", {}
