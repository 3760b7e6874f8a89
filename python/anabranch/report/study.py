"""The reports of studies and of an algorithm's report card."""

from __future__ import annotations

import base64
import math
import re
import tomllib
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from anabranch import studies, tables
from anabranch.experiment import Scenario
from anabranch.files import output_directory, replacing, write_text
from anabranch.library import quantities
from anabranch.report import live
from anabranch.report.bullets import bullet
from anabranch.report.charts import from_figure
from anabranch.report.links import EXAMPLE, links
from anabranch.report.page import Charts, render
from anabranch.report.run import write_run_report
from anabranch.studies.live import LiveOutcome
from anabranch.studies.results import FigureEntry, StudyResult

if TYPE_CHECKING:  # its checks are imported when an algorithm is evaluated
    from anabranch.evaluate import Card

EXAMPLE_HOPS = 10_000
"""Packet-hops of a study's single run at most, or about."""
FIRST_SECONDS = 0.5
"""Of the shortest beginning that is tried."""
CUT = ("duration", "time-limit")
"""How a run has ended that would have gone on."""


PAGE = "report.html"
CITED = re.compile(r"([0-9]+)(?:\(([a-z])\))?")
"""A figure of a paper: `5(a)`."""


def write_study_report(directory: Path) -> None:
    """`claims.csv` and `report.html` over every study that has finished in `directory`, and a
    `report.html` in the folder of each."""
    results = [
        result for name in studies.ALL if (result := StudyResult.load(directory / name)) is not None
    ]
    outcomes = {
        name: outcome
        for name in studies.ALL
        if (outcome := LiveOutcome.load(directory / name)) is not None
    }
    rows = [claim.row(result.name) for result in results for claim in result.claims]
    rows += [row for outcome in outcomes.values() for row in outcome.rows()]
    tables.write_csv(directory / "claims.csv", tables.CLAIM_COLUMNS, rows)
    charts = Charts()
    page = render(
        "report.html.j2",
        charts,
        results=results,
        live=outcomes,
        titles={name: studies.ALL[name].title for name in outcomes},
        counts=lambda result: Counter(claim.verdict.value for claim in result.claims),
        chart=lambda result, stem: _figure(charts, directory / result.name, stem),
        image=lambda result, stem: _image(directory / result.name / f"{stem}.svg"),
    )
    write_text(directory / PAGE, page)
    by_name = {result.name: result for result in results}
    for name in dict.fromkeys([*by_name, *outcomes]):
        _write_page(directory, name, by_name.get(name), outcomes.get(name))


def _write_page(
    directory: Path, name: str, result: StudyResult | None, outcome: LiveOutcome | None
) -> None:
    """A study's own page: of each claim its sentence, verdict, bound, numbers and figures."""
    charts = Charts()
    folder = directory / name
    shown = {} if result is None else figures_of_claims(result)
    used = {each.stem for figures in shown.values() for each in figures}
    used |= {result.headline} if result is not None else set()
    page = render(
        "study.html.j2",
        charts,
        name=name,
        title=studies.ALL[name].title,
        study=studies.ALL[name],
        result=result,
        outcome=outcome,
        live=None if outcome is None else live.shown(outcome),
        titles={name: studies.ALL[name].title},
        shown=shown,
        others=[each for each in (result.figures if result else ()) if each.stem not in used],
        bullet=bullet,
        chart=lambda stem: _figure(charts, folder, stem),
        image=lambda stem: _image(folder / f"{stem}.svg"),
        links=links(folder, "."),
    )
    write_text(folder / PAGE, page)


def figures_of_claims(result: StudyResult) -> dict[str, list[FigureEntry]]:
    """The figures that show each claim: those that name it, and those of the paper that its source
    names. A figure stands with the first claim that it shows."""
    taken = {result.headline}
    found: dict[str, list[FigureEntry]] = {}
    for claim in result.claims:
        cited = {f"fig{number}{letter}" for number, letter in _cited(claim.source)}
        mine = [
            figure
            for figure in result.figures
            if figure.stem not in taken and (claim.claim in figure.claims or figure.stem in cited)
        ]
        taken |= {figure.stem for figure in mine}
        found[claim.claim] = mine
    return found


def _cited(source: str) -> list[tuple[str, str]]:
    _, figure, rest = source.partition("figure")
    return CITED.findall(rest.partition(":")[0]) if figure else []


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
        if run.packet_hops > EXAMPLE_HOPS:
            return run.end_s * EXAMPLE_HOPS / run.packet_hops
        if limit >= end or run.ended not in CUT:
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
