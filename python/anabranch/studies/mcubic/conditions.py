"""The runs: a connection over two paths beside single-path flows, and what is varied."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from anabranch import inline
from anabranch.experiment import Scenario

FOLDER = Path(__file__).parent
ALONE = ("path1", "path2")
"""Schemes that put a single-path CUBIC flow on a path in the place of the connection."""
SHARED, DISTINCT = "shared", "scenario"
PACKET = 1500
SPREAD = "100 ms"


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
    window: int = 0
    """MiB, in place of `receive`."""
    scheduler: str = "min-rtt"
    losses: tuple[float, float] = (0.0, 0.0)
    others: int = 0
    """Further single-path flows on the second path."""
    event: str = ""
    """What happens to the second path at the end of the warm-up."""

    def with_scheme(self, scheme: str) -> Run:
        """The same condition for another scheme."""
        return replace(self, scheme=scheme)

    @property
    def end(self) -> int:
        """When the run ends, in s."""
        return self.warm_up + self.seconds


Batch = tuple[Run, int]
"""A condition and its number of replications."""


@cache
def plan() -> dict[str, Any]:
    """The parameters of plan.toml."""
    return tomllib.loads((FOLDER / "plan.toml").read_text(encoding="utf-8"))


Size = bool | str
"""Of the grid: the whole one, with `True` that of `quick`, or that of another table of the plan."""


def part(name: str, size: Size) -> dict[str, Any]:
    """A part of the plan; a smaller size has some of its values otherwise."""
    found = plan()["open"]["conditions"] if name == "conditions" else plan()[name]
    table = size if isinstance(size, str) else "quick" if size else ""
    return {**found, **(plan()[table].get(name, {}) if table else {})}


def distinct(scheme: str, second: float, quick: Size) -> Run:
    """A cell of table 1."""
    p = part("distinct", quick)
    trips = (p["round_trip"], p["round_trip"])
    return Run(DISTINCT, scheme, (p["first"], second), trips, p["warm_up"], p["seconds"])


def equal(scheme: str, round_trip: float, quick: Size) -> Run:
    """A cell of table 2."""
    p = part("equal", quick)
    rates = (p["rate"], p["rate"])
    return Run(SHARED, scheme, rates, (round_trip, round_trip), p["warm_up"], p["seconds"])


def unequal(scheme: str, second: float, quick: Size) -> Run:
    """A cell of table 3."""
    p = part("unequal", quick)
    rates = (p["rate"], p["rate"])
    return Run(SHARED, scheme, rates, (p["first"], second), p["warm_up"], p["seconds"])


def shift(scheme: str, others: int, quick: Size) -> Run:
    """Two equal paths, of which the second carries further flows."""
    p = part("shift", quick)
    rates, trips = (p["rate"], p["rate"]), (p["round_trip"], p["round_trip"])
    return Run(DISTINCT, scheme, rates, trips, p["warm_up"], p["seconds"], others=others)


def cells(quick: Size) -> list[Run]:
    """A cell of each table, at which the open choices are varied one at a time."""
    p = part("open", quick)
    trip, other, times = p["round_trip"], p["second_round_trip"], (p["warm_up"], p["seconds"])
    return [
        replace(distinct("mcubic", p["second_rate"], quick), warm_up=times[0], seconds=times[1]),
        Run(SHARED, "mcubic", (100, 100), (trip, trip), *times),
        Run(SHARED, "mcubic", (100, 100), (trip, other), *times),
    ]


def varied(run: Run, quick: Size) -> Iterator[Run]:
    """A cell as it is, then each open choice by itself, for each scheme of the plan."""
    p = part("conditions", quick)
    for scheme in p["schemes"]:
        one = run.with_scheme(scheme)
        yield one
        yield from (replace(one, buffer=x) for x in p["buffer"])
        yield from (replace(one, scheduler=x) for x in p["scheduler"])
        yield from (replace(one, receive=x) for x in p["receive"])
    yield from (run.with_scheme(scheme) for scheme in part("readings", quick)["schemes"])


def test_bed(quick: Size) -> list[Run]:
    """Equal delays with the receive window of the test bed, with our queue and its own."""
    p = part("test_bed", quick)
    runs = []
    for scheme in p["schemes"]:
        for trip in p["round_trip"]:
            run = replace(
                equal(scheme, trip, quick),
                warm_up=p["warm_up"],
                seconds=p["seconds"],
                window=p["window"],
            )
            runs += [run, replace(run, queue=p["queue"])]
    return runs


def batches(quick: Size) -> list[Batch]:
    """All of the paper's part, each once."""
    return merged(_batches(quick))


def _batches(quick: Size) -> Iterator[Batch]:
    def of(name: str, runs: Iterable[Run]) -> Iterator[Batch]:
        number = part(name, quick)["replications"]
        yield from ((run, number) for run in runs)

    for name, cell, x in (
        ("distinct", distinct, "second"),
        ("equal", equal, "round_trip"),
        ("unequal", unequal, "second"),
        ("shift", shift, "flows"),
    ):
        p = part(name, quick)
        schemes = [*p["schemes"], *(["path1"] if name == "equal" else [])]
        yield from of(name, (cell(scheme, at, quick) for scheme in schemes for at in p[x]))
    for run in cells(quick):
        yield from of("open", varied(run, quick))
    yield from of("test_bed", test_bed(quick))


def merged(found: Iterable[Batch]) -> list[Batch]:
    """Each condition once, with the most replications that are asked of it."""
    most: dict[Run, int] = {}
    for run, number in found:
        most[run] = max(number, most.get(run, 0))
    return sorted(most.items())


def queue_packets(run: Run, path: int) -> int:
    """What may wait at a path's bottleneck."""
    if run.queue:
        return run.queue
    octets = run.rates[path] * 1e6 / 8 * run.round_trips[0] / 1e3
    return max(1, round(run.buffer * octets / PACKET))


def receive_octets(run: Run) -> int:
    """The receive buffer of every connection."""
    if run.window:
        return run.window << 20
    links = run.rates[:1] if run.bed == SHARED else run.rates
    rate = sum(links) * 1e6 / 8
    longest = max(
        run.round_trips[path] / 1e3 + queue_packets(run, 0) * PACKET / (run.rates[0] * 1e6 / 8)
        for path in (0, 1)
    )
    return max(64 << 10, round(run.receive * rate * longest))


def scenario(run: Run, interval: str = "10 s") -> Scenario:
    """The scenario of a condition, which tells what has been received at each interval."""
    text = (FOLDER / f"{'shared' if run.bed == SHARED else 'scenario'}.toml").read_text("utf-8")
    observed = inline.toml([{"what": "received", "interval": interval}])
    return Scenario(text, f"studies/mcubic/{run.bed}.toml").set(
        f'duration="{run.end} s"', f"observe={observed}", *_links(run), f"flows={_flows(run)}"
    )


def _links(run: Run) -> Iterator[str]:
    if run.bed == SHARED:
        trips = {"in1": 0, "in2": 1, "single1": 0}
        for link, path in trips.items():
            yield f'links.{link}.delay="{run.round_trips[path] / 2:g} ms"'
    for path in (0,) if run.bed == SHARED else (0, 1):
        link = f"links.core{path + 1}"
        yield f'{link}.rate="{run.rates[path]:g} Mbit/s"'
        yield f'{link}.queue.limit="{queue_packets(run, path)} packets"'
        if run.bed == DISTINCT:
            yield f'{link}.delay="{run.round_trips[path] / 2:g} ms"'
        if run.losses[path]:
            loses = [{"kind": "bernoulli", "rate": round(run.losses[path] / 100, 6)}]
            yield f"{link}.impairments={inline.toml(loses)}"
    yield from EVENTS[run.event](run) if run.event else ()


def _flows(run: Run) -> str:
    def tcp(window: str) -> dict[str, Any]:
        windows = plan()["windows"]
        return {
            **plan()["tcp"],
            "receive_buffer": f"{receive_octets(run)} B",
            "window": windows[window],
        }

    def single(name: str, source: str, to: str, **more: Any) -> dict[str, Any]:
        ends = {"from": source, "to": to, "start_spread": SPREAD}
        return {"name": name, **ends, "tcp": tcp("cubic"), **more}

    targets = ("b", "b") if run.bed == SHARED else ("b.x", "b.y")
    flows = [single("tcp1", "a1", targets[0])]
    if run.bed == DISTINCT:
        flows.append(single("tcp2", "a2", targets[1]))
    if run.others:
        flows.append(single("others", "a2", targets[1], count=run.others))
    if run.scheme in ALONE:
        path = ALONE.index(run.scheme)
        first = single("multipath", f"a.{'xy'[path]}", targets[path])
    else:
        first = {
            "name": "multipath",
            "from": "a",
            "to": "b",
            "start_spread": SPREAD,
            "protocol": "mptcp",
            "tcp": tcp(run.scheme),
            "mptcp": {
                "path_manager": "full-mesh" if run.bed == SHARED else "pairs",
                "scheduler": run.scheduler,
            },
        }
    return inline.toml([first, *flows])


def _rate_steps(run: Run, before: float, after: float) -> Iterator[str]:
    steps = [
        {"at": "0 s", "rate": f"{before:g} Mbit/s"},
        {"at": f"{run.warm_up} s", "rate": f"{after:g} Mbit/s"},
    ]
    yield f"links.core2.schedule={inline.toml({'steps': steps})}"


# The link of the connection's second interface: the single-path flow there stays.
def _outage(start: int, length: int) -> Iterator[str]:
    gone = {"kind": "outage", "intervals": [{"at": f"{start} s", "for": f"{length} s"}]}
    yield f"links.in2.impairments={inline.toml([gone])}"
    yield f"links.in2.reverse={inline.toml({'impairments': [gone]})}"


EVENTS = {
    "slower": lambda run: _rate_steps(run, run.rates[1], run.rates[1] / 5),
    "faster": lambda run: _rate_steps(run, run.rates[1] / 5, run.rates[1]),
    "vanishes": lambda run: _outage(run.warm_up, run.seconds),
    "appears": lambda run: _outage(0, run.warm_up),
}
