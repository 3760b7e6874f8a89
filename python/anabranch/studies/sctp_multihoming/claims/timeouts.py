"""C8: the timeouts of both paths over time."""

from __future__ import annotations

from collections.abc import Mapping

from anabranch import stats
from anabranch.experiment import RunResult
from anabranch.stats import Estimate
from anabranch.studies.sctp_multihoming import measures
from anabranch.studies.sctp_multihoming.traces import PATHS, series_name
from anabranch.verdicts import Claim, Statement, at_least

FAR = 10
"""Times the round-trip time that is "far above" it."""


def stays_high(watched: Mapping[str, list[RunResult]]) -> Claim:
    """C8; runs by policy, those of `alternate` are judged."""
    runs = watched["alternate"]
    more = stats.paired(_rto(runs, 1), _rto(runs, 0))
    beside = [
        Statement.of(f"alternate's mean RTO, {scheme}, s", stats.mean(_rto(others, 1)))
        for scheme, others in watched.items()
    ]
    return Claim(
        "C8",
        "The alternate's timeout, once backed off, stays far above its round-trip time, and above"
        " the primary's.",
        [
            Statement.of(
                "s by which the alternate's mean RTO exceeds the primary's", more, at_least(0)
            ),
            Statement.of("alternate's mean RTO over its mean SRTT", _ratio(runs, 1), at_least(FAR)),
            Statement.of("primary's mean RTO, s", stats.mean(_rto(runs, 0))),
            Statement.of("primary's mean RTO over its mean SRTT", _ratio(runs, 0)),
            *beside,
        ],
        "Primary 4 %, alternate 2 %, means over time of each run. Far above: ten times; RTO.Min is"
        " 1 s, which alone is that. The round-trip time of the alternate is measured by heartbeats"
        " alone, the first after 15 to 45 s: until then it is unknown and the RTO 3 s or more.",
    )


def _rto(runs: list[RunResult], path: int) -> list[float]:
    return [measures.mean_over_time(run, series_name(PATHS[path], "path_rto")) for run in runs]


def _ratio(runs: list[RunResult], path: int) -> Estimate:
    rto, srtt = (series_name(PATHS[path], what) for what in ("path_rto", "path_srtt"))
    # A path whose round-trip time was never measured has no such series.
    return stats.mean(
        measures.mean_over_time(run, rto) / measures.mean_over_time(run, srtt)
        for run in runs
        if srtt in run.series
    )
