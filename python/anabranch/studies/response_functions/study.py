"""Runs the study: every run, then claims and figures."""

from __future__ import annotations

from anabranch.files import write_text
from anabranch.studies.cache import RunCache
from anabranch.studies.response_functions import claims, conditions, figures
from anabranch.studies.results import StudyResult
from anabranch.studies.study import Context, Study

TITLE = "Response functions: throughput against loss, buffer and RTT"
REFERENCE = (
    "Mathis et al., CCR 1997; Padhye et al., SIGCOMM 1998; Cardwell et al., INFOCOM 2000;"
    " RFC 3649; RFC 9438"
)
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


def run(context: Context) -> StudyResult:
    """Computes or continues all runs, then writes figures and judges the claims."""
    runs = conditions.runs(context.quick)
    scenarios = [conditions.scenario(each) for each in runs]
    cache = RunCache(context.directory / "runs")
    results = cache.get_all(scenarios, context.jobs, context.progress)
    values = {each: claims.value(each, result) for each, result in zip(runs, results, strict=True)}
    entries = figures.write_all(context.directory, values)
    judged = claims.judge(values)
    resolved = scenarios[0].resolved()
    write_text(context.directory / "scenario.toml", resolved)
    first = results[0].run
    return StudyResult(
        name=STUDY.name,
        title=TITLE,
        reference=REFERENCE,
        question=QUESTION,
        quick=context.quick,
        claims=judged,
        figures=entries,
        choices=CHOICES,
        findings=[claim.finding() for claim in judged],
        scenario=resolved,
        facts={"version": first["version"], "seed": first["seed"], "runs": len(results)},
    )


STUDY = Study("response-functions", TITLE, REFERENCE, run)
