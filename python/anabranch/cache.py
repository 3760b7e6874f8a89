"""Finished runs of a study, kept as files so that an interrupted one continues.

A run's key is the hash of its resolved scenario, its seed and the code that
computes it; its file appears by renaming, so it is whole or absent. A file
that cannot be read is computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from anabranch.experiment import RunResult, Scenario, code_fingerprint
from anabranch.files import replacing, write_text

T = TypeVar("T")
R = TypeVar("R")

FORMAT = 5
"""Raised when the layout of the files changes."""

FACTS = [field.name for field in fields(RunResult) if field.name != "series"]
"""What a result holds beside its series: tables, and facts of the run."""


class RunCache:
    """The folder `runs/` of a study."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def path(self, scenario: Scenario) -> Path:
        """Where the scenario's result is, or will be."""
        identity = json.dumps([FORMAT, code_fingerprint(), scenario.resolved()])
        return self.directory / f"{hashlib.sha256(identity.encode()).hexdigest()[:32]}.npz"

    def get(self, scenario: Scenario) -> tuple[RunResult, bool]:
        """The result, and whether it was already there."""
        path = self.path(scenario)
        stored = load(path)
        if stored is not None:
            return stored, True
        result = scenario.run()
        store(path, result)
        return result, False

    def get_all(
        self, scenarios: Sequence[Scenario], jobs: int, progress: Callable[[int, int], None]
    ) -> list[RunResult]:
        """All results in order, `jobs` runs at a time; calls `progress` for each."""
        return in_order(lambda scenario: self.get(scenario)[0], scenarios, jobs, progress)

    def get_batch(
        self, scenario: Scenario, replications: int, series: bool = False
    ) -> list[RunResult]:
        """So many replications of a scenario, without their series unless asked for.

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
    """A replication as it is kept: the scenario is the batch's, and stands in its name."""
    run = {name: value for name, value in result.run.items() if name != "resolved"}
    return replace(result, run=run, series=result.series if series else {})


def _facts(result: RunResult) -> dict[str, Any]:
    """All of a result but its series."""
    return {name: getattr(result, name) for name in FACTS}


def _result(facts: dict[str, Any], series: dict[str, dict[str, Any]]) -> RunResult:
    return RunResult(series=series, **{name: facts[name] for name in FACTS})


def store_rows(path: Path, results: Sequence[RunResult]) -> None:
    """Writes a batch as JSON, atomically."""
    rows = [{**_facts(result), "series": result.series} for result in results]
    write_text(path, json.dumps(rows, default=lambda value: value.tolist()))


def load_rows(path: Path) -> list[RunResult] | None:
    """Reads a stored batch; `None` when there is none that can be read."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
        return [_result(row, _arrays(row["series"])) for row in rows]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _arrays(series: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        name: {column: np.array(values) for column, values in columns.items()}
        for name, columns in series.items()
    }


def store(path: Path, result: RunResult) -> None:
    """Writes a result as one NumPy archive, atomically."""
    arrays: dict[str, Any] = {}
    names: list[list[str]] = []
    for name, columns in sorted(result.series.items()):
        for column, values in columns.items():
            arrays[f"a{len(names)}"] = values
            names.append([name, column])
    facts = {**_facts(result), "names": names}
    arrays["facts"] = np.array(json.dumps(facts, default=lambda number: number.item()))
    with replacing(path) as temporary, temporary.open("wb") as handle:
        np.savez_compressed(handle, **arrays)
        handle.flush()
        os.fsync(handle.fileno())


def load(path: Path) -> RunResult | None:
    """Reads a stored result; `None` when there is none that can be read."""
    try:
        with path.open("rb") as handle, np.load(handle, allow_pickle=False) as archive:
            facts = json.loads(str(archive["facts"]))
            series: dict[str, dict[str, Any]] = {}
            for index, (name, column) in enumerate(facts["names"]):
                series.setdefault(name, {})[column] = archive[f"a{index}"]
            return _result(facts, series)
    except Exception:
        # Zip, zlib and NumPy each have exceptions of their own for what is damaged.
        return None
