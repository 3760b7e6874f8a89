"""The two-way half of the study `fast-tcp`: its models, and a quick run with its verdicts."""

from __future__ import annotations

import doctest
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import made
from anabranch import tables
from anabranch.rows import Line
from anabranch.studies.fast_tcp import two_way
from anabranch.studies.fast_tcp.two_way import carried, conditions, measures, models, networks
from anabranch.studies.study import Context, Strength
from anabranch.verdicts import Verdict

FIGURES = (
    "two_way_by_window",
    "two_way_by_unequal_window",
    "two_way_by_rates",
    "two_way_by_delay",
    "two_way_by_segment",
    "two_way_by_processing",
    "ack_gaps",
    "bursts",
    "two_way_remedies",
)


def test_examples_in_the_documentation() -> None:
    result = doctest.testmod(models)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_closed_form_in_its_corners() -> None:
    full = models.Channel((100, 100), (1e7, 1e7), 0.12, 1460)
    # A round trip more than the other: its whole line.
    first, second = replace(full, windows=(200, 100)).shares
    assert first == pytest.approx(1, abs=0.02)
    assert second == pytest.approx(first / 2)
    # Half a round trip each: nothing waits.
    small = replace(full, windows=(50, 50))
    assert small.shares == pytest.approx(small.alone)
    assert small.bunch == 0


def test_nothing_is_left_to_chance() -> None:
    run = conditions.Run("shown")
    first, second = (conditions.scenario(run).set(f"seed={seed}").run() for seed in (1, 2))
    assert first.flows == second.flows
    assert measures.value(run, first) == measures.value(run, second)


def test_a_queue_is_averaged_over_time() -> None:
    # 2 packets for the first half of what is measured, 6 for the second.
    begin, end = networks.PAIR.from_s(), networks.PAIR.until_s()
    times = np.array([0.0, (begin + end) / 2, end + 1])
    series = {"x.queue": {"time_s": times, "value": np.array([2.0, 6.0, 100.0])}}
    found = made.result(series=series)
    assert networks.average("x")(found) == pytest.approx(4.0)
    assert networks.longest("x")(found) == 6.0


def test_a_queue_of_cells_is_a_delay() -> None:
    begin, end = networks.PAIR.from_s(), networks.PAIR.until_s()
    times = np.linspace(begin, end, 101)[1:]
    series = {"x.cells": {"time_s": times, "value": np.arange(1.0, 101.0)}}
    # 5000 of 6000 cells were sent in half of 20 s: 2 ms each.
    port = made.row(Line, name="x", received=6000, dropped=1000, utilisation=0.5)
    found = made.result(series=series, end_s=20.0, lines=[port])
    assert networks.cells(found, "x") == pytest.approx((0.101, 0.2))


def test_over_atm_data_leave_as_over_the_channel() -> None:
    # One way there are no answers but those to the far end's RM cells, one for 31 ACKs.
    alone = carried.pair(conditions.Run("shown", 2.0, 0), "max-min").run()
    rate = carried.allowed_mbps(10.0) * 1e6 / 424
    packets = rate * (31 / 32 - 1 / 992) / 32
    assert networks.share(alone) == pytest.approx(packets * 1.2e-3, rel=0.003)


def test_conditions_are_distinct_and_resolve() -> None:
    runs = conditions.runs(quick=False)
    assert len(set(runs)) == len(runs)
    for run in (*conditions.runs(quick=True), *conditions.shown().values()):
        assert conditions.scenario(run).resolved()


def test_the_claims_on_two_way_traffic(tmp_path: Path) -> None:
    context = Context(tmp_path, Strength.QUICK, 2, lambda _done, _total: None)
    outcome = two_way.examine(context)
    verdicts = {claim.claim: claim.verdict for claim in outcome.claims}
    for claim in ("C1", "C2", "C3", "C12", "C13", "C14", "K1", "W1", "W2", "W4"):
        assert verdicts[claim] is Verdict.HOLDS
    for claim in ("C4", "C10", "C15"):
        assert verdicts[claim] is Verdict.PARTLY
    assert verdicts["W3"] is Verdict.FAILS
    # ERICA beside other virtual channels: neither rates nor delays stay.
    over_the_grid = {claim.claim: claim.grid_verdict for claim in outcome.claims}
    assert over_the_grid["C10"] is Verdict.HOLDS
    for claim in ("C13", "C14", "C15"):
        assert over_the_grid[claim] is Verdict.PARTLY
    assert {figure.stem for figure in outcome.figures} >= set(FIGURES)
    for stem in FIGURES:
        points = tables.read_csv(tmp_path / f"{stem}.csv")
        assert tuple(points[0]) == tables.POINT_COLUMNS
        assert (tmp_path / f"{stem}.svg").read_bytes().startswith(b"<?xml")
