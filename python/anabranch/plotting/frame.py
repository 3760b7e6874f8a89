"""What a chart is made of: rows, the number that is drawn, and what tells the rows apart."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import pandas as pd

from anabranch import si
from anabranch.errors import InputError
from anabranch.nearest import one_of

REPLICATION = "replication"
"""The column that says of which run a row is: intervals are over runs, never over rows of one."""
HELD = "held"
"""The column that says of a row that it is no sample: it ends a line, at the last value."""


@dataclass(frozen=True)
class Frame:
    """Rows of a result with one number each that can be drawn."""

    data: pd.DataFrame
    y: str
    """The column of the number."""
    unit: str = si.UNKNOWN
    name: str = ""
    """What the axis calls it; the column's name in words unless given."""
    varied: tuple[str, ...] = ()
    """Columns that tell rows apart, the first parameter first."""
    order: Mapping[str, Sequence[object]] = field(default_factory=dict)
    """Of a column with names the order of its values, where it is not that of the rows."""
    x: str = ""
    """The horizontal axis unless asked otherwise; without it the first that varies."""
    most: int = 0
    """Of more series than these only those with the largest means are drawn; 0: all."""
    kind: str | None = None
    """How it is drawn unless asked otherwise."""
    steps: bool = False
    """A line holds its value until the next sample: the rows are series over time, on `x`."""
    moments: bool = False
    """Of such series: each sample is of one packet or message, and no value lasts."""
    low: str | None = None
    high: str | None = None
    """Columns with an interval, of rows that are estimates already."""
    bounds: tuple[float, float] = (-math.inf, math.inf)
    """The least and the largest value that the number can have: no interval goes beyond."""
    confidence: float = 0.95
    origin: str = "plot"
    """What messages call it: the folder it came from."""

    @property
    def label(self) -> str:
        """The name that the axis has for the number, without its unit."""
        return self.name or si.name_of(self.y)

    @property
    def replicated(self) -> bool:
        """Whether the frame has several runs of a point."""
        return REPLICATION in self.data and self.data[REPLICATION].nunique() > 1

    def values(self, column: str) -> list[object]:
        """The different values of a column, in their order."""
        present = list(pd.unique(self.data[column].dropna()))
        known = self.order.get(column)
        if known is None:
            return sorted(present) if pd.api.types.is_numeric_dtype(self.data[column]) else present
        return [value for value in known if value in present]

    def varying(self) -> list[str]:
        """Of the columns that tell rows apart those with more than one value that say more than
        those before: the far end of a path says nothing beside its near end."""
        found: list[str] = []
        for column in self.varied:
            count = self.data[column].nunique()
            pairs = (len(self.data[[each, column]].drop_duplicates()) for each in found)
            if count > 1 and not any(count == pair for pair in pairs):
                found.append(column)
        return found

    def runs(self, keys: Sequence[str]) -> pd.DataFrame:
        """One number for each run and combination of the keys; of a single run its rows."""
        if not self.replicated:
            return self.data
        columns = list(dict.fromkeys((*keys, REPLICATION)))
        grouped = self.data.groupby(columns, sort=False, observed=True)[self.y]
        return grouped.mean().reset_index()

    def checked(self, column: str, option: str) -> str:
        """The column's name if there is one of that name; else an `InputError` with the nearest."""
        if column in self.data:
            return column
        raise InputError.about(self.origin, option, column, one_of(column, self.data.columns))

    def only(self, data: pd.DataFrame) -> Frame:
        """Returns the frame of some of the rows."""
        return replace(self, data=data)
