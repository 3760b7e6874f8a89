"""Runs the study: every run, then claims and figures."""

from __future__ import annotations

from anabranch.studies.response_functions import claims, conditions, figures
from anabranch.studies.study import Context, Outcome, Study

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
    " deterministic (n = 1); random ones are replicated over seeds.",
    "The link is so fast that it adds neither delay nor queue, except for the buffer runs.",
]


def examine(context: Context) -> Outcome:
    """Every run beside its closed form."""
    wanted = conditions.runs(context.quick)
    scenarios = [conditions.scenario(each) for each in wanted]
    runs = context.compute(scenarios)
    values = {run: claims.value(run, r) for run, r in zip(wanted, runs.singles, strict=True)}
    return Outcome(
        claims=claims.judge(values),
        figures=figures.write_all(context.directory, values),
        scenario=scenarios[0],
        runs=runs,
    )


STUDY = Study(
    name="response-functions",
    title="Response functions: throughput against loss, buffer and RTT",
    reference="Mathis et al., CCR 1997; Padhye et al., SIGCOMM 1998; Cardwell et al., INFOCOM 2000;"
    " RFC 3649; RFC 9438",
    question=QUESTION,
    choices=CHOICES,
    examine=examine,
)
