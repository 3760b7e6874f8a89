"""The goals of RFC 6356 as numbers, and how soon a connection has adapted."""

from __future__ import annotations

from anabranch.experiment import RunResult
from anabranch.studies.mcubic import measures as m
from anabranch.studies.mcubic.conditions import ALONE, Run

SINGLES = ("tcp1", "tcp2")


def paths_by_value(results: m.Results, run: Run) -> list[int]:
    """The paths, that on which a CUBIC in the connection's place carries more first."""
    alone = [m.mean(results, run.with_scheme(scheme), m.goodput).mean for scheme in ALONE]
    return [0, 1] if alone[0] >= alone[1] else [1, 0]


def against_best_path(results: m.Results, run: Run) -> list[float]:
    """Goal 1: the connection's goodput over that of a CUBIC on the better path, less 1."""
    best = ALONE[paths_by_value(results, run)[0]]
    return m.change(results, run, run.with_scheme(best), m.goodput)


def harm(results: m.Results, run: Run) -> list[float]:
    """Goal 2: part of its goodput that the single-path flow loses which loses most, against a
    CUBIC on its path in the connection's place."""
    lost = [
        m.change(
            results,
            run,
            run.with_scheme(scheme),
            lambda run, result, name=name: m.goodput(run, result, name),  # type: ignore[misc]
        )
        for scheme, name in zip(ALONE, SINGLES, strict=True)
    ]
    return [-min(pair) for pair in zip(*lost, strict=True)]


def balance(results: m.Results, run: Run) -> list[float]:
    """Goal 3: part of the connection's octets on the better path."""
    best = paths_by_value(results, run)[0]
    shares = m.values(results, run, m.first_share)
    return [share if best == 0 else 1 - share for share in shares]


def reaction(run: Run, result: RunResult, seconds: float, settled: float) -> float:
    """Goodput in the time after an event, over that at the end of the run."""
    soon = m.goodput_between(result, m.CONNECTION, run.warm_up, run.warm_up + seconds)
    late = m.goodput_between(result, m.CONNECTION, run.end - settled, run.end)
    return soon / late
