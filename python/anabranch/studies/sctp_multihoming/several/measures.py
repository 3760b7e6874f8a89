"""What a failure costs beside the time of the transfer."""

from __future__ import annotations

import numpy as np

from anabranch.experiment import RunResult
from anabranch.studies.sctp_multihoming.several.conditions import plan


def failover(run: RunResult) -> float:
    """Seconds from the primary's failure until as much has arrived again as the primary brings in a
    second. At the step of the series."""
    series = run.series["transfer.received"]
    dates, octets = series["time_s"], series["value"]
    at = float(plan()["failing"]["at"])
    before = np.interp([at - 1.0, at], dates, octets)
    again = dates[octets >= before[1] + (before[1] - before[0])]
    return float(again[0] - at)
