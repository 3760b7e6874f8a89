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
ABSTRACT = (
    "Closed forms say what a window algorithm carries: AIMD under periodic and random loss (Mathis"
    " et al.), Reno with timeouts (Padhye et al.), CUBIC (RFC 9438), HighSpeed TCP (RFC 3649), the"
    " rounds of slow start, and the part of a link that one flow uses with a given buffer."
    " Where they were derived, at large windows, they are found: CUBIC's window is"
    " {T6.statements[0].measured.mean:.3f} of its formula (T6 {T6.verdict.value}), HighSpeed's"
    " {T7.statements[0].measured.mean:.3f} (T7 {T7.verdict.value}), AIMD's"
    " {T1-periodic.statements[0].measured.mean:.3f} under periodic and"
    " {T1-random.statements[0].measured.mean:.3f} under random loss (T1"
    " {T1-periodic.verdict.value} and {T1-random.verdict.value}); timeouts (T2), slow start (T11)"
    " and buffers: {T2.verdict.value}, {T11.verdict.value}, {buffer.verdict.value}."
    " They differ where windows are small: at a periodic loss of 1 % AIMD's window is"
    " {T1-periodic.statements[4].measured.mean:.2f} of its formula, which knows neither the round"
    " trip of the recovery nor whole segments, and {T1-periodic.statements[9].measured.mean:.2f}"
    " of the one that knows both."
    " For today's practice this means that a random loss of 1 % leaves CUBIC"
    " {T9.statements[4].measured.mean:.0%} of a link of 10 Mbit/s and 40 ms, hardly more than"
    " Reno's {T9.statements[3].measured.mean:.0%}, while BBR keeps"
    " {T9.statements[0].measured.mean:.0%} of what the loss leaves (T9 {T9.verdict.value})."
    " What to deploy: CUBIC or Reno with a buffer of one bandwidth-delay product, which is all"
    " that one flow needs, where losses mean congestion; a window by rate, as BBR's, where they do"
    " not; and the formulas for planning at losses below one in a thousand."
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
    single = {run: each for run, each in wanted.items() if not run.is_random}
    done = context.compute(list(single.values()))
    exact = {
        run: Exact.of([claims.value(run, result)])
        for run, result in zip(single, done.singles, strict=True)
    }

    def values(results: Replicated[Run]) -> claims.Values:
        drawn = {run: results.sample(run, partial(claims.value, run)) for run in results}
        return {**exact, **drawn}

    random = {run: each for run, each in wanted.items() if run.is_random}
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
    abstract=ABSTRACT,
    choices=CHOICES,
    examine=examine,
    headline="window_by_periodic_loss",
    shows={
        "window_by_random_loss": ("T1-random",),
        "rate_with_timeouts": ("T2",),
        "utilisation_by_buffer": ("buffer",),
        "rate_by_window": ("T4",),
        "share_by_random_loss": ("T9",),
        "slow_start_rounds": ("T11",),
    },
)
