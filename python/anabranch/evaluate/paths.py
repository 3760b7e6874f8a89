"""The paths and the readings that checks share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from anabranch.experiment import RunResult, Scenario
from anabranch.library.entry import Window, tcp
from anabranch.library.quantities import bits_per_second, seconds
from anabranch.library.suite.basic import held
from anabranch.network import Network
from anabranch.rows import Flow
from anabranch.settings import Tcp

FULL_PACKET = 1500
START = "500 ms"
"""Flows start within this time: what differs between replications where nothing else is random."""


def transport(window: Window, **fields: Any) -> Tcp:
    """TCP of the checks: RACK-TLP, Linux's least timeout, a receive buffer that never binds; what
    the algorithm needs counts before `fields`."""
    common: Tcp = {"recovery": "rack", "rto": {"min": "200 ms"}, "receive_buffer": "64 MiB"}
    return cast(Tcp, {**common, **fields, **tcp(window)})


class Path:
    """Hosts `a0`, `b0`, ... on both sides of the link `path`."""

    def __init__(
        self,
        name: str,
        duration: float,
        *,
        rate: str = "20 Mbit/s",
        rtt: str = "40 ms",
        buffer_bdp: float = 1.0,
        queue: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> None:
        self.net = Network(name, duration=f"{duration:g} s")
        self.rtt = seconds(rtt)
        left, right = self.net.router("left"), self.net.router("right")
        limit = held(rate, f"{buffer_bdp * self.rtt * 1e3:.3f} ms")
        discipline = {"kind": "droptail", "limit": limit} if queue is None else dict(queue)
        self.net.link(
            left,
            right,
            name="path",
            rate=rate,
            # Half of the round trip is the edges' unless a pair has another.
            delay=f"{self.rtt * 1e6 / 4:.3f} us",
            queue=discipline,
            reverse={"queue": {"limit": "unlimited"}},
            **fields,
        )
        self.pairs = 0

    def pair(self, rtt: str | None = None) -> tuple[str, str]:
        """Two more hosts, whose path may have a longer round trip."""
        n, self.pairs = self.pairs, self.pairs + 1
        whole = self.rtt if rtt is None else seconds(rtt)
        edge = f"{(whole / 2 - self.rtt / 4) / 2 * 1e6:.3f} us"
        near, far = self.net.host(f"a{n}"), self.net.host(f"b{n}")
        wide = {"limit": "unlimited"}
        self.net.link(near, "left", rate="10 Gbit/s", delay=edge, queue=wide)
        self.net.link("right", far, rate="10 Gbit/s", delay=edge, queue=wide)
        return near.name, far.name

    def flow(
        self,
        window: Window,
        name: str,
        *,
        rtt: str | None = None,
        start: float = 0.0,
        **fields: Any,
    ) -> None:
        """A flow between two hosts of its own; `tcp` adds to the transport's fields."""
        ends = self.pair(rtt)
        options = transport(window, **fields.pop("tcp", {}))
        fields.setdefault("start_spread", START)
        self.net.flow(*ends, name=name, start=f"{start:g} s", tcp=options, **fields)

    def scenario(self) -> Scenario:
        """The scenario as it stands."""
        return self.net.scenario()


def flow_rows(run: RunResult, prefix: str) -> list[Flow]:
    """The rows of flows whose names begin so."""
    return [row for row in run.flows if row.flow.startswith(prefix)]


def goodput(run: RunResult, prefix: str, start: float, end: float) -> float:
    """Mean rate in bit/s at which each of these flows delivered between two dates.

    From the series `received`.
    """
    names = [row.flow for row in flow_rows(run, prefix)]
    rates = [delivered(run, name, start, end) * 8 / (end - start) for name in names]
    return float(np.mean(rates))


def delivered(run: RunResult, flow: str, start: float, end: float) -> float:
    """Octets that a flow delivered between two dates."""
    series = run.series.get(f"{flow}.received")
    if series is None or series["time_s"].size == 0:
        return 0.0
    at = np.searchsorted(series["time_s"], [start, end], side="right") - 1
    values = [float(series["value"][i]) if i >= 0 else 0.0 for i in at]
    return values[1] - values[0]


def use(run: RunResult, rate: str, start: float, end: float) -> float:
    """Share of a rate that all flows together delivered, in percent, headers not counted."""
    octets = sum(delivered(run, row.flow, start, end) for row in run.flows)
    return float(100 * octets * 8 / (end - start) / bits_per_second(rate))


def loss(run: RunResult, link: str = "path") -> float:
    """Share of the packets that came to a link and that it dropped, in percent."""
    row = next(row for row in run.links if row.name == link)
    dropped = row.dropped_queue + row.dropped_aqm
    return float(100 * dropped / max(1, row.received))


def waiting(run: RunResult, rate: str, start: float, link: str = "path") -> float:
    """Mean time in ms that what waits at the link takes to be sent, from a date on."""
    series = run.series[f"{link}.queue"]
    values = series["value"][series["time_s"] >= start]
    packets = float(values.mean()) if values.size else 0.0
    return packets * FULL_PACKET * 8 / bits_per_second(rate) * 1e3


def completion(rows: Sequence[Flow]) -> float:
    """Mean time in seconds that flows took from their start, of those that ended."""
    times = [row.completion_s for row in rows if row.completion_s is not None]
    return float(np.mean(times)) if times else float("nan")
