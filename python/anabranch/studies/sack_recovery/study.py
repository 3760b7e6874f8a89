"""Runs the study: every scheme under every condition, then claims and figures."""

from __future__ import annotations

from anabranch.studies.replications import Replicated
from anabranch.studies.sack_recovery import claims, conditions, figures, worked_example
from anabranch.studies.sack_recovery.further import claims as further_claims
from anabranch.studies.sack_recovery.further import conditions as further
from anabranch.studies.sack_recovery.further import figures as further_figures
from anabranch.studies.sack_recovery.further import next_step
from anabranch.studies.sack_recovery.further.conditions import Batch
from anabranch.studies.sack_recovery.live import LIVE
from anabranch.studies.sack_recovery.trace import Trace
from anabranch.studies.study import Context, Outcome, Runs, Study
from anabranch.verdicts import Claim

QUESTION = (
    "Does a sender that halves its window at the third duplicate ACK and continues in congestion"
    " avoidance at once, with the holes sent again inside that window, recover sooner than"
    " NewReno, SACK and FACK?"
)
ABSTRACT = (
    "Hwang, Yoo and Yoo claim that a sender which halves its window at the third duplicate ACK,"
    " goes on in congestion avoidance at once and sends holes again inside that window is back in"
    " congestion avoidance about 6, 3 and 1 round trips before NewReno, SACK and FACK after seven"
    " losses."
    " As published it is, by {C5.statements[0].measured.mean:.2f},"
    " {C5.statements[1].measured.mean:.2f} and {C5.statements[2].measured.mean:.2f} (C5"
    " {C5.verdict.value}), and its last hole is repaired as soon as FACK's (C8 {C8.verdict.value});"
    " C1 {C1.verdict.value}, C2 {C2.verdict.value}, C4 {C4.verdict.value}, C7 {C7.verdict.value}."
    " What differs has three reasons: SACK's delay is that of ns-2's older pipe, by the pipe of RFC"
    " 6675 it is {C5.statements[3].measured.mean:.2f} round trips; half a window has no room for"
    " seven holes, so that FACK takes {C3.statements[0].measured.mean:.0f} rounds for them (C3"
    " {C3.verdict.value}); and holes that wait for room put the scheme behind the others by up to"
    " {C6.statements[1].measured.ci_high:.0f} acknowledged segments, though hardly by sent ones (C6"
    " {C6.verdict.value})."
    " Against today's RACK-TLP with PRR it changes goodput by"
    " {N9.statements[1].measured.mean:+.0%} under random loss, but by"
    " {N9.statements[0].measured.mean:+.0%} where 1 % of the packets are reordered, and the time"
    " of a transfer whose tail is lost by {N9.statements[3].measured.mean:+.0%} (N9"
    " {N9.verdict.value})."
    " What to deploy is its rule for the window on RACK-TLP's detection, which changes goodput by"
    " {N10.statements[1].measured.mean:+.0%} under random loss and by"
    " {N10.statements[2].measured.mean:+.0%} in bursts, and the time of short transfers by"
    " {N10.statements[4].measured.mean:+.0%} (N10 {N10.verdict.value}); as it was published it"
    " takes {N8.statements[3].measured.mean:.0%} from SACK flows beside it."
)
CHOICES = [
    "RTT: the scan lost digits; 200 ms of propagation fits the axes and the window of 11.4.",
    "Capacity: 10 Mbit/s; with 1 Mbit/s the round counts would be 7.3, 4.2 and 2.2.",
    "Packets: 1000 B of payload, 1040 B on the wire, as ns-2 counts its default packet.",
    "Initial ssthresh: 10 segments, which gives a window of 11.4 when the losses happen.",
    "Drops: segments 24 to 30, numbered from 1, each lost once at the bottleneck's entry.",
    "Access links: 100 Mbit/s and 1 ms, the bottleneck takes the rest of the delay.",
    "SACK: judged with the pipe of ns-2's older code, the one whose three groups the paper shows.",
    "Reduction: half of cwnd, as in ns-2. Minimum RTO: 1 s; ns-2's 0.2 s relies on restarting the"
    " timer at the fast retransmit, and ns-2 itself gives the same figures with 1 s.",
    "Congestion avoidance of the decoupled scheme counts from the first full turn after detection.",
    "Sequence number of figure 7: the highest segment sent; acknowledged segments are judged too.",
    "Grid: the first drop is moved by two segments either way and the RTT from 50 to 400 ms; a"
    " scripted run is deterministic, so intervals are over conditions, not over seeds.",
]


def examine(context: Context) -> Outcome:
    """Every scheme on the paper's grid and at small windows, and the batches beyond the paper."""
    grid = sorted({*conditions.grid(context.quick), *conditions.paper_conditions()})
    small = conditions.small_window()
    pairs = [(scheme, c) for c in grid for scheme in conditions.schemes()]
    pairs += [(scheme, c) for c in small for scheme in conditions.schemes(small=True)]
    runs = context.compute(
        [
            worked_example.scenario(),
            *(conditions.scenario(scheme, condition) for scheme, condition in pairs),
        ]
    )
    example, *singles = runs.singles
    traces = {
        (scheme, condition): Trace.of(result, condition.first_drop, condition.drops)
        for (scheme, condition), result in zip(pairs, singles, strict=True)
    }
    batches = {batch: further.scenario(batch) for batch in further.batches()}
    scripted = [batch for batch in batches if not batch.is_random]
    tails = context.compute([], [(batches[batch], 1) for batch in scripted]).batches

    def whole(drawn: Replicated[Batch]) -> Replicated[Batch]:
        return drawn.joined(dict(zip(scripted, tails, strict=True)))

    def judge(drawn: Replicated[Batch]) -> list[Claim]:
        return further_claims.judge(whole(drawn)) + next_step.judge(whole(drawn))

    random = {batch: each for batch, each in batches.items() if batch.is_random}
    decided = context.decide(random, judge)
    beyond = whole(decided.results)
    return Outcome(
        claims=claims.judge(traces, grid, small) + decided.claims,
        figures=figures.write_all(
            context.directory, traces, grid, Trace.of(example, worked_example.LOST, 1)
        )
        + further_figures.write_all(context.directory, beyond),
        scenario=conditions.scenario("decoupled", conditions.paper_case()),
        runs=Runs(runs.singles, list(beyond.values())),
    )


STUDY = Study(
    name="sack-recovery",
    title="Loss recovery separated from congestion control",
    reference="J.-H. Hwang, S.-H. Yoo, H. Yoo: An Efficient Loss Recovery Algorithm for TCP with"
    " SACK (in Korean; ns-2.31)",
    question=QUESTION,
    abstract=ABSTRACT,
    choices=CHOICES,
    examine=examine,
    live=LIVE,
    headline="fig7e",
    shows={
        "fig6": ("C5",),
        "fig7?": ("C6",),
        "lead_by_*": ("C6",),
        "reordering_spurious": ("N2",),
        "reordering_halvings": ("N1",),
        "reordering_goodput": ("N9",),
        "random_goodput": ("N3",),
        "bursts_goodput": ("N4",),
        "tail_completion": ("N5",),
        "short_completion": ("N6",),
        "fairness": ("N7",),
    },
)
