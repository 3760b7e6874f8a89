"""The seven claims, each computed from the traces of the runs.

A number is judged by its interval over the grid of conditions
(`near`): a tolerance of half a round or half a segment, because
claims speak in whole ones. A claim with several numbers holds if all do, holds
in part if some do. "RTT" is the round trip that the run itself measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from anabranch import stats
from anabranch.stats import Estimate
from anabranch.studies.sack_recovery.conditions import Condition
from anabranch.studies.sack_recovery.trace import Trace, worst_deficit
from anabranch.verdicts import Claim, Statement, at_least, near

Traces = Mapping[tuple[str, Condition], Trace]

HALF = 0.5
RIVALS = ("newreno", "sack", "fack")
PUBLISHED_DROPS = 7
TURNS = 5
BEYOND = 20
"""The lead is read where each scheme reaches this many segments past the last loss."""
SPACING = 1040 * 8 / 10e6
"""Serialisation of one segment on the bottleneck, s."""
SLACK = 3 * SPACING
"""FACK may start at the first duplicate ACK, the others start at the third: a
lag of no more than three ACKs is not called behind."""


def judge(traces: Traces, grid: list[Condition], small: list[Condition]) -> list[Claim]:
    """All claims in the paper's order."""
    seven = [condition for condition in grid if condition.drops == PUBLISHED_DROPS]
    return [
        newreno(traces, grid, seven),
        sack(traces, seven),
        fack(traces, seven),
        decoupled(traces, seven),
        entry(traces, seven),
        lead(traces, grid),
        window_of_three(traces, small),
    ]


def newreno(traces: Traces, grid: list[Condition], seven: list[Condition]) -> Claim:
    """C1."""
    repair = stats.slope(
        [condition.drops for condition in grid],
        [traces["newreno", condition].recovery_rtts for condition in grid],
    )
    recovery = over(traces, "newreno", seven, lambda trace: trace.recovery_rtts)
    impatient = over(traces, "newreno-impatient", seven, lambda trace: trace.timeouts)
    return Claim(
        "C1",
        "NewReno repairs one hole per RTT: it leaves recovery about 7 RTT after seven drops.",
        [
            Statement.of("RTT from detection to the ACK of seven losses", recovery, near(7, HALF)),
            Statement.of("RTT more for each further loss (slope)", repair, near(1, 0.1)),
            Statement.of("timeouts of the impatient variant, seven losses", impatient),
        ],
        "Slow-but-steady variant: every partial ACK restarts the timer, as in the paper.",
    )


def sack(traces: Traces, seven: list[Condition]) -> Claim:
    """C2."""
    rounds = over(traces, "sack", seven, lambda trace: trace.repair_rounds)
    frozen = over(traces, "sack", seven, lambda trace: trace.frozen_rtts)
    today = over(traces, "sack-rfc6675", seven, lambda trace: trace.repair_rounds)
    frozen_today = over(traces, "sack-rfc6675", seven, lambda trace: trace.frozen_rtts)
    return Claim(
        "C2",
        "SACK repairs the seven holes in three rounds and spends about 4 RTT in recovery.",
        [
            Statement.of("rounds in which seven holes are resent", rounds, near(3, HALF)),
            Statement.of("RTT from detection until the window grows again", frozen, near(4, HALF)),
            Statement.of("rounds with the pipe of RFC 6675", today),
            Statement.of("RTT until the window grows, pipe of RFC 6675", frozen_today),
        ],
        "Judged with the pipe rule of ns-2's older code (pipe = cwnd - 3 at the detection), the"
        " one that the paper's figures show; RFC 6675's is reported beside it.",
    )


def fack(traces: Traces, seven: list[Condition]) -> Claim:
    """C3."""
    rounds = over(traces, "fack", seven, lambda trace: trace.repair_rounds)
    early = over(traces, "fack", seven, lambda trace: trace.new_before_detection)
    others = over(traces, "newreno", seven, lambda trace: trace.new_before_detection)
    return Claim(
        "C3",
        "FACK resends all holes at once, but sends no new data on the duplicate ACKs before"
        " its trigger.",
        [
            Statement.of("rounds in which seven holes are resent", rounds, near(1, HALF)),
            Statement.of(
                "new segments between first duplicate ACK and trigger", early, near(0, HALF)
            ),
            Statement.of("the same for NewReno (limited transmit)", others),
        ],
        "Taken literally, at once means one round. The halved window of about 5.7 has no room"
        " for seven segments, so some holes wait for the next round; it is still fewer rounds"
        " than SACK needs.",
    )


def decoupled(traces: Traces, seven: list[Condition]) -> Claim:
    """C4."""

    def turn(index: int) -> Estimate:
        return over(traces, "decoupled", seven, lambda trace: trace.turns[index])

    growth = stats.mean(
        stats.slope(range(TURNS), traces["decoupled", condition].turns[:TURNS]).mean
        for condition in seven
    )
    return Claim(
        "C4",
        "The decoupled scheme sends 5 segments in the turn of the detection, then 6, then one"
        " more each RTT.",
        [
            Statement.of("segments in the turn of the detection", turn(0), near(5, HALF)),
            Statement.of("segments in the next turn", turn(1), near(6, HALF)),
            Statement.of(f"segments more per turn, over {TURNS} turns", growth, near(1, 0.25)),
        ],
        "Turns are groups of departures with more than a quarter of an RTT between them.",
    )


def entry(traces: Traces, seven: list[Condition]) -> Claim:
    """C5."""

    def later(scheme: str, reference: Callable[[Trace], float]) -> Estimate:
        samples = []
        for condition in seven:
            ours, theirs = traces["decoupled", condition], traces[scheme, condition]
            samples.append((theirs.growth_after_recovery - reference(ours)) / ours.rtt)
        return finite(samples)

    measures = [
        Statement.of(
            f"RTT later than the decoupled scheme: {scheme}",
            later(scheme, lambda trace: trace.second_turn),
            near(rounds, HALF),
        )
        for scheme, rounds in zip(RIVALS, (6, 3, 1), strict=True)
    ]
    measures += [
        Statement.of(f"RTT from the detection itself: {scheme}", later(scheme, detection))
        for scheme in (*RIVALS, "sack-rfc6675")
    ]
    return Claim(
        "C5",
        "Congestion avoidance is entered later than by the decoupled scheme: by about 6 RTT"
        " (NewReno), 3 RTT (SACK), 1 RTT (FACK).",
        measures,
        "Others enter with the first growth of the window at or after the ACK of all losses. The"
        " decoupled scheme is counted from the first full turn after the detection, the reading"
        " that gives the paper's numbers; counted from the detection itself all are one RTT more.",
    )


def lead(traces: Traces, grid: list[Condition]) -> Claim:
    """C6."""
    sent, acked, deficits = [], [], []
    for condition in grid:
        ours = traces["decoupled", condition]
        for scheme in RIVALS:
            theirs = traces[scheme, condition]
            sent.append(float(worst_deficit(ours, theirs, SLACK, acked=False) == 0))
            deficit = worst_deficit(ours, theirs, SLACK, acked=True)
            acked.append(float(deficit == 0))
            deficits.append(deficit)
    measures = [
        Statement.of(
            "share of pairs never behind in segments sent", stats.mean(sent), near(1, 0.0)
        ),
        Statement.of(
            "share of pairs never behind in segments acknowledged", stats.mean(acked), near(1, 0.0)
        ),
        Statement.of("segments acknowledged behind at worst", stats.mean([max(deficits)])),
    ]
    for scheme in RIVALS:
        pairs = [(c, lead_seconds(traces, scheme, c)) for c in grid]
        pairs = [(c, seconds) for c, seconds in pairs if math.isfinite(seconds)]
        by_drops = stats.slope([c.drops for c, _ in pairs], [s / c.rtt_ms * 1000 for c, s in pairs])
        by_rtt = stats.slope([c.rtt_ms / 1000 for c, _ in pairs], [s for _, s in pairs])
        measures.append(_grows(f"RTT of lead more per further loss: {scheme}", by_drops))
        measures.append(_grows(f"s of lead more per s of RTT: {scheme}", by_rtt))
    return Claim(
        "C6",
        "For every number of drops the decoupled scheme's sequence number is never behind the"
        " others', and its lead grows with the number of drops and with the RTT.",
        measures,
        f"Behind is judged at every advance of the other, {SLACK * 1e3:.1f} ms (three ACKs)"
        f" granted; the lead is the time by which the other is later to have {BEYOND} segments"
        " past the last loss acknowledged. A slope grows if its whole interval is above 0.",
    )


def window_of_three(traces: Traces, small: list[Condition]) -> Claim:
    """C7."""
    ours = over(traces, "decoupled", small, lambda trace: trace.timeouts)
    rule = over(traces, "fack", small, lambda trace: trace.timeouts)
    helped = over(traces, "fack-limited-transmit", small, lambda trace: trace.timeouts)
    return Claim(
        "C7",
        "With a window of 3 and the first packet lost, counting duplicate ACKs with limited"
        " transmit recovers without a timeout; FACK's rule does not.",
        [
            Statement.of("timeouts of the decoupled scheme", ours, near(0, 0.0)),
            Statement.of("timeouts of FACK", rule, near(1, 0.0)),
            Statement.of("timeouts of FACK with limited transmit", helped),
        ],
        "The first window of a connection, three segments long, loses its first one; one run a"
        " RTT. FACK as published starts at fack - snd_una > 3 segments and sends nothing before:"
        " its timeout comes from that, not from its rule. With limited transmit (RFC 3042) two"
        " more segments leave and FACK recovers as well.",
    )


def lead_seconds(traces: Traces, scheme: str, condition: Condition) -> float:
    """How much later than the decoupled scheme `scheme` is past the losses, in s."""
    target = condition.first_drop + condition.drops - 1 + BEYOND
    return traces[scheme, condition].reaches(target) - traces["decoupled", condition].reaches(
        target
    )


def over(
    traces: Traces, scheme: str, conditions: list[Condition], value: Callable[[Trace], float]
) -> Estimate:
    """The mean of a trace's number over conditions."""
    return finite([value(traces[scheme, condition]) for condition in conditions])


def finite(samples: list[float]) -> Estimate:
    """The mean of the samples that exist; an event that never came has none, and n tells."""
    return stats.mean(sample for sample in samples if math.isfinite(sample))


def detection(trace: Trace) -> float:
    """The date of the detection."""
    return trace.detection


def _grows(quantity: str, slope: Estimate) -> Statement:
    return Statement.of(quantity, slope, at_least(0))
