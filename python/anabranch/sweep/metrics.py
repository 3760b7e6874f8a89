"""What a sweep measures: one number for each run, and when there are enough of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from anabranch import stats
from anabranch.errors import InputError

SUBJECTS = ("flow", "name")
"""Columns that say what a row of a table is about."""

REDUCTIONS = ("mean", "sum", "min", "max")


@dataclass(frozen=True)
class Metric:
    """A column of a table of results, reduced to one number a run."""

    name: str
    column: str
    table: str = "flows"
    of: str | None = None
    """Only rows of this `flow` (or link, ... of this `name`); all where not given."""
    reduce: str = "mean"

    def values(self, tables: dict[str, pa.Table]) -> dict[int, float]:
        """The number of each replication; one whose rows have no value is left out."""
        table = tables.get(self.table)
        if table is None:
            return {}
        if self.column not in table.column_names or not _numeric(table.schema.field(self.column)):
            numbers = [field.name for field in table.schema if _numeric(field)]
            raise InputError.about(
                f"metric {self.name}", "column", self.column, f"one of {', '.join(numbers)}"
            )
        if self.of is not None:
            table = table.filter(pc.equal(table[subject(table)], self.of))
        grouped = table.group_by("replication").aggregate([(self.column, self.reduce)])
        replications = grouped["replication"].to_pylist()
        reduced = grouped[f"{self.column}_{self.reduce}"].to_pylist()
        pairs = zip(replications, reduced, strict=True)
        return {at: float(value) for at, value in pairs if value is not None}


def subject(table: pa.Table) -> str:
    """The column that says what a row is about."""
    names: list[str] = table.column_names
    return next(name for name in names if name in SUBJECTS)


def _numeric(field: pa.Field) -> bool:
    return bool(pa.types.is_integer(field.type) or pa.types.is_floating(field.type))


@dataclass(frozen=True)
class Replications:
    """How many runs a point gets: so many, or until an interval is narrow enough.

    The rule is asked after `least`, then each time there are half as many
    again, up to `most`: what it answers depends on the results alone, not on
    who computed them or in which order.
    """

    least: int
    most: int
    metric: str | None = None
    """The metric whose interval is asked for; `None`: exactly `least` runs."""
    relative: float | None = None
    """Half the interval's width, as a share of the mean."""
    absolute: float | None = None
    """Half the interval's width, in the metric's unit."""
    confidence: float = 0.95

    @classmethod
    def exactly(cls, count: int) -> Replications:
        """So many runs of every point."""
        return cls(count, count)

    def target(self, done: int, values: Mapping[int, float]) -> int:
        """How many runs there should be in all, given the values of the first `done`."""
        count = self.least
        while count <= done and count < self.most:
            if self.satisfied([values[n] for n in range(count) if n in values]):
                return count
            count = min(self.most, math.ceil(count * 1.5))
        return count

    def satisfied(self, values: list[float]) -> bool:
        """Whether the interval of these values is narrow enough."""
        if self.metric is None:
            return True
        if len(values) < 2:
            return False
        estimate = stats.mean(values, self.confidence)
        half = (estimate.ci_high - estimate.ci_low) / 2
        bounds = []
        if self.relative is not None:
            bounds.append(self.relative * abs(estimate.mean))
        if self.absolute is not None:
            bounds.append(self.absolute)
        return all(half <= bound for bound in bounds)
