"""Results as Arrow tables: polars and pandas read them without copies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from anabranch.experiment import RunResult, Series

TABLES = ("flows", "links", "paths", "messages", "regulators")
"""The tables of a run that have a row for each flow, link, ..."""

RUN_COLUMNS = ("events", "packet_hops", "dropped_checksum", "end_s", "cpu_s", "trace_hash")
"""What the table `runs` keeps of a run's facts."""


def rows_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows with the same names as a table.

    A column whose values are all missing is one of numbers: of all that a run
    leaves out, nothing is a text.
    """
    names = list(rows[0]) if rows else []
    columns = {name: column([row[name] for row in rows]) for name in names}
    return pa.table(columns)


def column(values: Sequence[Any]) -> pa.Array:
    """An array of texts, truth values, 64-bit integers or floats, whichever holds all."""
    array = pa.array(values)
    return array.cast(pa.float64()) if pa.types.is_null(array.type) else array


def series_table(series: Series) -> pa.Table:
    """The columns of one recorded series, without a copy."""
    return pa.table({name: pa.array(values) for name, values in series.items()})


def run_tables(results: Iterable[RunResult], *, series: bool = False) -> dict[str, pa.Table]:
    """The tables of several runs, each row with its `replication` and `seed` first.

    `runs` has a row a run. With `series` there is a table `series` in long form:
    `series`, `time_s`, `value`. A table without rows is left out.
    """
    runs = list(results)
    tables: dict[str, pa.Table] = {}
    for name in TABLES:
        rows = [{**_key(run), **row} for run in runs for row in getattr(run, name)]
        if rows:
            tables[name] = rows_table(rows)
    tables["runs"] = rows_table(
        [{**_key(run), **{name: run.run[name] for name in RUN_COLUMNS}} for run in runs]
    )
    if series and (parts := [part for run in runs for part in _long(run)]):
        tables["series"] = pa.concat_tables(parts)
    return tables


def _key(run: RunResult) -> dict[str, int]:
    return {"replication": run.run["replication"], "seed": run.run["seed"]}


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
