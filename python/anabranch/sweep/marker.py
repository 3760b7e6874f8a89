"""The marker of a unit: what its folder holds, with a checksum of every file.

`_unit.json` stands beside the tables of a unit. It has the number of replications, the length
and SHA-256 of every file, and a SHA-256 of all that, so that a file that is missing, cut off or
changed is found, and a marker that is so too. Readers of datasets skip names that begin with `_`.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from anabranch.errors import RunError

NAME = "_unit.json"


class Damaged(RunError):
    """A unit that is not what was written: the file, and what is wrong with it."""


def write(folder: Path, replications: int) -> None:
    """Writes the marker of the files that `folder` has."""
    files = {
        path.name: {"bytes": path.stat().st_size, "sha256": _checksum(path)}
        for path in sorted(folder.iterdir())
    }
    facts = {"replications": replications, "files": files}
    text = json.dumps({**facts, "sha256": _of(facts)}, indent=2)
    (folder / NAME).write_text(text + "\n", encoding="utf-8")


def check(folder: Path) -> int:
    """Returns how many replications the unit in `folder` has.

    Raises `Damaged` for the first file that is missing, cut off, changed or not of the unit.
    """
    replications, files = _read(folder / NAME)
    for name, facts in files.items():
        path = folder / name
        try:
            length, checksum = path.stat().st_size, _checksum(path)
        except FileNotFoundError:
            raise Damaged(f"{path}: missing") from None
        except OSError as error:
            raise Damaged(f"{path}: cannot be read: {error.strerror or error}") from None
        if length != facts["bytes"]:
            raise Damaged(f"{path}: {length} octets of {facts['bytes']}")
        if checksum != facts["sha256"]:
            raise Damaged(f"{path}: changed: its SHA-256 is not the one of {NAME}")
    for path in folder.glob("*.parquet"):
        if path.name not in files:
            raise Damaged(f"{path}: not one of the files that {NAME} names")
    return replications


def _read(path: Path) -> tuple[int, dict[str, dict[str, Any]]]:
    try:
        read = json.loads(path.read_bytes())
        facts = {name: read[name] for name in ("replications", "files")}
        if _of(facts) != read["sha256"]:
            raise ValueError
    except FileNotFoundError:
        raise Damaged(f"{path}: missing") from None
    except OSError as error:
        raise Damaged(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError):
        raise Damaged(f"{path}: changed or cut off: its own SHA-256 does not match") from None
    return facts["replications"], facts["files"]


def _checksum(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _of(facts: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
