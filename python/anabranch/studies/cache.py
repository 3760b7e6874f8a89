"""Finished runs of a study, kept as files so that an interrupted one continues.

A run's key is the hash of its resolved scenario, its seed and the code that
computes it; its file appears by renaming, so it is whole or absent. A file
that cannot be read is computed again.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

from anabranch.experiment import RunResult, Scenario, code_fingerprint
from anabranch.files import replacing

FORMAT = 1
"""Raised when the layout of the files changes."""


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
        result = scenario.run(trace_hash=True)
        store(path, result)
        return result, False

    def get_all(
        self, scenarios: Sequence[Scenario], jobs: int, progress: Callable[[int, int], None]
    ) -> list[RunResult]:
        """All results in order, `jobs` runs at a time; calls `progress` for each."""
        results: list[RunResult | None] = [None] * len(scenarios)
        progress(0, len(scenarios))
        pool = ThreadPoolExecutor(max_workers=jobs)
        try:
            futures: dict[Future[tuple[RunResult, bool]], int] = {
                pool.submit(self.get, scenario): index for index, scenario in enumerate(scenarios)
            }
            for done, future in enumerate(as_completed(futures), start=1):
                results[futures[future]] = future.result()[0]
                progress(done, len(scenarios))
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return [result for result in results if result is not None]


def store(path: Path, result: RunResult) -> None:
    """Writes a result as one NumPy archive, atomically."""
    arrays: dict[str, Any] = {}
    names: list[list[str]] = []
    for name, columns in sorted(result.series.items()):
        for column, values in columns.items():
            arrays[f"a{len(names)}"] = values
            names.append([name, column])
    facts = {"flows": result.flows, "links": result.links, "run": result.run, "names": names}
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
            return RunResult(facts["flows"], series, facts["links"], facts["run"])
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile):
        return None
