"""The runs beyond the paper."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

from anabranch.settings import Toml
from anabranch.studies.mcubic.conditions import ALONE, DISTINCT, OURS, Run

MIN_RTT = "min-rtt"
ZERO = "mcubic-zero"
"""MCubic whose `K` counts as none after a timeout."""


@cache
def plan() -> Toml:
    """The parameters of plan.toml."""
    return tomllib.loads((Path(__file__).parent / "plan.toml").read_text(encoding="utf-8"))


def part(name: str, quick: bool) -> Toml:
    """A part of the plan; `quick` has some of its values smaller."""
    return {**plan()[name], **(plan()["quick"].get(name, {}) if quick else {})}


def grid(quick: bool) -> list[Run]:
    """The conditions under which the goals are judged, of the first scheme."""
    p = part("goals", quick)
    keys = ("rates", "round_trips", "losses", "buffer")
    return [
        Run(
            DISTINCT,
            p["schemes"][0],
            tuple(rates),
            tuple(trips),
            p["warm_up"],
            p["seconds"],
            buffer=buffer,
            losses=tuple(losses),
        )
        for rates, trips, losses, buffer in itertools.product(*(p[key] for key in keys))
    ]


def event(scheme: str, kind: str, quick: bool) -> Run:
    """Two equal paths, of which the second changes."""
    p = part("events", quick)
    rates, trips = (p["rate"], p["rate"]), (p["round_trip"], p["round_trip"])
    return Run(DISTINCT, scheme, rates, trips, p["warm_up"], p["seconds"], event=kind)


def blocking(scheme: str, scheduler: str, receive: float, quick: bool) -> Run:
    """Unequal paths and a receive buffer."""
    p = part("blocking", quick)
    rates, trips = (p["rate"], p["rate"]), tuple(p["round_trips"])
    plain = Run(DISTINCT, scheme, rates, trips, p["warm_up"], p["seconds"])
    return replace(plain, scheduler=scheduler, receive=receive)


def differs(run: Run) -> bool:
    """Whether one of its paths is better than the other."""
    return any(len(set(pair)) > 1 for pair in (run.rates, run.round_trips, run.losses))


def runs(quick: bool, reported: bool) -> list[Run]:
    """Every condition, each once: what is judged, and with `reported` also the schemes that only
    stand beside it in tables."""
    return list(dict.fromkeys(_runs(quick, reported)))


def _runs(quick: bool, reported: bool) -> Iterator[Run]:
    goals, events, waits = (part(name, quick) for name in ("goals", "events", "blocking"))
    for run in grid(quick):
        for scheme in goals["schemes"] if reported else goals["judged"]:
            yield run.with_scheme(scheme)
        yield from (run.with_scheme(scheme) for scheme in ALONE)
    for scheme in events["schemes"] if reported else events["judged"]:
        yield from (event(scheme, kind, quick) for kind in events["kinds"])
    for scheme in (ALONE[0], ZERO) if reported else (ALONE[0],):
        yield event(scheme, "vanishes", quick)
    for scheme in waits["schemes"] if reported else [OURS]:
        for scheduler in waits["schedulers"] if reported else [MIN_RTT]:
            for receive in waits["receive"] if reported else judged_buffers(quick):
                yield blocking(scheme, scheduler, receive, quick)


def judged_buffers(quick: bool) -> list[float]:
    """Receive buffers below what the paths hold, and the largest."""
    sizes: list[float] = part("blocking", quick)["receive"]
    return [size for size in sizes if size < 1] + sizes[-1:]
