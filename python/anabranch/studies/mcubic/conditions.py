"""The runs: a connection over two paths beside single-path flows, and what is varied."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from anabranch.settings import Toml

FOLDER = Path(__file__).parent
ALONE = ("path1", "path2")
"""Schemes that put a single-path CUBIC flow on a path in the place of the connection."""
SHARED, DISTINCT = "shared", "scenario"
OURS, UNCOUPLED = "mcubic", "cubic"
COLUMNS = {"distinct": "second", "equal": "round_trip", "unequal": "second"}
"""The paper's experiments, those of tables 1 to 3, and what they vary."""


@dataclass(frozen=True, order=True)
class Run:
    """A condition. Rates in Mbit/s, round-trip times in ms, losses in per cent."""

    bed: str
    scheme: str
    rates: tuple[float, float]
    """Of the bottlenecks; `shared` has the first alone."""
    round_trips: tuple[float, float]
    warm_up: int
    seconds: int
    """For which goodput is measured, after the warm-up."""
    buffer: float = 1.0
    """Of each bottleneck, in products of its rate and the first path's round-trip time."""
    queue: int = 0
    """Packets, in place of `buffer`."""
    receive: float = 2.0
    """Receive buffer, in sums of the rates times the longest round-trip time with a full queue."""
    window: float = 0
    """MiB, in place of `receive`."""
    scheduler: str = "min-rtt"
    losses: tuple[float, float] = (0.0, 0.0)
    others: int = 0
    """Further single-path flows on the second path."""
    event: str = ""
    """What happens to the second path at the end of the warm-up."""
    draw: int = 0
    """Which of several runs whose mean is one replication."""

    def with_scheme(self, scheme: str) -> Run:
        """The same condition for another scheme."""
        return replace(self, scheme=scheme)

    @property
    def end(self) -> int:
        """When the run ends, in s."""
        return self.warm_up + self.seconds


@cache
def plan() -> Toml:
    """The parameters of plan.toml."""
    return tomllib.loads((FOLDER / "plan.toml").read_text(encoding="utf-8"))


Size = bool | str
"""Of the grid: the whole one, with `True` that of `quick`, or that of another table of the plan."""


def part(name: str, size: Size) -> Toml:
    """A part of the plan; a smaller size has some of its values otherwise."""
    found = plan()["open"]["conditions"] if name == "conditions" else plan()[name]
    table = size if isinstance(size, str) else "quick" if size else ""
    schemes = {"schemes": plan()["schemes"]}
    return {**schemes, **found, **(plan()[table].get(name, {}) if table else {})}


def columns(experiment: str, size: Size) -> list[float]:
    """The rates (Mbit/s) or round-trip times (ms) over which our grid has an experiment."""
    found: list[float] = part(experiment, size)[COLUMNS[experiment]]
    return found


def cell(experiment: str, scheme: str, x: float, size: Size) -> Run:
    """An experiment of the paper at one of them, as our grid has it: receive buffers block
    nothing, and queues hold a bandwidth-delay product."""
    p = part(experiment, size)
    times = (p["warm_up"], p["seconds"])
    if experiment == "distinct":
        trips = (p["round_trip"], p["round_trip"])
        return Run(DISTINCT, scheme, (p["first"], x), trips, *times)
    trips = (x, x) if experiment == "equal" else (p["first"], x)
    return Run(SHARED, scheme, (p["rate"], p["rate"]), trips, *times)


def published_columns(experiment: str, size: Size) -> list[float]:
    """Those of the paper."""
    found: list[float] = part("test_bed", size)[experiment]
    return found


def published_cell(experiment: str, scheme: str, x: float, size: Size) -> Run:
    """The same in the test bed, as it probably was: its windows, its queue, its times."""
    p = part("test_bed", size)
    plain = cell(experiment, scheme, x, False)
    own = p["round_trip"] if experiment == "distinct" else None
    first, second = (own or p["ways"] * trip for trip in plain.round_trips)
    return replace(
        plain,
        round_trips=(first, second),
        warm_up=p["warm_up"],
        seconds=p["seconds"],
        queue=p["queue"],
        window=p["window"],
    )


def shift(scheme: str, others: int, size: Size) -> Run:
    """Two equal paths, of which the second carries further flows."""
    p = part("shift", size)
    rates, trips = (p["rate"], p["rate"]), (p["round_trip"], p["round_trip"])
    return Run(DISTINCT, scheme, rates, trips, p["warm_up"], p["seconds"], others=others)


def open_cells(size: Size) -> list[Run]:
    """A cell of each experiment, at which the open choices are varied one at a time."""
    p = part("open", size)
    at = {
        "distinct": p["second_rate"],
        "equal": p["round_trip"],
        "unequal": p["second_round_trip"],
    }
    return [
        replace(cell(name, OURS, x, False), warm_up=p["warm_up"], seconds=p["seconds"])
        for name, x in at.items()
    ]


def varied(run: Run, size: Size) -> Iterator[Run]:
    """A cell as it is, then each open choice by itself, for each scheme of the plan."""
    p = part("conditions", size)
    for scheme in p["schemes"]:
        one = run.with_scheme(scheme)
        yield one
        yield from (replace(one, buffer=x) for x in p["buffer"])
        yield from (replace(one, scheduler=x) for x in p["scheduler"])
        yield from (replace(one, receive=x) for x in p["receive"])
    yield from (run.with_scheme(scheme) for scheme in part("readings", size)["schemes"])


def unblocked(run: Run) -> Run:
    """The same with a receive buffer that blocks less: nothing in the test bed, twice that of
    the grid."""
    return replace(run, window=0) if run.window else replace(run, receive=2 * run.receive)


def runs(size: Size, reported: bool) -> list[Run]:
    """Every condition of the paper's part, each once: what is judged, and with `reported` also
    what only stands beside it in tables."""
    asked = dict.fromkeys(_runs(size, reported))
    return [each for run in asked for each in draws(run)]


def draws(run: Run) -> list[Run]:
    """The runs whose mean is a replication. Those of the test bed on one bottleneck are of ten
    seconds, differ much and cost little."""
    count = plan()["test_bed"]["draws"] if run.queue and run.bed == SHARED else 1
    return [replace(run, draw=number) for number in range(count)]


def _runs(size: Size, reported: bool) -> Iterator[Run]:
    last = published_columns("unequal", size)[-1:]
    for experiment in COLUMNS:
        test_bed = [*part("test_bed", size)["schemes"], *_alone(experiment)]
        grid = [*part(experiment, size)["schemes"], *_alone(experiment)]
        for scheme in test_bed:
            for x in published_columns(experiment, size):
                yield published_cell(experiment, scheme, x, size)
        for scheme in grid:
            # No claim of the paper is about uncoupled CUBIC at equal delays.
            if reported or (experiment, scheme) != ("equal", UNCOUPLED):
                yield from (cell(experiment, scheme, x, size) for x in columns(experiment, size))
    yield from (unblocked(published_cell("unequal", OURS, x, size)) for x in last)
    yield from (unblocked(cell("unequal", OURS, x, size)) for x in columns("unequal", size)[-1:])
    p = part("shift", size)
    for scheme in p["schemes"] if reported else [OURS]:
        yield from (shift(scheme, others, size) for others in p["flows"])
    distinct, equal, unequal = open_cells(size)
    for run in (distinct, equal, unequal) if reported else (equal,):
        yield from varied(run, size)


def _alone(experiment: str) -> list[str]:
    return ["path1"] if experiment == "equal" else []
