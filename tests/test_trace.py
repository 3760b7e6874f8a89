"""The numbers read from a trace, on a recovery small enough to check by hand.

RTT 1 s; segments 1 to 4 leave at 0 s, segment 1 is lost; duplicate ACKs come at
1.0, 1.01 and 1.02 s; segment 1 is sent again at 1.02 s and acknowledged at 2.02 s.
"""

from __future__ import annotations

import numpy as np

from anabranch.studies.sack_recovery.trace import Trace, worst_deficit


def trace(**changes: object) -> Trace:
    fields: dict[str, object] = {
        "sent_at": np.array([-2.0, 0.0, 0.01, 0.02, 0.03, 1.0, 1.02, 2.02]),
        "sent": np.array([1, 2, 3, 4, 5, 6, 2, 7]),
        "resent": np.array([False, False, False, False, False, False, True, False]),
        "acked_at": np.array([-1.0, 1.0, 1.01, 1.02, 2.02, 2.03]),
        "acked": np.array([1, 1, 1, 1, 5, 6]),
        "cwnd_at": np.array([-2.0, 1.02, 2.02]),
        "cwnd": np.array([4.0, 2.0, 2.5]),
        "first_drop": 2,
        "last_drop": 2,
        "timeouts": 0,
    }
    return Trace(**{**fields, **changes})  # type: ignore[arg-type]


def test_dates_of_a_recovery() -> None:
    run = trace()
    assert run.rtt == 1.0
    assert run.first_duplicate == 1.0
    assert run.detection == 1.02
    assert run.recovered == 2.02
    assert run.recovery_rtts == 1.0
    assert run.frozen_rtts == 1.0
    assert run.reaches(6) == 2.03
    assert np.isnan(run.reaches(60))


def test_counts_of_a_recovery() -> None:
    run = trace()
    assert run.repair_rounds == 1
    assert run.new_before_detection == 1
    assert run.turns == [2, 1]
    assert run.second_turn == 2.02


def test_behind_is_seen_and_slack_is_granted() -> None:
    ours, theirs = trace(), trace(acked_at=trace().acked_at - 0.002)
    assert worst_deficit(ours, theirs, 0.0, acked=True) == 4
    assert worst_deficit(ours, theirs, 0.003, acked=True) == 0
    assert worst_deficit(ours, ours, 0.0, acked=False) == 0


def test_a_run_without_loss_has_no_dates() -> None:
    smooth = trace(acked=np.array([1, 2, 3, 4, 5, 6]), cwnd=np.array([2.0, 3.0, 4.0]))
    assert np.isnan(smooth.first_duplicate)
    assert np.isnan(smooth.detection)
    assert smooth.turns == []
