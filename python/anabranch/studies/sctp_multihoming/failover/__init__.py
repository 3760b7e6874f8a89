"""A primary path that fails: how soon that is found, what it costs, when the path is used again."""

from __future__ import annotations

from anabranch.studies.sctp_multihoming.failover import claims, conditions, figures, measures
from anabranch.studies.study import Context, Outcome, Runs

CHOICES = [
    "Failures: the middle link of the first path loses everything, both ways, from a date on that"
    " is spread over a second; no other losses. Rules of RFC 9260, receive buffer 64 KiB.",
]


def examine(context: Context) -> Outcome:
    """Every setting at several dates of failure; where heartbeats come at random, with
    replications."""
    busy, by_heartbeats = conditions.runs(context.quick)
    runs = context.compute([conditions.scenario(run) for run in busy])
    results = dict(zip(busy, runs.singles, strict=True))
    decided = context.decide(
        {run: conditions.scenario(run) for run in by_heartbeats}, claims.by_heartbeats, series=True
    )
    failures: dict[conditions.Setting, list[measures.Failure]] = {}
    for run, result in results.items():
        failures.setdefault(run.setting, []).append(measures.of(run, result))
    judged = claims.under_data(failures)
    for run, each in decided.results.items():
        failures.setdefault(run.setting, []).extend(measures.of(run, result) for result in each)
    claims.write_table(context.directory, failures)
    return Outcome(
        claims=sorted([*judged, *decided.claims], key=lambda claim: claim.claim),
        figures=figures.write_all(context.directory, failures, results),
        scenario=conditions.scenario(busy[0]),
        runs=Runs(runs.singles, list(decided.results.values())),
    )
