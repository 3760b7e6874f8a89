"""From templates and charts to a page that needs nothing else."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from anabranch.report.charts import Chart

STYLES = ("uplot/uPlot.min.css", "report.css")
SCRIPTS = ("theme.js", "tables.js")
CHART_SCRIPTS = ("uplot/uPlot.iife.min.js", "chart.js")


class Charts:
    """The charts of a page, by number."""

    def __init__(self) -> None:
        self._charts: list[Chart] = []

    def add(self, chart: Chart) -> int:
        """The number by which the page refers to it."""
        self._charts.append(chart)
        return len(self._charts) - 1

    def __getitem__(self, number: int) -> Chart:
        return self._charts[number]

    def __len__(self) -> int:
        return len(self._charts)

    def json(self) -> Markup:
        """All of them, as the content of a `<script>`: without anything that could end it."""
        text = json.dumps([chart.encoded() for chart in self._charts], allow_nan=False)
        return Markup(text.replace("<", "\\u003c"))


def render(template: str, charts: Charts, **values: Any) -> str:
    """The page; `charts` may be filled while it is rendered."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("anabranch"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.get_template(template).render(
        charts=charts,
        styles=Markup("\n".join(map(_asset, STYLES))),
        script=lambda: _scripts(SCRIPTS + CHART_SCRIPTS * bool(len(charts))),
        **values,
    )


def _scripts(names: tuple[str, ...]) -> Markup:
    parts = []
    for name in names:
        text = _asset(name)
        if "</script" in text:
            raise ValueError(f"{name} would end its own element")
        parts.append(f'<script data-name="{name}">{text}</script>')
    return Markup("\n".join(parts))


def _asset(name: str) -> str:
    return resources.files("anabranch.report").joinpath("assets", name).read_text("utf-8")
