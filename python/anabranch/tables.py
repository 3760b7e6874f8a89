"""The CSV files that others rely on: their columns, in order.

Numbers are written by `repr`, the shortest text that reads back as the same
number; a missing number is an empty field.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from anabranch import timeline
from anabranch.files import write_text
from anabranch.recorded import TABLES, Recorded, Series
from anabranch.rows import CsvRow
from anabranch.timeline import Event

FLOW_COLUMNS = (
    "flow",
    "protocol",
    "start_s",
    "finish_s",
    "completion_s",
    "bytes",
    "goodput_bps",
    "retransmitted_packets",
    "fast_retransmits",
    "timeouts",
)
CLAIM_COLUMNS = (
    "study",
    "claim",
    "verdict",
    "expected",
    "measured",
    "ci_low",
    "ci_high",
    "n",
    "note",
)
TIME_COLUMNS = ("series", "time_s", "value")
POINT_COLUMNS = ("series", "x", "mean", "ci_low", "ci_high", "n")


def cell(value: Any) -> str:
    """Writes the text of one field."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    return repr(value) if isinstance(value, float) else str(value)


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> None:
    """Writes rows atomically: the agreed columns first, then any that were added."""
    table = list(rows)
    extra = list(dict.fromkeys(name for row in table for name in row if name not in columns))
    header = [*columns, *extra]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([cell(row.get(name)) for name in header] for row in table)
    write_text(path, text.getvalue())


def read_csv(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, as text."""
    with path.open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def series_rows(series: Series) -> list[CsvRow]:
    """One row a sample, columns in the order in which they were recorded."""
    names = list(series)
    return [
        dict(zip(names, values, strict=True))
        for values in zip(*(series[name].tolist() for name in names), strict=True)
    ]


def write_run(directory: Path, result: Recorded) -> list[Path]:
    """`flows.csv`, `links.csv`, `series/<name>.csv` and, where there are any, the other tables of
    `recorded.TABLES` and `timeline.csv`; returns what was written."""
    written = [directory / "flows.csv", directory / "links.csv"]
    write_csv(written[0], FLOW_COLUMNS, result.flows)
    link_columns = list(result.links[0]) if result.links else ["name"]
    write_csv(written[1], link_columns, result.links)
    for name in (each for each in TABLES if each not in ("flows", "links")):
        if rows := result.rows_of(name):
            written.append(directory / f"{name}.csv")
            write_csv(written[-1], list(rows[0]), rows)
    if result.series or result.events:
        written.append(directory / "timeline.csv")
        write_csv(written[-1], Event.columns(), timeline.events(result))
    for name, series in sorted(result.series.items()):
        path = directory / "series" / f"{file_name(name)}.csv"
        write_csv(path, list(series), series_rows(series))
        written.append(path)
    return written


def file_name(name: str) -> str:
    """A series' name as a file name: what a file system may refuse becomes `_`."""
    return "".join(c if c.isalnum() or c in "-._" else "_" for c in name).lstrip(".") or "_"
