"""Claims C5 to C9 of the paper: a router that delays ACKs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from anabranch.experiment import RunResult
from anabranch.stats import Sample
from anabranch.studies.fast_tcp.router import measures as m
from anabranch.studies.fast_tcp.router.conditions import SCALED, Run, plan, reading
from anabranch.studies.fast_tcp.router.found import Found, Metric, Pair, alone, over
from anabranch.verdicts import Claim, Rule, Statement, at_least, at_most, less, near

WITH, WITHOUT = 10.8, 3.5
"""Megabytes acknowledged after 25 s, with and without Fast-TCP, as published."""
RATIO_MARGIN = 0.6
"""A fifth of the published ratio: senders of one name differ by so much between simulators."""
OCTETS = 0.15
"""The same of numbers that are printed with two digits, as a share."""
GREATLY = 0.1
"""A gain below a tenth is not a great one, whatever the word was meant to say."""
FEWER = 0.1
"""Losses, bursts and queues that differ by less than a tenth are alike."""
PREVENTED = 0.1
"""Overflow is prevented if a tenth or less of it is left."""
FULL, ALIKE = 0.95, 0.05
"""The part of the buffer from which on it counts as full; the part that makes no difference."""
RTT = 0.264
OLD = ("reno", "newreno", "sack")
"""Senders of the paper's time, the most probable first: it names none, and simulators of that time
had Reno."""
SENDERS = (*OLD, "modern", "bbr")
READINGS = {
    "literal": "bit errors of 1e-6, segments of 1460, Reno",
    "atm": "bit errors of 1e-6, segments of 9140, SACK",
    "threshold": "no bit errors, NewReno, 400 packets, thresholds",
    "bucket": "bit errors of 1e-7, Reno, 50 packets, ACK bucket",
}
BOTH = "plain, Fast-TCP"
CHOSEN = {"literal": "", "atm": "plain", "threshold": BOTH, "bucket": BOTH}
"""By which numbers of figure 3.2 a reading was chosen: what it was chosen by cannot confirm it."""
FILLED = ("threshold", "bucket")
"""Readings in which a buffer fills at all: those under which both numbers come out nearest."""
LAWS = {"fast-tcp": "thresholds", "ack-bucket": "ACK bucket"}


def judge_counted(found: Found) -> list[Claim]:
    """Those that counters of runs decide."""
    return [_throughput(found), _overflows(found), _mostly(found)]


def judge_seen(seen: Found) -> list[Claim]:
    """Those that need series."""
    return [_smooth(seen), _bursts(seen)]


def _pair(name: str) -> Pair:
    return reading(name, "fast-tcp"), reading(name, "plain")


def _throughput(found: Found) -> Claim:
    statements = []
    for name, text in READINGS.items():
        ours, plain = _pair(name)
        if ours not in found or plain not in found:
            continue
        judged = [
            (
                "Fast-TCP",
                "data acknowledged in 25 s, Fast-TCP divided by plain",
                found.change(ours, plain) + 1,
                _published(),
            ),
            (
                "Fast-TCP",
                "data acknowledged in 25 s in MB, Fast-TCP",
                found.sample(ours, m.megabytes),
                _octets(WITH),
            ),
            (
                "plain",
                "data acknowledged in 25 s in MB, plain",
                found.sample(plain, m.megabytes),
                _octets(WITHOUT),
            ),
        ]
        statements += [
            Statement.of(f"{quantity}, {text}", alone(sample), None if by in CHOSEN[name] else rule)
            for by, quantity, sample, rule in judged
        ]
        statements += [
            Statement.of(
                f"packets lost to {cause}, plain, {text}", alone(found.sample(plain, metric))
            )
            for cause, metric in (("bit errors", m.corrupted), ("overflow", m.overflows))
        ]
    return Claim(
        "C5",
        "After 25 s 10.8 million octets are acknowledged with Fast-TCP, 3.5 million without.",
        statements,
        "At the published 1e-6 losses by bit errors hold the window so low that the buffer never"
        " fills: with Reno over Ethernet to about 12 segments. The number without Fast-TCP comes"
        " out with segments of IP over ATM and SACK, and there both routers see the same packets."
        " The pair comes out with a thirtieth of the published bit errors or fewer"
        " (docs/forensics.md): readings that were chosen by both numbers are reported, not judged.",
        grid=_ratios(found),
        source="Section 3.1, figure 3.2: one connection, 30 Mbit/s, 130 ms, bit errors of 1e-6, at"
        " 25 s; sender, segments, window, buffer and delay law are not named.",
    )


def _octets(published: float) -> Rule:
    return near(published, round(OCTETS * published, 2))


def _published() -> Rule:
    return near(round(WITH / WITHOUT, 2), RATIO_MARGIN)


def _swept(found: Found, sender: str, errors: bool, law: str = "fast-tcp") -> list[Pair]:
    """Both routers under the law's usual parameters, one flow, with or without bit errors."""

    def kept(run: Run) -> bool:
        usual = run == run.with_router(run.router) and run.window == SCALED
        alone = run.flows == 1 and not run.cross
        return usual and alone and run.flavour == sender and bool(run.ber) == errors

    return found.pairs(kept, law)


def _where_it_overflows(
    found: Found, pairs: Sequence[Pair], of_changes: Callable[[NDArray[np.float64]], float]
) -> Sample:
    """A statistic, within each replication, of the changes of octets over those conditions in
    which the plain router's buffer overflows."""
    samples = [found.change(*pair) for pair in pairs]
    samples += [found.sample(plain, m.overflows) for _, plain in pairs]

    def statistic(row: NDArray[np.float64]) -> float:
        changes, overflows = np.split(row, 2)
        chosen = changes[overflows > 0]
        return float(of_changes(chosen)) if chosen.size else math.nan

    return Sample.across(samples, statistic).known()


def _ratios(found: Found) -> list[Statement]:
    statements = []
    for sender, (law, name) in itertools.product(OLD, LAWS.items()):
        if pairs := _swept(found, sender, errors=True, law=law):
            ratio = _where_it_overflows(
                found, pairs, lambda changes: math.exp(np.mean(np.log1p(changes)))
            )
            text = (
                "data acknowledged in 25 s, Fast-TCP divided by plain, geometric mean over"
                f" conditions in which the plain buffer overflows, {sender}, {name}"
            )
            statements.append(Statement.of(text, ratio, _published()))
    return statements


def _overflows(found: Found) -> Claim:
    statements = []
    for ours, plain, text in filled(found):
        lost, without = (found.sample(run, m.overflows) for run in (ours, plain))
        # No number where the plain router's buffer did not overflow.
        change = lost.change_from(without)
        statements += [
            Statement.of(
                f"relative change of packets lost to overflow, {text}",
                alone(change),
                less(0, FEWER),
            ),
            Statement.of(
                f"packets lost to overflow, Fast-TCP divided by plain, {text}",
                alone(change + 1),
                _prevented(),
            ),
            Statement.of(f"packets lost to overflow, plain, {text}", alone(without)),
        ]
    grid = []
    for sender, errors, (law, name) in itertools.product(SENDERS, (False, True), LAWS.items()):
        changes = [
            _relative(found.sample(a, m.overflows), found.sample(b, m.overflows))
            for a, b in _swept(found, sender, errors, law)
        ]
        if changes:
            where = f"{sender}, {name}, {'bit errors' if errors else 'no bit errors'}"
            text = (
                "packets lost to overflow, Fast-TCP minus plain divided by the larger of both,"
                f" {where}"
            )
            grid.append(Statement.of(text, over(changes), less(0, FEWER)))
    return Claim(
        "C6",
        "Fast-TCP prevents overflow: fewer packets are lost in router 1's forward buffer.",
        statements,
        "At the published bit errors nothing overflows that could be prevented. Thresholds make"
        " room for 30 Mbit/s times the longest delay once, and a window that grows fills that room"
        " too; a bucket keeps what it holds out of the buffer for good.",
        grid=grid,
        source="Section 3: prevents packet loss effectively; figure 3.3. Read with the bit errors"
        " under which a buffer fills.",
    )


def filled(found: Found) -> list[tuple[Run, Run, str]]:
    """Readings in which a buffer fills: with Fast-TCP, without, in words."""
    pairs = [(*_pair(name), READINGS[name]) for name in FILLED]
    return [pair for pair in pairs if pair[0] in found and pair[1] in found]


def _prevented() -> Rule:
    return at_most(0, PREVENTED)


def _relative(ours: Sample, theirs: Sample) -> Sample:
    """Their difference over the larger, from -1 to 1; none where both are none."""
    return Sample.across(
        [ours, theirs], lambda row: float((row[0] - row[1]) / max(row[0], row[1], 1.0))
    )


def _mostly(found: Found) -> Claim:
    statements = []
    for sender, (law, name) in itertools.product(OLD, LAWS.items()):
        if pairs := _swept(found, sender, errors=True, law=law):
            part = _where_it_overflows(found, pairs, lambda each: float(np.mean(each >= GREATLY)))
            text = f"share of conditions in which Fast-TCP delivers at least 10 % more, {sender}"
            statements.append(Statement.of(f"{text}, {name}", part, at_least(0.5)))
    return Claim(
        "C9",
        "In most cases throughput grows greatly.",
        statements,
        "Over buffers, segments and bit errors, where the plain router's buffer overflows: at the"
        " published bit errors it hardly ever does.",
        source="Section 3; no operating point.",
    )


def _smooth(seen: Found) -> Claim:
    grid = []
    for sender in SENDERS:
        pairs = _swept(seen, sender, errors=False)
        for name, metric in SMOOTH.items():
            changes = [seen.change(*pair, metric) for pair in pairs]
            if changes:
                text = f"relative change of the {name}, {sender}, no bit errors"
                grid.append(Statement.of(text, over(changes), less(0, FEWER)))
    statements = [
        Statement.of(
            f"relative change of the {name}, {text}",
            alone(seen.change(ours, plain, metric)),
            less(0, FEWER),
        )
        for ours, plain, text in filled(seen)
        for name, metric in SMOOTH.items()
    ]
    return Claim(
        "C7",
        "Traffic is smoother with Fast-TCP.",
        statements,
        "Held ACKs leave together when the buffer drains, and the source answers in bursts. At the"
        " published bit errors both routers see the same packets.",
        grid=grid,
        source="Section 4, figure 3.3. Read with the bit errors under which a buffer fills.",
    )


SMOOTH: dict[str, Metric] = {
    "standard deviation of the buffer's occupancy": m.deviation_of_queue,
    "mean burst of the source": m.mean_burst,
}


def _fill(run: Run) -> Metric:
    """The mean occupancy that ACKs for a burst lead to; no number where there are none."""

    def read(result: RunResult) -> float:
        fills = m.fill_after_jumps(result, plan()["watch"]["jump"], run.buffer, RTT)
        return float(np.mean(fills)) if fills else math.nan

    return read


def _bursts(seen: Found) -> Claim:
    name = "highest buffer occupancy after a large cumulative ACK, share of the buffer"
    statements = []
    for ours, plain, text in filled(seen):
        fill, without = (seen.sample(run, _fill(run)) for run in (ours, plain))
        statements += [
            Statement.of(f"{name}, Fast-TCP, {text}", alone(fill), at_least(FULL)),
            Statement.of(
                f"{name}, plain minus Fast-TCP, {text}", alone(without - fill), at_most(0, ALIKE)
            ),
        ]
    grid = []
    for sender in SENDERS:
        pairs = _swept(seen, sender, errors=False)
        fills = [seen.sample(run, _fill(run)) for run, _ in pairs]
        if fills:
            text = f"{name}, Fast-TCP, {sender}, no bit errors"
            grid.append(Statement.of(text, over(fills), at_least(FULL)))
    return Claim(
        "C8",
        "One cumulative ACK for a whole burst opens the window at once; delaying it does not help,"
        " and the buffer overflows all the same.",
        statements,
        f"Highest occupancy in the round trip after an ACK for more than {plan()['watch']['jump']}"
        f" segments, one mean a run. Full: {FULL:.0%} of the buffer.",
        grid=grid,
        source="Section 3.1, figure 3.3, 18 to 20 s. Read with the bit errors under which a buffer"
        " fills.",
    )
