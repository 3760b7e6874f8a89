"""What the paper leaves open, as statements that the batches decide.

The paper asks for these experiments and predicts little; where it does not, the
statement compares `decoupled` with a rival, replication by replication under the
same draws. A difference is judged by its whole 95 % interval.
"""

from __future__ import annotations

from anabranch import stats
from anabranch.stats import Estimate
from anabranch.studies.sack_recovery.further import measures as m
from anabranch.studies.sack_recovery.further.conditions import Batch, plan
from anabranch.verdicts import Claim, Statement, at_least, at_most

OURS = "decoupled"
RIVAL = "sack"
TODAY = "rack"
FAIR = 0.95
"""Jain's index below which shares are called uneven."""
HARM = 0.1
"""Share of its goodput that a neighbour may lose."""


def judge(batches: m.Batches) -> list[Claim]:
    """All statements, in the order of plan.toml."""
    return [
        _trigger(batches),
        _needless(batches),
        _losses(batches, "N3", "random", "random loss of rate", "p"),
        _losses(batches, "N4", "bursts", "loss in bursts of mean length", "length"),
        _tail(batches),
        _short(batches),
        _fairness(batches),
        _friendliness(batches),
        _today(batches),
    ]


def _over(batches: m.Batches, part: str, scheme: str, level: float = 0.0) -> list[Batch]:
    return sorted(
        b for b in batches if (b.part, b.scheme, b.level, b.other) == (part, scheme, level, "")
    )


def _pairs(
    batches: m.Batches, part: str, rival: str, level: float = 0.0
) -> list[tuple[Batch, Batch]]:
    ours, theirs = (_over(batches, part, scheme, level) for scheme in (OURS, rival))
    return list(zip(ours, theirs, strict=True))


def _change(batches: m.Batches, pairs: list[tuple[Batch, Batch]], metric: m.Metric) -> Estimate:
    """Share by which ours is more, over all conditions, replication by replication."""
    return stats.mean(
        metric(a) / metric(b) - 1
        for ours, theirs in pairs
        for a, b in zip(batches[ours], batches[theirs], strict=True)
    )


def _trigger(batches: m.Batches) -> Claim:
    p = plan()["reordering"]["shown"]
    pairs = _pairs(batches, "reordering", "reno", p)
    differences = [
        m.reductions(a) - m.reductions(b)
        for ours, theirs in pairs
        for a, b in zip(batches[ours], batches[theirs], strict=True)
    ]
    measures = [
        Statement.of(
            "halvings per 1000 segments more than Reno's", stats.mean(differences), at_most(0)
        ),
        *(
            Statement.of(
                f"the same at distance {ours.x:g}",
                m.against(batches, ours, theirs, m.reductions),
                at_most(0),
            )
            for ours, theirs in pairs
        ),
    ]
    return Claim(
        "N1",
        "Detection counts duplicate ACKs, so that reordering triggers it no earlier than Reno.",
        measures,
        f"{p:.0%} of the packets are held back by so many packet times; nothing is lost, so every"
        " halving is needless.",
    )


def _needless(batches: m.Batches) -> Claim:
    p = plan()["reordering"]["shown"]
    ours = _over(batches, "reordering", OURS, p)
    measures = []
    for rival in ("reno", "sack", "fack"):
        theirs = _over(batches, "reordering", rival, p)
        differences = [
            m.needless(a) - m.needless(b)
            for x, y in zip(ours, theirs, strict=True)
            for a, b in zip(batches[x], batches[y], strict=True)
        ]
        quantity = f"needless retransmissions per 1000 segments more than {rival}"
        measures.append(Statement.of(quantity, stats.mean(differences), at_most(0)))
    return Claim(
        "N2",
        "Under reordering it retransmits less needlessly than Reno, SACK and FACK.",
        measures,
        "Over all distances. A hole is resent only when the window has room, and often it has"
        " arrived by then.",
    )


def _losses(batches: m.Batches, name: str, part: str, text: str, symbol: str) -> Claim:
    pairs = _pairs(batches, part, RIVAL)
    measures = [
        Statement.of(
            f"change of goodput against {RIVAL}", _change(batches, pairs, m.goodput), at_least(0)
        ),
        *(
            Statement.of(
                f"Mbit/s more than {RIVAL}, {symbol} = {ours.x:g}",
                m.against(batches, ours, theirs, m.goodput),
                at_least(0),
            )
            for ours, theirs in pairs
        ),
    ]
    return Claim(
        name,
        f"Under {text} {symbol} its goodput is not below SACK's.",
        measures,
        "Ten megabit per second, RTT 100 ms, a buffer of one bandwidth-delay product.",
    )


def _tail(batches: m.Batches) -> Claim:
    ours, theirs = _over(batches, "tail", OURS), _over(batches, "tail", RIVAL)
    differences = [
        m.completion(batches[a][0]) - m.completion(batches[b][0])
        for a, b in zip(ours, theirs, strict=True)
    ]
    times = [m.timeouts(batches[a][0]) for a in ours]
    return Claim(
        "N5",
        "When the last segments of a transfer are lost it takes no longer than SACK.",
        [
            Statement.of("s longer than sack", stats.mean(differences), at_most(0)),
            Statement.of("timeouts per transfer", stats.mean(times)),
        ],
        f"The last {', '.join(f'{b.x:g}' for b in ours)} of {plan()['tail']['segments']} segments;"
        " nothing random. No duplicate ACK tells of a lost tail: only a probe (RFC 8985) would.",
    )


def _short(batches: m.Batches) -> Claim:
    pairs = _pairs(batches, "short", RIVAL)
    measures = [
        Statement.of(
            f"change of time against {RIVAL}", _change(batches, pairs, m.completion), at_most(0)
        ),
        *(
            Statement.of(
                f"s longer than {RIVAL}, {ours.x:g} segments",
                m.against(batches, ours, theirs, m.completion),
                at_most(0),
            )
            for ours, theirs in pairs
        ),
    ]
    return Claim(
        "N6",
        "Short transfers under 2 % random loss end no later than with SACK.",
        measures,
        "Time from the start to the last octet at the receiver.",
    )


def _fairness(batches: m.Batches) -> Claim:
    measures = []
    for batch in _over(batches, "fairness", OURS):
        index = m.estimate(batches, batch, m.jain)
        measures.append(Statement.of(f"Jain's index of {batch.x:g} flows", index, at_least(FAIR)))
    for batch in _over(batches, "fairness", RIVAL):
        index = m.estimate(batches, batch, m.jain)
        measures.append(Statement.of(f"the same, {RIVAL}", index))
    return Claim(
        "N7",
        f"Flows of the scheme share a bottleneck evenly: Jain's index is at least {FAIR}.",
        measures,
        "Goodput over two minutes, starts spread over a second.",
    )


def _friendliness(batches: m.Batches) -> Claim:
    measures = []
    pairs = sorted(b for b in batches if b.part == "friendliness" and b.scheme == OURS)
    for batch in pairs:
        window = " with CUBIC" if batch.level else ""
        alike = Batch("friendliness", batch.other, batch.x, batch.level, batch.other)
        alone = m.estimate(batches, alike, m.left_to_others).mean
        lost = m.against(batches, alike, batch, m.left_to_others).scaled(1 / alone)
        quantity = f"share of its goodput that {batch.other}{window} loses"
        measures.append(Statement.of(quantity, lost, at_most(HARM)))
    return Claim(
        "N8",
        f"Flows of other schemes lose at most {HARM:.0%} of their goodput beside it.",
        measures,
        "Five flows beside five, compared with what the same flows get when their neighbours run"
        " their own scheme (harm, Ware et al. 2019). Windows are Reno's but where CUBIC is named:"
        " there the neighbours of the comparison have SACK and Reno's window.",
    )


def _today(batches: m.Batches) -> Claim:
    shown = plan()["reordering"]["shown"]
    more, less = at_least(0), at_most(0)
    reordered = f"goodput, {shown:.0%} of packets reordered"
    gains = [
        (reordered, "reordering", shown, m.goodput, more),
        ("goodput, random loss", "random", 0.0, m.goodput, more),
        ("goodput, loss in bursts", "bursts", 0.0, m.goodput, more),
        ("time, tail lost", "tail", 0.0, m.completion, less),
        ("time, short transfers", "short", 0.0, m.completion, less),
    ]
    measures = []
    for text, part, level, metric, judged in gains:
        change = _change(batches, _pairs(batches, part, TODAY, level), metric)
        measures.append(Statement.of(f"{text}: change against {TODAY}", change, judged))
    return Claim(
        "N9",
        "It is worth deploying today: under none of these conditions worse than RACK-TLP with PRR.",
        measures,
        "Shares, over all conditions of each kind, replication by replication.",
    )
