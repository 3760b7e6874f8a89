"""A sweep's result as a frame that can be drawn."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pandas as pd
import pyarrow as pa

from anabranch import si
from anabranch.errors import InputError
from anabranch.nearest import one_of
from anabranch.plotting.frame import Frame
from anabranch.sweep import series
from anabranch.sweep.metrics import TABLES, Metric, numeric_columns
from anabranch.sweep.schedule import Progress


def frame(
    states: Sequence[Progress],
    metrics: Sequence[Metric],
    confidence: float,
    rows_of: Callable[[str], pa.Table],
    *,
    y: str | None,
    kept: bool,
    origin: str,
) -> Frame:
    """A metric of the sweep, a column of one of its tables (`flows` unless `TABLE.COLUMN`), or a
    kind of the series of its runs, where `kept` says that they were kept."""
    parameters = list(states[0].point.labels)
    order = {
        name: list(dict.fromkeys(state.point.labels[name] for state in states))
        for name in parameters
    }
    known = {metric.name: metric for metric in metrics}
    metric = known.get(y or metrics[0].name)
    if metric is not None:
        rows = [
            {**state.point.labels, "replication": at, metric.name: value}
            for state in states
            for at, value in sorted(state.values.get(metric.name, {}).items())
            if at < state.target
        ]
        data = pd.DataFrame(rows, columns=[*parameters, "replication", metric.name])
        same = metric.name == metric.column
        name = si.name_of(metric.column) if same else metric.name.replace("_", " ")
        return Frame(
            data, metric.name, metric.unit, name, tuple(parameters), order,
            bounds=(0.0, metric.most), confidence=confidence, origin=origin,
        )  # fmt: skip
    assert y is not None
    table, _, column = y.rpartition(".")
    kind = TABLES.get(table or "flows")
    if not table and (series.is_series(y) or y in series.kinds(rows_of("series"))):
        return series.frame(
            rows_of, y, parameters=parameters, order=order, kept=kept, origin=origin
        )
    if kind is None or column not in numeric_columns(kind):
        columns = numeric_columns(kind) if kind else [f"{each}.COLUMN" for each in TABLES]
        others = [] if table else series.kinds(rows_of("series"))
        raise InputError.about(origin, "--y", y, one_of(column, [*known, *columns, *others]))
    data = pd.DataFrame(rows_of(table or "flows").to_pydict())
    if column not in data:
        raise InputError.about(origin, "--y", y, f"runs that have rows in `{table}`")
    subjects = ("flow", "from", "to", "name")
    beside = tuple(each for each in subjects if each in data and data[each].nunique() > 1)
    return Frame(
        data, column, si.unit_of(column), varied=(*parameters, *beside), order=order,
        bounds=(0.0, math.inf), confidence=confidence, origin=origin,
    )  # fmt: skip
