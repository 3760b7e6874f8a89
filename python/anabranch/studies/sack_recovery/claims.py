"""The paper's claims, each computed from the traces of the runs.

Runs are scripted: nothing is random. As published is the paper's own case (or its own numbers of
drops), the grid moves the first drop and the RTT. A margin is half a round or half a segment,
because claims speak in whole ones. "RTT" is the round trip that the run itself measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from anabranch import stats
from anabranch.stats import Exact
from anabranch.studies.sack_recovery.conditions import Condition, paper_case, paper_conditions
from anabranch.studies.sack_recovery.repair import beside_fack
from anabranch.studies.sack_recovery.trace import Trace, worst_deficit
from anabranch.verdicts import Claim, Statement, at_most, more, near

Traces = Mapping[tuple[str, Condition], Trace]

HALF = 0.5
"""Claims speak of whole rounds and segments."""
ONE = 1
"""Segment by which a date between two departures may be behind."""
GROWS = 0.1
"""Of a round trip for each further loss, or of a second for each second of RTT: a tenth of what a
round costs."""
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
    return [
        newreno(traces, grid),
        sack(traces, grid),
        fack(traces, grid),
        decoupled(traces, grid),
        entry(traces, grid),
        lead(traces, grid),
        window_of_three(traces, small),
        as_soon_as_fack(traces),
    ]


def both(
    grid: list[Condition], state: Callable[[list[Condition]], list[Statement]]
) -> tuple[list[Statement], list[Statement]]:
    """Statements about seven drops: in the paper's case, and over our grid."""
    seven = [condition for condition in grid if condition.drops == PUBLISHED_DROPS]
    return state([paper_case()]), state(seven)


def newreno(traces: Traces, grid: list[Condition]) -> Claim:
    """C1."""

    def state(at: list[Condition]) -> list[Statement]:
        recovery = over(traces, "newreno", at, lambda trace: trace.recovery_rtts)
        impatient = over(traces, "newreno-impatient", at, lambda trace: trace.timeouts)
        return [
            Statement.of(
                "RTTs from detection until all seven losses are acknowledged",
                recovery,
                near(7, HALF),
            ),
            Statement.of("timeouts of the impatient variant, seven losses", impatient),
        ]

    published, over_grid = both(grid, state)
    repair = stats.slope(
        [condition.drops for condition in grid],
        [traces["newreno", condition].recovery_rtts for condition in grid],
    )
    more_each = Statement.of(
        "additional RTTs in recovery for each further loss (slope)",
        Exact.mean_of([repair.mean]),
        near(1, 0.1),
    )
    return Claim(
        "C1",
        "NewReno repairs one hole per RTT: it leaves recovery about 7 RTT after seven drops.",
        published,
        "Slow-but-steady variant: every partial ACK restarts the timer, as in the paper.",
        grid=[*over_grid, more_each],
        source="§3, figures 5(a) and 6: segments 24 to 30",
    )


def sack(traces: Traces, grid: list[Condition]) -> Claim:
    """C2."""

    def state(at: list[Condition]) -> list[Statement]:
        return [
            Statement.of(
                "round trips in which seven losses are retransmitted, pipe of ns-2's older code",
                over(traces, "sack", at, lambda trace: trace.repair_rounds),
                near(3, HALF),
            ),
            Statement.of(
                "RTTs from detection until the window grows again, pipe of ns-2's older code",
                over(traces, "sack", at, lambda trace: trace.frozen_rtts),
                near(4, HALF),
            ),
            Statement.of(
                "round trips in which seven losses are retransmitted, pipe of RFC 6675",
                over(traces, "sack-rfc6675", at, lambda trace: trace.repair_rounds),
            ),
            Statement.of(
                "RTTs from detection until the window grows again, pipe of RFC 6675",
                over(traces, "sack-rfc6675", at, lambda trace: trace.frozen_rtts),
            ),
        ]

    published, over_grid = both(grid, state)
    return Claim(
        "C2",
        "SACK repairs the seven holes in three rounds and spends about 4 RTT in recovery.",
        published,
        "It rests on the pipe rule of ns-2's older code (pipe = cwnd - 3 at the detection), the one"
        " that the paper's figures show. SACK as RFC 6675 has it needs fewer rounds: beside it.",
        grid=over_grid,
        source="§3, figures 5(b) and 6",
    )


def fack(traces: Traces, grid: list[Condition]) -> Claim:
    """C3."""

    def state(at: list[Condition]) -> list[Statement]:
        early = over(traces, "fack", at, lambda trace: trace.new_before_detection)
        return [
            Statement.of(
                "round trips in which seven losses are retransmitted",
                over(traces, "fack", at, lambda trace: trace.repair_rounds),
                near(1, HALF),
            ),
            Statement.of(
                "new segments sent between the first duplicate ACK and the trigger",
                early,
                near(0, HALF),
            ),
            Statement.of(
                "new segments sent between the first duplicate ACK and the trigger, NewReno with"
                " limited"
                " transmit",
                over(traces, "newreno", at, lambda trace: trace.new_before_detection),
            ),
        ]

    published, over_grid = both(grid, state)
    return Claim(
        "C3",
        "FACK resends all holes at once, but sends no new data on the duplicate ACKs before"
        " its trigger.",
        published,
        "Taken literally, at once means one round. The halved window of about 5.7 has no room"
        " for seven segments, so some holes wait for the next round; it is still fewer rounds"
        " than SACK needs.",
        grid=over_grid,
        source="§3, figure 5(c)",
    )


def decoupled(traces: Traces, grid: list[Condition]) -> Claim:
    """C4."""

    def state(at: list[Condition]) -> list[Statement]:
        growth = Exact.of(
            stats.slope(range(TURNS), traces["decoupled", condition].turns[:TURNS]).mean
            for condition in at
        )

        def turn(index: int) -> Exact:
            return over(traces, "decoupled", at, lambda trace: trace.turns[index])

        return [
            Statement.of(
                "segments sent in the round trip of the detection", turn(0), near(5, HALF)
            ),
            Statement.of("segments sent in the next round trip", turn(1), near(6, HALF)),
            Statement.of(
                f"additional segments in each round trip, over {TURNS} round trips",
                growth,
                near(1, 0.25),
            ),
        ]

    published, over_grid = both(grid, state)
    return Claim(
        "C4",
        "The decoupled scheme sends 5 segments in the turn of the detection, then 6, then one"
        " more each RTT.",
        published,
        "Turns are groups of departures with more than a quarter of an RTT between them. With the"
        " first drop elsewhere in the window, fewer duplicate ACKs follow the detection.",
        grid=over_grid,
        source="§3, figure 5(d)",
    )


def entry(traces: Traces, grid: list[Condition]) -> Claim:
    """C5."""

    def state(at: list[Condition]) -> list[Statement]:
        def later(scheme: str, reference: Callable[[Trace], float]) -> Exact:
            samples = []
            for condition in at:
                ours, theirs = traces["decoupled", condition], traces[scheme, condition]
                samples.append((theirs.growth_after_recovery - reference(ours)) / ours.rtt)
            return Exact.of(samples)

        judged = [
            Statement.of(
                f"RTTs by which {scheme} enters congestion avoidance after the decoupled scheme",
                later(scheme, lambda trace: trace.second_turn),
                near(rounds, HALF),
            )
            for scheme, rounds in zip(RIVALS, (6, 3, 1), strict=True)
        ]
        judged.append(
            Statement.of(
                "RTTs by which sack with the pipe of RFC 6675 enters congestion avoidance after the"
                " decoupled scheme",
                later("sack-rfc6675", lambda trace: trace.second_turn),
            )
        )
        return judged + [
            Statement.of(
                f"RTTs from detection until {scheme} enters congestion avoidance",
                later(scheme, detection),
            )
            for scheme in (*RIVALS, "sack-rfc6675")
        ]

    published, over_grid = both(grid, state)
    return Claim(
        "C5",
        "Congestion avoidance is entered later than by the decoupled scheme: by about 6 RTT"
        " (NewReno), 3 RTT (SACK), 1 RTT (FACK).",
        published,
        "Others enter with the first growth of the window at or after the ACK of all losses. The"
        " decoupled scheme is counted from the first full turn after the detection, the reading"
        " that gives the paper's numbers; counted from the detection itself all are one RTT more."
        " SACK's number rests on the pipe of ns-2's older code, see C2.",
        grid=over_grid,
        source="§3, figure 6",
    )


def as_soon_as_fack(traces: Traces) -> Claim:
    """C8."""
    later = [each.later for each in beside_fack(traces, paper_conditions())]
    (own,) = beside_fack(traces, [paper_case()])
    return Claim(
        "C8",
        "The decoupled scheme has repaired all holes about as soon as FACK.",
        [
            Statement.of(
                "RTTs by which the decoupled scheme completes recovery after FACK, seven drops",
                Exact.of([own.later]),
                near(0, HALF),
            )
        ],
        "From the first duplicate ACK to the ACK of the last hole, less that of FACK.",
        grid=[
            Statement.of(
                "RTTs by which the decoupled scheme completes recovery after FACK, 1 to 8 drops",
                Exact.of(later),
                near(0, HALF),
            )
        ],
        source="§3, figures 5(c) and 5(d)",
    )


def lead(traces: Traces, grid: list[Condition]) -> Claim:
    """C6."""

    def never_behind(at: list[Condition]) -> list[Statement]:
        statements = []
        for scheme in (*RIVALS, "sack-rfc6675"):
            for what, acked in (("sent", False), ("acknowledged", True)):
                behind = Exact.of(
                    worst_deficit(traces["decoupled", c], traces[scheme, c], SLACK, acked=acked)
                    for c in at
                )
                name = (
                    f"largest number of segments {what} by which the decoupled scheme is behind"
                    f" {scheme}"
                )
                rule = at_most(0, ONE) if scheme in RIVALS else None
                statements.append(Statement.of(name, behind, rule, minor=acked))
        return statements

    def grows(at: list[Condition], by_rtt: bool) -> list[Statement]:
        statements = []
        for scheme in RIVALS:
            pairs = [(c, lead_seconds(traces, scheme, c)) for c in at]
            pairs = [(c, seconds) for c, seconds in pairs if math.isfinite(seconds)]
            by_drops = stats.slope(
                [c.drops for c, _ in pairs], [s / c.rtt_ms * 1000 for c, s in pairs]
            )
            name = f"RTTs by which the lead over {scheme} grows with each further loss"
            statements.append(Statement.of(name, Exact.mean_of([by_drops.mean]), more(0, by=GROWS)))
            if by_rtt:
                slope = stats.slope([c.rtt_ms / 1000 for c, _ in pairs], [s for _, s in pairs])
                name = f"seconds by which the lead over {scheme} grows with each second of RTT"
                statements.append(
                    Statement.of(name, Exact.mean_of([slope.mean]), more(0, by=GROWS))
                )
        return statements

    own = paper_conditions()
    return Claim(
        "C6",
        "For every number of drops the decoupled scheme's sequence number is never behind the"
        " others', and its lead grows with the number of drops and with the RTT.",
        [*never_behind(own), *grows(own, by_rtt=False)],
        f"Behind is judged at every advance of the other, {SLACK * 1e3:.1f} ms (three ACKs)"
        f" granted; figure 7 shows what was sent. The lead is the time by which the other is later"
        f" to have {BEYOND} segments past the last loss acknowledged; it grows by at least"
        f" {GROWS:g}.",
        grid=[*never_behind(grid), *grows(grid, by_rtt=True)],
        source="§3, figure 7: 1, 2, 3, 6, 7 and 8 drops",
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
        source="§2, what is said of FACK's detection",
    )


def lead_seconds(traces: Traces, scheme: str, condition: Condition) -> float:
    """How much later than the decoupled scheme `scheme` is past the losses, in s."""
    target = condition.first_drop + condition.drops - 1 + BEYOND
    return traces[scheme, condition].reaches(target) - traces["decoupled", condition].reaches(
        target
    )


def over(
    traces: Traces, scheme: str, conditions: list[Condition], value: Callable[[Trace], float]
) -> Exact:
    """A trace's number in each condition; an event that never came has none."""
    return Exact.of(value(traces[scheme, condition]) for condition in conditions)


def detection(trace: Trace) -> float:
    """The date of the detection."""
    return trace.detection
