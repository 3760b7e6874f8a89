"""What a sweep measures: one number for each run, and when there are enough of them."""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from anabranch import recorded, rows, si, stats
from anabranch.errors import InputError
from anabranch.nearest import one_of

SUBJECTS = ("flow", "name")
"""Columns that say what a row of a table is about."""

SHARE = "share"
REDUCTIONS = ("mean", "sum", "min", "max", SHARE)

MEASURED = ("flows", "links", "paths", "messages", "datagrams", "pings", "calls", "videos", "loads")
"""The tables of a run that a metric can be a column of."""

TABLES: dict[str, type[rows.Row]] = {
    **{name: recorded.TABLES[name] for name in MEASURED},
    "runs": rows.Run,
}
"""The same and that of the runs, with the class of their rows."""

KEPT = ("events", "packet_hops", "dropped_checksum", "end_s", "cpu_s", "trace_hash")
"""What the table `runs` of a sweep keeps of a run's facts."""


@dataclass(frozen=True)
class Metric:
    """A column of a table of results, reduced to one number a run."""

    name: str
    column: str
    table: str = "flows"
    of: str | Sequence[str] | None = None
    """Only rows of this `flow` (or link, ... of this `name`), of these, or of those that a pattern
    such as `web-*` names; all where not given. The name of an entry of the scenario with a `count`
    means all of its flows."""
    reduce: str = "mean"
    """`share`: the sum over the rows as a part of the sum over all rows; with `path` over all paths
    of the same flows."""
    path: str | None = None
    """Of `paths` only rows with this interface at either end, or of `FROM>TO`; a pattern, too."""

    @property
    def unit(self) -> str:
        """The unit of the number, see `anabranch.si`."""
        return si.SHARE if self.reduce == SHARE else si.unit_of(self.column)

    @property
    def most(self) -> float:
        """The largest value that it can have; the least is 0."""
        shares = self.reduce == SHARE or (self.unit == si.SHARE and self.reduce != "sum")
        return 1.0 if shares else math.inf

    def check(self, where: str) -> None:
        """Refuses a column that the table does not have, or that is no number."""
        kind = TABLES.get(self.table)
        if kind is None:
            raise InputError.about(where, "metrics.table", self.table, one_of(self.table, TABLES))
        numbers = [each for each in numeric_columns(kind) if kind is not rows.Run or each in KEPT]
        if self.column not in numbers:
            allowed = f"of {self.table} one of {one_of(self.column, numbers)}"
            raise InputError.about(f"metric {self.name}", "column", self.column, allowed)
        if self.reduce not in REDUCTIONS:
            raise InputError.about(
                where, "metrics.reduce", self.reduce, one_of(self.reduce, REDUCTIONS)
            )
        if self.path is not None and self.table != "paths":
            allowed = 'a metric of `table = "paths"`'
            raise InputError.about(where, "metrics.path", self.path, allowed)
        if self.of is not None and self.table == "runs":
            raise InputError.about(where, "metrics.of", str(self.of), "nothing: `runs` has one row")

    def patterns(self) -> list[str]:
        """The names and patterns of `of`; empty for all rows."""
        if self.of is None:
            return []
        return [self.of] if isinstance(self.of, str) else list(self.of)

    def grouped(self) -> bool:
        """Whether `of` asks for several, by a list or a pattern."""
        patterns = self.patterns()
        return len(patterns) > 1 or any(set(each) & set("*?[") for each in patterns)

    def values(self, tables: Mapping[str, pa.Table]) -> dict[int, float]:
        """The number of each replication; one whose rows have no value is left out."""
        table = tables.get(self.table)
        if table is None:
            return {}
        part = self._on_path(self._named(table))
        if self.reduce != SHARE:
            return _reduced(part, self.column, self.reduce)
        totals = _reduced(table if self.path is None else self._named(table), self.column, "sum")
        sums = _reduced(part, self.column, "sum")
        return {at: sums.get(at, 0.0) / total for at, total in totals.items() if total}

    def counts(self, table: pa.Table) -> list[int]:
        """Of each replication the number of rows whose values become its number."""
        part = self._on_path(self._named(table))
        counted = pc.value_counts(part.filter(pc.is_valid(part[self.column]))["replication"])
        return [each["counts"] for each in counted.to_pylist()]

    def _named(self, table: pa.Table) -> pa.Table:
        if self.of is None:
            return table
        return table.filter(_matching(table[subject(table)], self.patterns()))

    def _on_path(self, table: pa.Table) -> pa.Table:
        return table if self.path is None else table.filter(_on_path(table, self.path))


def _reduced(table: pa.Table, column: str, how: str) -> dict[int, float]:
    grouped = table.group_by("replication").aggregate([(column, how)])
    replications = grouped["replication"].to_pylist()
    reduced = grouped[f"{column}_{how}"].to_pylist()
    pairs = zip(replications, reduced, strict=True)
    return {at: float(value) for at, value in pairs if value is not None}


def _matching(column: pa.ChunkedArray, patterns: Sequence[str]) -> pa.Array:
    """Which cells are one of the names, or match one of the patterns."""
    named = [name for name in pc.unique(column).to_pylist() if matches(name, patterns)]
    return pc.is_in(column, pa.array(named, pa.string()))


def _on_path(table: pa.Table, path: str) -> pa.Array:
    """Which rows of `paths` are of the path."""
    first, between, second = (each.strip() for each in path.partition(">"))
    if between:
        ends = _matching(table["from"], [first]), _matching(table["to"], [second])
        return pc.and_(*ends)
    return pc.or_(_matching(table["from"], [path]), _matching(table["to"], [path]))


def matches(name: str, patterns: Iterable[str]) -> bool:
    """Whether a name is one of the names, or as one of the patterns has it."""
    return any(name == each or fnmatch.fnmatchcase(name, each) for each in patterns)


def subject(table: pa.Table) -> str:
    """The column that says what a row is about."""
    names: list[str] = table.column_names
    return next(name for name in names if name in SUBJECTS)


def numeric_columns(kind: type[rows.Row]) -> list[str]:
    """The columns of a table that are numbers."""
    return [column for column, type_ in kind.types().items() if type_ in (int, float)]


@dataclass(frozen=True)
class Replications:
    """The number of runs of a point: fixed, or until an interval is narrow enough.

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
        """Makes the rule of so many runs of every point."""
        return cls(count, count)

    def target(self, done: int, values: Mapping[int, float]) -> int:
        """Returns how many runs there should be in all, given the values of the first `done`."""
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
