"""The study `fast-tcp`: its measures by hand, its claims over the small grid."""

from __future__ import annotations

import math

import numpy as np
import pytest

import made
from anabranch import tables
from anabranch.experiment import RunResult
from anabranch.rows import Link
from anabranch.stats import Sample
from anabranch.studies.fast_tcp import forensics, live
from anabranch.studies.fast_tcp.router import beyond, claims, conditions, measures
from anabranch.studies.fast_tcp.router.found import Found, over
from anabranch.studies.replications import Replicated
from anabranch.verdicts import Verdict
from conftest import Quick


def run(**series: tuple[list[float], list[float]]) -> RunResult:
    named = {
        name.replace("_", "."): {"time_s": np.array(times), "value": np.array(values)}
        for name, (times, values) in series.items()
    }
    return made.result(series=named, end_s=4.0)


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


def test_conditions_without_chance_have_none() -> None:
    once = [run for run in conditions.runs(False) if not run.chance]
    assert {run.ber for run in once} == {0.0}
    for sender in ("reno", "modern", "bbr"):
        run = conditions.Run("fast-tcp", sender)
        assert not run.chance
        first, second = conditions.scenario(run).run_batch(2)
        assert first.flows == second.flows


def test_conditions_are_distinct_and_resolve() -> None:
    wanted = conditions.runs(quick=False)
    assert len(set(wanted)) == len(wanted)
    for run in (*conditions.runs(quick=True), *conditions.watched(quick=True)):
        assert conditions.scenario(run).resolved()


def _counts(octets: float, overflows: int, ber: int = 0) -> RunResult:
    link = made.row(Link, name="uplink", dropped_queue=overflows, dropped_loss=ber)
    return made.result([made.flow(flow="f", bytes=octets)], links=[link], end_s=25.0)


def test_conditions_that_never_overflow_do_not_count() -> None:
    """Two conditions, of which one overflows in the second replication alone; the ratios there
    are 2, and 3 where nothing overflows."""
    runs = {
        conditions.Run("plain", "reno", buffer=50, ber=1e-7): [_counts(1e6, 5), _counts(1e6, 5)],
        conditions.Run("fast-tcp", "reno", buffer=50, ber=1e-7): [_counts(2e6, 0)] * 2,
        conditions.Run("plain", "reno", ber=1e-7): [_counts(1e6, 0), _counts(1e6, 1)],
        conditions.Run("fast-tcp", "reno", ber=1e-7): [_counts(3e6, 0), _counts(8e6, 0)],
    }
    found = Found(Replicated(runs))
    throughput, _, mostly = claims.judge_counted(found)
    # 2 by itself, then the geometric mean of 2 and 8.
    assert throughput.grid[0].measured.mean == pytest.approx((2 + 4) / 2)
    assert mostly.statements[0].measured.mean == 1
    assert throughput.statements == []


def test_what_has_no_chance_is_judged_in_each_condition() -> None:
    one = {conditions.Run("plain", "bbr"): _counts(1e6, 5)}
    more = {conditions.Run("fast-tcp", "bbr"): _counts(2e6, 1)}
    found = Found(Replicated({}), {**one, **more})
    claim = beyond.gain(found, "F2", "bbr", "BBR")
    assert claim.verdict is Verdict.HOLDS
    assert claim.statements[0].measured.exact


def test_a_condition_counts_where_it_has_a_number() -> None:
    # In the second replication no ACK of the first condition covered a burst.
    seen = [Sample.of([1.0, math.nan, math.nan], {"n"}), Sample.of([3.0, 5.0, math.nan], {"n"})]
    mean = over(seen)
    assert isinstance(mean, Sample)
    assert mean.values.tolist() == [2.0, 5.0]


def test_what_was_not_tried_live_is_not_judged() -> None:
    """Trials of one reading: claims say nothing of the others."""
    counts = _counts(1e6, 5)
    run = conditions.reading("literal", "plain")
    ours = conditions.reading("literal", "fast-tcp")
    found = live.judge({(run, 0): counts, (ours, 0): counts}, True)
    told = {claim.claim: [statement.quantity for statement in claim.statements] for claim in found}
    assert len(told["C5"]) == 5 and all("1e-6" in each for each in told["C5"])
    assert told["C6"] == told["C7"] == told["C8"] == []


def test_what_a_reading_was_chosen_by_is_not_judged(quick: Quick) -> None:
    rows = tables.read_csv(quick("fast-tcp") / "fast-tcp" / "measures.csv")
    judged = {row["quantity"]: row["verdict"] for row in rows if row["claim"] == "C5"}
    bucket = {name: verdict for name, verdict in judged.items() if "ACK bucket" in name}
    assert not any(bucket[name] for name in bucket if "acknowledged in 25 s in MB" in name)
    reading = "bit errors of 1e-6, segments of 1460, Reno"
    assert judged[f"data acknowledged in 25 s in MB, plain, {reading}"]


def test_at_the_published_bit_errors_the_router_has_nothing_to_do(quick: Quick) -> None:
    folder = quick("fast-tcp") / "fast-tcp"
    measured = {
        (row["claim"], row["quantity"]): float(row["measured"])
        for row in tables.read_csv(folder / "measures.csv")
        if row["measured"]
    }
    reading = claims.READINGS["literal"]
    assert measured["C5", f"packets lost to overflow, plain, {reading}"] == 0
    assert measured["C5", f"packets lost to bit errors, plain, {reading}"] > 5
    assert measured[
        "C5", f"data acknowledged in 25 s, Fast-TCP divided by plain, {reading}"
    ] == pytest.approx(1, abs=0.05)
    # Its number without Fast-TCP comes out with the segments of IP over ATM, and with it as well.
    reading = claims.READINGS["atm"]
    for router in ("plain", "Fast-TCP"):
        quantity = f"data acknowledged in 25 s in MB, {router}, {reading}"
        assert measured["C5", quantity] == pytest.approx(3.5, abs=1)
    for stem in ("fig3_2", "fig3_3", "fig3_2_clean", "sweep_clean", "thresholds"):
        assert (folder / f"{stem}.svg").stat().st_size


def test_the_search_finds_what_is_nearest() -> None:
    """Two settings under a law each: 3.5 to 10.8 has no residual, twice both a logarithm of 2."""
    near, far = (forensics.Setting("reno", 1460, 50, ber, "scaled", "1 ms") for ber in (0.0, 1e-6))
    law = forensics.laws()[0]
    number = forensics.number
    plain = {
        near: number("plain", 3.5, [_counts(3.5e6, 0)]),
        far: number("plain", 3.5, [_counts(7e6, 0)]),
    }
    ours = {
        (near, law): number("Fast-TCP", 10.8, [_counts(10.8e6, 0)]),
        (far, law): number("Fast-TCP", 10.8, [_counts(21.6e6, 0)]),
    }
    found = {search.title: search.best for search in forensics.searches(plain, ours)}
    assert found["Figure 3.2, whatever the bit errors"].rms == pytest.approx(0)
    assert found["The same at the published bit errors"].rms == pytest.approx(np.log(2))
    assert forensics.near_enough(plain[near]) and not forensics.near_enough(plain[far])


def test_settings_of_the_search_resolve() -> None:
    settings = forensics.settings()
    assert len(set(settings)) == len(settings)
    windows = set()
    for at in settings[:8]:
        text = at.scenario(forensics.laws()[-1]).resolved()
        assert "ack-bucket" in text
        windows |= {line for line in text.splitlines() if "receive_buffer =" in line}
    assert len(windows) == 4
