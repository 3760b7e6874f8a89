"""What RFC 9260 and RFC 7829 promise about a failing path, beside what happens (F1 to F5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from anabranch import stats
from anabranch.rows import CsvRow
from anabranch.stats import Exact, Sample
from anabranch.studies.replications import Replicated
from anabranch.studies.sctp_multihoming.failover import measures, models
from anabranch.studies.sctp_multihoming.failover.conditions import OFF, Run, Setting
from anabranch.studies.sctp_multihoming.failover.measures import Failure
from anabranch.tables import write_csv
from anabranch.verdicts import Claim, Statement, near

Failures = Mapping[Setting, list[Failure]]
TOLERANCE = 0.10
"""What a closed form may be wrong by, as a share: who chooses Path.Max.Retrans or HB.interval by
it does not mind a tenth."""


def under_data(failures: Failures) -> list[Claim]:
    """F1 to F3 and F6: no chance is in them but the date of the failure."""
    return [_detection(failures), _failover(failures), _gap(failures), _suspected(failures)]


def by_heartbeats(results: Replicated[Run]) -> list[Claim]:
    """F4 and F5: heartbeats come at random."""
    return [_idle(results), _failback(results)]


Judged = Callable[[Setting, Failure], float | None]
"""What was measured over the closed form, less 1."""


def _by_policy(
    failures: Failures, quantity: str, judged: Judged, wanted: Callable[[Setting], bool]
) -> list[Statement]:
    """A statement for each policy and bounds of the RTO, over Path.Max.Retrans and dates."""
    found: dict[str, list[float]] = {}
    for s, each in failures.items():
        if s.kind == "busy" and wanted(s):
            name = f"{s.name()}, RTO {s.least:g} to {s.most:g} s"
            values = (judged(s, failure) for failure in each)
            known = [math.nan if value is None else value for value in values]
            found.setdefault(name, []).extend(known)
    return [
        Statement.of(f"{quantity}: {name}", Exact.of(values), near(0, TOLERANCE))
        for name, values in found.items()
    ]


def _detection(failures: Failures) -> Claim:
    def judged(s: Setting, f: Failure) -> float | None:
        closed = models.detection(f.rto, s.retrans, s.most, probes=s.probes)
        return None if f.detection is None else f.detection / closed - 1

    return Claim(
        "F1",
        "A path that fails under data is inactive after the sum of Path.Max.Retrans + 1 timeouts,"
        " each twice the one before up to RTO.Max; a policy that sends a heartbeat after a timeout"
        " saves the third of them.",
        _by_policy(
            failures,
            "relative deviation of the detection time from the closed form",
            judged,
            lambda _: True,
        ),
        "Each Path.Max.Retrans of 0 to 5 and date of failure, within 10 %. From the RTO at the"
        " failure; the time counts from the failure, the first timer from the last acknowledgment,"
        " which comes a little later. A heartbeat's failure is an error too (RFC 9260 §8.2).",
        source="RFC 9260 §6.3.3, §8.2",
    )


def _failover(failures: Failures) -> Claim:
    def judged(s: Setting, f: Failure) -> float | None:
        closed = models.failover(f.rto, s.retrans, s.most, s.potentially_failed)
        return None if f.failover is None else f.failover / closed - 1

    return Claim(
        "F2",
        "With PFMR 0 (RFC 7829) new data leaves the path after the first timeout, whatever"
        " Path.Max.Retrans is.",
        _by_policy(
            failures,
            "relative deviation of the failover time from the first timeout",
            judged,
            lambda s: s.potentially_failed == 0,
        ),
        "Each Path.Max.Retrans of 0 to 5 and date of failure, within 10 % of the RTO at it.",
        source="RFC 7829 §3.2",
    )


def _gap(failures: Failures) -> Claim:
    def judged(s: Setting, f: Failure) -> float:
        return f.gap / _longest_gap(s, f) - 1

    return Claim(
        "F3",
        "The receiving application gets nothing for as long as the last timeout before new data"
        " leaves the path; if retransmissions stay on it, until it is inactive.",
        _by_policy(
            failures,
            "relative deviation of the longest gap from the closed form",
            judged,
            lambda _: True,
        ),
        "Each Path.Max.Retrans of 0 to 5 and date of failure, within 10 %. The closed form"
        " (`failover/models.py`) takes the queue's delay off the first two timeouts: the bottleneck"
        " still delivers what it holds, and the lost window is sent again while the second timer"
        " runs. Without that it would be up to a fifth too long with an RTO of 0.4 s.",
        source="RFC 9260 §6.3.3, §6.4.1",
    )


def _longest_gap(s: Setting, f: Failure) -> float:
    before = models.waits(f.rto, s.before_leaving, s.most, probes=s.probes)
    return models.longest_gap(before, f.srtt, stays=s.stays)


def _over_dates(
    results: Replicated[Run],
    kind: str,
    quantity: str,
    read: Callable[[Failure], float | None],
    closed: Callable[[Setting, Failure], float],
) -> list[Statement]:
    """A statement for each setting: the mean over the dates, in each replication."""
    found = []
    for s in dict.fromkeys(run.setting for run in results if run.setting.kind == kind):
        runs = [run for run in results if run.setting == s]
        measured = Sample.across([_sample(results, run, read) for run in runs])
        expected = Sample.across(
            [_sample(results, run, lambda f: closed(s, f)) for run in runs]  # noqa: B023
        )
        label = f"Path.Max.Retrans {s.retrans}, HB.interval {s.interval} s"
        if s.potentially_failed != OFF:
            label += f", PFMR {s.potentially_failed}"
        if s.kind == "back":
            label += f", RTO.Max {s.most:g} s"
        change = measured.change_from(expected)
        found.append(Statement.of(f"{quantity}: {label}", change, near(0, TOLERANCE)))
    return found


def _sample(results: Replicated[Run], run: Run, read: Callable[[Failure], float | None]) -> Sample:
    def value(result: Any) -> float:
        found = read(measures.of(run, result))
        return math.nan if found is None else found

    return results.sample(run, value)


def _idle(results: Replicated[Run]) -> Claim:
    return Claim(
        "F4",
        "On an idle path heartbeats alone find the failure: half a period until the next, then a"
        " period of HB.interval and the RTO, which doubles, for each error, and the last RTO.",
        _over_dates(
            results,
            "idle",
            "relative deviation of the mean detection time from the closed form",
            lambda f: f.detection,
            lambda s, f: models.idle_detection(f.rto, s.retrans, s.most, s.interval),
        ),
        "Means over dates of failure, which are spread over a period of heartbeats; within 10 %.",
        source="RFC 9260 §8.3",
    )


def _failback(results: Replicated[Run]) -> Claim:
    return Claim(
        "F5",
        "A repaired path is used again when the next heartbeat is answered; one leaves every"
        " HB.interval and RTO, however the last one fared.",
        _over_dates(
            results,
            "back",
            "relative deviation of the mean time until the path is active again from the closed"
            " form",
            lambda f: f.failback,
            lambda s, f: models.failback(f.rto_at_repair, s.interval),
        ),
        "The path fails for 5 to 25 min, so that the RTO is RTO.Max and the date of the repair"
        " has no relation to the heartbeats. Means over dates of repair, within 10 %.",
        source="RFC 9260 §8.3",
    )


def _suspected(failures: Failures) -> Claim:
    found = []
    for s, each in failures.items():
        if s.kind == "suspected":
            closed = sum(failback_form(s, f) for f in each)
            late = sum(math.nan if f.failback is None else f.failback for f in each) / closed - 1
            quantity = (
                "relative deviation of the mean time until the path is active again from the"
                " closed form"
            )
            found.append(Statement.of(quantity, Exact.of([late]), near(0, TOLERANCE)))
    return Claim(
        "F6",
        "A path that is repaired while it is potentially failed is used again at the end of the"
        " timeout that runs: a heartbeat goes out at each.",
        found,
        "PFMR 0, Path.Max.Retrans 5; the path fails for 2 to 30 s (a heartbeat"
        " that went out later would be the sixth error, and the path inactive). Mean over dates"
        " of repair, within"
        " 10 %.",
        source="RFC 7829 §3.2",
    )


def failback_form(s: Setting, f: Failure) -> float:
    """Seconds until a repaired path is used again, in the state in which the repair found it."""
    if s.kind == "suspected":
        return models.failback_when_suspected(f.rto, s.most, f.outage)
    return models.failback(f.rto_at_repair, s.interval)


COLUMNS = (
    "kind",
    "policy",
    "path_max_retrans",
    "pfmr",
    "rto_min_s",
    "rto_max_s",
    "hb_interval_s",
    "rto_at_failure_s",
    "detection_s",
    "detection_closed_form_s",
    "failover_s",
    "longest_gap_s",
    "longest_gap_closed_form_s",
    "goodput_share_60s",
    "failback_s",
    "failback_closed_form_s",
    "n",
)


def write_table(directory: Path, failures: Failures) -> None:
    """`failover.csv`: means of each setting beside the closed forms."""
    write_csv(directory / "failover.csv", COLUMNS, [_row(*each) for each in failures.items()])


def _row(s: Setting, found: list[Failure]) -> CsvRow:
    def mean(values: Iterable[float | None]) -> float:
        known = [value for value in values if value is not None and not math.isnan(value)]
        return stats.mean(known).mean

    row: CsvRow = {
        "kind": s.kind,
        "policy": s.destination,
        "path_max_retrans": s.retrans,
        "pfmr": None if s.potentially_failed == OFF else s.potentially_failed,
        "rto_min_s": s.least,
        "rto_max_s": s.most,
        "hb_interval_s": s.interval,
        "rto_at_failure_s": mean(f.rto for f in found),
        "detection_s": mean(f.detection for f in found),
        "failover_s": mean(f.failover for f in found),
        "longest_gap_s": mean(f.gap for f in found),
        "failback_s": mean(f.failback for f in found),
        "n": len(found),
    }
    if s.kind == "busy":
        row["goodput_share_60s"] = mean(f.share for f in found)
        closed = [models.detection(f.rto, s.retrans, s.most, probes=s.probes) for f in found]
        row["detection_closed_form_s"] = mean(closed)
        row["longest_gap_closed_form_s"] = mean(_longest_gap(s, f) for f in found)
    elif s.kind == "idle":
        closed = [models.idle_detection(f.rto, s.retrans, s.most, s.interval) for f in found]
        row["detection_closed_form_s"] = mean(closed)
    else:
        row["failback_closed_form_s"] = mean(failback_form(s, f) for f in found)
    return row
