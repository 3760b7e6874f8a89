"""Fewer points for a page, chosen so that what matters stays visible.

A curve keeps the first, lowest, highest and last sample of each of equal
stretches of time (Jugel et al., M4, VLDB 2014): drawn at the width of a screen
it looks the same. Packets are taken at regular numbers, and every one that
`keep` marks stays: retransmissions and losses are never left out.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.intp]


def curve(times: NDArray[Any], values: NDArray[Any], most: int) -> Index:
    """Indices of at most about `most` samples of a curve over time."""
    count = len(times)
    if count <= most:
        return np.arange(count)
    stretches = max(most // 4, 1)
    span = times[-1] - times[0]
    bins = np.zeros(count, dtype=np.intp)
    if span > 0:
        scaled = (times - times[0]) / span * stretches
        bins = np.minimum(scaled.astype(np.intp), stretches - 1)
    starts = np.flatnonzero(np.r_[True, np.diff(bins) > 0])
    ends = np.r_[starts[1:], count]
    by_value = np.lexsort((values, bins))  # within each stretch from lowest to highest
    lowest, highest = by_value[starts], by_value[ends - 1]
    return np.unique(np.concatenate([starts, ends - 1, lowest, highest]))


def packets(count: int, most: int) -> Index:
    """Indices of about `most` of `count` packets."""
    if count <= most:
        return np.arange(count)
    return np.arange(0, count, -(-count // most))
