"""C8: the timeouts of both paths over time."""

from __future__ import annotations

from collections.abc import Callable

from anabranch.experiment import RunResult
from anabranch.stats import Sample
from anabranch.studies.replications import Replicated
from anabranch.studies.sctp_multihoming import blocks, measures
from anabranch.studies.sctp_multihoming.traces import PATHS, series_name
from anabranch.verdicts import Claim, Statement, at_least, at_most, more

ABOVE = 0.5
"""Seconds of RTO that matter: what a lost retransmission waits longer; half of the least RTO."""
MANY = 0.25
"""Share of the time that is "in many cases", at the least."""
HIGH = 2.0
"""Seconds: twice the RTO that round-trip times far below 1 s give, RTO.Min."""
RESIDUAL = 17.5
"""Seconds from an arbitrary moment to the next heartbeat, whose distances are 15 to 45 s and the
RTO of 2 s: half of their mean square over their mean. What anything else refreshes is sooner."""
LONG = "alternate, 20 MB"
"""The runs for that: a transfer of 4 MB ends before most timeouts are measured again."""
SOON = 5.0
"""Seconds within which new data refreshes the primary's: a few timeouts."""


def stays_high(watched: Replicated[str], size: int = 1) -> Claim:
    """C8; runs by policy, so many to a replication. Those of `alternate` are judged."""

    def mean(scheme: str, read: Callable[[RunResult], float]) -> Sample:
        return blocks.of(watched.sample(scheme, read), size)

    rto = {scheme: mean(scheme, _rto(1)) for scheme in watched if scheme != LONG}
    alternate, primary = rto["alternate"], mean("alternate", _rto(0))
    quantity = "mean RTO of the alternate minus that of the primary, s"
    judged = [
        Statement.of(quantity, alternate - primary, more(0, ABOVE)),
        Statement.of(
            "mean RTO of the alternate, policy alternate minus policy same (heartbeats alone), s",
            alternate - rto["same"],
            more(0, ABOVE),
        ),
        Statement.of(
            f"share of time in which the alternate's RTO is above {HIGH:g} s",
            mean("alternate", lambda run: measures.share_above(run, _name(1), HIGH)),
            at_least(MANY),
        ),
        Statement.of(
            "time for which the primary's RTO stays backed off, policy same, s",
            mean("same", lambda run: measures.backed_off(run, _name(0))).known(),
            at_most(SOON),
        ),
    ]
    if LONG in watched:
        stays = mean(LONG, lambda run: measures.backed_off(run, _name(1))).known()
        quantity = "time for which the alternate's RTO stays backed off, policy alternate, 20 MB, s"
        judged.append(Statement.of(quantity, stays, at_least(RESIDUAL)))
    if "alternate-hb" in rto:
        quantity = "decrease of the alternate's mean RTO by a heartbeat after each timeout, s"
        judged.append(Statement.of(quantity, alternate - rto["alternate-hb"], more(0, ABOVE)))
    beside = [
        Statement.of(f"mean RTO of the alternate, policy {scheme}, s", each)
        for scheme, each in rto.items()
    ]
    return Claim(
        "C8",
        "The alternate's timeout, once backed off, stays so until a heartbeat, and far above the"
        " primary's, which new data refreshes.",
        [*judged, Statement.of("mean RTO of the primary, policy alternate, s", primary), *beside],
        "Primary 4 %, alternate 2 %, means over time of each run. Of an alternate that no data is"
        " sent on the RTO is 3 s until the first heartbeat, after 15 to 45 s: what backing off adds"
        " is told by the difference. The distance between heartbeats has the RTO in it, so that a"
        " timeout which has backed off several times is refreshed still later. A policy with"
        " heartbeats after timeouts shows that nothing else"
        " is missing.",
        source="§4.2.2, the explanation of figure 4",
    )


def _name(path: int) -> str:
    return series_name(PATHS[path], "path_rto")


def _rto(path: int) -> Callable[[RunResult], float]:
    return lambda run: measures.mean_over_time(run, _name(path))
