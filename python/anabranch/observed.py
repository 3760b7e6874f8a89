"""What figures call the series that a scenario can observe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

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
    "path_state": ("0 unconfirmed, 1 active, 2 failing, 3 inactive", "State of each path"),
    "message_delay": ("from made to read (s)", "Delay of each message"),
    "message_wait": ("complete and waiting (s)", "Head-of-line blocking of each message"),
    "sends": ("offset in the stream (octets)", "Segments sent"),
    "acks": ("offset in the stream (octets)", "Acknowledgments at the sender"),
    "receives": ("offset in the stream (octets)", "Segments received"),
    "sacks": ("offset in the stream (octets)", "SACK blocks at the sender"),
    "drops": ("offset in the stream (octets)", "Segments lost"),
}
"""Of each kind of series the label of its axis and a title."""

LANE = ("sends", "acks", "receives", "sacks", "drops")
"""Kinds that `observe = packets` gives of each connection, subflow or path: drawn as dots."""

EXPLORED = ("packets", "cwnd", "ssthresh", "in_flight", "srtt", "received", "queue")
"""What the time-sequence explorer of the report shows."""

EXPLORED_PATHS = ("path_cwnd", "path_srtt", "path_state")
"""What it shows beyond that of flows over several paths."""


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
