"""The study `sctp-multihoming`: its measures by hand, its claims over the small grid."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anabranch import tables
from anabranch.experiment import RunResult
from anabranch.stats import Estimate
from anabranch.studies import inline
from anabranch.studies.sctp_multihoming import conditions, measures
from conftest import Command


def estimates(*values: float) -> list[Estimate]:
    return [Estimate(v, v - 1, v + 1, 10) for v in values]


def test_a_crossing_lies_on_the_line_between_its_neighbours() -> None:
    # The mean crosses 0 at 1.5, its upper end at 1.25, its lower end at 1.75.
    found = measures.crossing([0, 1, 2, 3], estimates(-4, -2, 2, 4))
    assert found == Estimate(1.5, 1.25, 1.75, 10)


@pytest.mark.parametrize(("values", "at"), [((1.5, 2, 3), 0.0), ((-3, -2, -1.5), 2.0)])
def test_without_a_crossing_it_is_an_end(values: tuple[float, ...], at: float) -> None:
    assert measures.crossing([0, 1, 2], estimates(*values)).mean == at


def test_a_mean_over_time_weighs_each_value_by_how_long_it_held() -> None:
    series = {"time_s": np.array([0.0, 1.0, 4.0]), "value": np.array([2.0, 4.0, 10.0])}
    run = RunResult([], {"x": series}, [], {"end_s": 5.0})
    assert measures.mean_over_time(run, "x") == (2 * 1 + 4 * 3 + 10 * 1) / 5


def test_a_policy_that_never_leaves_the_path_is_run_once() -> None:
    same = {conditions.batch("same", 4, other) for other in (0, 2, 5)}
    assert same == {conditions.Batch("same", 4)}
    assert len({conditions.batch("alternate", 4, other) for other in (0, 2, 5)}) == 3


def test_inline_values_are_toml() -> None:
    assert inline.toml({"a": [1, 0.5], "b": {"c": "x", "d": True}}) == (
        '{a = [1, 0.5], b = {c = "x", d = true}}'
    )


def test_the_claims_about_losses_hold(anabranch: Command, tmp_path: Path) -> None:
    result = anabranch("reproduce", "sctp-multihoming", "--quick", "--out", tmp_path)
    assert result.returncode == 0, result.stderr
    verdicts = {row["claim"]: row["verdict"] for row in tables.read_csv(tmp_path / "claims.csv")}
    assert [f"C{number}" for number in range(1, 11)] == [c for c in verdicts if c[0] == "C"]
    assert verdicts["C3"] == verdicts["C4"] == verdicts["C8"] == "holds"
    folder = tmp_path / "sctp-multihoming"
    rows = tables.read_csv(folder / "fig3.csv")
    at_16 = {row["series"]: float(row["mean"]) for row in rows if row["x"] == "16"}
    order = ["sctp-multi", "sctp-single", "tcp-sack", "tcp-reno"]
    assert sorted(at_16, key=at_16.__getitem__) == order
    assert (folder / "timeouts.svg").stat().st_size
