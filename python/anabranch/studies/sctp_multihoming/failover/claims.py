"""What RFC 9260 and RFC 7829 promise about a failing path, beside what happens (F1 to F5)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from anabranch import stats
from anabranch.stats import Estimate
from anabranch.studies.sctp_multihoming.failover import models
from anabranch.studies.sctp_multihoming.failover.conditions import OFF, Setting
from anabranch.studies.sctp_multihoming.failover.measures import Failure
from anabranch.tables import write_csv
from anabranch.verdicts import Claim, Statement, near

Failures = Mapping[Setting, list[Failure]]
TOLERANCE = 0.10
"""What the closed forms may be wrong by, as a share."""
RANDOM = 0.25
"""The same where heartbeats are random: their mean over so few runs is not known better."""


def judge(failures: Failures) -> list[Claim]:
    """All statements."""
    return [
        _detection(failures),
        _failover(failures),
        _gap(failures),
        _idle(failures),
        _failback(failures),
    ]


def error(measured: Iterable[float | None], closed: Iterable[float]) -> Estimate:
    """By what share the measured times exceed the closed form."""
    pairs = zip(measured, closed, strict=True)
    return stats.mean(value / model - 1 for value, model in pairs if value is not None)


def _of(failures: Failures, kind: str) -> list[tuple[Setting, list[Failure]]]:
    return [(s, found) for s, found in failures.items() if s.kind == kind]


def label(s: Setting) -> str:
    """The setting in words."""
    return f"Path.Max.Retrans {s.retrans}, RTO {s.least:g} to {s.most:g} s, {s.name()}"


def _worst(measures: list[Statement]) -> list[Statement]:
    """The measures with the largest in front, which heads the claim."""
    return sorted(measures, key=lambda m: -abs(m.measured.mean))


def _detection(failures: Failures) -> Claim:
    found = []
    for s, each in _of(failures, "busy"):
        closed = [models.detection(f.rto, s.retrans, s.most) for f in each]
        share = error([f.detection for f in each], closed)
        quantity = f"detection time over the closed form, less 1: {label(s)}"
        found.append(Statement.of(quantity, share, near(0, TOLERANCE)))
    return Claim(
        "F1",
        "A path that fails under data is inactive after the sum of Path.Max.Retrans + 1 timeouts,"
        " each twice the one before up to RTO.Max, within 10 %.",
        _worst(found),
        "From the RTO at the failure. The time counts from the failure, the first timer from the"
        " last acknowledgment, which may come later; later timers from when new data is sent on the"
        " path again, after what was lost has been sent again elsewhere. best-path sends heartbeats"
        " after timeouts, whose failures are errors too (RFC 9260 §8.2).",
    )


def _failover(failures: Failures) -> Claim:
    found = []
    for s, each in _of(failures, "busy"):
        if s.potentially_failed == OFF:
            continue
        pf = s.potentially_failed
        closed = [models.failover(f.rto, s.retrans, s.most, pf) for f in each]
        share = error([f.failover for f in each], closed)
        quantity = f"failover time over the first timeout, less 1: {label(s)}"
        found.append(Statement.of(quantity, share, near(0, TOLERANCE)))
    return Claim(
        "F2",
        "With PFMR 0 (RFC 7829) new data leaves the path after the first timeout, whatever"
        " Path.Max.Retrans is.",
        _worst(found),
        "Within 10 % of the RTO at the failure.",
    )


def _gap(failures: Failures) -> Claim:
    found = []
    for s, each in _of(failures, "busy"):
        pf = s.potentially_failed
        closed = [models.longest_timeout(f.rto, s.retrans, s.most, pf) for f in each]
        share = error([f.gap for f in each], closed)
        quantity = f"longest gap over the last timeout, less 1: {label(s)}"
        found.append(Statement.of(quantity, share, near(0, TOLERANCE)))
    return Claim(
        "F3",
        "The receiving application gets nothing for as long as the last timeout before new data"
        " leaves the path: RTO x 2^Path.Max.Retrans, and one RTO with PFMR 0.",
        _worst(found),
        "Within 10 %.",
    )


def _idle(failures: Failures) -> Claim:
    found = []
    for s, each in _of(failures, "idle"):
        closed = [models.idle_detection(f.rto, s.retrans, s.most, s.interval) for f in each]
        measured = stats.mean(f.detection for f in each if f.detection is not None)
        share = measured.scaled(1 / (sum(closed) / len(closed)))
        share = Estimate(share.mean - 1, share.ci_low - 1, share.ci_high - 1, share.n)
        quantity = (
            "mean detection time over the closed form, less 1: idle, Path.Max.Retrans"
            f" {s.retrans}, HB.interval {s.interval} s"
        )
        found.append(Statement.of(quantity, share, near(0, RANDOM)))
    return Claim(
        "F4",
        "On an idle path heartbeats alone find the failure: half a period until the next, then an"
        " RTO each, and HB.interval and an RTO between them.",
        _worst(found),
        "Means over dates of failure; within 25 %.",
    )


def _failback(failures: Failures) -> Claim:
    found = []
    for s, each in _of(failures, "back"):
        measured = stats.mean(f.failback for f in each if f.failback is not None)
        closed = [
            models.failback(f.rto_at_repair, s.most, s.interval, eager=not f.was_inactive)
            for f in each
        ]
        factor = len(closed) / sum(closed)
        share = Estimate(
            measured.mean * factor - 1,
            measured.ci_low * factor - 1,
            measured.ci_high * factor - 1,
            measured.n,
        )
        quantity = (
            "mean time until the path is active again over the closed form, less 1:"
            f" Path.Max.Retrans {s.retrans}, HB.interval {s.interval} s, {s.name()}"
        )
        found.append(Statement.of(quantity, share, near(0, RANDOM)))
    return Claim(
        "F5",
        "A repaired path is used again when a heartbeat is answered: at the mean after half of the"
        " time between two heartbeats, HB.interval and two RTOs in a row if it was inactive.",
        _worst(found),
        "The path fails for 20 to 220 s; RTO in force at the repair. Means over dates of repair;"
        " within 25 %.",
    )


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
    "goodput_share_60s",
    "failback_s",
    "failback_closed_form_s",
    "n",
)


def write_table(directory: Path, failures: Failures) -> None:
    """`failover.csv`: means of each setting beside the closed forms."""
    write_csv(directory / "failover.csv", COLUMNS, [_row(*each) for each in failures.items()])


def _row(s: Setting, found: list[Failure]) -> dict[str, Any]:
    def mean(values: Iterable[float | None]) -> float:
        known = [value for value in values if value is not None and not math.isnan(value)]
        return stats.mean(known).mean

    row: dict[str, Any] = {
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
        closed = [models.detection(f.rto, s.retrans, s.most) for f in found]
        row["detection_closed_form_s"] = mean(closed)
    elif s.kind == "idle":
        closed = [models.idle_detection(f.rto, s.retrans, s.most, s.interval) for f in found]
        row["detection_closed_form_s"] = mean(closed)
    else:
        row["failback_closed_form_s"] = mean(
            models.failback(f.rto_at_repair, s.most, s.interval, eager=not f.was_inactive)
            for f in found
        )
    return row
