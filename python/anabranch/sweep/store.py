"""The folder of a sweep: a Parquet dataset that grows by whole units.

    DIR/sweep.json                            what was asked for
    DIR/points.parquet                        a row a point: parameters, seed, version, scenario
    DIR/runs/point=ID/first=N/flows.parquet   the replications from N on; links, runs, ... too
    DIR/runs/point=ID/first=N/_unit.json      the unit's marker: a checksum of each of its files
    DIR/superseded/                           points no longer asked for, units that were damaged
    DIR/summary.csv                           means with intervals, once all is done

A unit (`first=N`) appears by renaming its folder: it is whole or absent, also
after kill -9. What happens to its files later its marker shows; such a unit is
computed again. A point's name is a hash of what its rows are a function of:
parameters, resolved scenario, seed and code.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from anabranch.arrow import rows_table
from anabranch.errors import InputError, RunError
from anabranch.files import output_directory, replacing, write_text
from anabranch.native import code_fingerprint
from anabranch.sweep import marker
from anabranch.sweep.parameters import Value

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

FORMAT = 2
"""Raised when the layout of the dataset changes."""


@dataclass(frozen=True)
class Point:
    """A combination of the parameters, ready to run."""

    name: str
    labels: Mapping[str, Value]
    scenario: str
    """The resolved scenario: every default spelt out, traces included."""
    seed: int

    @classmethod
    def of(cls, labels: Mapping[str, Value], scenario: str, seed: int) -> Point:
        """The point with the name that its results have."""
        identity = json.dumps([FORMAT, code_fingerprint(), dict(labels), scenario, seed])
        return cls(hashlib.sha256(identity.encode()).hexdigest()[:16], labels, scenario, seed)


@dataclass(frozen=True)
class Unit:
    """Replications `first` to `first + count - 1` of a point: what is computed at once."""

    point: Point
    first: int
    count: int


class Store:
    """The dataset of one sweep on disk."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.runs = directory / "runs"
        self.partial = directory / ".partial"
        """Where units are written before they are renamed: outside what readers look at."""
        self.damaged: list[str] = []
        """Units that were set aside since the folder was opened: which file, and why."""
        self._units: dict[str, dict[int, int]] = {}

    @contextmanager
    def opened(self, points: list[Point], facts: dict[str, Any], resume: bool) -> Iterator[None]:
        """Takes the folder for this process and writes what the sweep is.

        A folder that holds a sweep is continued only if `resume` says so. Points
        of it that are no longer asked for go to `superseded/`.
        """
        output_directory(self.directory)
        with (self.directory / ".lock").open("w") as lock:
            try:
                _lock(lock)
            except OSError:
                allowed = "a folder in which no other sweep is running"
                raise InputError.about(
                    str(self.directory), "--out", str(self.directory), allowed
                ) from None
            if (self.directory / "sweep.json").exists() and not resume:
                allowed = "a folder without a sweep, or --resume to continue this one"
                raise InputError.about(str(self.directory), "--out", str(self.directory), allowed)
            wanted = {point.name for point in points}
            if facts.get("series") and (before := self.facts()) and not before.get("series"):
                wanted = set()
                self.damaged.append(f"{self.directory}: its runs kept no series")
            self._set_aside(wanted)
            write_text(self.directory / "sweep.json", json.dumps(facts, indent=2) + "\n")
            self._write_points(points, str(facts["version"]))
            yield

    def facts(self) -> dict[str, Any]:
        """What was asked for when the folder was last written; nothing of an empty folder."""
        try:
            found = json.loads((self.directory / "sweep.json").read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def keeps_series(self) -> bool:
        """Whether the runs were asked to keep their series."""
        return bool(self.facts().get("series"))

    def _set_aside(self, wanted: set[str]) -> None:
        shutil.rmtree(self.partial, ignore_errors=True)
        for folder in self.runs.glob("point=*"):
            if folder.name.removeprefix("point=") not in wanted:
                self._supersede(folder)

    def _supersede(self, folder: Path) -> None:
        """Moves what was a point or a unit out of the dataset."""
        target = self.directory / "superseded" / folder.relative_to(self.runs)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.is_dir():
                shutil.rmtree(target)
            folder.rename(target)
        except OSError as error:
            reason = error.strerror or error
            raise RunError(f"{folder}: cannot be moved to {target}: {reason}") from None

    def _write_points(self, points: list[Point], version: str) -> None:
        table = rows_table(
            [
                {
                    "point": point.name,
                    **point.labels,
                    "seed": point.seed,
                    "version": version,
                    "code": code_fingerprint(),
                    "scenario": point.scenario,
                }
                for point in points
            ]
        )
        with replacing(self.directory / "points.parquet") as path:
            pq.write_table(table, path)

    def folder(self, point: Point, first: int) -> Path:
        """Returns the folder of a unit, present or future."""
        return self.runs / f"point={point.name}" / f"first={first}"

    def commit(self, unit: Unit, tables: Mapping[str, pa.Table]) -> None:
        """Adds a finished unit: the parameters come first in every row."""
        target = self.folder(unit.point, unit.first)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            self.partial.mkdir(exist_ok=True)
            partial = Path(tempfile.mkdtemp(dir=self.partial))
            partial.chmod(0o755)
            for name, table in tables.items():
                labelled = _with_labels(name, table, unit.point.labels)
                pq.write_table(labelled, partial / f"{name}.parquet")
            marker.write(partial, unit.count)
            partial.rename(target)
        except OSError as error:
            raise RunError(f"{target}: cannot be written: {error.strerror or error}") from None
        self._units.setdefault(unit.point.name, {})[unit.first] = unit.count

    def units(self, point: Point) -> dict[int, int]:
        """The finished units of a point: first replication and number.

        They are checked against their markers once. What is damaged, or no unit of ours, is
        moved to `superseded/` and told in `damaged`.
        """
        if point.name not in self._units:
            found = {}
            for folder in sorted((self.runs / f"point={point.name}").glob("first=*")):
                first = folder.name.removeprefix("first=")
                try:
                    if not (first.isascii() and first.isdigit()):
                        raise marker.Damaged(f"{folder}: the name of no unit")
                    found[int(first)] = marker.check(folder)
                except marker.Damaged as reason:
                    self._supersede(folder)
                    self.damaged.append(str(reason))
            self._units[point.name] = found
        return dict(self._units[point.name])

    def read_unit(self, point: Point, first: int, tables: set[str]) -> dict[str, pa.Table]:
        """Some tables of a finished unit."""
        folder = self.folder(point, first)
        return {
            name: pq.read_table(folder / f"{name}.parquet", partitioning=None)
            for name in tables
            if (folder / f"{name}.parquet").exists()
        }

    def table(self, name: str, point: Point, count: int) -> list[pa.Table]:
        """A table of the first `count` replications of a point, in parts, in order."""
        parts = []
        for first in sorted(self.units(point)):
            for table in self.read_unit(point, first, {name}).values():
                parts.append(table.filter(pc.less(table["replication"], count)))
        return parts


def _with_labels(name: str, table: pa.Table, labels: Mapping[str, Any]) -> pa.Table:
    for index, (key, value) in enumerate(labels.items()):
        if key in table.column_names:
            allowed = f"a name that is no column of {name}: {', '.join(table.column_names)}"
            raise InputError.about("sweep", "parameters.name", key, allowed)
        table = table.add_column(index, key, pa.repeat(pa.scalar(value), table.num_rows))
    return table


def _lock(file: IO[str]) -> None:
    """Locks the file until it is closed; raises `OSError` where another process has it."""
    if sys.platform == "win32":
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
