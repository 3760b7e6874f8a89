"""Rows and series as Arrow tables: polars and pandas read them without copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa


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


def series_table(series: Mapping[str, Any]) -> pa.Table:
    """The columns of one recorded series, without a copy."""
    return pa.table({name: pa.array(values) for name, values in series.items()})
