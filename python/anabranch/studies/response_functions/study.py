"""Runs the study: every run, then claims and figures."""

from __future__ import annotations

from functools import partial

from anabranch.stats import Exact
from anabranch.studies.replications import Replicated
from anabranch.studies.response_functions import claims, conditions, figures
from anabranch.studies.response_functions.conditions import Run
from anabranch.studies.study import Context, Outcome, Runs, Study

QUESTION = (
    "Does each window algorithm do what its closed form says? One long flow alone, so that nothing"
    " but the algorithm, the loss and the buffer decides."
)
CHOICES = [
    "Loss hits data packets on the way to the receiver; retransmissions count as packets.",
    "An ACK for every segment and SACK recovery, except for the PFTK runs (Reno recovery, delayed"
    " ACKs, no limited transmit).",
    "The window is counted in ACKs, as the formulas have it (RFC 5681 §3.1, first variant).",
    "Runs begin near the expected window; a fifth of each is left out. Periodic runs are"
    " deterministic, random ones replicated.",
    "The link is so fast that it adds neither delay nor queue, except for the buffer runs.",
]


def examine(context: Context) -> Outcome:
    """Every run beside its closed form."""
    wanted = {run: conditions.scenario(run) for run in conditions.runs(context.quick)}
    single = {run: it for run, it in wanted.items() if not run.is_random}
    done = context.compute(list(single.values()))
    exact = {
        run: Exact.of([claims.value(run, result)])
        for run, result in zip(single, done.singles, strict=True)
    }

    def values(results: Replicated[Run]) -> claims.Values:
        drawn = {run: results.sample(run, partial(claims.value, run)) for run in results}
        return {**exact, **drawn}

    random = {run: it for run, it in wanted.items() if run.is_random}
    decided = context.decide(random, lambda results: claims.judge(values(results)), series=True)
    return Outcome(
        claims=decided.claims,
        figures=figures.write_all(context.directory, values(decided.results)),
        scenario=next(iter(wanted.values())),
        runs=Runs(done.singles, list(decided.results.values())),
    )


STUDY = Study(
    name="response-functions",
    title="Response functions: throughput against loss, buffer and RTT",
    reference="Mathis et al., CCR 1997; Padhye et al., SIGCOMM 1998; Cardwell et al., INFOCOM 2000;"
    " RFC 3649; RFC 9438",
    question=QUESTION,
    choices=CHOICES,
    examine=examine,
    headline="window_by_periodic_loss",
)
