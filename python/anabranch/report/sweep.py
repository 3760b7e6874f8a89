"""The report of a sweep: its means as charts and as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from anabranch import tables
from anabranch.files import write_text
from anabranch.report.charts import Chart, Trace
from anabranch.report.links import links
from anabranch.report.page import Charts, render


def write_sweep_report(
    directory: Path, title: str, labels: Sequence[str], rows: Sequence[Mapping[str, Any]]
) -> None:
    """`report.html` of a sweep: a chart per metric over the first parameter that is a number, and
    the table of all means."""
    charts = Charts()
    numbers = [charts.add(chart) for chart in sweep_charts(labels, rows)]
    columns = [*labels, "metric", "mean", "ci_low", "ci_high", "n"]
    page = render(
        "sweep.html.j2",
        charts,
        title=title,
        columns=columns,
        rows=[[tables.cell(row[name]) for name in columns] for row in rows],
        numbers=numbers,
        links=links(directory, "."),
    )
    write_text(directory / "report.html", page)


def sweep_charts(labels: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> list[Chart]:
    """A chart per metric: means with intervals over the first parameter that is a number with
    several values, a series per combination of the others. None if there is no such parameter."""
    across = next((label for label in labels if _is_axis([row[label] for row in rows])), None)
    if across is None:
        return []
    others = [label for label in labels if label != across]
    found: dict[str, dict[str, list[Mapping[str, Any]]]] = {}
    for row in rows:
        name = ", ".join(f"{label} {row[label]}" for label in others) or str(row["metric"])
        found.setdefault(str(row["metric"]), {}).setdefault(name, []).append(row)
    charts = []
    for metric, series in found.items():
        traces = []
        for index, (name, points) in enumerate(series.items()):
            ordered = sorted(points, key=lambda row: row[across])
            x, mean, low, high = (
                [float(row[column]) for row in ordered]
                for column in (across, "mean", "ci_low", "ci_high")
            )
            traces.append(
                Trace(name, "points", x, mean, low, high, colour=index % 7, dash=index >= 7)
            )
        charts.append(Chart(metric, across, metric, traces))
    return charts


def _is_axis(values: Sequence[Any]) -> bool:
    numbers = all(isinstance(it, (int, float)) and not isinstance(it, bool) for it in values)
    return numbers and len(set(values)) > 1
