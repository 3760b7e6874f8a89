"""The result of a sweep that a folder holds, without running anything."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from anabranch.errors import InputError, RunError
from anabranch.sweep import marker
from anabranch.sweep.metrics import Metric, Replications
from anabranch.sweep.schedule import Progress
from anabranch.sweep.store import Point, Store
from anabranch.sweep.sweep import DEFAULT_METRICS, SweepResult

FILE = "sweep.json"
BESIDE = ("point", "seed", "version", "code", "scenario")
"""Columns of `points.parquet` that are no parameters."""


def read(directory: str | Path) -> SweepResult:
    """Reads what is finished of the sweep in a folder; a damaged unit is an error that names the
    file."""
    folder = Path(directory)
    try:
        facts = json.loads((folder / FILE).read_text(encoding="utf-8"))
        rows = pq.read_table(folder / "points.parquet").to_pylist()
        metrics = [_metric(each) for each in facts.get("metrics", ())] or list(DEFAULT_METRICS)
    except (OSError, ValueError, TypeError, KeyError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError.about(str(folder), FILE, reason, "a folder that `sweep` wrote") from None
    store = Store(folder)
    states = []
    for row in rows:
        labels = {name: value for name, value in row.items() if name not in BESIDE}
        point = Point(row["point"], labels, row["scenario"], row["seed"])
        states.append(_state(store, point, metrics))
    if not any(state.target for state in states):
        raise InputError.about(str(folder), "runs", "none finished", "run `sweep --resume` first")
    rule = Replications(1, 1, confidence=float(facts.get("confidence", 0.95)))
    return SweepResult(store, states, metrics, rule)


def _state(store: Store, point: Point, metrics: list[Metric]) -> Progress:
    finished: dict[int, int] = {}
    for folder in sorted((store.runs / f"point={point.name}").glob("first=*")):
        try:
            finished[int(folder.name.removeprefix("first="))] = marker.check(folder)
        except (marker.Damaged, ValueError) as error:
            raise RunError(f"{error}; `sweep --resume` computes it again") from None
    state = Progress(point, finished)
    state.target = state.done()
    for first in finished:
        state.learn(metrics, store.read_unit(point, first, {each.table for each in metrics}))
    return state


def _metric(facts: dict[str, Any]) -> Metric:
    of = facts["of"]
    return Metric(**{**facts, "of": tuple(of) if isinstance(of, list) else of})
