"""Rows and series as Arrow tables: polars and pandas read them without copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

_ARROW = {str: pa.string(), bool: pa.bool_(), int: pa.int64(), float: pa.float64()}


def rows_table(
    rows: Sequence[Mapping[str, Any]], types: Mapping[str, type] | None = None
) -> pa.Table:
    """Rows with the same names as a table.

    `types` says what columns hold, so that tables of several runs fit together whatever is missing
    in one of them. Without it a column whose values are all missing is one of numbers.
    """
    names = list(rows[0]) if rows else []
    columns = {name: column([row[name] for row in rows], (types or {}).get(name)) for name in names}
    return pa.table(columns)


def column(values: Sequence[Any], kind: type | None = None) -> pa.Array:
    """An array of texts, truth values, 64-bit integers or floats: of `kind`, else whichever holds
    all."""
    if kind in _ARROW:
        return pa.array(values, _ARROW[kind])
    array = pa.array(values)
    return array.cast(pa.float64()) if pa.types.is_null(array.type) else array


def series_table(series: Mapping[str, Any]) -> pa.Table:
    """The columns of one recorded series, without a copy."""
    return pa.table({name: pa.array(values) for name, values in series.items()})
