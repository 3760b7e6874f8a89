"""Runs laid over each other: each chart stops where its run did."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from anabranch import results, tables
from anabranch.experiment import Scenario
from anabranch.report.charts import Chart
from anabranch.report.overlay import overlay_charts, timelines
from anabranch.rows import plain
from conftest import TWO_HOSTS


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two runs: the flow of the first ends long before its run, the second run ends early."""
    found = []
    for name, end in (("long", "60 s"), ("short", "500 ms")):
        place = tmp_path_factory.mktemp(name)
        run = Scenario(TWO_HOSTS).set(f"duration={end}").explored().run(seed=3)
        tables.write_run(place, run)
        (place / "run.json").write_text(json.dumps(run.run, default=plain), encoding="utf-8")
        found.append(place)
    return found


def named(charts: list[Chart], title: str) -> Chart:
    return next(chart for chart in charts if chart.title == title)


@pytest.mark.parametrize("title", ["Arrivals at the receiver", "In-order delivery"])
def test_rates_are_zero_after_the_last_arrival(places: list[Path], title: str) -> None:
    long, _ = named(overlay_charts(places), title).traces
    values = np.asarray(long.y, dtype=float)
    assert values[np.isfinite(values)][-1] == 0


def test_curves_stop_where_their_run_did(places: list[Path]) -> None:
    for chart in overlay_charts(places):
        for trace in chart.traces:
            assert np.isnan(np.asarray(trace.y, dtype=float)[-1]), chart.title
    _, short = named(overlay_charts(places), "Arrivals at the receiver").traces
    assert np.asarray(short.x)[-1] == 0.5


def test_each_run_has_its_timeline(places: list[Path]) -> None:
    charts = timelines(places)
    assert [chart.title for chart in charts] == [f"Timeline of {place.name}" for place in places]
    assert [chart.xlim for chart in charts] == [(0.0, 60.0), (0.0, 0.5)]


def test_a_rate_is_drawn_to_the_end_of_the_run(places: list[Path]) -> None:
    rows = results.frame(places[:1], "arrivals").data
    assert rows["time_s"].max() == 60.0
    assert rows["arrivals"].iloc[-1] == 0
