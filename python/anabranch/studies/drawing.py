"""A study's figure as files: the table, and the pictures drawn from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from anabranch import figures
from anabranch.figures import Plot
from anabranch.studies.results import FigureEntry
from anabranch.tables import POINT_COLUMNS, TIME_COLUMNS, write_csv

Rows = Iterable[Mapping[str, Any]]


def points(directory: Path, stem: str, rows: Rows, plot: Plot, caption: str) -> FigureEntry:
    """Means with their intervals, columns `series,x,mean,ci_low,ci_high,n`."""
    path = directory / f"{stem}.csv"
    table = [{name: row[name] for name in POINT_COLUMNS} for row in rows]
    write_csv(path, POINT_COLUMNS, table)
    figures.points(path, plot)
    return FigureEntry(stem, caption)


def times(directory: Path, stem: str, rows: Rows, plot: Plot, caption: str) -> FigureEntry:
    """Series over time, columns `series,time_s,value`."""
    path = directory / f"{stem}.csv"
    write_csv(path, TIME_COLUMNS, rows)
    figures.time_series(path, plot)
    return FigureEntry(stem, caption)
