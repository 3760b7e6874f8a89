"""The paper's claims on two-way traffic, and what the closed form and the remedies add."""

from __future__ import annotations

from collections.abc import Mapping

from anabranch import stats
from anabranch.experiment import RunResult
from anabranch.studies.fast_tcp.two_way import measures
from anabranch.studies.fast_tcp.two_way.conditions import (
    BYTE_COUNTING,
    REMEDIES,
    Run,
    as_many_segments,
    grid,
    plan,
    shown,
)
from anabranch.studies.fast_tcp.two_way.measures import Values, back, compressed, estimate, forth
from anabranch.verdicts import Claim, Statement, at_least, near

Details = Mapping[str, RunResult]
"""The runs that figures show, by name."""

PUBLISHED = 2 / 3
"""Kalampoukas et al. 1998: two-way over one-way throughput at a window of one round trip."""


def judge(values: Values, details: Details, quick: bool) -> list[Claim]:
    """C1 to C4, then W1 to W3, which are ours."""
    return [
        _compression(values, details),
        _throughput(values, quick),
        _processing(values, quick),
        _unequal(values, quick),
        _closed_form(values, quick),
        _remedies(values),
        _byte_counting(values),
    ]


def _compression(values: Values, details: Details) -> Claim:
    channel = shown()["two-way"].channel()
    expected = channel.bunch / channel.work[0]
    both, alone = (estimate(values, Run("windows", 1, back), compressed) for back in (1, 0))
    lost = sum(value.lost for value in values.values())
    largest = float(measures.steady(shown()["two-way"], details["two-way"], "forth.bursts").max())
    return Claim(
        "C1",
        "ACK compression appears at the end systems although the network is rate controlled and"
        " lossless.",
        [
            Statement.of(
                "part of the ACKs that come compressed, windows of 1 round trip",
                both,
                near(round(expected, 3), 0.05),
            ),
            Statement.of("the same, one way", alone, near(0, 0.005)),
            Statement.of("packets lost in all runs", stats.mean([lost]), near(0, 0)),
            Statement.of("largest burst of data, packets", stats.mean([largest])),
        ],
        "Compressed: less than half a data packet's transmission time after the ACK before. The"
        " expected part is that of the closed form (docs/two-way.md), ACKs without a length.",
    )


def _throughput(values: Values, quick: bool) -> Claim:
    ratios = {}
    for w in grid("windows", "equal", quick):
        alone = estimate(values, Run("windows", w, 0), forth)
        ratios[w] = estimate(values, Run("windows", w, w), forth).scaled(1 / alone.mean)
    worst = min(ratios, key=lambda w: ratios[w].mean)
    judged = [
        Statement.of(
            f"two-way over one-way throughput, windows of {w:g} round trips",
            ratios[w],
            near(round(2 * w / (2 * w + 1), 4), 0.02),
        )
        for w in plan()["windows"]["judged"]
    ]
    return Claim(
        "C2",
        "Two-way throughput is below one-way throughput on the same channel; the loss is larger for"
        " windows near the bandwidth-delay product and disappears as windows grow.",
        [
            *judged,
            Statement.of(
                "window with the largest loss, round trips", stats.mean([worst]), near(1, 0)
            ),
            *(
                Statement.of(f"the same ratio at {w:g}", ratio)
                for w, ratio in ratios.items()
                if w not in plan()["windows"]["judged"]
            ),
        ],
        "66.67 % at a window of one round trip is the published figure. The ratio is 2w/(2w+1) from"
        " w = 1/2 on, over what one way gets; below 1/2 nothing is lost.",
    )


def _processing(values: Values, quick: bool) -> Claim:
    found = []
    for us in grid("processing", "us", quick):
        run = Run("processing", processing_us=us)
        ratio = estimate(values, run, forth).scaled(1 / run.channel().shares[0])
        name = f"throughput over closed form, {us:g} us a packet"
        found.append(Statement.of(name, ratio, near(1, 0.02)))
        part = estimate(values, run, compressed)
        text = f"part of the ACKs compressed, {us:g} us a packet"
        if us == 0:
            least = part.mean - 0.01
        found.append(Statement.of(text, part, at_least(round(least, 3))))
    return Claim(
        "C3",
        "The dynamics do not change when TCP processing time is not zero.",
        found,
        "The closed form takes processing for so much more delay. The processor compresses as well:"
        " data that come right behind a bunch of ACKs wait for it, and their ACKs leave as fast as"
        " it works.",
    )


def _unequal(values: Values, quick: bool) -> Claim:
    found = []
    for w in sorted(grid("windows", "unequal", quick), reverse=True):
        run = Run("unequal", w, 1.0)
        larger, smaller = (forth, back) if w > 1 else (back, forth)
        alone = run.channel().alone
        names = ("larger", "smaller")
        for name, measure in zip(names, (larger, smaller), strict=True):
            own = estimate(values, run, measure).scaled(1 / alone[measure is back])
            text = f"{name} window's throughput over its own one way, windows of {w:g} and 1"
            if name == "larger" and w != 1:
                found.append(Statement.of(text, own, at_least(0.97)))
            else:
                found.append(Statement.of(text, own))
    found.sort(key=lambda m: m.verdict is None)
    return Claim(
        "C4",
        "Unequal windows: the connection with the larger window keeps its throughput, the other"
        " pays.",
        found,
        "By the closed form the larger one keeps its line from a difference of a round trip on"
        " (2 beside 1), and the other gets the ratio of the windows. With less of a difference both"
        " pay: 1.5 beside 1 get 6/7 and 4/7.",
    )


def _closed_form(values: Values, quick: bool) -> Claim:
    rates = grid("rates", "reverse_mbps", quick)
    parts = [
        ("windows", [Run("windows", w, w) for w in grid("windows", "equal", quick)]),
        ("unequal windows", [Run("unequal", w, 1.0) for w in grid("windows", "unequal", quick)]),
        ("rates", [Run("rates", reverse_mbps=r) for r in rates]),
        ("rates, as many segments", [as_many_segments(r) for r in rates]),
        ("delays", [Run("delay", round_trip_ms=t) for t in grid("delay", "round_trip_ms", quick)]),
        ("segments", [Run("segment", mss=int(m)) for m in grid("segment", "mss", quick)]),
    ]
    found = []
    for name, runs in parts:
        errors = [
            abs(estimate(values, run, measure).mean / share - 1)
            for run in runs
            for measure, share in zip((forth, back), run.channel().shares, strict=True)
        ]
        text = f"largest error of a share, {name}"
        found.append(Statement.of(text, stats.mean([max(errors)]), near(0, 0.02)))
    return Claim(
        "W1",
        "Both throughputs are those of equation (1) of docs/two-way.md, whatever windows, rates,"
        " delay and segments are.",
        found,
        "Relative. Runs are cut off within a cycle, of which there are 200; over whole cycles the"
        " tests find 0.1 %.",
    )


def _remedies(values: Values) -> Claim:
    found = []
    for remedy in [it for it in REMEDIES if it not in ("fifo", BYTE_COUNTING)]:
        for w in plan()["remedies"]["windows"]:
            run = Run("remedies", w, w, remedy=remedy)
            # The other direction's ACKs take their part of the line.
            channel = run.channel()
            beside_acks = channel.work[0] + channel.windows[1] * channel.ack[0]
            most = min(channel.alone[0], channel.work[0] / beside_acks)
            gained = estimate(values, run, forth).scaled(1 / most)
            text = f"{remedy}: throughput over what is left by ACKs, windows of {w:g}"
            found.append(Statement.of(text, gained, at_least(0.95)))
            if w == 1:
                part = estimate(values, run, compressed)
                found.append(Statement.of(f"{remedy}: part of the ACKs compressed", part))
    return Claim(
        "W2",
        "ACKs first, a queue for each connection, and back-pressure at the hosts give back what"
        " one-way traffic gets.",
        found,
        "One way beside what the other direction's ACKs take of the line.",
    )


def _byte_counting(values: Values) -> Claim:
    found = []
    for w in plan()["remedies"]["windows"]:
        counting, without = (Run("remedies", w, w, remedy=it) for it in (BYTE_COUNTING, "fifo"))
        gained = estimate(values, counting, forth)
        gained = gained.scaled(1 / estimate(values, without, forth).mean)
        text = f"throughput over that of FIFO, windows of {w:g}"
        lost = without.channel().alone[0] / without.channel().shares[0]
        if lost > 1.05:
            found.append(Statement.of(text, gained, at_least(round(0.95 * lost, 2))))
        else:
            found.append(Statement.of(text, gained))
    found.sort(key=lambda m: m.verdict is None)
    return Claim(
        "W3",
        "Byte counting at the sender does so too.",
        found,
        "With ACKs for every second segment. It changes how windows grow, not how ACKs wait: with"
        " fixed windows it gives back nothing but the time of the ACKs that are left out.",
    )
