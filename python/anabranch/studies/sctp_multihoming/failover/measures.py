"""What a failure costs: when it is found, what the receiver sees, when the path is used again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anabranch.experiment import RunResult, value_at
from anabranch.studies.sctp_multihoming.failover.conditions import Run
from anabranch.studies.sctp_multihoming.traces import PATHS, series_name

ACTIVE, POTENTIALLY_FAILED, INACTIVE = 1, 2, 3
WINDOW = 60.0
"""Seconds after the failure over which the goodput is taken."""


@dataclass(frozen=True)
class Failure:
    """Seconds since the failure, but for the failback; `None` for what did not happen."""

    rto: float
    """RTO of the path when it failed, s."""
    srtt: float
    """Its smoothed round-trip time then, s; `nan` where that is not looked at."""
    detection: float | None
    """Until it was inactive."""
    failover: float | None
    """Until new data left it: it was potentially failed or inactive."""
    gap: float
    """The longest time in which the receiving application got nothing."""
    share: float
    """Goodput in the minute after the failure over that in the seconds before."""
    failback: float | None
    """From the repair until the path was active again."""
    rto_at_repair: float
    outage: float
    """How long the path did not work."""


def of(run: Run, result: RunResult) -> Failure:
    """What was seen in a run."""
    state = result.series[series_name(PATHS[0], "path_state")]
    rto = result.series[series_name(PATHS[0], "path_rto")]
    dates, states = state["time_s"], state["value"]

    def first(condition: np.ndarray, since: float) -> float | None:
        found = dates[condition & (dates >= since)]
        return float(found[0] - since) if found.size else None

    detection = first(states == INACTIVE, run.fails)
    failover = first((states == INACTIVE) | (states == POTENTIALLY_FAILED), run.fails)
    srtt = result.series.get(series_name(PATHS[0], "path_srtt"))
    gap, share = _delivery(run, result)
    return Failure(
        rto=value_at(rto["time_s"], rto["value"], run.fails),
        srtt=float("nan") if srtt is None else value_at(srtt["time_s"], srtt["value"], run.fails),
        detection=detection,
        failover=failover,
        gap=gap,
        share=share,
        failback=first(states == ACTIVE, run.returns) if run.setting.comes_back else None,
        rto_at_repair=value_at(rto["time_s"], rto["value"], run.returns),
        outage=run.returns - run.fails,
    )


def _delivery(run: Run, result: RunResult) -> tuple[float, float]:
    series = result.series.get("transfer.received")
    if series is None:
        return float("nan"), float("nan")
    dates, octets = series["time_s"], series["value"]
    after = np.concatenate([dates[dates > run.fails - 1], [run.ends]])
    before = run.fails - 2
    usual = (value_at(dates, octets, run.fails) - value_at(dates, octets, before)) / 2
    end = min(run.fails + WINDOW, run.ends)
    got = value_at(dates, octets, end) - value_at(dates, octets, run.fails)
    return float(np.diff(after).max()), float(got / (end - run.fails) / usual)
