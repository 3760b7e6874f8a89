"""The timeline: when it failed over, and why then."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from anabranch import Scenario, tables, timeline
from anabranch.experiment import RunResult
from anabranch.report import explorer
from anabranch.timeline import Event
from conftest import TWO_HOSTS
from made import flow, result

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def failover() -> RunResult:
    """An association whose primary path carries nothing from 6 s to 20 s."""
    return Scenario.load(ROOT / "examples" / "sctp-multihoming.toml").explored().run()


def of(events: list[Event], lane: str, kind: str) -> list[Event]:
    return [event for event in events if (event.lane, event.kind) == (lane, kind)]


def test_it_says_when_it_failed_over_and_why(failover: RunResult) -> None:
    events = failover.timeline()
    assert [event.time_s for event in events] == sorted(event.time_s for event in events)
    (outage,) = of(events, "r0-s0", "outage")
    assert (outage.time_s, outage.until_s) == (6.0, 20.0)
    # Each timeout doubles the next (RFC 9260 \u00a76.3.3): 1 s, then 2 s, then 4 s after the last.
    timeouts = of(events, "transfer.b.x", "timeout")
    gaps = np.diff([event.time_s for event in timeouts])
    assert len(timeouts) >= 3 and 6.0 < timeouts[0].time_s < 8.0
    assert gaps[:2] == pytest.approx([2.0, 4.0], abs=0.1)
    # The path is given up at the last of them, and new data goes the other way at once.
    (down,) = (e for e in of(events, "transfer.b.x", "state") if e.detail == "inactive")
    assert down.time_s == timeouts[2].time_s
    moved = of(events, "transfer.b.y", "data")[0]
    assert moved.time_s == pytest.approx(down.time_s, abs=0.1)
    assert down.until_s is not None and down.until_s > 20.0


def test_losses_and_retransmissions_are_told_in_bursts() -> None:
    run = Scenario(TWO_HOSTS).explored().run(seed=3)
    events = run.timeline()
    lost = [int(event.detail.split()[0]) for event in events if event.kind == "loss"]
    assert sum(lost) == len(run.series["f.drops"]["time_s"]) > 0
    again = [int(e.detail.split()[0]) for e in events if e.kind == "retransmission"]
    assert sum(again) == int(np.sum(run.series["f.sends"]["retransmission"])) > 0
    assert not any(event.kind == "data" for event in events)  # of one path nothing can move


def test_a_run_without_observations_has_its_flows() -> None:
    run = result([flow(flow="f", finish_s=2.0, bytes=2000)], end_s=4.0)
    (event,) = timeline.events(run)
    assert (event.until_s, event.kind, event.detail) == (2.0, "flow", "2.00 kB, complete")
    assert explorer.what_happened(run) is None


def test_it_is_a_table_and_a_chart(failover: RunResult, tmp_path: Path) -> None:
    tables.write_run(tmp_path, failover)
    with (tmp_path / "timeline.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(failover.timeline())
    assert tuple(rows[0]) == ("time_s", "until_s", "lane", "kind", "detail")
    chart = explorer.what_happened(failover)
    assert chart is not None
    assert chart.ynames == ["transfer.b.y", "transfer.b.x", "transfer", "s0-r0", "r0-s0"]
    assert [trace.name for trace in chart.traces] == [
        "flow lasts",
        "new data sent",
        "outage",
        "path failed",
        "timeout",
        "lost",
        "sent again",
    ]
