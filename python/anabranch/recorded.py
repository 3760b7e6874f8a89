"""What a run or a packet capture recorded: rows and series, and both as Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from anabranch import arrow, observed, rows
from anabranch.errors import InputError
from anabranch.nearest import one_of

Series = dict[str, NDArray[Any]]
"""The columns of one recorded series: `time_s`, `value` and, for packets, `len`
and `retransmission`."""

TABLES: dict[str, type[rows.Row]] = {
    "flows": rows.Flow,
    "links": rows.Link,
    "paths": rows.Path,
    "messages": rows.Message,
    "datagrams": rows.Datagrams,
    "pings": rows.Ping,
    "calls": rows.Call,
    "videos": rows.Video,
    "loads": rows.Load,
    "regulators": rows.Regulator,
    "lines": rows.Line,
    "listeners": rows.Listener,
    "attacks": rows.Attack,
    "memory": rows.Memory,
    "events": rows.FlowEvent,
}
"""What a run has rows of, and their class."""


@dataclass(frozen=True)
class Recorded:
    """A row per flow, link, regulator, port of a line of ATM, path of a multihomed flow, flow of
    messages, direction of datagrams, ping, call, video, load of pages, listening port, attack from
    outside, host whose memory was looked at and event of a flow; the observed series, and the facts
    of the whole."""

    flows: Sequence[rows.Transfer]
    series: dict[str, Series]
    links: Sequence[rows.Link]
    run: rows.Facts
    regulators: Sequence[rows.Regulator] = ()
    paths: Sequence[rows.Path] = ()
    messages: Sequence[rows.Message] = ()
    datagrams: Sequence[rows.Datagrams] = ()
    pings: Sequence[rows.Ping] = ()
    calls: Sequence[rows.Call] = ()
    videos: Sequence[rows.Video] = ()
    loads: Sequence[rows.Load] = ()
    listeners: Sequence[rows.Listener] = ()
    attacks: Sequence[rows.Attack] = ()
    memory: Sequence[rows.Memory] = ()
    lines: Sequence[rows.Line] = ()
    events: Sequence[rows.FlowEvent] = ()

    def rows_of(self, name: str) -> Sequence[rows.Row]:
        """Returns the rows of one of `TABLES`."""
        if name not in TABLES:
            raise InputError.about("result", "table", name, one_of(name, TABLES))
        found: Sequence[rows.Row] = getattr(self, name)
        return found

    def table(self, name: str = "flows") -> pa.Table:
        """The rows of one of `TABLES` (`flows`, `links`, ...) as an Arrow table.

        `polars.from_arrow(...)` and `.to_pandas()` take it as it is.
        """
        found = self.rows_of(name)
        return arrow.rows_table(found, type(found[0]).types() if found else None)

    def series_table(self, name: str) -> pa.Table:
        """One observed series as an Arrow table, without a copy."""
        if name not in self.series:
            allowed = ", ".join(self.series) or "none: the scenario observes nothing"
            raise InputError.about("result", "series", name, allowed)
        return arrow.series_table(self.series[name])


class Observed(dict[str, Series]):
    """Series by their names; of one that is not there the error says how to get it."""

    def __missing__(self, name: str) -> Series:
        kind = name.rpartition(".")[2]
        told = f"{name}: not among the observed series"
        if kind in observed.AXES:
            what = observed.observer(kind)
            explored = what in (*observed.EXPLORED, *observed.EXPLORED_PATHS)
            way = "`Scenario.explored()` or " if explored else ""
            told += f'; {way}`[[observe]]` with `what = "{what}"` observes those of this kind'
        raise KeyError(f"{told}; there are {one_of(name, self) if self else 'none'}")


def arrays(series: Mapping[str, Mapping[str, Any]]) -> dict[str, Series]:
    """Series as they are kept here, from columns of any kind of array."""
    return Observed(
        (name, {column: np.asarray(data) for column, data in columns.items()})
        for name, columns in series.items()
    )
