"""The short runs that figures of algorithms are measured in: one flow on a path of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch import Network, RunResult, Series

MSS = 1000
"""Octets of a segment."""
TCP = {
    "mss": f"{MSS} B",
    "timestamps": False,
    "receive_buffer": "1 GiB",
    "delayed_ack": {"count": 1, "delay": "0 s"},
    "counting": "acks",
}
"""An ACK for each segment, as the sources count, and buffers that are no limit."""
FAST = "1 Tbit/s"
"""A link on which nothing waits."""
UNLIMITED = {"kind": "droptail", "limit": "unlimited"}

Window = str | Mapping[str, Any]


def run(
    window: Window,
    seconds: float,
    *,
    rtt: float = 0.1,
    rate: str = FAST,
    queue: Mapping[str, Any] = UNLIMITED,
    observe: Sequence[str] = ("cwnd",),
    interval: float | None = None,
    flows: int = 1,
    link: Mapping[str, Any] | None = None,
    **tcp: Any,
) -> RunResult:
    """Runs flows of one algorithm over one link for so many seconds."""
    net = Network("figure", duration=f"{seconds:.9f} s")
    a, b = net.host("a"), net.host("b")
    way = {"delay": f"{rtt / 2:.9f} s", **(link or {})}
    net.link(a, b, rate=rate, queue=dict(queue), **way)
    for _ in range(flows):
        net.flow(a, b, tcp=TCP | {"window": window} | tcp)
    every = {} if interval is None else {"interval": f"{interval:.9f} s"}
    for what in observe:
        net.observe(what, **every)
    return net.scenario().run()


def segments(result: RunResult, kind: str = "cwnd", flow: str = "f0") -> tuple[Any, Any]:
    """Dates and values, in segments, of a series in octets."""
    series = result.series[f"{flow}.{kind}"]
    return series["time_s"], series["value"] / MSS


def at(times: NDArray[Any], values: NDArray[Any], when: float) -> float:
    """The value in force at a date."""
    return float(values[max(int(np.searchsorted(times, when, side="right")) - 1, 0)])


def mean(series: Series, begin: float, end: float) -> float:
    """The mean over time of a series with a sample for each change."""
    times, values = series["time_s"], np.asarray(series["value"], dtype=float)
    edges = np.clip(np.append(times, end), begin, end)
    return float(np.sum(values * np.diff(edges)) / (end - begin))


def mean_window(
    window: Window, p: float, expected: float, peak: float, *, rtt: float = 0.1, cycles: int = 30
) -> float:
    """Segments delivered in a round-trip time, where every 1/p-th is lost and nothing queues.

    `expected` is about the mean, and `peak` the window at a loss over it: the flow begins there,
    and the run lasts so many losses, of which a quarter does not count.
    """
    seconds = cycles / p / expected * rtt
    loss = {"kind": "periodic", "every": round(1 / p), "first": round(4 * expected)}
    result = run(
        window,
        seconds,
        rtt=rtt,
        observe=("received",),
        interval=seconds / 100,
        link={"impairments": [loss]},
        initial_ssthresh=f"{max(2, round(peak * expected))} packets",
    )
    times, received = segments(result, "received")
    first = len(times) // 4
    return float((received[-1] - received[first]) / (times[-1] - times[first]) * rtt)
