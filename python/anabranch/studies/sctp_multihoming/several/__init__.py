"""Several alternates: where retransmissions and, after a failure, new data should go."""

from __future__ import annotations

from anabranch.studies.sctp_multihoming import blocks
from anabranch.studies.sctp_multihoming.several import claims, conditions, figures
from anabranch.studies.study import Context, Outcome, Runs

CHOICES = [
    "Several alternates: three to five paths of three links each; all but one of the alternates are"
    " worse than the primary, or stop, in both orders. Rules of RFC 9260. Retransmissions of runs"
    " whose primary fails go by best-path.",
]


def examine(context: Context) -> Outcome:
    """Blocks of transfers of every policy among every set of alternates."""
    quick = context.quick
    size = 1 if quick else int(conditions.plan()["block"])
    decided = blocks.decide_by(
        context,
        {run: conditions.scenario(run) for run in conditions.runs(quick)},
        lambda results: claims.judge(results, quick),
        lambda _: size,
        series=True,
    )
    claims.write_table(context.directory, decided.results, quick)
    return Outcome(
        claims=decided.claims,
        figures=figures.write_all(context.directory, decided.results, quick),
        scenario=conditions.scenario(conditions.runs(quick)[0]),
        runs=Runs([], list(decided.results.values())),
    )
