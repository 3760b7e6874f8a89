"""What the closed forms predict, each beside the runs, as ratios to the prediction.

A ratio holds if its whole interval is within the tolerance that the claim names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from anabranch.experiment import RunResult
from anabranch.stats import Estimate, Exact, Sample
from anabranch.studies.response_functions import models
from anabranch.studies.response_functions.conditions import LOSSY_LINKS, WARM_UP, Run, plan, rtt
from anabranch.verdicts import Claim, Statement, at_least, at_most, near

Values = Mapping[Run, Sample | Exact]
"""A number of each run: the average window in segments, the share of the link, or rounds. Random
ones have one in each replication."""

BBR_SHARE = 0.9
"""What validation asks of BBR at one percent of loss."""

MIN_RTO = 1.0
"""T0 of the PFTK model: with an RTT of 100 ms the timeout is its lower bound (RFC 6298), s."""


def value(run: Run, result: RunResult) -> float:
    """The number that the run is for."""
    if run.part == "slow-start":
        # The handshake and the last segment's way take an RTT and a half.
        return result.flows[0].took_s() / rtt() - 0.5
    series = result.series["f.received"]
    times, octets = series["time_s"], series["value"]
    first = int(len(times) * WARM_UP)
    rate = float(octets[-1] - octets[first]) / float(times[-1] - times[first])
    if run.part in LOSSY_LINKS:
        part = plan()[run.part]
        mss = float(part["mss"])
        return rate * 8 * (mss + 40) / mss / (float(part["rate_mbps"]) * 1e6)
    mss = float(plan()["network"]["mss"])
    if run.part == "buffer":
        # A segment takes its 40 octets of headers along.
        return rate * 8 * (mss + 40) / mss / (float(plan()["buffer"]["rate_mbps"]) * 1e6)
    seconds = float(run.kind) / 1000 if run.part == "window" else rtt()
    return rate * seconds / mss


def judge(values: Values) -> list[Claim]:
    """All claims, by the names that they have in the literature's order."""
    return [
        _mathis_periodic(values),
        _mathis_random(values),
        _pftk(values),
        _limited(values),
        _cubic(values),
        _highspeed(values),
        _bbr(values),
        _slow_start(values),
        _buffer(values),
    ]


def measured(
    values: Values, part: str, algorithm: str, kind: str = ""
) -> dict[float, Sample | Exact]:
    """The numbers by what the part varies."""
    chosen = [r for r in values if (r.part, r.algorithm, r.kind) == (part, algorithm, kind)]
    return {run.x: values[run] for run in sorted(chosen)}


def estimates(values: Values, part: str, algorithm: str, kind: str = "") -> dict[float, Estimate]:
    """The same with their intervals."""
    return {x: each.estimate for x, each in measured(values, part, algorithm, kind).items()}


def _ratios(
    found: Mapping[float, Sample | Exact],
    model: Callable[[float], float],
    tolerance: float | None,
    name: Callable[[float], str],
) -> list[Statement]:
    rule = None if tolerance is None else near(1, tolerance)
    return [Statement.of(name(x), each / model(x), rule) for x, each in found.items()]


def _by_loss(text: str) -> Callable[[float], str]:
    return lambda p: f"{text} at p = {p:g}"


def _mathis_periodic(values: Values) -> Claim:
    found = measured(values, "loss", "reno", "periodic")
    plain = _ratios(
        found, models.mathis, 0.03, _by_loss("average window divided by Mathis's formula")
    )
    full = _ratios(
        found,
        models.mathis_with_recovery,
        None,
        _by_loss("average window divided by Mathis's formula with recovery"),
    )
    return Claim(
        "T1-periodic",
        "Under periodic loss an AIMD sender has an average window of sqrt(3/(2p)), within 3 %.",
        [*plain, *full],
        "The formula has no recovery phase and no whole segments; both matter more the smaller the"
        " window is. With both put in (models.py, `mathis_with_recovery`) the ratio is near 1.",
    )


def _mathis_random(values: Values) -> Claim:
    found = measured(values, "loss", "reno", "random")
    return Claim(
        "T1-random",
        "Under random loss it is 1.31/sqrt(p), within 8 %.",
        _ratios(
            found,
            lambda p: models.mathis(p, random=True),
            0.08,
            _by_loss("average window divided by Mathis's formula"),
        ),
        "The constant is from the simulations of Mathis et al.; it, too, has no recovery phase.",
    )


def _pftk(values: Values) -> Claim:
    found = measured(values, "timeouts", "reno", "random")
    return Claim(
        "T2",
        "Reno with timeouts and delayed ACKs follows the PFTK model within 15 %.",
        _ratios(
            found,
            lambda p: models.pftk(p, rtt(), MIN_RTO, 2),
            0.15,
            _by_loss("average window divided by the PFTK formula"),
        ),
        "T0 = 1 s, the lower bound of the timeout. Limited transmit is off: the model knows three"
        " duplicate ACKs or a timeout. Its p is the probability of the first loss in a round; here"
        " losses are independent.",
    )


def _limited(values: Values) -> Claim:
    found = [(run, each) for run, each in values.items() if run.part == "window"]
    off = Exact.of(abs(each.estimate.mean - run.x) for run, each in found)
    return Claim(
        "T4",
        "A flow limited by the receiver's window W sends W segments per RTT, to one segment.",
        [Statement.of("deviation from W segments per RTT", off, at_most(1))],
        f"{len(found)} pairs of W and RTT.",
    )


def _cubic(values: Values) -> Claim:
    return Claim(
        "T6",
        "Under periodic loss CUBIC's average window is 1.054 (R/p)^(3/4) where that is more than"
        " AIMD's, within 1 %.",
        _above_aimd(values, "cubic", lambda p: models.cubic(p, rtt()), 0.01, "RFC 9438"),
        "Fast convergence is off, and runs begin at the fixed point: it attracts only slowly, an"
        " offset x decays as 1/sqrt(1/x^2 + 1.42 n) over n losses. Where AIMD's window is larger,"
        " what is said of T1 holds.",
    )


def _highspeed(values: Values) -> Claim:
    return Claim(
        "T7",
        "HighSpeed TCP's average window is 0.12/p^0.835 where that is more than AIMD's, within"
        " 3 %.",
        _above_aimd(values, "highspeed", models.highspeed, 0.03, "RFC 3649"),
        "RFC 3649 derives its parameters from this response function.",
    )


def _above_aimd(
    values: Values,
    algorithm: str,
    model: Callable[[float], float],
    tolerance: float,
    source: str,
) -> list[Statement]:
    """Judged where the algorithm's own law gives more than AIMD; reported elsewhere."""
    found = measured(values, "loss", algorithm, "periodic")
    own = {p: each for p, each in found.items() if model(p) > models.mathis(p)}
    others = {p: each for p, each in found.items() if p not in own}
    name = _by_loss(f"average window divided by the formula of {source}")
    return [*_ratios(own, model, tolerance, name), *_ratios(others, model, None, name)]


def _bbr(values: Values) -> Claim:
    statements = []
    for name, p in (("lossy_link", 0.01), ("lossy_fast_link", 0.05)):
        part = plan()[name]
        losses = [each for each in part["p"] if each >= p] if name == "lossy_fast_link" else [p]
        at = f"{part['rate_mbps']} Mbit/s, {part['rtt_ms']} ms"
        bbr = measured(values, name, "bbr", "random")
        statements += [
            Statement.of(
                f"BBR's utilisation of the capacity that {loss:.0%} loss leaves, {at}",
                bbr[loss] / (1 - loss),
                at_least(BBR_SHARE),
            )
            for loss in losses
            if loss in bbr
        ]
    part, p = plan()["lossy_link"], 0.01
    pipe = part["rate_mbps"] * 1e6 * part["rtt_ms"] / 1000 / 8 / (part["mss"] + 40)
    expected = models.mathis(p, random=True) / pipe

    def share(algorithm: str) -> Sample | Exact:
        return measured(values, "lossy_link", algorithm, "random")[p]

    return Claim(
        "T9",
        "BBR keeps nine tenths of what losses of one to ten in a hundred leave of a link, where"
        " Reno's window is 1.31/sqrt(p).",
        [
            *statements,
            Statement.of(
                "Reno's utilisation of the link",
                share("reno"),
                near(round(expected, 3), 0.15 * expected),
            ),
            *(
                Statement.of(f"utilisation of the link by {other}", share(other))
                for other in part["algorithms"]
                if other not in ("bbr", "reno")
            ),
        ],
        "The slow link with a buffer of 1.5 products of rate and RTT, the fast one with one, and"
        " RACK.",
    )


def _slow_start(values: Values) -> Claim:
    found = [(run, each.estimate.mean) for run, each in values.items() if run.part == "slow-start"]
    more = Exact.of(
        round(rounds) - models.slow_start_rounds(int(run.x), int(run.kind), 2.0)
        for run, rounds in found
    )
    return Claim(
        "T11",
        "Without loss a transfer of N segments takes ceil(log2(N/w1 + 1)) rounds of slow start.",
        [Statement.of("slow-start rounds minus the closed form", more, near(0, 0.0))],
        "Initial windows of 1 to 10 segments, an ACK for every segment.",
    )


def _buffer(values: Values) -> Claim:
    found = measured(values, "buffer", "reno")
    least = plan()["buffer"]["judged"]

    def name(b: float) -> str:
        return f"utilisation divided by the model, buffer of {b:g} BDP"

    judged = {b: each for b, each in found.items() if b >= least}
    others = {b: each for b, each in found.items() if b < least}
    return Claim(
        "buffer",
        "One AIMD flow uses (3/8 (1+b)^2) / ((1-b)/2 + ((1+b)^2 - 1)/2) of a link with a buffer of"
        " b bandwidth-delay products, within 2 %.",
        [
            *_ratios(judged, models.utilisation, 0.02, name),
            *_ratios(others, models.utilisation, None, name),
        ],
        "The window climbs a segment per round; rounds grow longer once the link is full.",
    )
