"""Finished runs of a study, kept as files so that an interrupted one continues.

A run's key is the hash of its resolved scenario, its seed and the code that
computes it. A single run with series is a NumPy archive, `KEY.npz`. Single runs
without are small and many: those that end within a second are one file,
`singles-CODE-HASH.json`, of facts by key. Replications of a scenario are one file,
`KEY.json` or `KEY.series.json`. Files appear by renaming, so they are whole or
absent; none is forced to the disk, and one that cannot be read is computed again.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from anabranch.experiment import RunResult, Scenario
from anabranch.files import replacing, write_text
from anabranch.native import code_fingerprint
from anabranch.recorded import Series
from anabranch.rows import plain

T = TypeVar("T")
R = TypeVar("R")

FORMAT = 6
"""Raised when the layout of the files changes."""
SINGLES_S = 1.0
"""Seconds of finished single runs that an interruption may lose."""

NOTHING: Mapping[str, Any] = {}

Facts = dict[str, Any]
"""All of a result but its series, as JSON has it."""

FACTS = [field.name for field in fields(RunResult) if field.name != "series"]
"""What a result holds beside its series: tables, and facts of the run."""


class RunCache:
    """The folder `runs/` of a study."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def key(self, scenario: Scenario) -> str:
        """Returns the key under which the scenario's result is found."""
        identity = json.dumps([FORMAT, code_fingerprint(), scenario.resolved()])
        return hashlib.sha256(identity.encode()).hexdigest()[:32]

    def path(self, scenario: Scenario) -> Path:
        """Returns the file of the scenario's result, present or future, if it has series."""
        return self.directory / f"{self.key(scenario)}.npz"

    def get(self, scenario: Scenario) -> tuple[RunResult, bool]:
        """The result, and whether it was already there."""
        with Singles(self.directory) as singles:
            return self._get(scenario, singles)

    def get_all(
        self, scenarios: Sequence[Scenario], jobs: int, progress: Callable[[int, int], None]
    ) -> list[RunResult]:
        """All results in order, `jobs` runs at a time; calls `progress` for each."""
        if not scenarios:
            return []
        with Singles(self.directory) as singles:
            return in_order(lambda each: self._get(each, singles)[0], scenarios, jobs, progress)

    def _get(self, scenario: Scenario, singles: Singles) -> tuple[RunResult, bool]:
        key = self.key(scenario)
        path = self.directory / f"{key}.npz"
        stored = singles.find(key) or load(path)
        if stored is not None:
            return stored, True
        result = _slim(scenario.run(), series=True)
        if result.series:
            store(path, result)
        else:
            singles.add(key, result)
        return result, False

    def get_batch(
        self, scenario: Scenario, replications: int, series: bool = False
    ) -> list[RunResult]:
        """Returns so many replications of a scenario, without their series unless asked for.

        Those that are there are continued: the file grows by what is missing.
        """
        path = self.path(scenario).with_suffix(".series.json" if series else ".json")
        stored = load_rows(path) or []
        if len(stored) < replications:
            missing = scenario.run_batch(replications - len(stored), first=len(stored))
            stored += [_slim(result, series) for result in missing]
            store_rows(path, stored)
        return stored[:replications]

    def get_batches(
        self,
        batches: Sequence[tuple[Scenario, int]],
        jobs: int,
        progress: Callable[[int, int], None],
        series: bool = False,
    ) -> list[list[RunResult]]:
        """All batches in order, `jobs` at a time; calls `progress` for each."""
        return in_order(lambda batch: self.get_batch(*batch, series), batches, jobs, progress)


class Singles:
    """Single runs without series that have finished, many to a file; for several threads.

    A context, at whose end all of them are in files.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._stem = f"singles-{code_fingerprint()}-{FORMAT}"
        self._stored: dict[str, Facts] = {}
        for path in sorted(directory.glob(f"{self._stem}-*.json")):
            self._stored |= _load_facts(path)
        self._new: dict[str, Facts] = {}
        self._written = time.monotonic()
        self._lock = threading.Lock()

    def __enter__(self) -> Singles:
        return self

    def __exit__(self, *_: object) -> None:
        self._write()

    def find(self, key: str) -> RunResult | None:
        """The stored run of the key, if there is one that can be read."""
        facts = self._stored.get(key)
        try:
            return None if facts is None else _result(facts, {})
        except (KeyError, TypeError):
            return None

    def add(self, key: str, result: RunResult) -> None:
        """Keeps a run; it is in a file `SINGLES_S` later, or when the next one ends."""
        with self._lock:
            self._new[key] = _facts(result)
            due = time.monotonic() - self._written >= SINGLES_S
        if due:
            self._write()

    def _write(self) -> None:
        """Writes the runs that no file has yet as one file."""
        with self._lock:
            new, self._new = self._new, {}
            self._written = time.monotonic()
        if new:
            names = hashlib.sha256(json.dumps(sorted(new)).encode()).hexdigest()[:16]
            write_text(self._directory / f"{self._stem}-{names}.json", _json(new))


def _load_facts(path: Path) -> Mapping[str, Facts]:
    """Facts by key; none from a file that cannot be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _json(value: Any) -> str:
    """With numbers and arrays of NumPy as JSON has them."""
    return json.dumps(value, default=plain)


def in_order(
    function: Callable[[T], R],
    arguments: Sequence[T],
    jobs: int,
    progress: Callable[[int, int], None],
) -> list[R]:
    """The function of each argument, in order, on `jobs` threads."""
    results: dict[int, R] = {}
    progress(0, len(arguments))
    pool = ThreadPoolExecutor(max_workers=jobs)
    try:
        futures: dict[Future[R], int] = {
            pool.submit(function, argument): index for index, argument in enumerate(arguments)
        }
        for done, future in enumerate(as_completed(futures), start=1):
            results[futures[future]] = future.result()
            progress(done, len(arguments))
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
    return [results[index] for index in range(len(arguments))]


def _slim(result: RunResult, series: bool) -> RunResult:
    """A run as it is kept: its scenario stands in its key."""
    run = replace(result.run, resolved="")
    return replace(result, run=run, series=result.series if series else {})


def _facts(result: RunResult) -> Facts:
    """All of a result but its series."""
    return {name: getattr(result, name) for name in FACTS}


def _result(facts: Facts, series: Mapping[str, Mapping[str, Any]]) -> RunResult:
    return RunResult.from_native({**facts, "series": series})


def store_rows(path: Path, results: Sequence[RunResult]) -> None:
    """Writes a batch as JSON, atomically."""
    rows = [{**_facts(result), "series": result.series} for result in results]
    write_text(path, _json(rows))


def load_rows(path: Path) -> list[RunResult] | None:
    """Reads a stored batch; `None` when there is none that can be read."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return [_result(row, row["series"]) for row in rows]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def store(path: Path, result: RunResult, more: Mapping[str, Any] = NOTHING) -> None:
    """Writes a result as one NumPy archive, atomically; `more` are facts to keep beside it."""
    arrays: dict[str, Any] = {}
    names: list[list[str]] = []
    for name, columns in sorted(result.series.items()):
        for column, values in columns.items():
            arrays[f"a{len(names)}"] = values
            names.append([name, column])
    facts = {**_facts(result), "names": names, "more": more}
    arrays["facts"] = np.array(_json(facts))
    with replacing(path) as temporary, temporary.open("wb") as handle:
        np.savez_compressed(handle, **arrays)


def load(path: Path) -> RunResult | None:
    """Reads a stored result; `None` when there is none that can be read."""
    found = load_with_more(path)
    return None if found is None else found[0]


def load_with_more(path: Path) -> tuple[RunResult, Facts] | None:
    """Reads a stored result, and what was kept beside it; `None` when there is none that can be
    read."""
    try:
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as archive:
            facts = json.loads(str(archive["facts"]))
            series: dict[str, Series] = {}
            for index, (name, column) in enumerate(facts["names"]):
                series.setdefault(name, {})[column] = archive[f"a{index}"]
            return _result(facts, series), facts.get("more", {})
    except Exception:
        # Zip, zlib and NumPy each have exceptions of their own for what is damaged.
        return None
