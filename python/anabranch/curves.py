"""Series over time as rows that can be drawn: thinned, and lasting until their flow ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from numpy.typing import NDArray

from anabranch import observed, si
from anabranch.plotting.frame import HELD, Frame
from anabranch.report import thinning

SAMPLES = 4000
"""Samples drawn of a curve; docs/report.md says which are kept."""
SERIES = 7
"""Curves of one figure, unless a condition asks for others."""
INTERVALS = 100
"""A rate is the mean over this part of a run."""
RATES = {"arrivals": "arrivals at the receiver", "delivery": "in-order delivery"}
"""What is computed of a series of bytes: a rate over time."""


def curve(times: NDArray[Any], values: NDArray[Any], until: float | None) -> pd.DataFrame:
    """The samples that are drawn of one series: `time_s`, `value`, and whether a row is no sample
    but the end of the line, where the last value lasts longer."""
    kept = thinning.curve(times, values, SAMPLES)
    drawn = pd.DataFrame({"time_s": times[kept], "value": values[kept], HELD: False})
    if until is None or drawn.empty or until <= drawn["time_s"].iloc[-1]:
        return drawn
    end = drawn.tail(1).assign(time_s=until, **{HELD: True})
    return pd.concat([drawn, end], ignore_index=True)


def frame(
    parts: Sequence[pd.DataFrame], kind: str, varied: tuple[str, ...], origin: str, **more: Any
) -> Frame:
    """The frame of curves of one kind, whose rows have the columns of `curve` and those that tell
    them apart."""
    rate = kind in RATES
    title = RATES[kind] if rate else observed.TITLES.get(kind, si.name_of(kind))
    data, y = pd.concat(parts, ignore_index=True), "value"
    if kind not in data:  # a parameter of a sweep may be called so
        data, y = data.rename(columns={"value": kind}), kind
    return Frame(
        data, y, "bit/s" if rate else si.unit_of_series(kind), title, varied, x="time_s",
        most=SERIES, kind="line", steps=True, moments=kind in observed.MOMENTS,
        origin=origin, **more,
    )  # fmt: skip
