"""The forecast of `anabranch reproduce`: from what studies are known to take, and from runs."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from anabranch import studies
from anabranch.commands import remaining
from anabranch.commands.remaining import Remaining, shown, span
from anabranch.studies.study import Strength


class Clock:
    """Seconds that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_it_begins_with_what_studies_are_known_to_take(clock: Clock) -> None:
    left = Remaining({"a": 10, "b": 50, "c": 240}, clock)
    left.begin("a")
    assert (left.of_study(), left.of_all()) == (10, 300)
    assert left.text() == "about 10 s to go, all studies about 5 min"
    clock.now = 4
    assert (left.of_study(), left.of_all()) == (6, 296)


def test_a_slow_machine_is_heard_of_from_the_first_study(clock: Clock) -> None:
    left = Remaining({"a": 100, "b": 50, "c": 240}, clock)
    left.begin("a")
    clock.now = 340
    left.end()
    left.begin("b")
    # Three times as slow, and 20 s of doubt about it.
    assert (left.of_study(), left.of_all()) == (3 * 50, 3 * (50 + 240))


def test_a_short_study_says_little_of_the_others(clock: Clock) -> None:
    left = Remaining({"a": 5, "b": 300}, clock)
    left.begin("a")
    clock.now = 30
    left.end()
    left.begin("b")
    assert left.of_study() == 300 * (20 + 30) / (20 + 5)


def test_a_study_that_exceeds_its_time_makes_the_others_longer(clock: Clock) -> None:
    left = Remaining({"a": 10, "b": 50}, clock)
    left.begin("a")
    clock.now = 40
    assert (left.of_study(), left.of_all()) == (0, 50 * (20 + 40) / (20 + 10))


def test_runs_say_more_than_a_forecast_that_is_over(clock: Clock) -> None:
    left = Remaining({"a": 10}, clock)
    left.begin("a")
    left.advance(0, 100)
    clock.now = 30
    left.advance(25, 100)
    assert left.of_study() == pytest.approx(90)
    assert left.runs() == "25 of 100 runs"
    # A further look has runs of its own: those that took long are over.
    left.advance(0, 40)
    clock.now = 31
    left.advance(20, 40)
    assert left.of_study() == pytest.approx(1)
    clock.now = 32
    left.advance(40, 40)
    left.end()
    assert left.of_all() == 0


def test_runs_that_are_there_already_shorten_the_rest(clock: Clock) -> None:
    left = Remaining({"a": 180, "b": 50}, clock)
    left.begin("a")
    clock.now = 5
    left.end()
    left.begin("b")
    assert left.of_all() == 50 * (20 + 5) / (20 + 180)


def test_nothing_is_said_of_what_nothing_is_known_of(clock: Clock) -> None:
    left = Remaining({}, clock)
    left.begin("live")
    assert left.text() == "time to go unknown"
    left.advance(0, 10)
    clock.now = 60
    left.advance(1, 10)
    assert left.text() == "about 9 min to go"


def test_spans() -> None:
    assert [span(s) for s in (0, 89, 90, 3600, 9000)] == ["0 s", "89 s", "2 min", "60 min", "2.5 h"]


def test_without_a_terminal_a_line_now_and_then(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Console(file=io.StringIO())
    with shown("a", Remaining({"a": 100, "b": 300}, clock), terminal) as advance:
        for second in range(0, 91, 10):
            clock.now = second
            advance(second, 100)
    assert capsys.readouterr().err.splitlines() == [
        "a: about 2 min to go, all studies about 7 min",
        "a: 30 of 100 runs, about 70 s to go, all studies about 6 min",
        "a: 60 of 100 runs, about 40 s to go, all studies about 6 min",
        "a: 90 of 100 runs, about 10 s to go, all studies about 5 min",
    ]
    assert remaining.LINES_S == 30
    # Of what nothing is known there is nothing to say before its runs are on their way.
    with shown("live", Remaining({}, clock), terminal) as advance:
        advance(0, 4)
        clock.now = 150
        advance(2, 4)
    assert capsys.readouterr().err.splitlines() == ["live: 2 of 4 runs, about 60 s to go"]


def test_a_bar_says_what_is_left(clock: Clock) -> None:
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=120)
    with shown("a", Remaining({"a": 100, "b": 300}, clock), terminal) as advance:
        advance(3, 10)
    assert "3/10" in screen.getvalue()
    assert "about 2 min to go, all studies about 7 min" in screen.getvalue()


def test_the_shortest_study_comes_first_and_within_a_minute() -> None:
    order = studies.cheapest_first(studies.ALL)
    assert sorted(order) == sorted(studies.ALL)
    expected = studies.expected_seconds(order, Strength.DEFAULT, 2)
    assert list(expected.values()) == sorted(expected.values())
    assert expected[order[0]] < 60
    slower = studies.expected_seconds(order, Strength.DEFAULT, 1)
    quick = studies.expected_seconds(order, Strength.QUICK, 2)
    assert all(quick[name] < expected[name] < slower[name] < 2 * expected[name] for name in order)
