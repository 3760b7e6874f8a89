"""The runs: three to five paths, the alternates unlike each other, by policy."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from anabranch import inline
from anabranch.experiment import Scenario
from anabranch.settings import Toml
from anabranch.studies.sctp_multihoming import conditions
from anabranch.studies.sctp_multihoming.conditions import CORE_MS, EDGE_MS, RATE_MBIT

SENDING_AGAIN, FAILING = "sending_again", "failing"
STEP = "50 ms"
"""How often it is looked at what has arrived when the primary fails."""


@dataclass(frozen=True, order=True)
class Run:
    """A policy among the alternates of a set."""

    kind: str
    """`sending_again` or `failing`."""
    policy: str
    """One of `policies(kind)`."""
    alternates: str
    """The name of the set."""
    backwards: bool
    """Whether its alternates are in the other order."""


@cache
def plan() -> Toml:
    """The parameters of plan.toml."""
    return tomllib.loads((Path(__file__).parent / "plan.toml").read_text(encoding="utf-8"))


def sets(quick: bool) -> list[str]:
    """The names of the sets of alternates."""
    return list(plan()["quick_sets"]) if quick else list(plan()["sets"])


def probed(policy: str, probing: str) -> str:
    """The name of a policy with such heartbeats."""
    return f"{policy}, {probing}"


def policies(kind: str) -> dict[str, Toml]:
    """The policies that are compared, with the options that make them."""
    part = plan()[kind]
    found: dict[str, Toml] = {
        name: {"destination": name, "probing": False} for name in part["blind"]
    }
    for name, probing in itertools.product(part["knowing"], part["probing"]):
        options = {"destination": name, "failover": "next"}
        if kind == FAILING:
            options = {"destination": part["destination"], "failover": name}
        found[probed(name, probing)] = {**options, "probing": plan()["probing"][probing]}
    return found


def runs(quick: bool) -> list[Run]:
    """All runs."""
    return [
        Run(kind, policy, name, backwards)
        for kind in (SENDING_AGAIN, FAILING)
        for policy in policies(kind)
        for name in sets(quick)
        for backwards in (False, True)
    ]


def scenario(run: Run) -> Scenario:
    """The scenario of a run."""
    common = conditions.plan()
    options = {
        **common["sctp"],
        **common["rules"][plan()["rules"]],
        **plan()["remedies"],
        **policies(run.kind)[run.policy],
    }
    flow = {
        "name": "transfer",
        "from": "sender",
        "to": "receiver",
        "size": "4 MB",
        "protocol": "sctp",
        "sctp": options,
    }
    alternates = plan()["sets"][run.alternates]
    paths = [_primary(run.kind), *(reversed(alternates) if run.backwards else alternates)]
    names = [f"path{number}" for number in range(len(paths))]
    value = {
        "name": "sctp-several",
        "hosts": [{"name": host, "interfaces": names} for host in ("sender", "receiver")],
        "routers": [f"{side}{number}" for number in range(len(paths)) for side in "rs"],
        "links": [link for number, path in enumerate(paths) for link in _links(number, path)],
        "flows": [flow],
    }
    if run.kind == FAILING:
        value["observe"] = [{"what": "received", "interval": STEP}]
    text = "\n".join(f"{key} = {inline.toml(each)}" for key, each in value.items())
    return Scenario(text, "studies/sctp_multihoming/several")


def _primary(kind: str) -> Toml:
    part = plan()[kind]
    return {"fails": part["at"]} if kind == FAILING else {"other": part["loss"]}


def _links(number: int, path: Toml) -> Iterator[Toml]:
    """Edge, middle and edge of a path."""
    delay = path.get("delay", 1)
    queue = {"kind": "droptail", "limit": "50 packets"}
    ends = (f"sender.path{number}", f"r{number}", f"s{number}", f"receiver.path{number}")
    for name, (begin, end) in zip(("in", "core", "out"), itertools.pairwise(ends), strict=True):
        core = name == "core"
        rate = RATE_MBIT * path.get("bandwidth", 1) if core else 10
        link: dict[str, Any] = {
            "name": f"{name}{number}",
            "ends": [begin, end],
            "rate": f"{rate:g} Mbit/s",
            "delay": f"{(CORE_MS if core else EDGE_MS) * delay:g} ms",
            "queue": queue,
        }
        if core and "other" in path:
            link["impairments"] = [{"kind": "bernoulli", "rate": round(path["other"] / 100, 6)}]
        if core and "fails" in path:
            link["impairments"] = [_outage(path["fails"])]
            link["reverse"] = {"impairments": [_outage(path["fails"])]}
        yield link


def _outage(at: float) -> Toml:
    return {"kind": "outage", "intervals": [{"at": f"{at:g} s", "for": "10000 s"}]}
