"""A primary path that fails: how soon that is found, what it costs, when the path is used again."""

from __future__ import annotations

from anabranch.studies.sctp_multihoming.failover import claims, conditions, figures, measures
from anabranch.studies.study import Context, Outcome

CHOICES = [
    "Failures: the middle link of the first path loses everything, both ways, from a date on that"
    " is spread over a second; no other losses. Rules of RFC 9260, receive buffer 64 KiB.",
]


def examine(context: Context) -> Outcome:
    """Every setting at several dates of failure."""
    wanted = conditions.runs(context.quick)
    runs = context.compute([conditions.scenario(run) for run in wanted])
    results = dict(zip(wanted, runs.singles, strict=True))
    failures: dict[conditions.Setting, list[measures.Failure]] = {}
    for run, result in results.items():
        failures.setdefault(run.setting, []).append(measures.of(run, result))
    claims.write_table(context.directory, failures)
    return Outcome(
        claims=claims.judge(failures),
        figures=figures.write_all(context.directory, failures, results),
        scenario=conditions.scenario(wanted[0]),
        runs=runs,
    )
