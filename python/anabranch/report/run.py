"""The report of one run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from anabranch import tables
from anabranch.experiment import RunResult
from anabranch.files import write_text
from anabranch.report import explorer
from anabranch.report.links import links
from anabranch.report.page import Charts, render


def write_run_report(
    directory: Path, scenario: str, result: RunResult, live: Mapping[str, Any] | None = None
) -> None:
    """`report.html` of one run: flows, links, the time-sequence explorer; and `scenario.toml`,
    the scenario with all that was left to defaults. `live` are the facts of a run in real time."""
    if "resolved" in result.run:  # a packet capture has no scenario
        write_text(directory / "scenario.toml", str(result.run["resolved"]))
    charts = Charts()
    numbers = [charts.add(chart) for chart in explorer.charts(result)]
    page = render(
        "run.html.j2",
        charts,
        scenario=scenario,
        result=result,
        live=live,
        tables=_tables(result),
        numbers=numbers,
        links=links(directory, "."),
    )
    write_text(directory / "report.html", page)


def _tables(result: RunResult) -> list[tuple[str, list[str], list[list[str]]]]:
    """Title, columns and cells of each table that has rows."""
    found = []
    for name in (
        "flows",
        "paths",
        "messages",
        "links",
        "regulators",
        "lines",
        "listeners",
        "attacks",
        "memory",
    ):
        rows = getattr(result, name)
        if not rows:
            continue
        columns = list(tables.FLOW_COLUMNS) if name == "flows" else list(rows[0])
        found.append((name, columns, [[tables.cell(row[c]) for c in columns] for row in rows]))
    return found
