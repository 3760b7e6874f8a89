"""What figures call the series that a scenario can observe."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

AXES = {
    "cwnd": ("congestion window (octets)", "Congestion window"),
    "ssthresh": ("slow-start threshold (octets)", "Slow-start threshold"),
    "srtt": ("smoothed RTT (s)", "Smoothed round-trip time"),
    "rtt": ("RTT (s)", "Round-trip times"),
    "in_flight": ("in flight (octets)", "Octets in flight"),
    "received": ("octets received in order", "Data received"),
    "queue": ("waiting packets", "Queue length"),
    "path_cwnd": ("congestion window (octets)", "Congestion window of each path"),
    "path_ssthresh": ("slow-start threshold (octets)", "Slow-start threshold of each path"),
    "path_in_flight": ("in flight (octets)", "Octets outstanding on each path"),
    "path_srtt": ("smoothed RTT (s)", "Smoothed round-trip time of each path"),
    "path_rto": ("RTO (s)", "Retransmission timeout of each path"),
    "path_errors": ("errors in a row", "Errors of each path"),
    "path_state": ("state", "State of each path"),
    "path_coupling": ("coupled term", "What couples each path to the others"),
    "message_delay": ("from made to read (s)", "Delay of each message"),
    "message_wait": ("complete and waiting (s)", "Head-of-line blocking of each message"),
    "sends": ("offset in the stream (octets)", "Segments sent"),
    "acks": ("offset in the stream (octets)", "Acknowledgments at the sender"),
    "receives": ("offset in the stream (octets)", "Segments received"),
    "sacks": ("offset in the stream (octets)", "SACK blocks at the sender"),
    "drops": ("offset in the stream (octets)", "Segments lost"),
}
"""Of each kind of series the label of its axis and a title."""

STATES = ("unconfirmed", "active", "potentially failed", "inactive")
"""What the numbers of `path_state` are."""

LANE = ("sends", "acks", "receives", "sacks", "drops")
"""Kinds that `observe = packets` gives of each connection, subflow or path: drawn as dots."""

MOMENTS = (*LANE, "rtt", "message_delay", "message_wait")
"""Kinds whose samples are each of one packet or message: no value lasts until the next."""

OF_LINKS = ("queue", "regulator")
"""Kinds of series that are of links."""

EXPLORED = ("packets", "events", "cwnd", "ssthresh", "in_flight", "srtt", "received", "queue")
"""What the time-sequence explorer of the report shows."""

EXPLORED_PATHS = ("path_cwnd", "path_srtt", "path_rto", "path_state")
"""What it shows beyond that of flows over several paths."""


TITLES = {
    "queue": "waiting packets",
    "path_rto": "retransmission timeout",
    "path_srtt": "smoothed RTT",
    "path_cwnd": "congestion window",
    "path_ssthresh": "slow-start threshold",
    "path_in_flight": "in flight",
    "path_errors": "errors in a row",
    "path_coupling": "coupled term",
}
"""What a series is, in words, where its name does not say it."""


@dataclass(frozen=True)
class Measure:
    """How a measure of `compare` is shown: its name, its unit and the size of what is stored."""

    name: str
    unit: str = ""
    factor: float = 1.0


MEASURES = {
    "goodput Mbit/s": Measure("goodput", "bit/s", 1e6),
    "completion s": Measure("completion", "s"),
    "retransmissions": Measure("retransmissions"),
    "timeouts": Measure("timeouts"),
    "mean cwnd kB": Measure("mean window", "B", 1e3),
}
"""By the names that `compare.csv` has."""


def subject(kind: str) -> str:
    """What a series of that kind is of: `link`, `path` or `flow`."""
    if kind in OF_LINKS:
        return "link"
    return "path" if kind.startswith("path_") else "flow"


def observer(kind: str) -> str:
    """The `what` of `[[observe]]` for a kind of series, or for a rate that follows from one.

    >>> [observer(kind) for kind in ("cwnd", "sends", "arrivals", "delivery")]
    ['cwnd', 'packets', 'packets', 'received']
    """
    return "packets" if kind in (*LANE, "arrivals") else kind.replace("delivery", "received")


def natural(name: object) -> list[tuple[int, int, str]]:
    """A key that sorts numbers in names by their value: web-2 before web-10.

    >>> sorted(["web-10", "web-2"], key=natural)
    ['web-2', 'web-10']
    """
    parts = re.split(r"([0-9]+)", str(name))
    return [(1, int(part), "") if part.isdecimal() else (0, 0, part) for part in parts if part]


def lasts_until(
    kind: str, of: str, finishes: Mapping[str, float | None], end_s: float
) -> float | None:
    """Until when the last value of a series lasts, which has samples where it changes alone: to
    the finish of its flow, else to the end of the run; None of a kind of `MOMENTS`. A path has its
    flow's name in front: `f.path0` is of `f`.

    >>> [lasts_until("path_cwnd", "f.path0", {"f": at}, 30.0) for at in (4.0, None)]
    [4.0, 30.0]
    """
    if kind in MOMENTS:
        return None
    mine = [name for name in finishes if of == name or of.startswith(f"{name}.")]
    finish = finishes[max(mine, key=len)] if mine and kind not in OF_LINKS else None
    return end_s if finish is None else finish


def arrivals(
    receives: Mapping[str, Any], sends: Mapping[str, Any], interval_s: float, end_s: float
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Middles of the intervals and the mean rate in each, bit/s, of data packets that reached the
    receiver: their payload, in whatever order, retransmissions included. Both series are those
    that `observe = packets` gives of one lane; a packet is as long as it was sent."""
    offsets, first = np.unique(np.asarray(sends["value"]), return_index=True)
    lengths = np.asarray(sends["len"], dtype=float)[first]
    arrived = np.asarray(receives["value"])
    at = np.minimum(np.searchsorted(offsets, arrived), max(len(offsets) - 1, 0))
    sizes = np.where(offsets[at] == arrived, lengths[at], 0.0) if len(offsets) else arrived * 0.0
    counted = {"time_s": receives["time_s"], "value": np.cumsum(sizes)}
    return rate(counted, interval_s, end_s)


def rate(series: Mapping[str, Any], interval_s: float, end_s: float) -> tuple[Any, Any]:
    """Middles of the intervals and the mean rate in each, bit/s, of a series that counts octets.

    A last interval that is not whole is left out.
    """
    if not interval_s > 0:
        raise ValueError(f"interval_s = {interval_s}; allowed: above 0")
    edges = np.arange(0, end_s + interval_s * 1e-9, interval_s)
    if edges.size < 2:
        raise ValueError(f"interval_s = {interval_s}; allowed: at most the run's {end_s} s")
    times, values = np.asarray(series["time_s"]), np.asarray(series["value"], dtype=float)
    counted = np.concatenate(([0.0], values))[np.searchsorted(times, edges, side="right")]
    return (edges[:-1] + edges[1:]) / 2, np.diff(counted) * 8 / interval_s
