"""What has been proposed since: all policies, their remedies, and new data on both paths."""

from __future__ import annotations

from anabranch.studies.sctp_multihoming import measures
from anabranch.studies.sctp_multihoming.policies import claims, concurrent, conditions, figures
from anabranch.studies.sctp_multihoming.policies.regret import Table
from anabranch.studies.study import Context, Outcome

CHOICES = [
    "Policies since: fewer replications than the paper's figures (12), and figure 4's losses of"
    " the alternate in whole per cent; by the rules of RFC 2960 and of RFC 9260.",
]


def examine(context: Context) -> Outcome:
    """Replications of every policy on the grid, and of concurrent transfer."""
    grid, wide = conditions.grid(context.quick), conditions.wide(context.quick)
    cases = sorted({*grid.cases(), *wide.cases()})
    both = concurrent.runs(context.quick)
    count = concurrent.part(context.quick)["replications"]
    runs = context.compute(
        [],
        [(conditions.scenario(case), grid.replications) for case in cases]
        + [(concurrent.scenario(run), count) for run in both],
    )
    seconds = [[measures.seconds(run) for run in batch] for batch in runs.batches]
    times = dict(zip(cases, seconds[: len(cases)], strict=True))
    together = dict(zip(both, seconds[len(cases) :], strict=True))
    tables, beyond = (
        [Table.of(times, rules, each.policies, each.paths) for rules in each.rules]
        for each in (grid, wide)
    )
    claims.write_table(context.directory, "policies", tables)
    claims.write_table(context.directory, "policies_wide", beyond)
    judged = claims.judge(tables, beyond, conditions.judged(context.quick))
    return Outcome(
        claims=[*judged, concurrent.judge(together, tables[-1])],
        figures=[
            *figures.write_all(context.directory, tables),
            *concurrent.write_all(context.directory, together),
        ],
        scenario=conditions.scenario(cases[0]),
        runs=runs,
    )
