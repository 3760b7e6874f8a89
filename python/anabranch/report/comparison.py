"""The report of a comparison: both worlds side by side, and whether they agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from anabranch import si
from anabranch.comparison import Comparison, Row
from anabranch.files import write_text
from anabranch.observed import MEASURES, Measure
from anabranch.report.charts import Chart, Trace
from anabranch.report.links import links
from anabranch.report.page import Charts, render
from anabranch.stats import Estimate
from anabranch.sweep.shown import told


def shown(row: Row, rows: Sequence[Row]) -> tuple[str, str, str, str]:
    """Simulated, live, their difference and the margin, all in the unit that fits the means in
    the `rows` of the same measure."""
    measure = MEASURES[row.measure]
    peers = [each for each in rows if each.measure == row.measure]
    scaled = si.scale_of(
        [side.scaled(measure.factor) for each in peers for side in (each.simulated, each.live)],
        measure.unit,
    )
    simulated, live, difference = (
        si.estimate(each.scaled(measure.factor), measure.unit, scaled)
        for each in (row.simulated, row.live, row.difference)
    )
    margin = si.text(row.bound * measure.factor, measure.unit, scaled=scaled)
    return simulated, live, difference, f"\u00b1 {margin}"


def write_comparison_report(directory: Path, title: str, found: Comparison, copies: int) -> None:
    """`report.html` of a comparison."""
    charts = Charts()
    numbers = [charts.add(chart) for chart in comparison_charts(found.rows)]
    columns = ["flow", "measure", "simulated", "live", "live - simulated", "margin", "verdict"]
    if any(row.title for row in found.rows):
        columns.insert(0, "point")
    rows = [
        [
            *([row.title] if "point" in columns else []),
            row.flow,
            MEASURES[row.measure].name,
            *shown(row, found.rows),
            row.verdict,
        ]
        for row in found.rows
    ]
    page = render(
        "compare.html.j2",
        charts,
        title=title,
        copies=copies,
        verdicts=_verdicts(found.rows),
        columns=columns,
        rows=rows,
        doubts=found.doubts,
        left_out=found.left_out,
        numbers=numbers,
        links=links(directory, "."),
    )
    write_text(directory / "report.html", page)


def _verdicts(rows: Sequence[Row]) -> list[tuple[str, int, str]]:
    """Each verdict that there is, with the number of its rows and of which measures they are."""
    found = []
    for verdict in ("agree", "undecided", "differ"):
        counts = Counter(MEASURES[row.measure].name for row in rows if row.verdict == verdict)
        several = len({(row.title, row.flow) for row in rows}) > 1
        names = [f"{name} ({n})" if several else name for name, n in counts.items()]
        if names:
            found.append((verdict, counts.total(), ", ".join(names)))
    return found


def comparison_charts(rows: list[Row]) -> list[Chart]:
    """Two charts for each measure that is not zero throughout: a pair of columns for each point
    and flow, and their paired difference over the margin within which it would not matter."""
    charts = []
    for key, measure in MEASURES.items():
        mine = [row for row in rows if row.measure == key]
        if any(row.simulated.mean or row.live.mean for row in mine):
            charts += [_worlds(measure, mine), _differences(measure, mine)]
    return charts


def _names(rows: list[Row]) -> tuple[str, list[str]]:
    """The name of the horizontal axis, and that of each row on it."""
    flows = len({row.flow for row in rows}) > 1 or not rows[0].labels
    columns = [*(si.name_of(name) for name in rows[0].labels), *["flow"] * flows]
    names = [", ".join([*map(told, row.labels.values()), *[row.flow] * flows]) for row in rows]
    return ", ".join(columns), names


def _worlds(measure: Measure, rows: list[Row]) -> Chart:
    axis, names = _names(rows)
    worlds: dict[str, list[Estimate]] = {
        "simulated": [row.simulated.scaled(measure.factor) for row in rows],
        "live": [row.live.scaled(measure.factor) for row in rows],
    }
    ends = [end for each in worlds.values() for one in each for end in (one.ci_low, one.ci_high)]
    scaled = si.scale(ends, measure.unit)
    traces = [
        Trace(
            world, "columns", [at + (n - 0.5) * 0.4 for at in range(len(rows))],
            [scaled.of(one.mean) for one in each], [scaled.of(one.ci_low) for one in each],
            [scaled.of(one.ci_high) for one in each], colour=n, width=0.37,
        )
        for n, (world, each) in enumerate(worlds.items())
    ]  # fmt: skip
    return Chart(measure.name, axis, scaled.axis(measure.name), traces, xnames=names)


def _differences(measure: Measure, rows: list[Row]) -> Chart:
    axis, names = _names(rows)
    found = [row.difference.scaled(measure.factor) for row in rows]
    bounds = [row.bound * measure.factor for row in rows]
    ends = [end for each in found for end in (each.ci_low, each.ci_high)]
    scaled = si.scale([*ends, *bounds], measure.unit)
    places, margins = range(len(rows)), [scaled.of(bound) for bound in bounds]
    low, mean, high = (
        [scaled.of(getattr(each, name)) for each in found] for name in ("ci_low", "mean", "ci_high")
    )
    traces = [
        Trace("margin", "bands", places, margins, [-each for each in margins], margins,
              colour=2, width=0.9, opacity=0.25),
        Trace("difference", "marks", places, mean, low, high, colour=0),
    ]  # fmt: skip
    title = f"{measure.name}, live - simulated"
    return Chart(title, axis, scaled.axis("paired difference"), traces, xnames=names)
