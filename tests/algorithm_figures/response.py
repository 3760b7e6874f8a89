"""Response functions: the mean window by the loss rate, where every 1/p-th segment is lost."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from algorithm_figures.chart import Chart, Series
from algorithm_figures.runs import Window, mean_window

RATES = (3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
SCENARIO = (
    "segments delivered in a round trip where every 1/p-th is lost, one flow, 100 ms, no queue"
)


@dataclass(frozen=True)
class Climb:
    """How a window comes back to the peak that lost."""

    left: float
    """The part of the peak that a loss leaves."""
    rounds: Callable[[float], float]
    """Round trips of the way back, by the peak."""
    carried: Callable[[float], float]
    """Segments that they carry."""

    def mean(self, p: float) -> float:
        """The mean window where 1/p segments lie between two losses.

        >>> round(aimd(1, 0.5).mean(0.01), 2), round(mimd(0.01, 0.125).mean(1e-3), 1)
        (12.25, 74.9)
        """
        return 1 / p / self.rounds(self._peak(1 / p, 0.0))

    def with_recovery(self, p: float) -> float:
        """The same where each loss is followed by a round trip of recovery, without growth."""
        return 1 / p / (self.rounds(self._peak(1 / p, self.left)) + 1)

    def _peak(self, segments: float, repaired: float) -> float:
        low, high = 1.0, 1e9
        while high / low > 1 + 1e-12:
            middle = math.sqrt(low * high)
            if self.carried(middle) + repaired * middle < segments:
                low = middle
            else:
                high = middle
        return low


def aimd(alpha: float, beta: float) -> Climb:
    """`alpha` segments a round trip more; a loss leaves `beta`."""
    return Climb(
        beta,
        lambda peak: (1 - beta) * peak / alpha,
        lambda peak: (1 - beta**2) * peak**2 / (2 * alpha),
    )


def mimd(a: float, b: float) -> Climb:
    """`a` segments more for each that is acknowledged; a loss takes `b`."""
    return Climb(1 - b, lambda _: math.log(1 / (1 - b)) / a, lambda peak: b * peak / a)


RENO = aimd(1, 0.5)
SCALABLE = mimd(0.01, 0.125)


def measured(
    name: str,
    window: Window,
    law: Callable[[float], float],
    *,
    peak: float,
    rates: Sequence[float] = RATES,
    rtt: float = 0.1,
) -> Series:
    """A law and the windows that were measured beside it."""
    points = [(p, mean_window(window, p, law(p), peak, rtt=rtt)) for p in rates]
    return Series(name, law, points)


def chart(
    series: Sequence[Series],
    source: str,
    tolerance: float,
    measured: str = SCENARIO,
    finding: str = "",
) -> Chart:
    """Windows over loss rates."""
    return Chart(
        "loss rate",
        "mean window (segments)",
        series,
        source,
        measured,
        tolerance,
        finding=finding,
        log="xy",
        legend="upper right",
    )


def reno_beside(rates: Sequence[float] = RATES) -> Series:
    """Reno's curve, for comparison."""
    return Series("reno", RENO.mean, span=(rates[0], rates[-1]))


def repaired(series: Series, with_recovery: Callable[[float], float]) -> tuple[Series, str]:
    """The curve with a round trip of recovery at each loss, and how far the points are from it."""
    off = max(abs(y / with_recovery(x) - 1) for x, y in series.points)
    text = (
        "The source counts no recovery, a round trip without growth at each loss; from the curve"
        f" that has it the points are {100 * off:.2g} % at most."
    )
    span = (series.points[0][0], series.points[-1][0])
    return Series(f"{series.name} with recovery", with_recovery, span=span), text


def reno() -> Chart:
    """Mathis' formula."""
    found = measured("reno", "reno", RENO.mean, peak=4 / 3)
    further, finding = repaired(found, RENO.with_recovery)
    return chart(
        [found, further],
        "W = sqrt(3/2) / sqrt(p), the window of an AIMD sender (Mathis et al. 1997)",
        0.12,
        finding=finding,
    )


def gaimd() -> Chart:
    """General AIMD: three pairs."""
    pairs = ((0.31, 0.875), (1.0, 0.8), (3.0, 0.25))
    return chart(
        [
            measured(
                f"alpha {alpha:g}, beta {beta:g}",
                {"algorithm": "gaimd", "alpha": alpha, "beta": beta},
                aimd(alpha, beta).mean,
                peak=2 / (1 + beta),
            )
            for alpha, beta in pairs
        ],
        "W = sqrt(alpha (1 + beta) / (2 (1 - beta) p)), the formula above",
        0.15,
        finding="The formula counts no recovery, a round trip without growth at each loss.",
    )


def scalable() -> Chart:
    """Scalable TCP beside Reno."""
    found = measured("scalable", "scalable", SCALABLE.mean, peak=1.07)
    further, finding = repaired(found, SCALABLE.with_recovery)
    return chart(
        [found, further, reno_beside()],
        "W = a / (p ln(1 / (1 - b))), by the rules of Kelly 2003, §3; Reno's sqrt(3/2p)",
        0.15,
        finding=finding,
    )


def highspeed() -> Chart:
    """RFC 3649."""
    rates = RATES[1:]
    return chart(
        [
            measured("highspeed", "highspeed", lambda p: 0.12 / p**0.835, peak=1.25, rates=rates),
            reno_beside(rates),
        ],
        "W = 0.12 / p^0.835 (RFC 3649 §5); Reno's sqrt(3/2p)",
        0.06,
    )


def cubic_window(rtt: float) -> Callable[[float], float]:
    """RFC 9438 §5.1 with C = 0.4 and beta = 0.7, and Reno's where that is larger."""
    scale = (0.4 * 3.7 / 1.2) ** 0.25
    return lambda p: max(float(scale * (rtt / p) ** 0.75), RENO.mean(p))


def cubic() -> Chart:
    """RFC 9438's average window at two round-trip times."""
    window = {"algorithm": "cubic", "fast_convergence": False}
    return chart(
        [
            measured(
                f"{rtt * 1000:g} ms",
                window,
                cubic_window(rtt),
                peak=1 / 0.925,
                rates=RATES[1:],
                rtt=rtt,
            )
            for rtt in (0.1, 0.01)
        ],
        "W = (C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4) (RFC 9438 §5.1), and Reno's"
        " sqrt(3/2p) where that is larger",
        0.1,
        measured=f"{SCENARIO.replace(', 100 ms', '')}; fast convergence is off",
    )


def veno() -> Chart:
    """Losses that find no queue leave 0.8 of Veno's window."""
    law = aimd(1, 0.8)
    found = measured("veno", "veno", law.mean, peak=2 / 1.8)
    further, finding = repaired(found, law.with_recovery)
    return chart(
        [found, further, measured("reno", "reno", RENO.mean, peak=4 / 3)],
        "W = sqrt(alpha (1 + beta) / (2 (1 - beta) p)), alpha = 1, with what a loss leaves where"
        " N < 3 (Fu and Liew 2003, §III): beta = 0.8, of Reno 0.5; the ratio is sqrt(3)",
        0.15,
        finding=finding,
    )


def yeah() -> Chart:
    """Without a queue YeAH is in fast mode, and a loss takes an eighth."""
    slow = aimd(1, 0.875)
    found = measured("yeah", "yeah", lambda p: max(SCALABLE.mean(p), slow.mean(p)), peak=1.07)
    further, finding = repaired(
        found, lambda p: max(SCALABLE.with_recovery(p), slow.with_recovery(p))
    )
    return chart(
        [found, further, reno_beside()],
        "W of Scalable TCP, 0.01 / (p ln(8/7)), whose growth fast mode has (Baiocchi et al. 2007,"
        " §2); below 100 segments that of Reno's growth where a loss leaves 7/8",
        0.15,
        finding=finding,
    )
