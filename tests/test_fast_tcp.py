"""The study `fast-tcp`: its measures by hand, its claims over the small grid."""

from __future__ import annotations

import numpy as np
import pytest

from anabranch import tables
from anabranch.experiment import RunResult
from anabranch.studies.fast_tcp.router import conditions, measures
from conftest import Quick


def run(**series: tuple[list[float], list[float]]) -> RunResult:
    named = {
        name.replace("_", "."): {"time_s": np.array(times), "value": np.array(values)}
        for name, (times, values) in series.items()
    }
    return RunResult([], named, [], {"end_s": 4.0})


def test_deviation_weighs_by_time() -> None:
    # 0 packets for 1 s, 4 for 2 s, 0 for 1 s: mean 2, deviation 2.
    found = run(uplink_queue=([0.0, 1.0, 3.0], [0.0, 4.0, 0.0]))
    assert measures.deviation_of_queue(found) == pytest.approx(2.0)


def test_a_burst_ends_where_the_link_would_have_sent_two() -> None:
    # Two packets take 0.8 ms on the satellite link: bursts of 3, 1 and 2.
    found = run(f_sends=([0.0, 0.0001, 0.0002, 0.5, 1.0, 1.0007], [0.0] * 6))
    assert measures.mean_burst(found) == 2.0


def test_the_buffer_is_watched_for_a_round_trip_after_a_jump() -> None:
    acks = ([0.0, 1.0, 2.0], [0.0, 20 * measures.MSS, 21 * measures.MSS])
    queue = ([0.5, 1.2, 1.4], [90.0, 60.0, 100.0])
    found = run(f_acks=acks, uplink_queue=queue)
    assert measures.fill_after_jumps(found, 10, 100, 0.264) == [0.6]


def test_conditions_without_chance_run_once() -> None:
    once = [r for r in conditions.runs(False) if conditions.replications(r, False) == 1]
    assert once
    assert {r.ber for r in once} == {0.0}
    assert not any(r.cross for r in once)


def test_where_bits_fail_the_router_has_nothing_to_do(quick: Quick) -> None:
    folder = quick("fast-tcp") / "fast-tcp"
    measured = {
        (row["claim"], row["quantity"]): float(row["measured"])
        for row in tables.read_csv(folder / "measures.csv")
    }
    assert measured["C5", "packets lost to overflow, plain"] == 0
    assert measured["C5", "packets lost to bit errors, plain"] > 5
    assert measured["C5", "ratio of octets after 25 s"] == pytest.approx(1, abs=0.05)
    for stem in ("fig3_2", "fig3_3", "fig3_2_clean", "sweep_clean", "thresholds"):
        assert (folder / f"{stem}.svg").stat().st_size
