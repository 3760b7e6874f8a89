"""The study `mcubic`: its formulas and measures by hand, and a quick run with its verdicts."""

from __future__ import annotations

import doctest
import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from anabranch import tables
from anabranch.experiment import RunResult
from anabranch.studies.mcubic import conditions, formula, measures
from anabranch.studies.mcubic.conditions import Run
from anabranch.studies.mcubic.further import conditions as further
from anabranch.studies.mcubic.further import measures as further_measures
from conftest import Command, Quick

RUN = Run("scenario", "mcubic", (100, 20), (40, 40), warm_up=10, seconds=20)


@pytest.mark.parametrize("module", [formula, measures])
def test_examples_in_the_documentation(module: object) -> None:
    result = doctest.testmod(module)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0


def test_the_connection_never_grows_faster_than_its_best_path() -> None:
    """Claim C5 for unequal paths: a mean of 1/K weighted by 1/K is at most the largest."""
    for ks in itertools.product((1.0, 2.0, 5.0, 9.0), repeat=3):
        assert formula.rate(ks) <= 1 + 1e-12
        assert (formula.rate(ks) > 1 - 1e-12) == (len(set(ks)) == 1)


def test_congestion_elsewhere_delays_the_plateau_and_by_shares_hastens_it() -> None:
    """Claim C6 by the formula."""
    for left in (0.9, 0.5, 0.1):
        assert formula.shifted(left)[0] > 1
        assert formula.shifted_by_shares(left)[0] < 1 < formula.shifted_by_shares(left)[1]


def result(**megabytes: Sequence[float]) -> RunResult:
    """Flows that have received so many MB at 5, 10, ... s; 3 and 1 MB went over the paths."""
    flows = [{"flow": name} for name in megabytes]
    series = {
        f"{name}.received": {
            "time_s": 5.0 * np.arange(1, 1 + len(values)),
            "value": 1e6 * np.array(values),
        }
        for name, values in megabytes.items()
    }
    links = [{"name": "in1", "bytes_delivered": 3e6}, {"name": "in2", "bytes_delivered": 1e6}]
    return RunResult(flows, series, links, {"end_s": 30.0})


def test_goodput_counts_from_the_warm_up() -> None:
    found = result(multipath=[9, 10, 15, 20, 25, 30], tcp1=[0, 0, 10, 20, 30, 40])
    assert measures.goodput(RUN, found) == pytest.approx(8)
    assert measures.singles(RUN, found) == pytest.approx(16)
    assert measures.ratio(RUN, found) == pytest.approx(0.5)
    assert measures.fairness(RUN, found) == pytest.approx(24**2 / (2 * (8**2 + 16**2)))
    assert measures.goodput_between(found, "multipath", 0, 2.5) == pytest.approx(4.5 * 8 / 2.5)
    assert measures.first_share(RUN, found) == 0.75


def test_a_reaction_is_relative_to_what_comes_after_it() -> None:
    found = result(multipath=[5, 10, 12, 16, 21, 26])
    assert further_measures.reaction(RUN, found, 10, 10) == pytest.approx(0.6)


def test_goals_are_measured_against_a_flow_in_the_connections_place() -> None:
    grows: list[float] = [0, 10, 20, 30, 40, 50]
    ours = result(multipath=[0.9 * x for x in grows], tcp1=grows, tcp2=grows)
    first = result(multipath=grows, tcp1=grows, tcp2=[2 * x for x in grows])
    second = result(multipath=[0.5 * x for x in grows], tcp1=grows, tcp2=[2 * x for x in grows])
    results = {
        RUN: [ours],
        RUN.with_scheme("path1"): [first],
        RUN.with_scheme("path2"): [second],
    }
    assert further_measures.paths_by_value(results, RUN) == [0, 1]
    assert further_measures.against_best_path(results, RUN) == [pytest.approx(-0.1)]
    assert further_measures.harm(results, RUN) == [pytest.approx(0.5)]
    assert further_measures.balance(results, RUN) == [0.75]


def test_buffers_by_hand() -> None:
    # 100 Mbit/s and 40 ms are 333 packets; a full queue is 40 ms more.
    assert [conditions.queue_packets(RUN, path) for path in (0, 1)] == [333, 67]
    octets = conditions.receive_octets(RUN)
    assert octets == pytest.approx(2 * 120e6 / 8 * 0.08, rel=1e-3)
    assert conditions.receive_octets(replace(RUN, window=3)) == 3 << 20
    shared = replace(RUN, bed="shared", rates=(100, 100), round_trips=(40, 80), buffer=0.5)
    assert conditions.receive_octets(shared) == pytest.approx(2 * 100e6 / 8 * 0.1, rel=1e-2)


def test_conditions_are_distinct_and_resolve() -> None:
    assert conditions.merged([(RUN, 2), (RUN, 5)]) == [(RUN, 5)]
    batches = [*conditions.batches(False), *further.batches(False), *further.events(False)]
    for run in {replace(run, rates=(100, 20)) for run, _ in batches}:
        assert conditions.scenario(run).resolved()
    quick = [*conditions.batches(True), *further.batches(True), *further.events(True)]
    assert len(quick) < len(batches) / 4


@pytest.fixture(scope="module")
def results(quick: Quick) -> Path:
    return quick("mcubic")


def test_the_formula_shifts_traffic_the_wrong_way(results: Path) -> None:
    verdicts = {row["claim"]: row["verdict"] for row in tables.read_csv(results / "claims.csv")}
    assert [claim for claim in verdicts if claim[0] == "C"] == [f"C{n}" for n in range(1, 7)]
    assert verdicts["C6"] != "holds"
    rows = tables.read_csv(results / "mcubic" / "measures.csv")
    measured = {(row["claim"], row["quantity"]): row for row in rows}
    formulas = measured[
        "C6", "change of K' when the other path's Wmax falls to half, by the formula"
    ]
    assert formulas["verdict"] == "does not hold"
    assert float(formulas["measured"]) == pytest.approx(0.13, abs=0.001)
    assert measured["C5", "sum of 1/K' over 1/K, two equal paths"]["verdict"] == "holds"


def test_every_table_has_the_published_numbers_beside_ours(results: Path) -> None:
    folder = results / "mcubic"
    for stem in ("table1", "table2", "table3"):
        rows = tables.read_csv(folder / f"{stem}.csv")
        published = conditions.plan()["published"][stem]
        for scheme in (name for name in published if name != "x"):
            assert {row["series"] for row in rows} >= {scheme, f"{scheme}, paper"}
            theirs = [float(r["mean"]) for r in rows if r["series"] == f"{scheme}, paper"]
            assert theirs == published[scheme]
    figures = ("fig3_connection", "fig3_tcp1", "fig5_tcp", "fig6_tcp", "k_prime", "goal1")
    for stem in (*figures, "path_slower", "blocking_min_rtt"):
        assert (folder / f"{stem}.svg").read_bytes().startswith(b"<?xml")
    goals = tables.read_csv(folder / "goals.csv")
    assert {row["scheme"] for row in goals} == {"mcubic", "mcubic-share", "cubic"}
    for row in goals:
        assert 0 < float(row["balance"]) < 1


def test_stored_replications_give_the_same_results(results: Path, anabranch: Command) -> None:
    """Their series too: goodput is reckoned from them."""
    files = [results / name for name in ("claims.csv", "mcubic/table1.csv", "mcubic/measures.csv")]
    before = [file.read_bytes() for file in files]
    runs = {path: path.stat().st_mtime_ns for path in (results / "mcubic" / "runs").iterdir()}
    done = anabranch("reproduce", "mcubic", "--quick", "--out", results)
    assert done.returncode == 0, done.stderr
    assert {path: path.stat().st_mtime_ns for path in runs} == runs
    assert [file.read_bytes() for file in files] == before
