"""The study of the recovery paper: its worked example, and the numbers of single runs."""

from __future__ import annotations

from functools import cache

import pytest

from anabranch.studies.sack_recovery import conditions, repair, worked_example
from anabranch.studies.sack_recovery.conditions import Condition
from anabranch.studies.sack_recovery.trace import Trace


@cache
def trace(scheme: str, drops: int, *changes: str) -> Trace:
    """So many drops from segment 24 on, RTT 200 ms."""
    condition = Condition(200, drops, 24)
    run = conditions.scenario(scheme, condition).set(*changes).run()
    return Trace.of(run, condition.first_drop, condition.drops)


def test_worked_example_of_figure_4() -> None:
    example = Trace.of(worked_example.scenario().run(), worked_example.LOST, 1)
    turns = worked_example.turns(example)
    assert tuple(map(set, turns[:3])) == worked_example.PUBLISHED
    assert [len(turn) for turn in turns] == [6, 3, 4, 5, 6]


@pytest.mark.parametrize(("opens_late", "acknowledged"), [("false", 260), ("true", 248)])
def test_eight_drops(opens_late: str, acknowledged: int) -> None:
    """The text of the paper opens the window with the ACK that detects, its pseudo-code with the
    next: here that one is a round trip later."""
    recovery = f'{{scheme="decoupled", opens_late={opens_late}}}'
    found = trace("decoupled", 8, f"flows.0.tcp.recovery={recovery}")
    assert found.acked[found.acked_at <= 5.0].max() == acknowledged


def test_repair_beside_fack() -> None:
    """The paper, section 3: the last repair is acknowledged about as soon as FACK's. Both need one
    round trip after the first duplicate ACK for up to three drops, and two for six to eight."""
    cases = conditions.paper_conditions()
    traces = {(s, c): trace(s, c.drops) for s in ("decoupled", "fack") for c in cases}
    rows = {row.condition.drops: row for row in repair.beside_fack(traces, cases)}
    assert {drops: round(row.fack) for drops, row in rows.items()} == {
        1: 1,
        2: 1,
        3: 1,
        6: 2,
        7: 2,
        8: 2,
    }
    assert all(abs(row.later) < 0.05 for row in rows.values())


def test_repair_by_the_pseudo_code() -> None:
    """To the letter it is a round trip later than FACK where the third duplicate is the last."""
    case = Condition(200, 8, 24)
    late = 'flows.0.tcp.recovery={scheme="decoupled", opens_late=true}'
    traces = {("late", case): trace("decoupled", 8, late), ("fack", case): trace("fack", 8)}
    (row,) = repair.beside_fack(traces, [case], ours="late")
    assert row.later == pytest.approx(1.0, abs=0.05)
