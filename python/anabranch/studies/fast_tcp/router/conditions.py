"""The runs: what stands in router 1, which TCP sends, and how the link errs."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from anabranch import inline
from anabranch.experiment import Scenario

FOLDER = Path(__file__).parent
SCALED = "scaled"
"""A receive window that never limits."""
LOW, HIGH, DELAY_MS = 0.2, 0.8, 200
"""Thresholds, as shares of the buffer, and longest delay, where they are not varied."""


@dataclass(frozen=True, order=True)
class Run:
    """One condition."""

    router: str
    flavour: str
    window: str = SCALED
    buffer: int = 100
    """Packets that may wait for the satellite link."""
    ber: float = 0.0
    flows: int = 1
    cross: bool = False
    low: float = LOW
    high: float = HIGH
    delay_ms: int = DELAY_MS

    def with_router(self, router: str) -> Run:
        """The same condition with another router."""
        return replace(self, router=router, low=LOW, high=HIGH, delay_ms=DELAY_MS)


@cache
def plan() -> dict[str, Any]:
    """The parameters of plan.toml."""
    return tomllib.loads((FOLDER / "plan.toml").read_text(encoding="utf-8"))


def _part(name: str, quick: bool) -> dict[str, Any]:
    """A part of the plan; with `quick` its lists are cut to those named in `quick`."""
    part = dict(plan()[name])
    if quick:
        few = plan()["quick"]
        part |= {key: few[key] for key in few.keys() & part.keys() if isinstance(part[key], list)}
    return part


def paper(router: str) -> Run:
    """The case that is judged by the paper's numbers."""
    case = plan()["paper"]
    return Run(router, case["flavour"], case["window"], case["buffer"], case["ber"])


def sweep(quick: bool) -> list[Run]:
    """What the paper leaves open: buffer, flavour, window, errors."""
    part = _part("sweep", quick)
    keys = ("routers", "flavour", "window", "buffer", "ber")
    return [Run(*values) for values in itertools.product(*(part[key] for key in keys))]


def thresholds(quick: bool) -> list[Run]:
    """The law's own parameters, and the plain router beside them."""
    part = _part("thresholds", quick)
    runs = []
    for flavour in part["flavour"]:
        plain = Run("plain", flavour, buffer=plan()["thresholds"]["buffer"])
        runs.append(plain)
        runs += [
            replace(plain, router="fast-tcp", low=low, high=high, delay_ms=delay)
            for (low, high), delay in itertools.product(part["low_high"], part["delay"])
        ]
    return runs


def aqm(quick: bool) -> list[Run]:
    """Routers of today, one flow and many."""
    part = _part("aqm", quick)
    return [
        Run(router, flavour, buffer=plan()["aqm"]["buffer"], ber=ber, flows=flows)
        for router, flavour, ber, flows in itertools.product(
            part["routers"], part["flavour"], part["ber"], part["flows"]
        )
    ]


def cross(quick: bool) -> list[Run]:
    """Beside traffic that comes and goes."""
    part = _part("cross", quick)
    return [
        Run(router, flavour, buffer=plan()["cross"]["buffer"], cross=True)
        for router, flavour in itertools.product(part["routers"], part["flavour"])
    ]


def runs(quick: bool) -> list[Run]:
    """All of them, each once."""
    every = [paper("plain"), paper("fast-tcp")]
    every += [*sweep(quick), *thresholds(quick), *aqm(quick), *cross(quick)]
    return sorted(set(every))


def replications(run: Run, quick: bool) -> int:
    """How often a condition is run; once where nothing is random."""
    if run.ber == 0 and not run.cross and run.flows == 1:
        return 1
    return int(plan()["quick_replications"] if quick else plan()["replications"])


def watched(quick: bool) -> list[tuple[Run, int]]:
    """Runs with their series, and their seeds: the paper's case, then others without errors."""
    part = _part("watch", quick)
    found = [
        (paper(router), seed)
        for router in ("plain", "fast-tcp")
        for seed in range(1, 1 + (2 if quick else part["seeds"]))
    ]
    found += [
        (Run(router, flavour, buffer=buffer), 1)
        for router, flavour, buffer in itertools.product(
            ("plain", "fast-tcp"), part["flavour"], part["buffer"]
        )
    ]
    return found


def scenario(run: Run) -> Scenario:
    """The scenario of a condition."""
    text = (FOLDER / "scenario.toml").read_text(encoding="utf-8")
    found = Scenario(text, "studies/fast_tcp/router/scenario.toml")
    return found.set(*_changes(run))


def watched_scenario(run: Run, seed: int) -> Scenario:
    """The same, with what the sender sends and hears, and what waits at router 1."""
    observed = inline.toml(
        [
            {"what": "packets"},
            {"what": "srtt", "interval": "10 ms"},
            {"what": "queue", "link": "uplink"},
        ]
    )
    return scenario(run).set(f"observe={observed}", f"seed={seed}")


def _changes(run: Run) -> Iterator[str]:
    tcp = {**plan()["tcp"], **plan()["flavours"][run.flavour]}
    tcp["receive_buffer"] = "64 KiB" if run.window != SCALED else "64 MiB"
    if run.window != SCALED:
        tcp["window_scale"] = False
    queue, marks = _queue(run)
    if marks:
        tcp["ecn"] = "on"
    flow: dict[str, Any] = {"name": "f", "from": "source", "to": "sink", "tcp": tcp}
    if run.flows > 1:
        flow |= {"count": run.flows, "start_spread": "1 s"}
    flows = [flow]
    if run.cross:
        times = {"mean": "2 s", "law": "exponential"}
        on_off = {"kind": "on-off", "rate": "15 Mbit/s", "on": times, "off": times}
        flows.append({"name": "x", "from": "other", "to": "sink", "traffic": on_off})
    yield f"flows={inline.toml(flows)}"
    yield f"links.uplink.queue={inline.toml(queue)}"
    reverse: dict[str, Any] = {}
    if run.ber:
        errors = [{"kind": "bit-errors", "ber": run.ber, "at": "egress"}]
        yield f"links.uplink.impairments={inline.toml(errors)}"
        reverse["impairments"] = errors
    if run.router == "ack-filter":
        reverse["queue"] = {"kind": "ack-filter", "limit": "100 packets"}
    if reverse:
        yield f"links.uplink.reverse={inline.toml(reverse)}"
    regulator = _regulator(run)
    if regulator:
        yield f"links.uplink.regulator={inline.toml(regulator)}"


def _regulator(run: Run) -> dict[str, Any]:
    if run.router == "fast-tcp":
        limits = {"low": run.low, "high": run.high, "max_delay": f"{run.delay_ms} ms"}
        return {"law": "threshold-linear", **limits}
    return {"law": "ack-bucket"} if run.router == "ack-bucket" else {}


def _queue(run: Run) -> tuple[dict[str, Any], bool]:
    """The queue in front of the satellite link, and whether it marks."""
    limit = {"limit": f"{run.buffer} packets"}
    if run.router in ("red", "codel", "fq-codel", "pie"):
        adaptive = {"adaptive": True} if run.router == "red" else {}
        return {"kind": run.router, **limit, "ecn": True, **adaptive}, True
    if run.router == "dualpi2":
        return {"kind": "dualpi2", **limit}, True
    return {"kind": "droptail", **limit}, False
