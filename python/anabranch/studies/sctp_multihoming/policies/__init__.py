"""What has been proposed since: all policies, their remedies, and new data on both paths."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.experiment import Scenario
from anabranch.studies.replications import Replicated
from anabranch.studies.sctp_multihoming.policies import claims, concurrent, conditions, figures
from anabranch.studies.sctp_multihoming.policies.concurrent import Key
from anabranch.studies.sctp_multihoming.policies.conditions import Grid
from anabranch.studies.sctp_multihoming.policies.regret import Table
from anabranch.studies.study import Context, Outcome, Runs
from anabranch.verdicts import Claim

CHOICES = [
    "Policies since: figure 4's losses of the alternate in whole per cent; by the rules of RFC 2960"
    " and of RFC 9260.",
]


def examine(context: Context) -> Outcome:
    """Replications of every policy on the grid, and of concurrent transfer."""
    grid, wide = conditions.grid(context.quick), conditions.wide(context.quick)
    both = concurrent.runs(context.quick)
    cases = sorted({*grid.cases(), *wide.cases()})
    scenarios: dict[Key, Scenario] = {case: conditions.scenario(case) for case in cases}
    scenarios |= {run: concurrent.scenario(run) for run in both}

    def judge(results: Replicated[Key]) -> list[Claim]:
        tables, beyond = _tables(results, grid), _tables(results, wide)
        judged = claims.judge(tables, beyond, conditions.judged(context.quick))
        return [*judged, concurrent.judge(results, both, tables[-1])]

    decided = context.decide(scenarios, judge)
    tables = _tables(decided.results, grid)
    claims.write_table(context.directory, "policies", tables)
    claims.write_table(context.directory, "policies_wide", _tables(decided.results, wide))
    return Outcome(
        claims=decided.claims,
        figures=[
            *figures.write_all(context.directory, tables),
            *concurrent.write_all(context.directory, decided.results, both),
        ],
        scenario=conditions.scenario(cases[0]),
        runs=Runs([], list(decided.results.values())),
    )


def _tables(results: Replicated[Key], grid: Grid) -> Sequence[Table]:
    return [Table(results, rules, grid.policies, grid.paths) for rules in grid.rules]
