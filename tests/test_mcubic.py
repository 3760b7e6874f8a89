"""The study `mcubic`: its formulas and measures by hand, and a quick run with its verdicts."""

from __future__ import annotations

import doctest
import itertools
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import made
import mcubic_page
from anabranch import tables
from anabranch.experiment import RunResult
from anabranch.rows import Link
from anabranch.stats import Sample
from anabranch.studies.forensics import Fit, Search
from anabranch.studies.mcubic import (
    claims,
    conditions,
    forensics,
    formula,
    measures,
    network,
    windows,
)
from anabranch.studies.mcubic.conditions import Run
from anabranch.studies.mcubic.further import conditions as further
from anabranch.studies.mcubic.further import measures as further_measures
from anabranch.studies.mcubic.scope import Scope
from anabranch.studies.replications import Replicated
from anabranch.studies.results import StudyResult
from anabranch.verdicts import Verdict
from conftest import Command, Quick

RUN = Run("scenario", "mcubic", (100, 20), (40, 40), warm_up=10, seconds=20)


@pytest.mark.parametrize("module", [formula, forensics, measures])
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


def test_windows_after_a_loss_are_those_of_the_formula() -> None:
    """Figure 1 (b) from runs, by hand at 1000 and 400 segments: when the window is back at Wmax,
    and what part of that it is half-way. MCubic's larger path still holds then."""
    by_hand = {
        "mcubic": [(21.42, 0.7), (11.63, 1 - 0.4 * 5.815**3 / 400)],
        "cubic": [(9.09, 1 - 0.3 / 8), (6.69, 1 - 0.3 / 8)],
    }
    for scheme, expected in by_hand.items():
        paths = windows.read(windows.scenario(scheme).run())
        assert [own.w_max for own in paths] == pytest.approx([1000, 400], rel=0.03)
        for path, (own, (back, half)) in enumerate(zip(paths, expected, strict=True)):
            found = np.interp([back / 2, back], own.times, own.windows) / own.w_max
            assert found == pytest.approx([half, 1], abs=0.01)
            curve = windows.by_formula(paths, path, scheme)
            drawn = curve < 1500
            assert own.times[drawn][-1] > 18
            assert own.windows[drawn] == pytest.approx(curve[drawn], rel=0.04)


def result(step: float = 5.0, /, **megabytes: Sequence[float]) -> RunResult:
    """Flows that have received so many MB at 5, 10, ... s; 3 and 1 MB went over the paths."""
    flows = [made.flow(flow=name) for name in megabytes]
    series = {
        f"{name}.received": {
            "time_s": step * np.arange(1, 1 + len(values)),
            "value": 1e6 * np.array(values),
        }
        for name, values in megabytes.items()
    }
    links = [made.row(Link, name=f"in{n}", bytes_delivered=b) for n, b in ((1, 3e6), (2, 1e6))]
    return made.result(flows, series, links, end_s=30.0)


def test_goodput_counts_from_the_warm_up() -> None:
    found = result(multipath=[9, 10, 15, 20, 25, 30], tcp1=[0, 0, 10, 20, 30, 40])
    assert measures.goodput(RUN, found) == pytest.approx(8)
    assert measures.singles(RUN, found) == pytest.approx(16)
    assert measures.ratio(Replicated({RUN: [found]}), RUN).values == pytest.approx([0.5])
    assert measures.fairness(RUN, found) == pytest.approx(24**2 / (2 * (8**2 + 16**2)))
    assert measures.goodput_between(found, "multipath", 0, 2.5) == pytest.approx(4.5 * 8 / 2.5)
    assert measures.first_share(RUN, found) == 0.75


def test_several_draws_are_one_replication() -> None:
    """Their goodputs are added before a ratio is taken: 2 and 1, then 1 and 2, are even."""
    bed = conditions.published_cell("equal", "mcubic", 100, False)
    first, *others = conditions.draws(bed)
    assert first == bed
    assert len(others) == conditions.plan()["test_bed"]["draws"] - 1
    lines: list[float] = [1, 2]
    results = {
        each: [
            result(
                multipath=[(1 + number % 2) * y for y in lines],
                tcp1=[(2 - number % 2) * y for y in lines],
            )
        ]
        for number, each in enumerate([first, *others])
    }
    assert measures.ratio(Replicated(results), bed).values == pytest.approx([1.0])


def test_a_reaction_is_relative_to_what_comes_after_it() -> None:
    found = result(multipath=[5, 10, 12, 16, 21, 26])
    assert further_measures.reaction(RUN, found, 10, 10) == pytest.approx(0.6)


def test_goals_are_measured_against_a_flow_in_the_connections_place() -> None:
    grows: list[float] = [0, 10, 20, 30, 40, 50]
    ours = result(multipath=[0.9 * x for x in grows], tcp1=grows, tcp2=grows)
    first = result(multipath=grows, tcp1=grows, tcp2=[2 * x for x in grows])
    second = result(multipath=[0.5 * x for x in grows], tcp1=grows, tcp2=[2 * x for x in grows])
    results = Replicated(
        {
            RUN: [ours],
            RUN.with_scheme("path1"): [first],
            RUN.with_scheme("path2"): [second],
        }
    )
    assert further_measures.against_best_path(results, RUN).values == pytest.approx([-0.1])
    assert further_measures.harm(0)(results, RUN).values == pytest.approx([0])
    assert further_measures.harm(1)(results, RUN).values == pytest.approx([0.5])
    assert further_measures.balance(results, RUN).values == pytest.approx([0.75])


def test_buffers_by_hand() -> None:
    # 100 Mbit/s and 40 ms are 333 packets; a full queue is 40 ms more.
    assert [network.queue_packets(RUN, path) for path in (0, 1)] == [333, 67]
    octets = network.receive_octets(RUN)
    assert octets == pytest.approx(2 * 120e6 / 8 * 0.08, rel=1e-3)
    assert network.receive_octets(replace(RUN, window=3)) == 3 << 20
    shared = replace(RUN, bed="shared", rates=(100, 100), round_trips=(40, 80), buffer=0.5)
    assert network.receive_octets(shared) == pytest.approx(2 * 100e6 / 8 * 0.1, rel=1e-2)


def test_conditions_are_distinct_and_resolve() -> None:
    whole, quick = (
        [*conditions.runs(size, reported=True), *further.runs(size, reported=True)]
        for size in (False, True)
    )
    assert len(set(whole)) == len(whole)
    assert len(quick) < len(whole) / 4
    for run in {replace(run, rates=(100, 20)) for run in whole}:
        assert network.scenario(run).resolved()
    judged = [*conditions.runs(False, reported=False), *further.runs(False, reported=False)]
    assert set(judged) < set(whole)


def test_in_no_condition_is_the_second_path_the_better_one() -> None:
    """Goals are measured against a CUBIC on the first."""
    for run in further.grid(False):
        assert run.rates[0] >= run.rates[1]
        assert run.round_trips[0] <= run.round_trips[1]
        assert run.losses[0] <= run.losses[1]
        assert further.differs(run) == (
            run.rates != (20, 20) or run.round_trips != (40, 40) or any(run.losses)
        )


@pytest.fixture(scope="module")
def results(quick: Quick) -> Path:
    return quick("mcubic")


def test_the_published_numbers_hold_by_the_rules_of_their_claims() -> None:
    """A rule that the paper's own tables do not meet would not be one of the paper's."""
    said = conditions.plan()["published"]
    told = {
        (experiment, scheme, x): y
        for experiment, table in said.items()
        for scheme in (name for name in table if name != "x")
        for x, y in zip(table["x"], table[scheme], strict=True)
    }

    class Told(Scope):
        def sample(self, experiment: str, scheme: str, x: float, _measure: object) -> Sample:
            return Sample.of([told[experiment, scheme, x]] * 4)

        def columns(self, experiment: str) -> list[float]:
            return [float(x) for x in said[experiment]["x"]]

    at = Told(Replicated({}), False, conditions.published_cell, conditions.published_columns)
    judged = [*claims.fairest(at), *claims.equal_delays(at), *claims.unequal_delays(at)]
    assert len(judged) == 16 + 4 + 9 + 10 + 9
    assert [each.quantity for each in judged if each.verdict is not Verdict.HOLDS] == []


def test_a_search_finds_the_setting_that_made_the_numbers() -> None:
    """Numbers of one setting are given as published: it fits without a residual, and alone."""
    true = forensics.Setting(queue=50, window=1, ways=2, duration=20, skipped=10)
    results: dict[Run, list[RunResult]] = {}
    grows = np.array([2.0, 3.0, 5.0, 7.0, 8.0, 10.0])
    for run in forensics.runs():
        rate = 1 + len(results) % 97 / 10
        sizes = {"multipath": np.cumsum(grows * [1, 1.1, rate, 1.2, 1, 1.3])}
        for name in ("tcp1", "tcp2") if run.bed == conditions.DISTINCT else ("tcp1",):
            sizes[name] = 3 * np.arange(1.0, 7.0)
        results[run] = [result(5.0, **{k: v.tolist() for k, v in sizes.items()})]
    trip, third = 20, 30
    tables = {
        "distinct": forensics.distinct_numbers(results, true, trip, third),
        "equal": forensics.shared_numbers(results, "equal", true),
        "unequal": forensics.shared_numbers(results, "unequal", true),
    }
    found = {number.place + number.group: number.found for of in tables.values() for number in of}
    together = forensics.searches(results)[0]
    exact = [
        fit
        for fit in together.fits
        if all(
            number.found == pytest.approx(found[number.place + number.group])
            for number in fit.numbers
        )
    ]
    assert [fit.setting for fit in exact] == [
        {**true.texts(), "round trip of table 1": "20 ms", "third rate of table 1": "30"}
    ]
    best = Search("", [replace_published(fit, found) for fit in together.fits]).best
    assert best.setting == exact[0].setting
    assert best.rms == pytest.approx(0)


def test_a_search_looks_at_flows_when_each_part_begins_and_ends() -> None:
    """Goodput is interpolated between looks: with fewer, 5 s and 10 s would have the same."""
    step = int(forensics.interval().removesuffix(" s"))
    for at in forensics.settings():
        assert at.skipped % step == 0
        assert (at.skipped + at.duration) % step == 0


def replace_published(fit: Fit, numbers: dict[str, float]) -> Fit:
    """The same fit, against other published numbers."""
    return Fit(
        fit.setting,
        [
            replace(number, residual=number.found - numbers[number.place + number.group])
            for number in fit.numbers
        ],
    )


def test_verdicts_have_both_scopes(results: Path) -> None:
    rows = tables.read_csv(results / "claims.csv")
    verdicts = {row["claim"]: row["verdict"] for row in rows}
    assert [claim for claim in verdicts if claim[0] == "C"] == [f"C{n}" for n in range(1, 7)]
    assert all(row["grid_verdict"] for row in rows if row["claim"][0] == "C")
    assert verdicts["C6"] == "does not hold"
    measures_of = tables.read_csv(results / "mcubic" / "measures.csv")
    formulas = [
        row for row in measures_of if row["claim"] == "C6" and row["scope"] == "as published"
    ]
    assert [float(row["ci_low"]) for row in formulas] == [pytest.approx(0.018, abs=0.001)]
    assert {row["n"] for row in measures_of if row["claim"] == "C2"} == {"4"}


def test_every_table_has_the_published_numbers_beside_ours(results: Path) -> None:
    folder = results / "mcubic"
    for number, experiment in enumerate(conditions.COLUMNS, start=1):
        published = conditions.plan()["published"][experiment]
        for suffix in ("", "_grid"):
            rows = tables.read_csv(folder / f"table{number}{suffix}.csv")
            for scheme in (name for name in published if name != "x"):
                assert {row["series"] for row in rows} >= {scheme, f"{scheme}, paper"}
                theirs = [float(r["mean"]) for r in rows if r["series"] == f"{scheme}, paper"]
                assert theirs == published[scheme]
    figures = ("fig1a", "fig1b", "fig1b_runs", "fig3_connection", "fig5_tcp", "fig6_tcp_grid")
    for stem in (*figures, "fig3_tcp1", "k_prime", "goal1", "path_slower", "blocking_min_rtt"):
        assert (folder / f"{stem}.svg").read_bytes().startswith(b"<?xml")
    goals = tables.read_csv(folder / "goals.csv")
    assert {row["scheme"] for row in goals} == {"mcubic", "mcubic-share", "cubic"}
    for row in goals:
        assert 0 < float(row["balance"]) < 1


def test_the_page_finds_the_goals_of_every_scheme(results: Path) -> None:
    found = StudyResult.load(results / "mcubic")
    assert found is not None
    _, _, *rows = mcubic_page.goals(found)
    names = ["`mcubic`", "`mcubic-share`", "uncoupled `cubic`"]
    assert [row.split(" | ")[0] for row in rows] == [f"| {name}" for name in names]
    assert all(row.count("%") == 4 for row in rows)


def test_stored_replications_give_the_same_results(results: Path, anabranch: Command) -> None:
    """Their series too: goodput is reckoned from them."""
    files = [results / name for name in ("claims.csv", "mcubic/table1.csv", "mcubic/measures.csv")]
    before = [file.read_bytes() for file in files]
    runs = {path: path.stat().st_mtime_ns for path in (results / "mcubic" / "runs").iterdir()}
    done = anabranch("reproduce", "mcubic", "--quick", "--out", results)
    assert done.returncode == 0, done.stderr
    assert {path: path.stat().st_mtime_ns for path in runs} == runs
    assert [file.read_bytes() for file in files] == before
