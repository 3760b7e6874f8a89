"""The settings under which the pair of figure 3.2 comes out nearest: 10.8 million octets with
Fast-TCP, 3.5 without.

    python -m anabranch.studies.fast_tcp.forensics RESULTS [JOBS]

writes RESULTS/fast-tcp/forensics.json; `tests/forensics_page.py` makes docs/forensics.md of it. The
paper gives no sender, segment size, window, buffer, timer and delay law; its bit errors are varied
too, since a buffer fills under fewer alone.
"""

from __future__ import annotations

import itertools
import math
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from anabranch.cache import RunCache
from anabranch.experiment import RunResult, Scenario
from anabranch.settings import Toml
from anabranch.studies.fast_tcp.router import conditions, measures
from anabranch.studies.fast_tcp.router.claims import WITH, WITHOUT
from anabranch.studies.fast_tcp.router.conditions import SCALED, Run
from anabranch.studies.forensics import Fit, Number, Search, save

PLACE = "figure 3.2, 10^6 octets at 25 s"
LAW = "delay law"
AXIS_BITS = 0.5e6
"""Figure 3.3 counts a buffer's occupancy in 10^6 bits: one of less than half would not be."""
PUBLISHED_ERRORS = 1e-6


@cache
def space() -> Toml:
    """The values that are tried."""
    path = Path(__file__).parent / "forensics.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Law:
    """What the router does; no router delays ACKs where there is none."""

    router: str = "plain"
    low: float = conditions.LOW
    high: float = conditions.HIGH
    delay_ms: int = conditions.DELAY_MS

    def text(self) -> str:
        """For readers."""
        if self.router == "ack-bucket":
            return "ACK bucket"
        return f"{self.low:g} to {self.high:g} of the buffer, {self.delay_ms} ms"


PLAIN = Law()


@dataclass(frozen=True)
class Setting:
    """What both routers have in common; units as in forensics.toml."""

    sender: str
    mss: int
    buffer: int
    ber: float
    window: str
    tick: str

    def texts(self) -> dict[str, str]:
        """For readers."""
        return {
            "sender": self.sender,
            "segment": f"{self.mss} octets",
            "buffer": f"{self.buffer} packets",
            "bit errors": f"{self.ber:g}" if self.ber else "none",
            "receive window": self.window,
            "timer": f"ticks of {self.tick}",
        }

    def buffer_bits(self) -> int:
        """What the buffer holds of full packets."""
        return self.buffer * (self.mss + conditions.HEADERS) * 8

    def scenario(self, law: Law) -> Scenario:
        """The run with a router."""
        own = "64 KiB" if self.window == "64 KiB" else SCALED
        base = Run(law.router, self.sender, own, self.buffer, self.ber, self.mss)
        shape = (law.low, law.high, law.delay_ms)
        run = Run(**{**vars(base), **dict(zip(("low", "high", "delay_ms"), shape, strict=True))})
        changes = [f'flows.f.tcp.rto={{ min = "1 s", granularity = "{self.tick}" }}']
        if self.window not in ("64 KiB", SCALED):
            changes.append(f"flows.f.tcp.receive_buffer={self.window}")
        return conditions.scenario(run).set(*changes)


def settings() -> list[Setting]:
    """All of them."""
    names = ("sender", "mss", "buffer", "ber", "window", "tick")
    return [Setting(*values) for values in itertools.product(*(space()[n] for n in names))]


def laws() -> list[Law]:
    """All delay laws: thresholds with longest delays, and the ACK bucket."""
    thresholds = itertools.product(space()["low_high"], space()["delay"])
    return [
        *(Law("fast-tcp", low, high, delay) for (low, high), delay in thresholds),
        Law("ack-bucket"),
    ]


def number(group: str, published: float, runs: Iterable[RunResult]) -> Number:
    """The residual is a logarithm: twice and half are as far off."""
    octets = np.array([measures.megabytes(run) for run in runs])
    spread = float(np.log(octets).std(ddof=1)) if len(octets) > 1 else 0.0
    found = float(octets.mean())
    return Number(group, PLACE, published, found, math.log(found / published), spread)


def near_enough(plain: Number) -> bool:
    """Whether any law could make the pair come out."""
    return abs(plain.residual) <= math.log(space()["off"])


def searches(
    plain: Mapping[Setting, Number], ours: Mapping[tuple[Setting, Law], Number]
) -> list[Search]:
    """The pair under all settings, with buffers that fit figure 3.3, at the published errors."""
    fits = [
        (at, Fit({**at.texts(), LAW: law.text()}, [plain[at], found]))
        for (at, law), found in ours.items()
    ]
    parts = {
        "Figure 3.2, whatever the bit errors": fits,
        "The same with a buffer that figure 3.3 can show": [
            fit for fit in fits if fit[0].buffer_bits() >= AXIS_BITS
        ],
        "The same at the published bit errors": [
            fit for fit in fits if fit[0].ber == PUBLISHED_ERRORS
        ],
    }
    return [Search(title, [fit for _, fit in part]) for title, part in parts.items() if part]


def search(folder: Path, jobs: int) -> list[Search]:
    """Computes, or finds in the folder, every run, and compares all settings."""
    cached = RunCache(folder / "forensics-runs")

    def run(asked: list[tuple[Setting, Law]]) -> list[list[RunResult]]:
        batches = [
            (at.scenario(law), space()["replications"] if at.ber else 1) for at, law in asked
        ]
        return cached.get_batches(batches, jobs, _progress)

    every = [(at, PLAIN) for at in settings()]
    plain = {
        at: number("plain", WITHOUT, found)
        for (at, _), found in zip(every, run(every), strict=True)
    }
    kept = [at for at, found in plain.items() if near_enough(found)]
    pairs = list(itertools.product(kept, laws()))
    ours = {
        pair: number("Fast-TCP", WITH, found) for pair, found in zip(pairs, run(pairs), strict=True)
    }
    return searches(plain, ours)


def _progress(done: int, total: int) -> None:
    if done % 500 == 0 or done == total:
        print(f"{done} of {total} conditions", file=sys.stderr, flush=True)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    to = Path(sys.argv[1]) / "fast-tcp"
    save(to, search(to, int(sys.argv[2]) if len(sys.argv) == 3 else 1))
