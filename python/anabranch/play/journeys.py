"""The journey of each packet: when it left, when it came or was lost; for the moving picture."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.play.document import Table
from anabranch.play.limits import DRAWN_PACKETS
from anabranch.play.series import encode
from anabranch.recorded import Recorded

ARRIVED, LOST, UNKNOWN = 0, 1, 2
"""What became of a packet; unknown of one that was under way when the run ended, or that was cut
and joined anew on the way."""


def journeys(result: Recorded, at_s: float) -> Table:
    """Packets and ACKs of each lane (a connection, subflow or path) around a date: all of the run
    where they are not too many."""
    lanes = [name.removesuffix(".sends") for name in result.series if name.endswith(".sends")]
    total = sum(len(result.series[f"{lane}.sends"]["time_s"]) for lane in lanes)
    end_s = result.run.end_s
    first, last = _stretch(total, end_s, at_s)
    found = {lane: _lane(result.series, lane, first, last) for lane in lanes}
    queues = {
        name.removesuffix(".queue"): _cut(columns, first, last)
        for name, columns in result.series.items()
        if name.endswith(".queue")
    }
    windows = {
        name.rpartition(".")[0]: _cut(columns, first, last)
        for name, columns in result.series.items()
        if name.endswith((".cwnd", ".path_cwnd"))
    }
    return {"from_s": first, "to_s": last, "lanes": found, "queues": queues, "windows": windows}


def _stretch(total: int, end_s: float, at_s: float) -> tuple[float, float]:
    if total <= DRAWN_PACKETS:
        return 0.0, end_s
    length = end_s * DRAWN_PACKETS / total
    first = min(max(0.0, at_s - length / 10), end_s - length)
    return first, first + length


def _cut(columns: Mapping[str, Any], first: float, last: float) -> Table:
    times = columns["time_s"]
    low = max(int(np.searchsorted(times, first, side="right")) - 1, 0)
    high = int(np.searchsorted(times, last, side="right"))
    return {
        "t": encode(times[low:high], "f8"),
        "v": encode(columns["value"][low:high], "f4"),
    }


def _lane(series: Mapping[str, Any], lane: str, first: float, last: float) -> Table:
    sends, acks = series[f"{lane}.sends"], series[f"{lane}.acks"]
    ends, fates = fate(sends, series[f"{lane}.receives"], series[f"{lane}.drops"])
    low, high = np.searchsorted(sends["time_s"], (first, last))
    span = slice(int(low), int(high))
    near, far = np.searchsorted(acks["time_s"], (first, last))
    heard = slice(int(near), int(far))
    return {
        "sent": encode(sends["time_s"][span], "f8"),
        "end": encode(ends[span], "f8"),
        "fate": encode(fates[span], "u1"),
        "again": encode(sends["retransmission"][span], "u1"),
        "offset": encode(sends["value"][span], "f8"),
        "len": encode(sends["len"][span], "u4"),
        "ack_at": encode(acks["time_s"][heard], "f8"),
        "ack": encode(acks["value"][heard], "f8"),
    }


def fate(
    sends: Mapping[str, Any], receives: Mapping[str, Any], drops: Mapping[str, Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """When and how each packet ended. Packets that begin with the same octet end in the order in
    which they were sent: the n-th of them has the n-th end."""
    times = np.concatenate((receives["time_s"], drops["time_s"]))
    values = np.concatenate((receives["value"], drops["value"]))
    kinds = np.concatenate(
        (np.full(len(receives["time_s"]), ARRIVED), np.full(len(drops["time_s"]), LOST))
    )
    ends = np.full(len(sends["time_s"]), np.nan)
    fates = np.full(len(sends["time_s"]), UNKNOWN)
    order_sent, keys_sent = _ranked(sends["time_s"], sends["value"])
    order_end, keys_end = _ranked(times, values)
    _common, here, there = np.intersect1d(keys_sent, keys_end, return_indices=True)
    found = times[order_end[there]]
    later = found >= np.asarray(sends["time_s"])[order_sent[here]]
    ends[order_sent[here][later]] = found[later]
    fates[order_sent[here][later]] = kinds[order_end[there]][later]
    return ends, fates


def _ranked(times: Any, values: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """An order by octet and date, and for each a key of octet and rank among its equals."""
    order = np.lexsort((times, values))
    ordered = np.asarray(values, dtype=np.float64)[order]
    fresh = (
        np.concatenate(([True], ordered[1:] != ordered[:-1])) if len(ordered) else np.zeros(0, bool)
    )
    starts = np.maximum.accumulate(np.where(fresh, np.arange(len(ordered)), 0))
    rank = np.arange(len(ordered)) - starts
    return order, ordered * 4096.0 + np.minimum(rank, 4095)
