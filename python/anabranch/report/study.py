"""The reports of studies and of an algorithm's report card."""

from __future__ import annotations

import base64
import math
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from anabranch import studies, tables
from anabranch.experiment import Scenario
from anabranch.files import output_directory, replacing, write_text
from anabranch.library import quantities
from anabranch.report.charts import from_figure
from anabranch.report.links import EXAMPLE, links
from anabranch.report.page import Charts, render
from anabranch.report.run import write_run_report
from anabranch.studies.live import LiveOutcome
from anabranch.studies.results import StudyResult

if TYPE_CHECKING:  # its checks are imported when an algorithm is evaluated
    from anabranch.evaluate import Card

EXAMPLE_HOPS = 10_000
"""Packet-hops of a study's single run at most, or about."""
FIRST_SECONDS = 0.5
"""Of the shortest beginning that is tried."""
CUT = ("duration", "time-limit")
"""How a run has ended that would have gone on."""


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
        links=lambda result: links(directory, result.name),
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


def write_example(directory: Path, result: StudyResult) -> None:
    """One run of the study's scenario into `example/`: report, series and capture. Of a long run
    it is the beginning, so that the capture stays small."""
    folder = output_directory(directory / EXAMPLE)
    scenario = Scenario(result.scenario, f"{result.name}: one run").explored()
    seconds = beginning(Scenario(result.scenario))
    if seconds is not None:
        scenario = replace(scenario, file=f"{scenario.file}, the first {seconds:.3g} s")
        scenario = scenario.set(f"duration={seconds:.9f} s")
    with replacing(folder / "capture.pcapng") as capture:
        run = scenario.run(pcap=capture, trace_hash=True)
    tables.write_run(folder, run)
    write_run_report(folder, scenario.file, run)


def beginning(scenario: Scenario) -> float | None:
    """Seconds in which a run has about `EXAMPLE_HOPS` packet-hops; `None` if all of it has fewer.

    Longer and longer beginnings are run: together they take no longer than twice the last."""
    whole = tomllib.loads(scenario.resolved()).get("duration")
    field = "time_limit" if whole is None else "duration"
    end = math.inf if whole is None else quantities.seconds(whole)
    limit = FIRST_SECONDS
    while True:
        run = scenario.set(f"{field}={min(limit, end):.9f} s").run().run
        if run["packet_hops"] > EXAMPLE_HOPS:
            return float(run["end_s"] * EXAMPLE_HOPS / run["packet_hops"])
        if limit >= end or run["ended"] not in CUT:
            return None
        limit *= 2


def _figure(charts: Charts, directory: Path, stem: str) -> int | None:
    """The number of a figure's chart; `None` if it is a picture alone."""
    chart = from_figure(directory / f"{stem}.csv")
    return None if chart is None else charts.add(chart)


def _image(path: Path) -> str:
    try:
        return "data:image/svg+xml;base64," + base64.b64encode(path.read_bytes()).decode("ascii")
    except OSError:
        return ""
