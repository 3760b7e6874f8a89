"""The runs: replications of a scheme on two paths."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from anabranch.experiment import Scenario
from anabranch.studies import inline

FOLDER = Path(__file__).parent
RATE_MBIT = 2.0
EDGE_MS, CORE_MS = 10.0, 15.0


@dataclass(frozen=True, order=True)
class Batch:
    """A scheme on two paths. Losses are in per cent, rate and delay of the second path are
    ratios of the first's."""

    scheme: str
    loss: float
    other: float = 0.0
    bandwidth: float = 1.0
    delay: float = 1.0


@cache
def plan() -> dict[str, Any]:
    """The parameters of plan.toml."""
    return tomllib.loads((FOLDER / "plan.toml").read_text(encoding="utf-8"))


def replications(quick: bool) -> int:
    """Runs of each batch."""
    return int(plan()["quick"]["replications"] if quick else plan()["replications"])


def batch(
    scheme: str, loss: float, other: float = 0.0, bandwidth: float = 1.0, delay: float = 1.0
) -> Batch:
    """A batch; of a scheme that sends no data on the second path, one for all its states."""
    settings = plan()["schemes"][scheme]
    alone = settings.get("destination", "all-same") == "all-same"
    return Batch(scheme, loss) if alone else Batch(scheme, loss, other, bandwidth, delay)


def batches() -> list[Batch]:
    """All batches, each once."""
    parts = (_by_loss("figure2"), _by_loss("figure3"), _policies(), _variants(), _remedies())
    return sorted({*itertools.chain(*parts)})


def _by_loss(figure: str) -> Iterator[Batch]:
    part = plan()[figure]
    for scheme in part["schemes"]:
        yield from (batch(scheme, loss) for loss in part["loss"])


def _policies() -> Iterator[Batch]:
    for scheme in plan()["figure4"]["schemes"]:
        yield from by_other(scheme, plan()["figure4"]["loss"], plan()["figure4"]["other"])
        yield from by_bandwidth(scheme, plan()["figure5"]["bandwidth"])
        yield from by_delay(scheme, plan()["figure6"]["delay"])


def _variants() -> Iterator[Batch]:
    part = plan()["variants"]
    for scheme in (*part["tcp"], *part["sctp"]):
        yield from (batch(scheme, loss) for loss in plan()["figure2"]["loss"])
    for scheme in part["policies"].values():
        yield from by_other(scheme, part["loss"], plan()["figure4"]["other"])


def _remedies() -> Iterator[Batch]:
    for scheme in plan()["remedies"]["schemes"]:
        yield from remedy_grid(scheme)


def remedy_grid(scheme: str) -> Iterator[Batch]:
    """The conditions under which remedies are compared, for one scheme."""
    part = plan()["remedies"]
    yield from by_other(scheme, part["loss"], part["other"])
    yield from by_bandwidth(scheme, part["bandwidth"])
    yield from by_delay(scheme, part["delay"])


def by_other(scheme: str, losses: list[float], others: list[float]) -> Iterator[Batch]:
    """Figure 4: the second path's loss."""
    yield from (batch(scheme, loss, other) for loss in losses for other in others)


def by_bandwidth(scheme: str, ratios: list[float]) -> Iterator[Batch]:
    """Figure 5: the second path's rate."""
    part = plan()["figure5"]
    yield from (batch(scheme, part["loss"], part["other"], bandwidth=ratio) for ratio in ratios)


def by_delay(scheme: str, ratios: list[float]) -> Iterator[Batch]:
    """Figure 6: the second path's delay."""
    part = plan()["figure6"]
    yield from (batch(scheme, part["loss"], part["other"], delay=ratio) for ratio in ratios)


def scenario(batch: Batch) -> Scenario:
    """The scenario of a batch."""
    settings = dict(plan()["schemes"][batch.scheme])
    protocol = settings.pop("protocol")
    flow = {
        "name": "transfer",
        "from": "sender",
        "to": "receiver",
        "size": "4 MB",
        "protocol": protocol,
        protocol: {**plan()[protocol], **settings},
    }
    changes = [f"flows=[{inline.toml(flow)}]"]
    for link, loss in (("core0", batch.loss), ("core1", batch.other)):
        if loss:
            loses = inline.toml([{"kind": "bernoulli", "rate": round(loss / 100, 6)}])
            changes.append(f"links.{link}.impairments={loses}")
    if batch.bandwidth != 1:
        changes.append(f'links.core1.rate="{RATE_MBIT * batch.bandwidth:g} Mbit/s"')
    if batch.delay != 1:
        for link, delay in (("in1", EDGE_MS), ("core1", CORE_MS), ("out1", EDGE_MS)):
            changes.append(f'links.{link}.delay="{delay * batch.delay:g} ms"')
    text = (FOLDER / "scenario.toml").read_text(encoding="utf-8")
    return Scenario(text, "studies/sctp_multihoming/scenario.toml").set(*changes)


def watched(quick: bool) -> list[Scenario]:
    """Runs in which the timeouts of both paths are recorded (claim C8)."""
    part = plan()["watch"]
    observed = scenario(batch("alternate", part["loss"], part["other"])).set(
        'observe=[{what = "path_rto"}, {what = "path_srtt"}]'
    )
    runs = 3 if quick else part["runs"]
    return [observed.set(f"seed={seed}") for seed in range(1, 1 + runs)]
