"""The goals of RFC 6356 as numbers, and how soon a connection has adapted."""

from __future__ import annotations

from collections.abc import Callable

from anabranch.experiment import RunResult
from anabranch.stats import Sample
from anabranch.studies.mcubic import measures as m
from anabranch.studies.mcubic.conditions import ALONE, UNCOUPLED, Run

BETTER = ALONE[0]
"""A CUBIC on the better path: in no condition is the second path faster, shorter or cleaner."""
SINGLES = ("tcp1", "tcp2")

Goal = Callable[[m.Results, Run], Sample]


def against_best_path(results: m.Results, run: Run) -> Sample:
    """Goal 1: the connection's goodput over that of a CUBIC on the better path, less 1."""
    return m.change(results, run, run.with_scheme(BETTER), m.goodput)


def harm(path: int) -> Goal:
    """Goal 2: part of its goodput that the single-path flow on a path loses, against a CUBIC in
    the connection's place there."""

    def neighbour(run: Run, result: RunResult) -> float:
        return m.goodput(run, result, SINGLES[path])

    return lambda results, run: m.change(results, run, run.with_scheme(ALONE[path]), neighbour) * -1


def balance(results: m.Results, run: Run) -> Sample:
    """Goal 3: part of the connection's octets on the better path."""
    return m.sample(results, run, m.first_share)


def more_balanced(results: m.Results, run: Run) -> Sample:
    """The same less that of uncoupled CUBIC."""
    return balance(results, run) - balance(results, run.with_scheme(UNCOUPLED))


def reaction(run: Run, result: RunResult, seconds: float, settled: float) -> float:
    """Goodput in the time after an event, over that at the end of the run."""
    soon = m.goodput_between(result, m.CONNECTION, run.warm_up, run.warm_up + seconds)
    late = m.goodput_between(result, m.CONNECTION, run.end - settled, run.end)
    return soon / late
