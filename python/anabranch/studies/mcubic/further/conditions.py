"""The runs beyond the paper."""

from __future__ import annotations

import itertools
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from anabranch.studies.mcubic.conditions import ALONE, DISTINCT, Batch, Run, merged

ZERO = "mcubic-zero"
"""MCubic whose `K` counts as none after a timeout."""


@cache
def plan() -> dict[str, Any]:
    """The parameters of plan.toml."""
    return tomllib.loads((Path(__file__).parent / "plan.toml").read_text(encoding="utf-8"))


def part(name: str, quick: bool) -> dict[str, Any]:
    """A part of the plan; `quick` has some of its values smaller."""
    return {**plan()[name], **(plan()["quick"][name] if quick else {})}


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


def batches(quick: bool) -> list[Batch]:
    """Those whose goodput is sampled seldom, each once."""
    goals, waits = part("goals", quick), part("blocking", quick)
    found = [
        (run.with_scheme(scheme), goals["replications"])
        for run in grid(quick)
        for scheme in (*goals["schemes"], *ALONE)
    ]
    found += [
        (blocking(scheme, scheduler, receive, quick), waits["replications"])
        for scheme in waits["schemes"]
        for scheduler in waits["schedulers"]
        for receive in waits["receive"]
    ]
    return merged(found)


def events(quick: bool) -> list[Batch]:
    """Those whose goodput is sampled each second."""
    p = part("events", quick)
    runs = [event(scheme, kind, quick) for scheme in p["schemes"] for kind in p["kinds"]]
    runs += [event(scheme, "vanishes", quick) for scheme in (ALONE[0], ZERO)]
    return [(run, p["replications"]) for run in runs]
