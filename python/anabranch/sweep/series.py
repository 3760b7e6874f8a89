"""The series that the runs of a sweep kept, as a frame that can be drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from anabranch import curves, observed
from anabranch.errors import InputError
from anabranch.nearest import one_of
from anabranch.plotting.frame import REPLICATION, Frame

SHORT = ("time_s", "value")
NO_LENGTHS = "; a sweep keeps no lengths of packets, from which arrivals follow"


def kinds(table: pa.Table) -> list[str]:
    """What can be drawn of a table `series`: its kinds of series, and the rate that follows."""
    if "series" not in table.column_names:
        return []
    names = {str(name).rpartition(".")[2] for name in pc.unique(table["series"]).to_pylist()}
    return [*(["delivery"] if "received" in names else []), *sorted(names)]


def is_series(name: str) -> bool:
    """Whether it is the name of a kind of series, whatever was observed."""
    return name in (*observed.AXES, *curves.RATES)


def frame(
    rows_of: Callable[[str], pa.Table],
    kind: str,
    *,
    parameters: Sequence[str],
    order: Mapping[str, Sequence[object]],
    kept: bool,
    origin: str,
) -> Frame:
    """A kind of series of every run, told apart by parameters, run, and flow, path or link.

    A folder that has none of it is an `InputError` that says how to get one that has.
    """
    table = rows_of("series")
    there = kinds(table)
    if kind not in there:
        raise InputError.about(origin, "--y", kind, _allowed(kind, there, kept))
    source = "received" if kind == "delivery" else kind
    subject = observed.subject(source)
    subject = "series" if subject in parameters else subject
    rows = table.filter(pc.ends_with(table["series"], f".{source}")).to_pandas()
    ends = _ends(rows_of, parameters)
    longest = max((end for _, end in ends.values()), default=0.0)
    keys = [*parameters, REPLICATION]
    parts = []
    for key, run in rows.groupby([*keys, "series"], sort=False, observed=True, dropna=False):
        finishes, end_s = ends[tuple(key[:-1])]
        of = str(key[-1]).rpartition(".")[0]
        until = observed.lasts_until(source, of, finishes, end_s)
        drawn = _drawn(kind, run, until, longest, end_s)
        labels = dict(zip(keys, key[:-1], strict=True))
        parts.append(drawn.assign(**labels, **{subject: of}))
    varied = (*parameters, subject)
    return curves.frame(parts, kind, varied, origin, order=order)


def _drawn(
    kind: str, run: pd.DataFrame, until: float | None, longest: float, end_s: float
) -> pd.DataFrame:
    """The curve of one series; of octets the rate in intervals that are the same in all runs."""
    times, values = (run[name].to_numpy() for name in SHORT)
    if kind != "delivery":
        return curves.curve(times, values, until)
    end = until or end_s
    interval = min(longest / curves.INTERVALS, end)
    middles, rates = observed.rate({"time_s": times, "value": values}, interval, end)
    return curves.curve(middles - interval / 2, rates, len(middles) * interval)


def _ends(
    rows_of: Callable[[str], pa.Table], parameters: Sequence[str]
) -> dict[tuple[object, ...], tuple[dict[str, float | None], float]]:
    """Of each run, by its parameters and its number, when each flow finished and when it ended."""
    keys = [*parameters, REPLICATION]
    found: dict[tuple[object, ...], tuple[dict[str, float | None], float]] = {}
    for row in rows_of("runs").select([*keys, "end_s"]).to_pylist():
        found[tuple(row[key] for key in keys)] = ({}, float(row["end_s"]))
    for row in rows_of("flows").select([*keys, "flow", "finish_s"]).to_pylist():
        found[tuple(row[key] for key in keys)][0][row["flow"]] = row["finish_s"]
    return found


def _allowed(kind: str, there: list[str], kept: bool) -> str:
    """What can be drawn in its place, and what has to be asked for to draw it."""
    wanted = "delivery" if kind == "arrivals" else kind
    entry = f'`[[observe]]` with `what = "{observed.observer(wanted)}"` in the scenario'
    if not kept:
        again = f"`series = true` in the sweep's file, {entry}, and `sweep --resume`"
        return f"a sweep that keeps the series of its runs, as this one does not: {again}"
    if not there:
        return f"what the runs observed, which is nothing; {entry} observes it"
    return f"{one_of(kind, there)}; {entry} observes {wanted}" + NO_LENGTHS * (wanted != kind)
