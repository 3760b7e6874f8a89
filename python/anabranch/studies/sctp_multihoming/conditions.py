"""The runs of the paper's figures: replications of a scheme on two paths, under a set of rules."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from anabranch import inline
from anabranch.experiment import Scenario

FOLDER = Path(__file__).parent
RATE_MBIT = 2.0
EDGE_MS, CORE_MS = 10.0, 15.0
PAPER = {"tcp": "delayed", "sctp": "rfc2960"}
"""The rules by which the paper's claims are judged."""


@dataclass(frozen=True, order=True)
class Paths:
    """The two paths. Losses are in per cent, rate and delay of the second are ratios of the
    first's."""

    loss: float
    other: float = 0.0
    bandwidth: float = 1.0
    delay: float = 1.0

    def changes(self) -> Iterator[str]:
        """Assignments that make the scenario's links such paths."""
        for link, loss in (("core0", self.loss), ("core1", self.other)):
            if loss:
                loses = inline.toml([{"kind": "bernoulli", "rate": round(loss / 100, 6)}])
                yield f"links.{link}.impairments={loses}"
        if self.bandwidth != 1:
            yield f'links.core1.rate="{RATE_MBIT * self.bandwidth:g} Mbit/s"'
        if self.delay != 1:
            for link, delay in (("in1", EDGE_MS), ("core1", CORE_MS), ("out1", EDGE_MS)):
                yield f'links.{link}.delay="{delay * self.delay:g} ms"'


@dataclass(frozen=True, order=True)
class Batch:
    """A scheme on two paths under a set of rules."""

    scheme: str
    rules: str
    paths: Paths


@cache
def plan() -> dict[str, Any]:
    """The parameters of plan.toml."""
    return tomllib.loads((FOLDER / "plan.toml").read_text(encoding="utf-8"))


def replications(batch: Batch, quick: bool) -> int:
    """Runs of a batch."""
    sizes = plan()["quick"] if quick else plan()
    if batch.rules in PAPER.values():
        return int(sizes["replications"])
    return int(sizes["variants"] if quick else plan()["variants"]["replications"])


def protocol(scheme: str) -> str:
    """`tcp` or `sctp`."""
    return str(plan()["schemes"][scheme]["protocol"])


def batch(scheme: str, paths: Paths, rules: str = "") -> Batch:
    """A batch, by the paper's rules unless others are named; of a scheme that sends no data on
    the second path, one for all its states."""
    alone = plan()["schemes"][scheme].get("destination", "all-same") == "all-same"
    return Batch(scheme, rules or PAPER[protocol(scheme)], Paths(paths.loss) if alone else paths)


def batches() -> list[Batch]:
    """All batches, each once."""
    variants = plan()["variants"]
    chosen = set()
    for figure in ("figure2", "figure3"):
        for scheme, loss in itertools.product(plan()[figure]["schemes"], plan()[figure]["loss"]):
            for rules in variants[protocol(scheme)]:
                chosen.add(batch(scheme, Paths(loss), rules))
    for rules, scheme in itertools.product(variants["policies"], plan()["figure4"]["schemes"]):
        chosen |= {batch(scheme, paths, rules) for paths in _policies()}
    return sorted(chosen)


def _policies() -> Iterator[Paths]:
    part = plan()["figure4"]
    yield from (Paths(*pair) for pair in itertools.product(part["loss"], part["other"]))
    yield from by_bandwidth(plan()["figure5"]["bandwidth"])
    yield from by_delay(plan()["figure6"]["delay"])


def by_bandwidth(ratios: Iterable[float]) -> list[Paths]:
    """Figure 5: the second path's rate."""
    part = plan()["figure5"]
    return [Paths(part["loss"], part["other"], bandwidth=ratio) for ratio in ratios]


def by_delay(ratios: Iterable[float]) -> list[Paths]:
    """Figure 6: the second path's delay."""
    part = plan()["figure6"]
    return [Paths(part["loss"], part["other"], delay=ratio) for ratio in ratios]


def scenario(batch: Batch, size: str = "4 MB") -> Scenario:
    """The scenario of a batch."""
    settings = dict(plan()["schemes"][batch.scheme])
    transport = settings.pop("protocol")
    options = {**plan()[transport], **plan()["rules"][batch.rules], **settings}
    return transfer(transport, options, batch.paths, size)


def transfer(transport: str, options: dict[str, Any], paths: Paths, size: str = "4 MB") -> Scenario:
    """The transfer with such a transport over two such paths."""
    flow = {
        "name": "transfer",
        "from": "sender",
        "to": "receiver",
        "size": size,
        "protocol": transport,
        transport: options,
    }
    return network().set(f"flows=[{inline.toml(flow)}]", *paths.changes())


def network() -> Scenario:
    """The scenario as it stands in its file."""
    text = (FOLDER / "scenario.toml").read_text(encoding="utf-8")
    return Scenario(text, "studies/sctp_multihoming/scenario.toml")
