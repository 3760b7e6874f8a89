"""The means of a sweep as charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anabranch.report.charts import Chart, Trace


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
