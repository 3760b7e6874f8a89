"""The tables of several runs of a scenario, as a sweep stores them."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from anabranch.arrow import rows_table
from anabranch.experiment import RunResult
from anabranch.recorded import TABLES
from anabranch.sweep.metrics import KEPT


def run_tables(results: Iterable[RunResult], *, series: bool = False) -> dict[str, pa.Table]:
    """The tables of several runs, each row with its `replication` and `seed` first.

    `runs` has a row a run. With `series` there is a table `series` in long form:
    `series`, `time_s`, `value`. A table without rows is left out.
    """
    runs = list(results)
    tables: dict[str, pa.Table] = {}
    for name, kind in TABLES.items():
        rows = [{**_key(run), **row} for run in runs for row in run.rows_of(name)]
        if rows:
            tables[name] = rows_table(rows, kind.types())
    tables["runs"] = rows_table(
        [{**_key(run), **{name: run.run[name] for name in KEPT}} for run in runs]
    )
    if series and (parts := [part for run in runs for part in _long(run)]):
        tables["series"] = pa.concat_tables(parts)
    return tables


def _key(run: RunResult) -> dict[str, int]:
    return {"replication": run.run.replication, "seed": run.run.seed}


def _long(run: RunResult) -> Iterable[pa.Table]:
    for name, columns in sorted(run.series.items()):
        count = len(columns["time_s"])
        facts = {key: pa.repeat(pa.scalar(value), count) for key, value in _key(run).items()}
        names = pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), count), [name])
        yield pa.table(
            {
                **facts,
                "series": names.cast(pa.string()),
                "time_s": pa.array(columns["time_s"]),
                "value": pa.array(columns["value"], pa.float64()),
            }
        )
