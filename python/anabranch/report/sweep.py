"""The report of a sweep: its means as charts and as tables, and paired differences."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anabranch import si
from anabranch.files import write_text
from anabranch.report.charts import Chart, Kind, Trace, apart
from anabranch.report.links import links
from anabranch.report.page import Charts, render
from anabranch.sweep.parameters import Value
from anabranch.sweep.shown import Shown, differences, means, told
from anabranch.sweep.sweep import SweepResult

FEW = 8
"""Values of a parameter that are named."""


def write_sweep_report(directory: Path, title: str, result: SweepResult) -> None:
    """`report.html` of a sweep: a chart for each metric, the table of all means, and that of the
    paired differences."""
    charts = Charts()
    name = str(tomllib.loads(result.states[0].point.scenario).get("name", ""))
    names = list(result.states[0].point.labels)
    rows = result.summary()
    zeros = {row["metric"] for row in rows} - {row["metric"] for row in rows if not _zero(row)}
    seen = [row for row in rows if row["metric"] not in zeros]
    numbers = [charts.add(chart) for chart in sweep_charts(names, seen, units(result))]
    table, pairs = sweep_tables(result)
    page = render(
        "sweep.html.j2",
        charts,
        title=name or title,
        file=title if name else "",
        constant=[] if result.alike() else result.constant(),
        zeros=[each for each in units(result) if each in zeros],
        summary=summary(result),
        confidence=f"{result.rule.confidence * 100:g}",
        means=table,
        pairs=pairs,
        shares=si.SHARE in units(result).values(),
        numbers=numbers,
        links=links(directory, "."),
    )
    write_text(directory / "report.html", page)


def _zero(row: Mapping[str, Any]) -> bool:
    """Whether a mean is zero, and nothing else was seen."""
    return not any(float(row[each]) for each in _COLUMNS)


def summary(result: SweepResult) -> str:
    """How many points and runs there are, and what varies over which values."""
    labels = [state.point.labels for state in result.states]
    values = {name: list(dict.fromkeys(each[name] for each in labels)) for name in labels[0]}
    varied = "; ".join(f"{name} ({_listed(v)})" for name, v in values.items() if len(v) > 1)
    points, runs = len(labels), sum(state.within() for state in result.states)
    counted = f"{si.counted(points, 'point')}, {si.counted(runs, 'run')}"
    return f"{counted}. Varied: {varied}." if varied else f"{counted}."


def _listed(values: Sequence[Value]) -> str:
    """The values of a parameter, of many the first and the last."""
    if len(values) <= FEW:
        return ", ".join(map(told, values))
    return f"{len(values)} values from {told(values[0])} to {told(values[-1])}"


def units(result: SweepResult) -> dict[str, str]:
    """Returns the unit of each metric."""
    return {metric.name: metric.unit for metric in result.metrics}


def sweep_tables(result: SweepResult, only: Sequence[str] = ()) -> tuple[Shown, Shown]:
    """Means with their intervals, and paired differences, with units; of some metrics or of all."""
    names, unit = list(result.states[0].point.labels), units(result)
    rows, pairs = (
        [row for row in each if not only or row["metric"] in only]
        for each in (result.summary(), result.pairs())
    )
    return means(names, rows, unit), differences(names, pairs, unit, rows)


def sweep_charts(
    labels: Sequence[str], rows: Sequence[Mapping[str, Any]], unit: Mapping[str, str]
) -> list[Chart]:
    """A chart for each metric: means with intervals over the first parameter that is a number with
    several values, or else as columns over the first that has several; a series for each
    combination of the others. None if nothing varies."""
    varying = [name for name in labels if len({row[name] for row in rows}) > 1]
    across = next((name for name in varying if _numbers([row[name] for row in rows])), None)
    across = across or next(iter(varying), None)
    if across is None:
        return []
    others = [name for name in varying if name != across]
    found: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for row in rows:
        name = ", ".join(told(row[each]) for each in others) or si.name_of(str(row["metric"]))
        found.setdefault(str(row["metric"]), {}).setdefault(name, []).append(row)
    label = ", ".join(others).replace("_", " ")
    return [
        replace(_chart(si.name_of(metric), across, series, unit.get(metric, "")), series=label)
        for metric, series in found.items()
    ]


def _chart(
    metric: str, across: str, series: Mapping[str, Sequence[Mapping[str, Any]]], unit: str
) -> Chart:
    values = list(dict.fromkeys(row[across] for rows in series.values() for row in rows))
    numbers = _numbers(values)
    names = [] if numbers else [told(value) for value in values]
    at: Mapping[Value, float] = numbers or {value: float(n) for n, value in enumerate(values)}
    axis = across.replace("_", " ")
    if numbers and (units := {each[1] for value in values if (each := si.quantity(str(value)))}):
        horizontal = si.scale(at.values(), units.pop())
        at = {value: horizontal.of(number) for value, number in at.items()}
        axis = horizontal.axis(axis)
    ends = [float(row[each]) for rows in series.values() for row in rows for each in _COLUMNS]
    vertical = si.scale(ends, unit)
    traces = []
    for index, (name, rows) in enumerate(series.items()):
        ordered = sorted(rows, key=lambda row: at[row[across]])
        mean, low, high = ([vertical.of(float(row[c])) for row in ordered] for c in _COLUMNS)
        width = 0.8 / len(series)
        shift = 0.0 if numbers else (index - (len(series) - 1) / 2) * width
        x = [at[row[across]] + shift for row in ordered]
        kind: Kind = "points" if numbers else "columns"
        dash = index % 4
        traces.append(
            Trace(
                name, kind, x, mean, low, high,
                colour=index % 7, dash=dash if numbers else 0, mark=dash, width=width * 0.92,
            )
        )  # fmt: skip
    label = vertical.axis(metric)
    return Chart(metric, axis, label, apart(traces), xnames=names)


_COLUMNS = ("mean", "ci_low", "ci_high")


def _numbers(values: Sequence[Any]) -> dict[Any, float] | None:
    """What stands for each value on an axis of numbers; nothing where one is no quantity, or two
    have different units."""
    found: dict[Any, float] = {}
    units = set()
    for value in values:
        if isinstance(value, bool):
            return None
        if isinstance(value, (int, float)):
            found[value] = float(value)
            units.add("")
        elif read := si.quantity(str(value)):
            found[value], unit = read
            units.add(unit)
        else:
            return None
    return found if len(units) == 1 else None
