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
from anabranch.settings import Toml

FOLDER = Path(__file__).parent
SCALED = "scaled"
"""A receive window that never limits."""
PAIR = ("plain", "fast-tcp")
LAWS = ("fast-tcp", "ack-bucket")
"""Routers that delay ACKs: by thresholds, and by a bucket."""
HEADERS, ETHERNET = 40, 1500
"""Octets of TCP's and IP's headers, and of the largest packet unless segments need more."""
SEEN = ("literal", "threshold", "bucket")
"""Readings whose series are kept."""
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
    mss: int = 1460
    flows: int = 1
    cross: bool = False
    low: float = LOW
    high: float = HIGH
    delay_ms: int = DELAY_MS

    @property
    def chance(self) -> bool:
        """Whether anything in it is random; else one run says all."""
        return bool(self.ber) or self.cross or self.flows > 1

    def with_router(self, router: str) -> Run:
        """The same condition with another router."""
        return replace(self, router=router, low=LOW, high=HIGH, delay_ms=DELAY_MS)


@cache
def plan() -> Toml:
    """The parameters of plan.toml."""
    return tomllib.loads((FOLDER / "plan.toml").read_text(encoding="utf-8"))


def _part(name: str, quick: bool) -> Toml:
    """A part of the plan; with `quick` its lists are cut to those named in `quick`."""
    part = dict(plan()[name])
    if quick:
        few = plan()["quick"]
        part |= {key: few[key] for key in few.keys() & part.keys() if isinstance(part[key], list)}
    return part


def reading(name: str, router: str) -> Run:
    """The paper's own case, as one may read it, with the plain router or with Fast-TCP."""
    case = plan()["readings"][name]
    run = Run("plain", case["flavour"], SCALED, case["buffer"], case["ber"], case["mss"])
    if router == "plain":
        return run
    law = {field: case[field] for field in ("low", "high", "delay_ms") if field in case}
    return replace(run, router=case.get("law", router), **law)


def readings() -> list[Run]:
    """All of them, with both routers."""
    return [reading(name, router) for name in plan()["readings"] for router in PAIR]


def sweep(quick: bool) -> list[Run]:
    """What the paper leaves open: buffer, sender, segments, errors; windows without errors."""
    found = []
    for name in ("sweep", "sweep_today", "sweep_windows"):
        part = _part(name, quick)
        keys = ("flavour", "window", "buffer", "ber", "mss")
        found += [
            Run(router, flavour, window, buffer, ber, mss)
            for router in ("plain", *part.get("laws", LAWS[:1]))
            for flavour, window, buffer, ber, mss in itertools.product(*(part[key] for key in keys))
        ]
    return found


def thresholds(quick: bool) -> list[Run]:
    """The law's own parameters, and the plain router beside them, without errors."""
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
    """Routers of today, one flow beside bit errors and many without."""
    part = _part("aqm", quick)
    return [
        Run(router, flavour, buffer=part["buffer"], ber=ber, flows=flows)
        for router, flavour, (flows, ber) in itertools.product(
            part["routers"], part["flavour"], part["flows_ber"]
        )
    ]


def cross(quick: bool) -> list[Run]:
    """Beside traffic that comes and goes."""
    part = _part("cross", quick)
    return [
        Run(router, flavour, buffer=part["buffer"], cross=True)
        for router, flavour in itertools.product(PAIR, part["flavour"])
    ]


def runs(quick: bool) -> list[Run]:
    """All of them, each once."""
    every = [*readings(), *sweep(quick), *thresholds(quick), *aqm(quick), *cross(quick)]
    return sorted(set(every))


def watched(quick: bool) -> list[Run]:
    """Runs whose series are kept: readings of the paper's case, and others without errors."""
    part = _part("watch", quick)
    found = [reading(name, router) for name in SEEN for router in PAIR]
    return found + [
        Run(router, flavour, buffer=buffer)
        for router, flavour, buffer in itertools.product(PAIR, part["flavour"], part["buffer"])
    ]


def scenario(run: Run) -> Scenario:
    """The scenario of a condition."""
    text = (FOLDER / "scenario.toml").read_text(encoding="utf-8")
    found = Scenario(text, "studies/fast_tcp/router/scenario.toml")
    return found.set(*_changes(run))


def watched_scenario(run: Run) -> Scenario:
    """The same, with what the sender sends and hears, and what waits at router 1."""
    observed = inline.toml(
        [
            {"what": "packets"},
            {"what": "srtt", "interval": "10 ms"},
            {"what": "queue", "link": "uplink"},
        ]
    )
    return scenario(run).set(f"observe={observed}")


def _changes(run: Run) -> Iterator[str]:
    tcp = {**plan()["tcp"], **plan()["flavours"][run.flavour]}
    tcp["mss"] = f"{run.mss} B"
    tcp["receive_buffer"] = "64 KiB" if run.window != SCALED else "64 MiB"
    if run.window != SCALED:
        tcp["window_scale"] = False
    if run.mss + HEADERS > ETHERNET:
        for link in ("access", "uplink", "ground"):
            yield f"links.{link}.mtu={run.mss + HEADERS} B"
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


def _regulator(run: Run) -> Toml:
    if run.router == "fast-tcp":
        limits = {"low": run.low, "high": run.high, "max_delay": f"{run.delay_ms} ms"}
        return {"law": "threshold-linear", **limits}
    return {"law": "ack-bucket"} if run.router == "ack-bucket" else {}


def _queue(run: Run) -> tuple[Toml, bool]:
    """The queue in front of the satellite link, and whether it marks."""
    limit = {"limit": f"{run.buffer} packets"}
    if run.router in ("red", "codel", "fq-codel", "pie"):
        adaptive = {"adaptive": True} if run.router == "red" else {}
        return {"kind": run.router, **limit, "ecn": True, **adaptive}, True
    if run.router == "dualpi2":
        return {"kind": "dualpi2", **limit}, True
    return {"kind": "droptail", **limit}, False
