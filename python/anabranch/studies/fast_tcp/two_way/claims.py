"""The paper's claims on two-way traffic at the hosts, those of its reference, and what the closed
form and the remedies add. All of it is without chance."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anabranch.experiment import RunResult
from anabranch.stats import Exact
from anabranch.studies.fast_tcp.two_way.conditions import (
    BYTE_COUNTING,
    REMEDIES,
    Run,
    as_many_segments,
    grid,
    plan,
)
from anabranch.studies.fast_tcp.two_way.measures import Value, Values, back, compressed, forth, one
from anabranch.verdicts import Claim, Statement, at_least, at_most, less, more, near

Details = Mapping[str, RunResult]
"""The runs that figures show, by name."""

REFERENCE = "L. Kalampoukas, A. Varma, K. K. Ramakrishnan, ToN 1998; not a claim of the paper's own"
PUBLISHED = 2 / 3
"""Kalampoukas et al. 1998: two-way over one-way throughput at a window of one round trip."""
SHARE = 0.02
"""Shares of a line closer than this are one: less than the headers take."""
MATTERS = 0.02
"""Throughput lost beyond this is a loss that an operator would see."""
SOME = 0.05
"""A part of the ACKs that is compressed beyond this makes bursts; a single early ACK does not."""
KEPT = 0.03
"""What a connection may lose and be said to keep its throughput."""


def judge(values: Values, quick: bool) -> list[Claim]:
    """C1 to C4 and K1, then W1 to W3, which are ours."""
    return [
        _compression(values, quick),
        _throughput(values, quick),
        _processing(values, quick),
        _unequal(values, quick),
        _by_window(values, quick),
        _closed_form(values, quick),
        _remedies(values),
        _byte_counting(values),
    ]


def _compression(values: Values, quick: bool) -> Claim:
    channel = Run("windows").channel()
    expected = channel.bunch / channel.work[0]
    both, alone = (one(values, Run("windows", 1, back), compressed) for back in (1, 0))
    windows = grid("windows", "equal", quick)
    parts = [one(values, Run("windows", w, w), compressed) for w in windows]
    lost = [float(value.lost) for value in values.values()]
    return Claim(
        "C1",
        "ACK compression appears at the end systems although the network is rate controlled and"
        " lossless.",
        [
            Statement.of(
                "share of ACKs that arrive compressed, two-way traffic, windows of 1 BDP",
                Exact.of([both]),
                near(round(expected, 3), SOME),
            ),
            Statement.of(
                "share of ACKs that arrive compressed, one-way traffic, windows of 1 BDP",
                Exact.of([alone]),
                at_most(0, 0.005),
            ),
            Statement.of("packets lost per run", Exact.of(lost), at_most(0)),
        ],
        "Compressed: less than half a data packet's transmission time after the ACK before. The"
        " expected part is that of the closed form (docs/two-way.md), ACKs without a length. Up to"
        " windows of half a round trip nothing waits, and no ACK is compressed.",
        grid=[
            Statement.of(
                f"share of ACKs that arrive compressed, two-way traffic, windows of {windows[0]:g}"
                f" to {windows[-1]:g} BDP",
                Exact.of(parts),
                more(0, SOME),
            )
        ],
        source="Sections 1 and 2.1, figure 2; no operating point. Windows of one round trip are"
        " those of its reference.",
    )


def _ratios(values: Values, quick: bool) -> dict[float, float]:
    return {
        w: one(values, Run("windows", w, w), forth) / one(values, Run("windows", w, 0), forth)
        for w in grid("windows", "equal", quick)
    }


def _throughput(values: Values, quick: bool) -> Claim:
    ratios = _ratios(values, quick)
    return Claim(
        "C2",
        "Where ACKs are compressed, throughput is below that of one-way traffic.",
        [
            Statement.of(
                "two-way divided by one-way throughput, windows of 1 BDP",
                Exact.of([ratios[1.0]]),
                less(1, MATTERS),
            )
        ],
        "Windows up to half a round trip lose nothing: there is no compression either.",
        grid=[
            Statement.of(
                f"two-way divided by one-way throughput, windows of {min(ratios):g} to"
                f" {max(ratios):g} BDP",
                Exact.of(ratios.values()),
                less(1, MATTERS),
            )
        ],
        source="Section 1; no operating point. Windows of one round trip are those of its"
        " reference.",
    )


def _by_window(values: Values, quick: bool) -> Claim:
    ratios = _ratios(values, quick)
    worst = min(ratios, key=lambda w: ratios[w])
    judged = plan()["windows"]["judged"]
    return Claim(
        "K1",
        "The loss by two-way traffic is largest at windows of the bandwidth-delay product, a third"
        " of the throughput, and disappears as windows grow.",
        [
            *(
                Statement.of(
                    f"two-way divided by one-way throughput, windows of {w:g} BDP",
                    Exact.of([ratios[w]]),
                    near(round(2 * w / (2 * w + 1), 4), SHARE),
                )
                for w in judged
            ),
            Statement.of(
                "window with the largest throughput loss, in BDP", Exact.of([worst]), near(1, 0)
            ),
        ],
        "66.67 % at a window of one round trip is the published figure. The ratio is 2w/(2w+1) from"
        " w = 1/2 on, over what one way gets; below 1/2 nothing is lost.",
        source=REFERENCE,
    )


def _processing(values: Values, quick: bool) -> Claim:
    runs = [Run("processing", processing_us=us) for us in grid("processing", "us", quick)]
    without, *others = runs
    times = " to ".join(f"{run.processing_us:g}" for run in dict.fromkeys([others[0], others[-1]]))
    least = one(values, without, compressed)
    shares = [one(values, run, forth) / run.channel().shares[0] for run in others]
    parts = [one(values, run, compressed) - least for run in others]
    return Claim(
        "C3",
        "The dynamics do not change when TCP processing time is not zero.",
        [
            Statement.of(
                f"measured throughput divided by the closed form, processing of {times} us per"
                " packet",
                Exact.of(shares),
                near(1, SHARE),
            ),
            Statement.of(
                "increase of the share of compressed ACKs over hosts without processing time",
                Exact.of(parts),
                at_least(0, SOME),
            ),
        ],
        "The closed form takes processing for so much more delay. The processor compresses as well:"
        " data that come right behind a bunch of ACKs wait for it, and their ACKs leave as fast as"
        " it works.",
        source="Section 2.1, with reference 13 of the paper; no operating point.",
    )


def _unequal(values: Values, quick: bool) -> Claim:
    statements = []
    for w in sorted(grid("windows", "unequal", quick), reverse=True):
        run = Run("unequal", w, 1.0)
        if w == 1:
            continue
        larger, smaller = (forth, back) if w > 1 else (back, forth)
        alone = run.channel().alone
        for name, measure, rule in (
            ("larger", larger, at_least(1, KEPT)),
            ("smaller", smaller, less(1, MATTERS)),
        ):
            own = one(values, run, measure) / alone[measure is back]
            text = (
                f"throughput of the {name} window, two-way divided by one-way, windows of {w:g}"
                " and 1 BDP"
            )
            statements.append(Statement.of(text, Exact.of([own]), rule))
    return Claim(
        "C4",
        "Unequal windows: the connection with the larger window keeps its throughput, the other"
        " pays.",
        statements,
        "By the closed form the larger one keeps its line from a difference of a round trip on"
        " (2 beside 1), and the other gets the ratio of the windows. With less of a difference both"
        " pay: 1.5 beside 1 get 6/7 and 4/7.",
        source=REFERENCE,
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
        ("starts", [Run("starts", start_s=s) for s in plan()["starts"]["start_s"]]),
    ]
    return Claim(
        "W1",
        "Both throughputs are those of equation (1) of docs/two-way.md, whatever windows, rates,"
        " delay, segments and starts are.",
        [
            Statement.of(
                f"measured throughput divided by equation (1), {name}", _over(values, runs), rule
            )
            for name, runs in parts
            for rule in [near(1, SHARE)]
        ],
        "Runs are cut off within a cycle, of which there are 200; over whole cycles the tests find"
        " 0.1 %.",
    )


def _over(values: Values, runs: list[Run]) -> Exact:
    """The measured shares of both directions over those of the closed form."""
    measures: tuple[Callable[[Value], float], ...] = (forth, back)
    return Exact.of(
        one(values, run, measure) / share
        for run in runs
        for measure, share in zip(measures, run.channel().shares, strict=True)
    )


def _remedies(values: Values) -> Claim:
    found, reported = [], []
    for remedy in [each for each in REMEDIES if each not in ("fifo", BYTE_COUNTING)]:
        gained = []
        for w in plan()["remedies"]["windows"]:
            run = Run("remedies", w, w, remedy=remedy)
            # The other direction's ACKs take their part of the line.
            channel = run.channel()
            beside_acks = channel.work[0] + channel.windows[1] * channel.ack[0]
            most = min(channel.alone[0], channel.work[0] / beside_acks)
            gained.append(one(values, run, forth) / most)
            if w == 1:
                part = Exact.of([one(values, run, compressed)])
                reported.append(
                    Statement.of(f"share of ACKs that arrive compressed, {remedy}", part)
                )
        text = (
            f"throughput divided by the capacity that ACKs leave, {remedy}, windows of 0.5 to 2 BDP"
        )
        found.append(Statement.of(text, Exact.of(gained), at_least(1, KEPT)))
    return Claim(
        "W2",
        "ACKs first, a queue for each connection, and back-pressure at the hosts give back what"
        " one-way traffic gets.",
        [*found, *reported],
        "One way beside what the other direction's ACKs take of the line.",
    )


def _byte_counting(values: Values) -> Claim:
    judged, others = [], []
    for w in plan()["remedies"]["windows"]:
        counting, without = (Run("remedies", w, w, remedy=each) for each in (BYTE_COUNTING, "fifo"))
        gained = one(values, counting, forth) / one(values, without, forth)
        text = f"throughput divided by that of FIFO, windows of {w:g} BDP"
        lost = without.channel().alone[0] / without.channel().shares[0]
        if lost > 1 + SOME:
            judged.append(Statement.of(text, Exact.of([gained]), at_least(round(lost, 2), KEPT)))
        else:
            others.append(Statement.of(text, Exact.of([gained])))
    return Claim(
        "W3",
        "Byte counting at the sender does so too.",
        [*judged, *others],
        "With ACKs for every second segment. It changes how windows grow, not how ACKs wait: with"
        " fixed windows it gives back nothing but the time of the ACKs that are left out.",
    )
