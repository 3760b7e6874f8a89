"""Writes the report of one run."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path

from anabranch import tables, timeline
from anabranch.files import write_text
from anabranch.recorded import Recorded
from anabranch.report import explorer, groups
from anabranch.report.cells import Shown, shown
from anabranch.report.links import links
from anabranch.report.page import Charts, render
from anabranch.rows import LiveFacts, Run
from anabranch.timeline import Event


def write_run_report(
    directory: Path, scenario: str, result: Recorded, live: LiveFacts | None = None
) -> None:
    """`report.html` of one run: flows, links, the time-sequence explorer; and `scenario.toml`,
    the scenario with all that was left to defaults. `live` are the facts of a run in real time."""
    if isinstance(result.run, Run):  # a packet capture has no scenario
        write_text(directory / "scenario.toml", result.run.resolved)
    page = run_page(scenario, result, live, links(directory, "."))
    write_text(directory / "report.html", page)


def run_page(
    scenario: str,
    result: Recorded,
    live: LiveFacts | None = None,
    files: Sequence[tuple[str, str]] = (),
) -> str:
    """The report of one run as a page, which names the files that lie beside it."""
    file = scenario if scenario.startswith("library:") else Path(scenario).name
    charts = Charts()
    drawn = explorer.charts(result)
    numbers = [charts.add(chart) for chart in drawn]
    happened = explorer.what_happened(result)
    completion = groups.completion_chart(result.flows)
    return render(
        "run.html.j2",
        charts,
        title=_name(result) or file,
        file=file,
        result=result,
        live=live,
        tables=_tables(result),
        numbers=numbers,
        explored=any(chart.title == explorer.SEQUENCE for chart in drawn),
        happened=None if happened is None else charts.add(happened),
        completion=None if completion is None else charts.add(completion),
        links=files,
    )


def _name(result: Recorded) -> str:
    """The name that the scenario gives itself; empty where it has none."""
    if not isinstance(result.run, Run):
        return ""
    return str(tomllib.loads(result.run.resolved).get("name", ""))


def _tables(result: Recorded) -> list[Shown]:
    """Each table that has rows; flows by group before all of them."""
    found = []
    if by_group := groups.group_table(groups.groups(result.flows)):
        found.append(by_group)
    for name in (
        "flows",
        "paths",
        "messages",
        "datagrams",
        "pings",
        "calls",
        "videos",
        "loads",
        "links",
        "regulators",
        "lines",
        "listeners",
        "attacks",
        "memory",
    ):
        if name == "paths" and (every := timeline.events(result)):
            found.append(shown("timeline", Event.columns(), every))
        if rows := result.rows_of(name):
            columns = list(tables.FLOW_COLUMNS) if name == "flows" else list(rows[0])
            found.append(shown(name, columns, rows))
    return found
