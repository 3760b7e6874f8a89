"""The batches of runs: a scheme under a condition, over replications."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anabranch import inline
from anabranch.experiment import Scenario
from anabranch.settings import Toml

FOLDER = Path(__file__).parent
MSS = 1000
BLOCK, APART_S = 20, 100
"""Short transfers in a replication, and the seconds that each has to itself on average."""
PACKET_MS = 0.832
"""A segment of 1040 octets on the bottleneck."""


@dataclass(frozen=True, order=True)
class Batch:
    """Replications of one scheme under one condition."""

    part: str
    scheme: str
    x: float
    """What the part varies along its axis."""
    level: float = 0.0
    """The probability of reordering; 1 in `friendliness` where the other side has CUBIC."""
    other: str = ""
    """The scheme at the other side, in `friendliness`."""

    @property
    def is_random(self) -> bool:
        """Whether there is chance in it."""
        return self.part != "tail"


@cache
def plan() -> Toml:
    """The parameters of plan.toml."""
    return tomllib.loads((FOLDER / "plan.toml").read_text(encoding="utf-8"))


def schemes() -> list[str]:
    """Labels of the schemes."""
    return list(plan()["schemes"])


def batches() -> list[Batch]:
    """All batches, in the order of plan.toml."""
    return [batch for scheme in schemes() for batch in _of(scheme)] + _friendliness()


def _of(scheme: str) -> Iterator[Batch]:
    for p in plan()["reordering"]["probability"]:
        yield from (
            Batch("reordering", scheme, d, level=p) for d in plan()["reordering"]["distance"]
        )
    yield from (Batch("random", scheme, p) for p in plan()["random"]["rate"])
    yield from (Batch("bursts", scheme, n) for n in plan()["bursts"]["length"])
    yield from (Batch("tail", scheme, k) for k in plan()["tail"]["lost"])
    yield from (Batch("short", scheme, n) for n in plan()["short"]["segments"])
    yield from (Batch("fairness", scheme, n) for n in plan()["fairness"]["flows"])


def _friendliness() -> list[Batch]:
    part = plan()["friendliness"]
    flows = part["flows"]
    pairs = [
        Batch("friendliness", scheme, flows, other=other)
        for other in part["others"]
        # The other scheme beside itself is what it gets without `decoupled`.
        for scheme in ("decoupled", other)
    ]
    if part["cubic"]:
        pairs += [
            Batch("friendliness", scheme, flows, level=1.0, other="sack")
            for scheme in ("decoupled", "sack")
        ]
    return pairs


def scenario(batch: Batch) -> Scenario:
    """The scenario of a batch."""
    changes = [
        f"flows.0.tcp.{k}={inline.toml(v)}" for k, v in plan()["schemes"][batch.scheme].items()
    ]
    impairments: list[str] = []
    part = plan()[batch.part]
    if "seconds" in part:
        changes.append(f'duration="{part["seconds"]} s"')
    match batch.part:
        case "reordering":
            extra = f"{batch.x * PACKET_MS:.3f} ms"
            impairments = [f'kind="reorder", probability={batch.level!r}, extra="{extra}"']
            changes.append(f'flows.0.tcp.receive_buffer="{part["window"] * MSS} B"')
        case "random":
            impairments = [f'kind="bernoulli", rate={batch.x!r}']
        case "bursts":
            leave = 1 / batch.x
            enter = leave * part["rate"] / (1 - part["rate"])
            impairments = [f'kind="gilbert-elliott", p={enter!r}, r={leave!r}']
        case "tail":
            last = part["segments"]
            lost = list(range(last - round(batch.x) + 1, last + 1))
            impairments = [f'kind="packets", flow="f", numbers={lost}']
            changes.append(f'flows.0.size="{last * MSS} B"')
        case "short":
            impairments = [f'kind="bernoulli", rate={part["rate"]!r}']
            changes.append(f'flows.0.size="{round(batch.x) * MSS} B"')
            changes.append(f"flows.0.count={BLOCK}")
            changes.append(f'flows.0.start_spread="{BLOCK * APART_S} s"')
        case "fairness":
            changes += [f"flows.0.count={round(batch.x)}", 'flows.0.start_spread="1 s"']
        case "friendliness":
            changes += _beside(batch)
    if impairments:
        changes.append("links.core.impairments=[{" + "}, {".join(impairments) + "}]")
    text = (FOLDER / "path.toml").read_text(encoding="utf-8")
    if "seconds" not in part:
        text = text.replace('duration = "30 s"\n', "")
    return Scenario(text, "studies/sack_recovery/further/path.toml").set(*changes)


def _beside(batch: Batch) -> list[str]:
    """Two groups of flows: the scheme with Reno's window, and the other beside it."""
    tcp = tomllib.loads((FOLDER / "path.toml").read_text(encoding="utf-8"))["flows"][0]["tcp"]
    groups = []
    for name, scheme, window in (
        ("ours", batch.scheme, "reno"),
        ("theirs", batch.other, "cubic" if batch.level else "reno"),
    ):
        settings = {**tcp, **plan()["schemes"][scheme], "window": window}
        flow = {
            "name": name,
            "from": "a",
            "to": "b",
            "count": round(batch.x),
            "start_spread": "1 s",
            "tcp": settings,
        }
        groups.append(inline.toml(flow))
    return [f"flows=[{', '.join(groups)}]"]
