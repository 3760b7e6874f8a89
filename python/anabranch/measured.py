"""Datagrams, pings, calls, videos and loads of pages of a run, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.table import Table

from anabranch import rows, si
from anabranch.recorded import Recorded

COLUMNS: dict[str, tuple[str, ...]] = {
    "datagrams": (
        "sent", "lost", "loss_ratio", "longest_loss_run", "reordered_ratio", "delay_mean_s",
        "delay_p50_s", "delay_p95_s", "delay_p99_s", "jitter_s",
    ),
    "pings": ("sent", "lost", "rtt_mean_s", "rtt_p50_s", "rtt_p95_s", "rtt_p99_s", "rtt_max_s"),
    "calls": ("codec", "lost", "late", "unplayed_ratio", "mouth_to_ear_s", "rating", "mos"),
    "videos": (
        "selection", "segments", "mean_rate_bps", "switches", "stalls", "stalled_s", "startup_s",
    ),
    "loads": ("begun", "complete", "load_time_mean_s", "load_time_p50_s", "load_time_p95_s",
              "load_time_max_s"),
}  # fmt: skip
"""The columns of each table that are printed; its file has all."""
MOST = 20
"""Rows printed of a table."""


def tables(result: Recorded) -> Iterator[Table]:
    """The table of each kind that the run has."""
    for name, columns in COLUMNS.items():
        found = result.rows_of(name)
        if found:
            more = len(found) - MOST
            title = f"{name}, {more} more in {name}.csv" if more > 0 else name
            yield _table(title, found[:MOST], columns)


def _table(title: str, found: Sequence[rows.Row], columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=None, header_style="bold")
    table.add_column("flow")
    for column in columns:
        table.add_column(si.name_of(column), justify="right")
    cells = [_cells([row[column] for row in found], column) for column in columns]
    for row, *shown in zip(found, *cells, strict=True):
        table.add_row(row["flow"], *shown)
    return table


def _cells(values: Sequence[Any], column: str) -> list[str]:
    if any(isinstance(value, str) for value in values):
        return [value or si.MISSING for value in values]
    return si.texts(values, si.unit_of(column))
