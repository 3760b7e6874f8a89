"""The runs of the paper's figures: replications of a scheme on two paths, under a set of rules."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anabranch import inline
from anabranch.experiment import Scenario
from anabranch.settings import Toml

FOLDER = Path(__file__).parent
RATE_MBIT = 2.0
EDGE_MS, CORE_MS = 10.0, 15.0
PAPER = {"tcp": "ns2-tcp", "sctp": "ns2"}
"""The paper's own configuration: ns-2's agents with plain sinks, and its SCTP module."""

PRIMARY, PAPER_OTHER = 4.0, 2.0
"""Losses of figures 5 and 6, per cent: of the primary, and of the alternate in the paper."""


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
def plan() -> Toml:
    """The parameters of plan.toml."""
    return tomllib.loads((FOLDER / "plan.toml").read_text(encoding="utf-8"))


def equal(sctp: str) -> float:
    """The alternate's loss, per cent, at which the two policies of figure 4 take the same time with
    4 % on the primary, under such rules (`pilot.py` found them)."""
    return float(plan()["equal"][sctp])


def pairs(quick: bool) -> list[tuple[str, str]]:
    """Sets of rules of TCP and SCTP: the paper's first."""
    others = plan()["variants"]["quick_pairs" if quick else "pairs"]
    return [(PAPER["tcp"], PAPER["sctp"]), *((tcp, sctp) for tcp, sctp in others)]


def policies(quick: bool) -> list[str]:
    """Sets of SCTP's rules under which the policies are compared: the paper's first."""
    return [PAPER["sctp"], *plan()["variants"]["quick_policies" if quick else "policies"]]


def block(tcp: str, sctp: str, quick: bool) -> int:
    """Transfers in a replication under such rules."""
    published = (tcp, sctp) == (PAPER["tcp"], PAPER["sctp"])
    return 1 if quick else int(plan()["block" if published else "variants_block"])


def transfers(batch: Batch, quick: bool) -> int:
    """Transfers in a replication of a batch: as many as the largest block that it is read by."""
    published = batch.rules in PAPER.values()
    return 1 if quick else int(plan()["block" if published else "variants_block"])


def protocol(scheme: str) -> str:
    """`tcp` or `sctp`."""
    return str(plan()["schemes"][scheme]["protocol"])


def batch(scheme: str, paths: Paths, rules: str = "") -> Batch:
    """A batch, by the paper's rules unless others are named; of a scheme that sends no data on
    the second path, one for all its states."""
    alone = plan()["schemes"][scheme].get("destination", "all-same") == "all-same"
    return Batch(scheme, rules or PAPER[protocol(scheme)], Paths(paths.loss) if alone else paths)


def batches(quick: bool) -> list[Batch]:
    """All batches, each once."""
    chosen = set()
    for figure in ("figure2", "figure3"):
        for scheme, loss in itertools.product(plan()[figure]["schemes"], plan()[figure]["loss"]):
            for tcp, sctp in pairs(quick):
                rules = {"tcp": tcp, "sctp": sctp}[protocol(scheme)]
                chosen.add(batch(scheme, Paths(loss), rules))
    for rules, scheme in itertools.product(policies(quick), plan()["figure4"]["schemes"]):
        chosen |= {batch(scheme, paths, rules) for paths in policy_paths(rules)}
    return sorted(chosen)


def policy_paths(rules: str) -> list[Paths]:
    """The paths of figures 4 to 6: the latter where the policies are equal under such rules, and
    under the paper's also at its losses."""
    part = plan()["figure4"]
    found = [Paths(*pair) for pair in itertools.product(part["loss"], part["other"])]
    others = {equal(rules), *([PAPER_OTHER] if rules == PAPER["sctp"] else [])}
    for other in sorted(others):
        found += [Paths(PRIMARY, other)]
        found += by_bandwidth(plan()["figure5"]["bandwidth"], other)
        found += by_delay(plan()["figure6"]["delay"], other)
    return found


def by_bandwidth(ratios: Iterable[float], other: float | None = None) -> list[Paths]:
    """Figure 5: the second path's rate."""
    loss = PAPER_OTHER if other is None else other
    return [Paths(PRIMARY, loss, bandwidth=ratio) for ratio in ratios]


def by_delay(ratios: Iterable[float], other: float | None = None) -> list[Paths]:
    """Figure 6: the second path's delay."""
    loss = PAPER_OTHER if other is None else other
    return [Paths(PRIMARY, loss, delay=ratio) for ratio in ratios]


def scenario(batch: Batch, size: str = "4 MB") -> Scenario:
    """The scenario of a batch."""
    settings = dict(plan()["schemes"][batch.scheme])
    transport = settings.pop("protocol")
    options = {**plan()[transport], **plan()["rules"][batch.rules], **settings}
    return transfer(transport, options, batch.paths, size)


def transfer(transport: str, options: Toml, paths: Paths, size: str = "4 MB") -> Scenario:
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
