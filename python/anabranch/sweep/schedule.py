"""Which replications of which point are computed next.

Points take turns, in rounds that `Replications` sets. A round is cut into
units of about a second, as earlier units measured it, so that files are few
and an interruption costs little. How rounds are cut changes no result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any

import pyarrow as pa

from anabranch.errors import RunError
from anabranch.experiment import Scenario
from anabranch.sweep.executors import Executor
from anabranch.sweep.metrics import Metric, Replications
from anabranch.sweep.store import Point, Store, Unit
from anabranch.sweep.tables import run_tables

UNIT_S = 1.0
"""What a unit should take, in seconds."""


def compute(
    scenario: str, seed: int, first: int, count: int, series: bool
) -> tuple[dict[str, pa.Table], float]:
    """Runs a unit: its tables, and the seconds that it took. Called where the executor likes."""
    began = time.perf_counter()
    source = Scenario(scenario)
    if series:
        numbers = range(first, first + count)
        results = [source.run(seed=seed, replication=n, trace_hash=True) for n in numbers]
    else:
        results = source.run_batch(count, first=first, seed=seed, trace_hash=True)
    return run_tables(results, series=series), time.perf_counter() - began


class Progress:
    """The progress of one point of a sweep."""

    def __init__(self, point: Point, finished: Mapping[int, int]) -> None:
        self.point = point
        self.finished = dict(finished)
        """Finished units: first replication and number."""
        self.values: dict[str, dict[int, float]] = {}
        """Of each metric the number of each replication."""
        self.failed: str | None = None
        self.target = 0

    def learn(self, metrics: Iterable[Metric], tables: Mapping[str, pa.Table]) -> None:
        """Takes the metrics of finished runs from their tables."""
        for metric in metrics:
            self.values.setdefault(metric.name, {}).update(metric.values(tables))

    def done(self) -> int:
        """Replications finished without a gap from the first on."""
        end = 0
        while end in self.finished:
            end += self.finished[end]
        return end

    def within(self) -> int:
        """Replications finished of those that are wanted."""
        return self.target - sum(count for _, count in self.gaps(self.target))

    def gaps(self, target: int) -> list[tuple[int, int]]:
        """The replications below `target` that are missing, as (first, number)."""
        missing, at = [], 0
        for first in sorted(self.finished):
            if first >= target:
                break
            if first > at:
                missing.append((at, first - at))
            at = max(at, first + self.finished[first])
        if at < target:
            missing.append((at, target - at))
        return missing


class Schedule:
    """Leads one sweep to its end."""

    def __init__(
        self,
        store: Store,
        points: list[Point],
        rule: Replications,
        metrics: list[Metric],
        *,
        series: bool,
        progress: Callable[[int, int], None],
    ) -> None:
        self.store = store
        self.rule = rule
        self.metrics = metrics
        self.series = series
        self.progress = progress
        self.points = [Progress(point, store.units(point)) for point in points]
        for state in self.points:
            for first in state.finished:
                tables = {metric.table for metric in metrics}
                state.learn(metrics, store.read_unit(state.point, first, tables))
        self._seconds: float | None = None

    def run(self, executor: Executor) -> None:
        """Computes what is missing; a point that fails does not stop the others."""
        waiting = {id(state): self._round(state) for state in self.points}
        flying: dict[Future[Any], tuple[Progress, Unit]] = {}
        self._tell()
        while flying or any(waiting.values()):
            for state in self.points:
                ready = waiting[id(state)]
                while ready and len(flying) < 2 * executor.workers:
                    unit = self._cut(state, ready, executor.workers)
                    scenario, seed = unit.point.scenario, unit.point.seed
                    arguments = (scenario, seed, unit.first, unit.count, self.series)
                    flying[executor.submit(compute, *arguments)] = (state, unit)
            # A timeout, so that an interrupt is heard.
            done, _ = wait(flying, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in done:
                state, unit = flying.pop(future)
                try:
                    tables, seconds = future.result()
                except RunError as error:
                    state.failed = state.failed or str(error)
                    waiting[id(state)] = []
                    continue
                self._seconds = seconds / unit.count
                self.store.commit(unit, tables)
                state.finished[unit.first] = unit.count
                state.learn(self.metrics, tables)
                in_flight = any(other is state for other, _ in flying.values())
                if not waiting[id(state)] and not in_flight and state.failed is None:
                    waiting[id(state)] = self._round(state)
                self._tell()

    def _round(self, state: Progress) -> list[tuple[int, int]]:
        """What is missing of the point's next round; nothing when it has enough."""
        values = state.values.get(self.rule.metric or "", {})
        state.target = self.rule.target(state.done(), values)
        return state.gaps(state.target)

    def _cut(self, state: Progress, ready: list[tuple[int, int]], workers: int) -> Unit:
        """Takes a unit off a round: one run as long as nothing is known of how long runs are."""
        first, count = ready.pop(0)
        size = 1 if self._seconds is None else max(1, int(UNIT_S / max(self._seconds, 1e-6)))
        size = min(size, max(1, -(-count // workers)), count)
        if size < count:
            ready.insert(0, (first + size, count - size))
        return Unit(state.point, first, size)

    def _tell(self) -> None:
        done = sum(state.within() for state in self.points)
        self.progress(done, sum(state.target for state in self.points))
