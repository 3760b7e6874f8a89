"""The runs: what each changes in the scenario, and the channel that the closed form sees."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anabranch.experiment import Scenario
from anabranch.settings import Toml
from anabranch.studies.fast_tcp.two_way.models import HEADERS, Channel

FOLDER = Path(__file__).parent

QUEUES = {
    "fifo": "",
    "ACKs first": 'kind = "priority", key = "pure-ack", ',
    "queue per connection": 'kind = "drr", ',
    "back-pressure": "",
}
"""What the queue of both hosts is, by remedy."""
BYTE_COUNTING = "byte counting"
REMEDIES = (*QUEUES, BYTE_COUNTING)
OBSERVED = '{ what = "received", interval = "20 ms" }'
NEVER = 100_000
"""Seconds: the start of a connection that stays away."""


@dataclass(frozen=True, order=True)
class Run:
    """One run; windows are in round trips of the sender's line."""

    part: str
    forth: float = 1.0
    back: float = 1.0
    """0 for one-way traffic."""
    reverse_mbps: float = 10.0
    round_trip_ms: float = 120.0
    mss: int = 1460
    processing_us: float = 0.0
    remedy: str = "fifo"
    start_s: float = 0.3
    """When the second connection begins; nothing else could be drawn by chance."""

    def channel(self) -> Channel:
        """The closed form's view."""
        rates = (plan()["base"]["rate_mbps"] * 1e6, self.reverse_mbps * 1e6)
        return Channel(
            windows=(self._segments(self.forth, rates[0]), self._segments(self.back, rates[1])),
            rates=rates,
            round_trip=self.round_trip_ms / 1e3,
            mss=self.mss,
            processing=self.processing_us / 1e6,
        )

    def _segments(self, round_trips: float, rate: float) -> int:
        full = rate * self.round_trip_ms / 1e3 / 8 / (self.mss + HEADERS)
        return max(1, round(round_trips * full))

    def from_s(self) -> float:
        """When the measurement begins."""
        return float(plan()["base"]["warm_up_s"]) + 30 * self.round_trip_ms / 1e3

    def until_s(self) -> float:
        """When it ends: after so many cycles, and not before 20 s."""
        cycles = float(plan()["base"]["cycles"]) * self.channel().cycle
        return self.from_s() + max(20.0, round(cycles, 1))


@cache
def plan() -> Toml:
    """The parameters of plan.toml."""
    return tomllib.loads((FOLDER / "plan.toml").read_text(encoding="utf-8"))


def runs(quick: bool) -> list[Run]:
    """All runs of the grid, without repetitions."""
    return list(dict.fromkeys(_grid(quick)))


def grid(part: str, name: str, quick: bool) -> list[float]:
    """The values of a parameter."""
    values = plan()["quick"][name] if quick else plan()[part][name]
    return list(values)


def _grid(quick: bool) -> Iterator[Run]:
    for w in grid("windows", "equal", quick):
        yield Run("windows", w, w)
        yield Run("windows", w, 0)
    for w in grid("windows", "unequal", quick):
        yield Run("unequal", w, 1.0)
    for mbps in grid("rates", "reverse_mbps", quick):
        yield Run("rates", reverse_mbps=mbps)
        yield as_many_segments(mbps)
    for ms in grid("delay", "round_trip_ms", quick):
        yield Run("delay", round_trip_ms=ms)
    for mss in grid("segment", "mss", quick):
        yield Run("segment", mss=int(mss))
    for us in grid("processing", "us", quick):
        yield Run("processing", processing_us=us)
    for start_s in plan()["starts"]["start_s"]:
        yield Run("starts", start_s=start_s)
    for remedy, w in itertools.product(REMEDIES, plan()["remedies"]["windows"]):
        yield Run("remedies", w, w, remedy=remedy)


def as_many_segments(reverse_mbps: float) -> Run:
    """Both windows of as many segments, whatever the second line's rate."""
    return Run("rates", back=plan()["base"]["rate_mbps"] / reverse_mbps, reverse_mbps=reverse_mbps)


def shown() -> dict[str, Run]:
    """The runs that figures show packet by packet, by name."""
    return {
        "one way": Run("shown", 1.0, 0),
        "two-way": Run("shown"),
        "two-way, windows of 2": Run("shown", 2.0, 2.0),
        "unequal windows, 1.5 and 1": Run("shown", 1.5, 1.0),
        "processing of 100 us": Run("shown", processing_us=100),
        **{remedy: Run("shown", remedy=remedy) for remedy in list(QUEUES)[1:]},
    }


def scenario(run: Run) -> Scenario:
    """The run as a scenario; those that are shown record every packet."""
    channel = run.channel()
    changes = [
        f"flows.back.start={run.start_s} s",
        f"duration={run.until_s() + 1} s",
        f"channels.abr.reverse_capacity={run.reverse_mbps} Mbit/s",
        f"links.0.delay={run.round_trip_ms / 2} ms",
        f"flows.*.tcp.mss={run.mss} B",
    ]
    for flow, window in zip(("forth", "back"), channel.windows, strict=True):
        # Half a segment, which does not go out, for what scaling rounds down.
        buffer = window * run.mss + run.mss // 2
        changes.append(f"flows.{flow}.tcp.receive_buffer={buffer} B")
    if run.back == 0:
        changes.append(f"flows.back.start={NEVER} s")
    if run.mss + HEADERS > 1500:
        changes += ["links.0.mtu=9000 B"]
    if run.processing_us:
        changes.append(f"hosts.*.processing={run.processing_us} us")
    changes += _remedy(run.remedy)
    observe = OBSERVED
    if run.part in ("shown", "processing", "remedies", "windows"):
        observe += ', { what = "ack-compression", flow = "forth" }'
    if run.part == "shown":
        observe += ', { what = "queue" }'
    changes.append(f"observe=[{observe}]")
    return Scenario.load(FOLDER / "scenario.toml").set(*changes)


def _remedy(remedy: str) -> list[str]:
    if remedy == "back-pressure":
        return ["hosts.*.backpressure=0 B"]
    if remedy == BYTE_COUNTING:
        # Where it could matter: ACKs for every second segment, counted by octets.
        return [
            'flows.*.tcp.delayed_ack={ count = 2, delay = "40 ms" }',
            "flows.*.tcp.counting=bytes",
        ]
    if QUEUES[remedy]:
        queue = f'{{ {QUEUES[remedy]}limit = "unlimited" }}'
        return [f"links.0.queue={queue}", f"links.0.reverse.queue={queue}"]
    return []
