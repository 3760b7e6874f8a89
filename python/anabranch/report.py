"""The report: one HTML file with everything inside, which works offline."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2

from anabranch import figures, studies, tables
from anabranch.experiment import RunResult
from anabranch.files import write_text
from anabranch.observed import AXES, PACKETS
from anabranch.studies.live import LiveOutcome
from anabranch.studies.results import StudyResult

if TYPE_CHECKING:  # its checks are imported when an algorithm is evaluated
    from anabranch.evaluate import Card

MOST_SERIES = 7
"""More series than this in one figure cannot be told apart: the first are drawn."""


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
    page = _template("report.html.j2").render(
        results=results,
        live=live,
        titles={name: studies.ALL[name].title for name in live},
        image=lambda result, stem: _image(directory / result.name / f"{stem}.svg"),
    )
    write_text(directory / "report.html", page)


def write_card(directory: Path, card: Card, result: StudyResult) -> None:
    """`report.html` of an algorithm's report card, whose figures are in `directory`."""
    page = _template("card.html.j2").render(
        card=card, result=result, image=lambda stem: _image(directory / f"{stem}.svg")
    )
    write_text(directory / "report.html", page)


def write_run_report(directory: Path, scenario: str, result: RunResult) -> None:
    """`report.html` of one run: flows, links, a figure per kind of series."""
    drawn = _run_figures(directory, result)
    page = _template("run.html.j2").render(
        scenario=scenario,
        result=result,
        flow_columns=tables.FLOW_COLUMNS,
        link_columns=list(result.links[0]) if result.links else [],
        cell=tables.cell,
        figures=[(title, _image(path)) for title, path in drawn],
    )
    write_text(directory / "report.html", page)


def _run_figures(directory: Path, result: RunResult) -> list[tuple[str, Path]]:
    kinds: dict[str, list[str]] = {}
    for name in sorted(result.series):
        kinds.setdefault(name.rpartition(".")[2], []).append(name)
    drawn = []
    for kind, names in kinds.items():
        axis, title = AXES.get(kind, (kind, kind))
        rows: list[dict[str, Any]] = []
        for name in names[:MOST_SERIES]:
            series = result.series[name]
            label = name.rpartition(".")[0]
            columns = zip(series["time_s"].tolist(), series["value"].tolist(), strict=True)
            rows += [{"series": label, "time_s": t, "value": v} for t, v in columns]
        path = directory / f"{tables.file_name(kind)}.csv"
        tables.write_csv(path, tables.TIME_COLUMNS, rows)
        dots = figures.Look("", ".", size=2.0)
        looks = {name.rpartition(".")[0]: dots for name in names}
        styled = looks if kind in PACKETS else {}
        figures.time_series(path, figures.Plot(title, "time (s)", axis, styled))
        drawn.append((title, path.with_suffix(".svg")))
    return drawn


def _image(path: Path) -> str:
    try:
        return "data:image/svg+xml;base64," + base64.b64encode(path.read_bytes()).decode("ascii")
    except OSError:
        return ""


def _template(name: str) -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("anabranch"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(name)
