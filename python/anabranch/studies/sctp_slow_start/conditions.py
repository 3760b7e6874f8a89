"""The runs of the study: a transfer for each sender and cell of the grid."""

from __future__ import annotations

import itertools
import math
import tomllib
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from anabranch.experiment import RunResult, Scenario
from anabranch.settings import Toml
from anabranch.studies.sctp_slow_start import models

FOLDER = Path(__file__).parent

SACK_DELAY = "200 ms"
"""The longest that an acknowledgment waits, TCP's and SCTP's."""


STREAMS = 10
"""SCTP's messages go over so many streams in turn."""


@dataclass(frozen=True, order=True)
class Cell:
    """A network and a transfer over it."""

    rate_mbps: float
    rtt_ms: float
    kbytes: int

    @property
    def octets(self) -> int:
        """What is transferred."""
        return self.kbytes * 1000


@dataclass(frozen=True, order=True)
class Run:
    """One transfer: who sends, whether ACKs are delayed, over which network."""

    sender: str
    delayed: bool
    cell: Cell


@cache
def plan() -> Toml:
    """The parameters of plan.toml."""
    return tomllib.loads((FOLDER / "plan.toml").read_text(encoding="utf-8"))


def sender(name: str) -> Toml:
    """A sender of ours, or one that is a real program."""
    found: Toml = {**plan()["senders"], **plan()["programs"]}[name]
    return found


def cells(quick: bool) -> list[Cell]:
    """The grid."""
    grid = plan()["quick" if quick else "grid"]
    product = itertools.product(grid["rate_mbps"], grid["rtt_ms"], grid["kbytes"])
    return [Cell(rate, rtt, kbytes) for rate, rtt, kbytes in product]


def runs(quick: bool) -> list[Run]:
    """All runs."""
    product = itertools.product(plan()["senders"], (False, True), cells(quick))
    return [Run(sender, delayed, cell) for sender, delayed, cell in product]


def scenario(run: Run) -> Scenario:
    """The scenario of a run."""
    text = (FOLDER / "scenario.toml").read_text(encoding="utf-8")
    found = sender(run.sender)
    changes = [
        f'links.0.rate="{run.cell.rate_mbps:g} Mbit/s"',
        f'links.0.delay="{run.cell.rtt_ms / 2:g} ms"',
        f'flows.0.size="{run.cell.octets} B"',
        *found["set"],
    ]
    if found["transport"] == "sctp":
        count = 2 if run.delayed else 1
        changes.append('flows.0.protocol="sctp"')
        size = models.PAYLOAD["sctp"]
        # A program has messages of its own; in virtual time a stream is cut into the same packets.
        if run.sender not in plan()["programs"]:
            changes.append(
                f'flows.0.traffic={{ kind = "messages", size = "{size} B", streams = {STREAMS} }}'
            )
        changes.append(f"flows.0.sctp.sack_frequency={count}")
        changes.append(f'flows.0.sctp.sack_delay="{SACK_DELAY}"')
    else:
        count = 2 if run.delayed else 1
        changes.append("flows.0.tcp.timestamps=false")
        changes.append('flows.0.tcp.window="reno"')
        changes.append(f'flows.0.tcp.delayed_ack={{ count = {count}, delay = "{SACK_DELAY}" }}')
    return Scenario(text, "studies/sctp_slow_start/scenario.toml").set(*changes)


def watched(name: str, kbytes: int, quick: bool) -> Scenario:
    """A transfer in the middle of the grid, an ACK for each packet, whose packets are observed."""
    cell = Cell(_middle(cells(quick), "rate_mbps"), _middle(cells(quick), "rtt_ms"), kbytes)
    plain = scenario(Run(name, False, cell))
    return replace(plain, text=f'{plain.text}\n[[observe]]\nwhat = "packets"\nflow = "f"\n')


def _middle(grid: list[Cell], name: str) -> float:
    values = sorted({float(getattr(cell, name)) for cell in grid})
    return values[len(values) // 2]


def opening(result: RunResult) -> int:
    """Packets with data that left before the first ACK of data. A run ends when all has arrived,
    and a transfer of one flight before any ACK of it has."""
    (sends,) = (each for name, each in result.series.items() if name.endswith(".sends"))
    (acks,) = (each for name, each in result.series.items() if name.endswith(".acks"))
    first = acks["time_s"][acks["value"] > 0].min(initial=math.inf)
    return int((sends["time_s"] < first).sum())


def left_slow_start(result: RunResult) -> bool:
    """Something was sent again: the transfer was not in the initial slow start to its end. The
    threshold is never met, it is infinite (TCP) or the peer's window of 1 MiB (SCTP)."""
    flow = result.flows[0]
    return bool(flow.retransmitted_packets or flow.timeouts)


def seconds(result: RunResult) -> float:
    """From the opening of the connection until all has arrived."""
    return result.flows[0].took_s()
