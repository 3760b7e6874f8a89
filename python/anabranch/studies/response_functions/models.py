"""The closed forms: windows in segments, times in seconds, p per packet, b segments per ACK."""

from __future__ import annotations

import math

CUBIC_C = 0.4
CUBIC_BETA = 0.7


def mathis(p: float, b: int = 1, *, random: bool = False) -> float:
    """Mathis, Semke, Mahdavi, Ott, CCR 1997: average window of an AIMD sender.

    Periodic loss: sqrt(3/2b)/sqrt(p). Random loss: their simulations' constants.

    >>> round(mathis(0.01), 2)
    12.25
    """
    if random:
        return {1: 1.31, 2: 0.93}[b] / math.sqrt(p)
    return math.sqrt(1.5 / b / p)


def mathis_with_recovery(p: float) -> float:
    """The same for periodic loss and b = 1, with two things that the formula leaves out.

    Recovery holds the window at W/2 for a round, and a window of whole segments wastes half a
    segment on average: a cycle carries 3/8 W^2 + W/2 = 1/p segments in W/2 + 1 rounds.

    >>> round(mathis_with_recovery(0.0001) / mathis(0.0001), 3)
    0.988
    """
    w = (math.sqrt(0.25 + 1.5 / p) - 0.5) / 0.75
    return 1 / p / (w / 2 + 1) - 0.5


def pftk(p: float, rtt: float, timeout: float, b: int) -> float:
    """Padhye, Firoiu, Towsley, Kurose, SIGCOMM 1998, equation 30: segments per RTT.

    `p` counts loss indications per segment sent; `timeout` is T0.

    >>> round(pftk(0.02, 0.1, 1.0, 2), 2)
    4.21
    """
    once = min(1.0, 3 * math.sqrt(3 * b * p / 8))
    per_segment = rtt * math.sqrt(2 * b * p / 3) + timeout * once * p * (1 + 32 * p * p)
    return rtt / per_segment


def cubic(p: float, rtt: float) -> float:
    """RFC 9438 equation 6, and 3: the larger of the cubic and the Reno-friendly average window.

    >>> round(cubic(1e-4, 0.1)), round(cubic(1e-3, 0.1))
    (187, 39)
    """
    scale = CUBIC_C * (3 + CUBIC_BETA) / (4 * (1 - CUBIC_BETA))
    return max(float(scale**0.25 * (rtt / p) ** 0.75), mathis(p))


def highspeed(p: float) -> float:
    """RFC 3649 section 5: 0.12/p^0.835, and standard TCP's response below a window of 38.

    >>> round(highspeed(1e-7))
    83981
    """
    return max(float(0.12 / p**0.835), mathis(p))


def utilisation(buffer: float) -> float:
    """Share of a bottleneck that one AIMD flow uses, its buffer in bandwidth-delay products.

    The window w (in BDPs) goes from (1+b)/2 to 1+b and gains a segment per round; a round lasts
    max(1, w) RTTs and carries w.

    >>> utilisation(0.0), utilisation(1.0)
    (0.75, 1.0)
    """
    top = 1 + buffer
    if top >= 2:
        return 1.0
    carried = 3 / 8 * top * top
    lasted = (1 - top / 2) + (top * top - 1) / 2
    return carried / lasted


def slow_start_rounds(segments: int, initial: int, growth: float) -> int:
    """Cardwell, Savage, Anderson, INFOCOM 2000: rounds to send `segments`.

    Each round carries `growth` times the one before it, in whole segments.

    >>> slow_start_rounds(1000, 10, 2), slow_start_rounds(70, 10, 2), slow_start_rounds(71, 10, 2)
    (7, 3, 4)
    """
    if segments <= initial:
        return 1
    ratio = segments * (growth - 1) / initial + 1
    return math.ceil(round(math.log(ratio, growth), 9))
