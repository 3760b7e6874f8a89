"""The report: one HTML file with everything inside, which works offline.

Data, styles and scripts stand in the page; uPlot draws (`assets/uplot`). The
page's content security policy forbids it to load anything from anywhere.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anabranch import studies, tables
from anabranch.experiment import RunResult, Scenario
from anabranch.files import output_directory, replacing, write_text
from anabranch.report import explorer
from anabranch.report.charts import from_figure
from anabranch.report.page import Charts, render
from anabranch.report.sweep import sweep_charts
from anabranch.studies.live import LiveOutcome
from anabranch.studies.results import StudyResult

if TYPE_CHECKING:  # its checks are imported when an algorithm is evaluated
    from anabranch.evaluate import Card

EXAMPLE = "example"
"""The folder of a study's single run, with the explorer."""

EXAMPLE_HOPS = 10_000
"""Packet-hops of that run at most, or about."""


def write_study_report(directory: Path) -> None:
    """`claims.csv` and `report.html` over every study that has finished in `directory`."""
    results = [
        result for name in studies.ALL if (result := StudyResult.load(directory / name)) is not None
    ]
    live = {
        name: outcome
        for name in studies.ALL
        if (outcome := LiveOutcome.load(directory / name)) is not None
    }
    rows = [claim.row(result.name) for result in results for claim in result.claims]
    rows += [row for outcome in live.values() for row in outcome.rows()]
    tables.write_csv(directory / "claims.csv", tables.CLAIM_COLUMNS, rows)
    charts = Charts()

    page = render(
        "report.html.j2",
        charts,
        results=results,
        live=live,
        titles={name: studies.ALL[name].title for name in live},
        chart=lambda result, stem: _figure(charts, directory / result.name, stem),
        image=lambda result, stem: _image(directory / result.name / f"{stem}.svg"),
        links=lambda result: _links(directory, result.name),
    )
    write_text(directory / "report.html", page)


def write_card(directory: Path, card: Card, result: StudyResult) -> None:
    """`report.html` of an algorithm's report card, whose figures are in `directory`."""
    charts = Charts()
    page = render(
        "card.html.j2",
        charts,
        card=card,
        result=result,
        chart=lambda stem: _figure(charts, directory, stem),
        image=lambda stem: _image(directory / f"{stem}.svg"),
    )
    write_text(directory / "report.html", page)


def _figure(charts: Charts, directory: Path, stem: str) -> int | None:
    """The number of a figure's chart; `None` if it is a picture alone."""
    chart = from_figure(directory / f"{stem}.csv")
    return None if chart is None else charts.add(chart)


def write_example(directory: Path, result: StudyResult) -> None:
    """One run of the study's scenario into `example/`: report, series and capture. Of a long run
    it is the beginning, so that the capture stays small."""
    folder = output_directory(directory / EXAMPLE)
    scenario = Scenario(result.scenario, f"{result.name}: one run").explored()
    whole = Scenario(result.scenario).run().run
    if whole["packet_hops"] > EXAMPLE_HOPS:
        seconds = whole["end_s"] * EXAMPLE_HOPS / whole["packet_hops"]
        scenario = replace(scenario, file=f"{scenario.file}, the first {seconds:.3g} s")
        scenario = scenario.set(f"duration={seconds:.9f} s")
    with replacing(folder / "capture.pcapng") as capture:
        run = scenario.run(pcap=capture, trace_hash=True)
    tables.write_run(folder, run)
    write_run_report(folder, scenario.file, run)


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
        links=_links(directory, "."),
    )
    write_text(directory / "report.html", page)


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
        links=_links(directory, "."),
    )
    write_text(directory / "report.html", page)


def _tables(result: RunResult) -> list[tuple[str, list[str], list[list[str]]]]:
    """Title, columns and cells of each table that has rows."""
    found = []
    for name in ("flows", "paths", "messages", "links", "regulators"):
        rows = getattr(result, name)
        if not rows:
            continue
        columns = list(tables.FLOW_COLUMNS) if name == "flows" else list(rows[0])
        found.append((name, columns, [[tables.cell(row[c]) for c in columns] for row in rows]))
    return found


FILES = {
    "scenario.toml": "scenario",
    "run.json": "seed, version and facts",
    "capture.pcapng": "packet capture",
    "summary.csv": "means and intervals",
    "points.parquet": "points with their scenarios",
    "measures.csv": "every number behind the claims",
    f"{EXAMPLE}/report.html": "one run of it, packet by packet",
    f"{EXAMPLE}/capture.pcapng": "its packet capture",
    "flows.csv": "flows",
    "links.csv": "links",
    "series": "every recorded series",
}
"""What lies beside a report and is linked where it is there."""


def _links(directory: Path, folder: str) -> list[tuple[str, str]]:
    at = directory / folder
    prefix = "" if folder == "." else f"{folder}/"
    return [(prefix + name, text) for name, text in FILES.items() if (at / name).exists()]


def _image(path: Path) -> str:
    try:
        return "data:image/svg+xml;base64," + base64.b64encode(path.read_bytes()).decode("ascii")
    except OSError:
        return ""
