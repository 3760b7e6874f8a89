"""What the paper leaves open, as statements that the batches decide.

The paper asks for these experiments and predicts little; where it does not, the
statement compares `decoupled` with a rival, replication by replication under the
same draws.
"""

from __future__ import annotations

from anabranch.stats import Exact, Sample
from anabranch.studies.sack_recovery.further import measures as m
from anabranch.studies.sack_recovery.further.conditions import BLOCK, Batch, plan
from anabranch.verdicts import Claim, Statement, at_least, at_most, less, near

OURS = "decoupled"
RIVAL = "sack"
TODAY = "rack"
FAIR = 0.95
"""Jain's index below which shares are called uneven."""
HARM = 0.1
"""Share of its goodput that a neighbour may lose."""
MARGIN = 0.02
"""Share of goodput, or of time, that nobody would miss."""
SHORT = 0.05
"""The same of a short transfer, whose user waits for round trips and timeouts."""
HALVINGS = 0.5
"""Per 1000 segments: a window halved once more in some seconds is no other behaviour."""
SPURIOUS = 0.2
"""Retransmissions per 1000 segments: a fiftieth of a per cent of what is sent."""


def judge(batches: m.Batches) -> list[Claim]:
    """All statements, in the order of plan.toml."""
    return [
        _trigger(batches),
        _spurious(batches),
        _losses(batches, "N3", "random", "random loss of rate", "p"),
        _losses(batches, "N4", "bursts", "loss in bursts of mean length", "length"),
        _tail(batches),
        _short(batches),
        _fairness(batches),
        _friendliness(batches),
        _today(batches),
    ]


def _trigger(batches: m.Batches) -> Claim:
    p = plan()["reordering"]["shown"]
    statements = [
        Statement.of(
            "additional window halvings per 1000 segments over Reno, reordering distance"
            f" {ours.x:g}",
            m.sample(batches, ours, m.reductions) - m.sample(batches, theirs, m.reductions),
            near(0, HALVINGS),
        )
        for ours, theirs in m.pairs(batches, "reordering", OURS, "reno", p)
    ]
    return Claim(
        "N1",
        "Detection counts duplicate ACKs, so that reordering triggers it no earlier than Reno.",
        statements,
        f"{p:.0%} of the packets are held back by so many packet times; nothing is lost, so every"
        " halving is spurious. That the first detection comes at the very same ACK is a test of the"
        " engine (`connection/tests/decoupled/trigger.rs`); later ones depend on what was sent.",
    )


def _spurious(batches: m.Batches) -> Claim:
    p = plan()["reordering"]["shown"]
    statements = []
    for rival in ("reno", "sack", "fack"):
        differences = [
            m.sample(batches, ours, m.spurious) - m.sample(batches, theirs, m.spurious)
            for ours, theirs in m.pairs(batches, "reordering", OURS, rival, p)
        ]
        quantity = f"additional spurious retransmissions per 1000 segments over {rival}"
        statements.append(Statement.of(quantity, Sample.across(differences), less(0, by=SPURIOUS)))
    return Claim(
        "N2",
        "Under reordering it makes fewer spurious retransmissions than Reno, SACK and FACK.",
        statements,
        "Mean over all distances. A hole is resent only when the window has room, and often it has"
        " arrived by then.",
    )


def _losses(batches: m.Batches, name: str, part: str, text: str, symbol: str) -> Claim:
    statements = [
        Statement.of(
            f"relative change of goodput against {RIVAL}, {symbol} = {ours.x:g}",
            m.change(batches, [ours], RIVAL, m.goodput),
            at_least(0, MARGIN),
        )
        for ours in m.conditions(batches, part, OURS)
    ]
    return Claim(
        name,
        f"Under {text} {symbol} its goodput is not below SACK's.",
        statements,
        "Ten megabit per second, RTT 100 ms, a buffer of one bandwidth-delay product.",
    )


def _tail(batches: m.Batches) -> Claim:
    lost = m.conditions(batches, "tail", OURS)
    times = [m.sample(batches, ours, m.timeouts).estimate.mean for ours in lost]
    return Claim(
        "N5",
        "When the last segments of a transfer are lost it takes no longer than SACK.",
        [
            Statement.of(
                f"relative change of completion time against {RIVAL}, last {ours.x:g} segments"
                " lost",
                m.change(batches, [ours], RIVAL, m.completion),
                at_most(0, MARGIN),
            )
            for ours in lost
        ]
        + [Statement.of("timeouts per transfer", Exact.of(times))],
        f"The last {', '.join(f'{b.x:g}' for b in lost)} of {plan()['tail']['segments']} segments;"
        " nothing random. No duplicate ACK tells of a lost tail: only a probe (RFC 8985) would.",
    )


def _short(batches: m.Batches) -> Claim:
    statements = [
        Statement.of(
            f"relative change of completion time against {RIVAL}, {ours.x:g} segments",
            m.change(batches, [ours], RIVAL, m.completion),
            at_most(0, SHORT),
        )
        for ours in m.conditions(batches, "short", OURS)
    ]
    return Claim(
        "N6",
        "Short transfers under 2 % random loss end no later than with SACK.",
        statements,
        f"Time from the start to the last octet at the receiver, the mean of {BLOCK} transfers in"
        " each replication.",
    )


def _fairness(batches: m.Batches) -> Claim:
    statements = [
        Statement.of(
            f"Jain's index of {batch.x:g} flows with {OURS}",
            m.sample(batches, batch, m.jain).within(0, 1),
            at_least(FAIR),
        )
        for batch in m.conditions(batches, "fairness", OURS)
    ]
    statements += [
        Statement.of(
            f"Jain's index of {batch.x:g} flows with {RIVAL}",
            m.sample(batches, batch, m.jain).within(0, 1),
        )
        for batch in m.conditions(batches, "fairness", RIVAL)
    ]
    return Claim(
        "N7",
        f"Flows of the scheme share a bottleneck evenly: Jain's index is at least {FAIR}.",
        statements,
        "Goodput over two minutes, starts spread over a second.",
    )


def _friendliness(batches: m.Batches) -> Claim:
    statements = []
    beside = sorted(b for b in batches if b.part == "friendliness" and b.scheme == OURS)
    for batch in beside:
        window = " with CUBIC" if batch.level else ""
        alike = Batch("friendliness", batch.other, batch.x, batch.level, batch.other)
        lost = m.sample(batches, batch, m.left_to_others).change_from(
            m.sample(batches, alike, m.left_to_others)
        )
        quantity = f"share of their goodput that {batch.other} flows{window} lose beside {OURS}"
        statements.append(Statement.of(quantity, lost * -1.0, at_most(HARM)))
    return Claim(
        "N8",
        f"Flows of other schemes lose at most {HARM:.0%} of their goodput beside it.",
        statements,
        "Five flows beside five, compared with what the same flows get when their neighbours run"
        " their own scheme (harm, Ware et al. 2019). Windows are Reno's but where CUBIC is named:"
        " there the neighbours of the comparison have SACK and Reno's window.",
    )


def _today(batches: m.Batches) -> Claim:
    shown = plan()["reordering"]["shown"]
    no_less, no_more = at_least(0, MARGIN), at_most(0, MARGIN)
    gains = [
        (f"goodput, {shown:.0%} of packets reordered", "reordering", shown, m.goodput, no_less),
        ("goodput, random loss", "random", 0.0, m.goodput, no_less),
        ("goodput, loss in bursts", "bursts", 0.0, m.goodput, no_less),
        ("completion time, tail lost", "tail", 0.0, m.completion, no_more),
        ("completion time, short transfers", "short", 0.0, m.completion, no_more),
    ]
    statements = [
        Statement.of(
            f"relative change of {text}, against {TODAY}",
            m.change(batches, m.conditions(batches, part, OURS, level), TODAY, metric),
            rule,
        )
        for text, part, level, metric, rule in gains
    ]
    return Claim(
        "N9",
        "It is worth deploying today: under none of these conditions worse than RACK-TLP with PRR.",
        statements,
        "Shares: the mean over all conditions of each kind, replication by replication.",
    )
