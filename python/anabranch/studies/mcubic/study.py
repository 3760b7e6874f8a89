"""Runs the study: the paper's three experiments, then what lies beyond them."""

from __future__ import annotations

from anabranch.studies.mcubic import choices, claims, conditions, figures, network, windows
from anabranch.studies.mcubic.conditions import Run
from anabranch.studies.mcubic.further import claims as further_claims
from anabranch.studies.mcubic.further import conditions as further
from anabranch.studies.mcubic.further import figures as further_figures
from anabranch.studies.mcubic.live import LIVE
from anabranch.studies.replications import Replicated
from anabranch.studies.study import Context, Outcome, Runs, Strength, Study
from anabranch.verdicts import Claim

QUESTION = (
    "Does MCubic, a CUBIC on each path whose plateaus come later the more the other paths grow,"
    " give Multipath TCP throughput, fairness to single-path TCP and traffic shift, and better"
    " than LIA, OLIA, wVegas and uncoupled CUBIC?"
)
ABSTRACT = (
    "MCubic is claimed to leave single-path flows the most, to share most evenly, to carry at"
    " least what one TCP does even over long delays, and to move traffic off a congested path. As"
    " published, with runs of ten seconds, slow start and a queue of 50 packets, its ratio to one"
    " TCP at 100 ms is {C3.statements[0].measured.mean:.2f}; of the claims, C1 {C1.verdict.value},"
    " C2 {C2.verdict.value}, C3 {C3.verdict.value}, C4 {C4.verdict.value}, C5 {C5.verdict.value}"
    " and C6 {C6.verdict.value}. Longer runs and whole queues change the picture: against one TCP"
    " in its place the connection's goodput is {C5.grid[1].measured.mean:+.0%} at 100 ms, since"
    " the other paths delay each plateau while a single CUBIC fills the queue, and a congested"
    " path changes K' of the others by {C6.statements[0].measured.mean:+.0%} on average over three"
    " congestions, where the text has it fall. Today's Linux couples nothing, a CUBIC on each"
    " path: against that MCubic changes what single-path flows get by"
    " {C1.grid[3].measured.mean:+.0%}. What to deploy: LIA, OLIA or BALIA where paths are short, a"
    " CUBIC coupled by shares of the rate (mcubic-share) where they are long and shared, and"
    " MCubic not where a path may vanish: against one TCP on what remains its goodput is"
    " {N2.statements[0].measured.mean:+.0%}."
)
CHOICES = [
    "As published: the paper's rates and delays with the setting of the test bed that comes nearest"
    " to its tables, of those that its tools suggest (docs/forensics.md): dummynet's queue of 50"
    " packets, a receive window of 1 MiB, delays of both ways, 10 s from the start, 20 ms for"
    " distinct bottlenecks. On one bottleneck a replication is the mean of eight such runs.",
    "Over our grid: delay is the round-trip time without queues; distinct bottlenecks have 40 ms.",
    "Queues: drop-tail, one product of rate and round-trip time of the first path.",
    "Receive buffer: twice the rates times the longest round-trip time with a full queue.",
    "Scheduler: the lowest round-trip time, Linux's default; opportunistic retransmission and"
    " penalisation as in its out-of-tree kernel.",
    "Goodput of 30 s (distinct bottlenecks), 60 s (equal delays) or 40 s (unequal delays) after a"
    " warm-up of 15, 30 or 20 s; starts are spread over 0.1 s, which is all that is random.",
    "TCP: Linux's settings with SACK and PRR; CUBIC with HyStart and MCubic with the same slow"
    " start, the others with the standard one.",
    "Receivers delay ACKs as Linux adapts them.",
    "K from the part of the window that is given up, 0.3; its floor is one smoothed round-trip"
    " time; the window is held where the curve lies below it; after a timeout the others count"
    " with the last K.",
    "Rates of the second path: 10, 20, 40, 50 Mbit/s, as table 1; the text has 30 for 40.",
    "Jain's index over three users: the connection and both single-path flows.",
]


def examine(context: Context) -> Outcome:
    """Replications of every condition, as many as its claims need; what no claim is about, but
    stands in tables, is left to the other strengths at the default one."""
    quick = context.quick
    reported = context.strength is not Strength.DEFAULT
    asked = [*conditions.runs(quick, reported), *further.runs(quick, reported)]

    def judge(results: Replicated[Run]) -> list[Claim]:
        return [
            *claims.judge(results, quick),
            *choices.judge(results, quick),
            *further_claims.judge(results, quick),
        ]

    after_a_loss = context.compute([windows.scenario(scheme) for scheme in windows.SCHEMES])
    decided = context.decide({run: network.scenario(run) for run in asked}, judge, series=True)
    return Outcome(
        claims=decided.claims,
        figures=[
            *figures.write_all(context.directory, decided.results, quick),
            windows.write(
                context.directory, dict(zip(windows.SCHEMES, after_a_loss.singles, strict=True))
            ),
            *further_figures.write_all(context.directory, decided.results, quick),
        ],
        scenario=network.scenario(conditions.cell("distinct", conditions.OURS, 20, quick)),
        runs=Runs(after_a_loss.singles, list(decided.results.values())),
    )


STUDY = Study(
    name="mcubic",
    title="MCubic: a coupled CUBIC for Multipath TCP",
    reference="S. Ro, J. Ryu, J. Choe: Design and Implementation of MCubic and Performance"
    " Evaluation of Multipath TCP (2018, in Korean; Linux 3.14, dummynet)",
    question=QUESTION,
    choices=CHOICES,
    examine=examine,
    live=LIVE,
    headline="table3",
    shows={
        "fig3_*": ("C1",),
        "fig5_*": ("C3",),
        "fig6_*": ("C4",),
        "k_prime": ("C5",),
        "blocking_*": ("N3",),
    },
    abstract=ABSTRACT,
)
