"""The scenario of a condition: links, queues, receive buffers, flows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from anabranch import inline
from anabranch.experiment import Scenario
from anabranch.settings import Toml
from anabranch.studies.mcubic.conditions import ALONE, DISTINCT, FOLDER, SHARED, Run, plan

PACKET = 1500
SPREAD = "100 ms"


def queue_packets(run: Run, path: int) -> int:
    """What may wait at a path's bottleneck."""
    if run.queue:
        return run.queue
    octets = run.rates[path] * 1e6 / 8 * run.round_trips[0] / 1e3
    return max(1, round(run.buffer * octets / PACKET))


def receive_octets(run: Run) -> int:
    """The receive buffer of every connection."""
    if run.window:
        return round(run.window * (1 << 20))
    links = run.rates[:1] if run.bed == SHARED else run.rates
    rate = sum(links) * 1e6 / 8
    longest = max(
        run.round_trips[path] / 1e3 + queue_packets(run, 0) * PACKET / (run.rates[0] * 1e6 / 8)
        for path in (0, 1)
    )
    return max(64 << 10, round(run.receive * rate * longest))


def scenario(run: Run, interval: str = "") -> Scenario:
    """The scenario of a condition, which tells what has been received at each interval; if none is
    given, as seldom as the measures allow."""
    interval = interval or f"{1 if run.event else math.gcd(run.warm_up, run.seconds)} s"
    text = (FOLDER / f"{'shared' if run.bed == SHARED else 'scenario'}.toml").read_text("utf-8")
    observed = inline.toml([{"what": "received", "interval": interval}])
    return Scenario(text, f"studies/mcubic/{run.bed}.toml").set(
        *([f"seed={1 + run.draw}"] if run.draw else []),
        f'duration="{run.end} s"',
        f"observe={observed}",
        *_links(run),
        f"flows={_flows(run)}",
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
    def tcp(window: str) -> Toml:
        windows = plan()["windows"]
        return {
            **plan()["tcp"],
            "receive_buffer": f"{receive_octets(run)} B",
            "window": windows.get(window, {"algorithm": window}),
        }

    def single(name: str, source: str, to: str, **more: Any) -> Toml:
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
