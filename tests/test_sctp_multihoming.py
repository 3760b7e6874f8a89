"""The study `sctp-multihoming`: its measures and models by hand, its claims over the small grid."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import made
from anabranch import inline, tables
from anabranch.experiment import RunResult
from anabranch.stats import Estimate, Sample
from anabranch.studies.replications import Replicated
from anabranch.studies.sctp_multihoming import blocks, conditions, measures
from anabranch.studies.sctp_multihoming.conditions import Batch, Paths
from anabranch.studies.sctp_multihoming.failover import models
from anabranch.studies.sctp_multihoming.failover.conditions import Run, Setting
from anabranch.studies.sctp_multihoming.failover.measures import of
from anabranch.studies.sctp_multihoming.policies.conditions import case, settings
from anabranch.studies.sctp_multihoming.policies.regret import Table
from anabranch.studies.sctp_multihoming.several import conditions as several
from anabranch.studies.sctp_multihoming.several.measures import failover
from anabranch.studies.sctp_multihoming.worlds import World, of_policies, with_tcp
from conftest import Quick


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
    run = made.result(series={"x": series}, end_s=5.0)
    assert measures.mean_over_time(run, "x") == (2 * 1 + 4 * 3 + 10 * 1) / 5


def test_a_timeout_is_backed_off_until_it_is_measured() -> None:
    # Doubled at 2 and 5, measured at 9; doubled at 20 and never measured again before 30.
    dates, values = [0.0, 2.0, 5.0, 9.0, 20.0], [1.0, 2.0, 4.0, 1.0, 2.0]
    series = {"time_s": np.array(dates), "value": np.array(values)}
    run = made.result(series={"x": series}, end_s=30.0)
    assert measures.backed_off(run, "x") == (9 - 2) + (30 - 20), "what is cut off has no end"
    assert measures.share_above(run, "x", 1.5) == (7 + 10) / 30
    steady = {"time_s": np.array([0.0, 4.0]), "value": np.array([1.0, 1.5])}
    assert math.isnan(measures.backed_off(made.result(series={"x": steady}, end_s=9.0), "x"))


def test_a_policy_that_never_leaves_the_path_is_run_once() -> None:
    same = {conditions.batch("same", Paths(4, other)) for other in (0, 2, 5)}
    assert same == {Batch("same", "ns2", Paths(4))}
    assert len({conditions.batch("alternate", Paths(4, other)) for other in (0, 2, 5)}) == 3


def test_each_world_has_its_own_batches() -> None:
    worlds = with_tcp(Replicated({}), quick=False)
    assert (worlds[0].tcp, worlds[0].sctp) == ("ns2-tcp", "ns2"), "the paper's comes first"
    assert len(worlds) == len({(world.tcp, world.sctp) for world in worlds})
    world = World(Replicated({}), tcp="every", sctp="rfc2960")
    assert world.batch("tcp-sack", Paths(1)) == Batch("tcp-sack", "every", Paths(1))
    assert world.batch("same", Paths(1, 2)) == Batch("same", "rfc2960", Paths(1))


def test_every_batch_of_a_claim_is_run() -> None:
    for quick in (False, True):
        known = set(conditions.batches(quick))
        for world in of_policies(Replicated({}), quick):
            paths = Paths(conditions.PRIMARY, world.equal)
            assert {world.batch(scheme, paths) for scheme in ("same", "alternate")} <= known


def transfer(seconds: float) -> RunResult:
    return made.result([made.flow(start_s=1.0, finish_s=1.0 + seconds)])


def results(times: dict[Any, list[float]]) -> Replicated[Any]:
    return Replicated({key: [transfer(item) for item in each] for key, each in times.items()})


def test_replications_are_blocks_and_paired_as_far_as_both_have_them() -> None:
    times = {
        Batch("same", "ns2", Paths(1)): [1.0, 3.0, 5.0, 7.0],
        Batch("alternate", "ns2", Paths(1, 2)): [2.0, 4.0, 9.0, 11.0, 0.0, 0.0],
    }
    world = World(results(times), block=2)
    assert world.seconds("same", Paths(1, 2)).values.tolist() == [2.0, 6.0]
    assert world.longer("alternate", "same", Paths(1, 2)).values.tolist() == [1.0, 4.0]
    # The mean time of the same path is 4 s.
    assert world.change("alternate", "same", Paths(1, 2)).values.tolist() == [0.25, 1.0]


def test_a_block_counts_what_is_known() -> None:
    sample = Sample.of([1.0, math.nan, 4.0, 6.0, math.nan, math.nan, 9.0])
    means = blocks.of(sample, 2).values
    assert means[:2].tolist() == [1.0, 5.0]
    assert math.isnan(means[2])
    assert len(means) == 3, "half a block is none"


def test_inline_values_are_toml() -> None:
    assert inline.toml({"a": [1, 0.5], "b": {"c": "x", "d": True}}) == (
        '{a = [1, 0.5], b = {c = "x", d = true}}'
    )


def test_every_destination_meets_every_remedy() -> None:
    named = settings()
    assert named["all-alternate+mfr+ts+hb"] == {
        "destination": "all-alternate",
        "multiple_fast_retransmit": True,
        "timestamps": True,
        "heartbeat_after_rto": True,
    }
    # best-path sends heartbeats after timeouts by itself.
    assert [name for name in named if name.startswith("best-path")] == [
        "best-path",
        "best-path+mfr",
        "best-path+ts",
        "best-path+mfr+ts",
    ]
    assert len(named) == 3 * 8 + 4 + 5


def table(**policies: list[list[float]]) -> Table:
    """Times by policy, condition and replication."""
    paths = [Paths(1 + n) for n in range(len(next(iter(policies.values()))))]
    names = {"a": "all-same", "b": "best-path"}
    times = {
        case(names[name], "x", path): each
        for name, rows in policies.items()
        for path, each in zip(paths, rows, strict=True)
    }
    return Table(results(times), "x", [names[name] for name in policies], paths)


def test_regret_is_against_the_best_of_each_condition() -> None:
    # Two conditions, four replications; the best are a and b.
    found = table(a=[[10.0] * 4, [30.0] * 4], b=[[15.0] * 4, [20.0] * 4])
    assert found.best() == ["all-same", "best-path"]
    regret = found.regret("all-same")
    assert regret.mean.values.tolist() == [(0 + 0.5) / 2] * 4
    assert (regret.worst.values.tolist(), regret.where) == ([0.5] * 4, Paths(2))
    change = found.change("all-same", "best-path").values
    assert change.tolist() == pytest.approx([(10 / 15 - 1 + 30 / 20 - 1) / 2] * 4)
    assert found.least(found.policies) == "all-same", "a quarter, against a half of a half"
    better = found.from_better("best-path", ["all-same"], Paths(1))
    assert better.values.tolist() == [0.5] * 4


def test_luck_is_no_merit() -> None:
    # b is the best by the first replication, a by the second: each is chosen by the other.
    found = table(a=[[10.0, 10.0]], b=[[5.0, 20.0]])
    assert found.regret("best-path").mean.values.tolist() == [5 / 10 - 1, 20 / 20 - 1]
    assert found.regret("all-same").mean.values.tolist() == [10 / 10 - 1, 10 / 20 - 1]
    better = found.from_better("all-same", ["all-same", "best-path"], Paths(1))
    assert better.values.tolist() == pytest.approx([0.0, (10 - 20) / 15])


def test_closed_forms_of_failures_by_hand() -> None:
    assert models.detection(1, 2, 60) == 1 + 2 + 4
    assert models.detection(1, 5, 4) == 1 + 2 + 4 * 4
    # A heartbeat after the first timeout runs out together with the second.
    assert models.detection(1, 1, 60, probes=True) == 1 + 2
    assert models.detection(1, 2, 60, probes=True) == 1 + 2
    assert models.detection(1, 5, 60, probes=True) == 1 + 2 + 8 + 16 + 32
    assert models.failover(1, 5, 60, 0) == 1
    assert models.failover(1, 5, 60, -1) == 63
    trip = models.ROUND_TRIP
    queued = trip + 0.2
    assert models.longest_gap([1.0], trip, stays=False) == pytest.approx(1 + 1.5 * trip)
    assert models.longest_gap([1.0, 2.0], queued, stays=False) == pytest.approx(1.8)
    assert models.longest_gap([1.0, 2.0, 4.0], queued, stays=False) == 4.0
    assert models.longest_gap([1.0, 2.0], trip, stays=True) == pytest.approx(3 + 1.5 * trip)
    # HB.interval 30 s: half of 31 s to the next (a bit more, as the period varies by half a second
    # to either side), two periods with RTOs of 2 and 4 s, and the last one's RTO.
    assert models.idle_detection(1, 2, 60, 30) == pytest.approx(15.5 + 32 + 34 + 4, abs=0.002)
    # After 1, 3, 7 and 15 s a heartbeat goes out.
    assert models.failback_when_suspected(1, 60, 4) == 3
    assert models.failback_when_suspected(1, 4, 8) == 3


@pytest.mark.parametrize("interval", [1, 5, 30, 70])
@pytest.mark.parametrize("rto", [8, 60])
def test_failback_by_drawing_dates(rto: float, interval: float) -> None:
    # A heartbeat leaves HB.interval and the RTO, of which half to either side is random, after the
    # one before, which must have waited for an RTO.
    draw = np.random.default_rng(1)
    periods = interval + draw.uniform(rto / 2, 3 * rto / 2, 100_000)
    ends = np.cumsum(np.maximum(periods, rto))
    dates = draw.uniform(0, ends[-2], 100_000)
    left = ends[np.searchsorted(ends, dates)] - dates
    assert models.failback(rto, interval) == pytest.approx(left.mean(), rel=0.01)


def test_a_failure_is_read_off_its_series() -> None:
    run = Run(Setting("busy", 1), 0)
    begin = run.fails

    def series(*points: tuple[float, float]) -> dict[str, np.ndarray]:
        dates, values = zip(*points, strict=True)
        return {"time_s": np.array(dates), "value": np.array(values)}

    path = "transfer.receiver.path0"
    found = of(
        run,
        made.result(
            series={
                f"{path}.path_state": series((0, 1), (begin + 1, 2), (begin + 3, 3)),
                f"{path}.path_rto": series((0, 1.5), (begin + 1, 3)),
                "transfer.received": series(
                    (begin - 2, 0), (begin - 0.5, 1000), (begin + 2, 1500), (run.ends, 1500)
                ),
            },
        ),
    )
    assert (found.rto, found.failover, found.detection) == (1.5, 1, 3)
    assert found.gap == max(2.5, run.ends - begin - 2)
    # 500 octets until the end, at 500 a second before.
    assert found.share == pytest.approx(500 / (run.ends - begin) / 500)
    assert found.failback is None


def test_every_order_of_several_alternates_is_run() -> None:
    policy = "best-path, active"
    run = several.Run(several.SENDING_AGAIN, policy, "4 paths, mixed", backwards=False)
    there, back = (several.scenario(replace(run, backwards=each)) for each in (False, True))
    assert there.resolved().index("rate = 0.1") < there.resolved().index("rate = 0.005")
    assert back.resolved().index("rate = 0.1") > back.resolved().index("rate = 0.005")
    assert there.run().flows[0].took_s() > 16


def test_failover_among_several_has_heartbeats_and_without() -> None:
    named = several.policies(several.FAILING)
    assert named["all-alternate"] == {"destination": "all-alternate", "probing": False}
    assert named["highest-rate, bursts"] == {
        "destination": "best-path",
        "failover": "highest-rate",
        "probing": {"interval": "1 s", "burst": 8},
    }
    assert len(named) == 2 + 5 * 3
    assert len(several.policies(several.SENDING_AGAIN)) == 7 + 5 * 2


def test_a_failover_lasts_until_a_second_of_data_has_arrived() -> None:
    # 100 octets a second until the failure at 5 s; from 7 s on again, 400 a second.
    dates = np.arange(0.0, 10.0, 0.25)
    octets = np.where(dates <= 5, 100 * dates, 500 + 400 * np.maximum(0.0, dates - 7))
    series = {"transfer.received": {"time_s": dates, "value": octets}}
    assert failover(made.result(series=series)) == 2.25


def test_the_claims_about_losses_hold(quick: Quick) -> None:
    results = quick("sctp-multihoming")
    verdicts = {row["claim"]: row["verdict"] for row in tables.read_csv(results / "claims.csv")}
    assert [f"C{number}" for number in range(1, 11)] == [c for c in verdicts if c[0] == "C"]
    assert verdicts["C3"] == "holds"
    assert verdicts["F1"] == verdicts["F2"] == verdicts["F6"] == "holds"
    folder = results / "sctp-multihoming"
    rows = tables.read_csv(folder / "fig3.csv")
    at_16 = {row["series"]: float(row["mean"]) for row in rows if row["x"] == "16"}
    order = ["sctp-multi", "sctp-single", "tcp-sack", "tcp-reno"]
    assert sorted(order, key=at_16.__getitem__) == order
    assert set(at_16) == {*order, "tcp-sack, delayed ACKs", "tcp-reno, delayed ACKs"}
    # By other rules beside: every claim about times.
    rows = tables.read_csv(folder / "measures.csv")
    beside = {row["claim"] for row in rows if row["scope"] == "over the grid"}
    assert beside == {f"C{number}" for number in range(1, 11)} - {"C8"}
    assert "{" not in json.loads((folder / "result.json").read_text())["abstract"]
    failures = tables.read_csv(folder / "failover.csv")
    # With PFMR 0 new data leaves the path after one RTO, and the receiver waits no longer.
    for row in failures:
        if row["kind"] == "busy" and row["pfmr"] == "0":
            assert float(row["failover_s"]) < float(row["rto_at_failure_s"]) + 0.1
            assert float(row["longest_gap_s"]) < float(row["rto_at_failure_s"]) + 0.1
    policies = tables.read_csv(folder / "policies.csv")
    assert {row["rules"] for row in policies} == {"rfc2960", "rfc9260"}
    for stem in (
        "timeouts_alternate",
        "failover_detection",
        "regret_rfc9260",
        "concurrent",
        "several_failing_worst",
    ):
        assert (folder / f"{stem}.svg").stat().st_size
