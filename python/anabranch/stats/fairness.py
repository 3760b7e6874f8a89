"""How flows share: Jain's index, harm, and how shares depend on round-trip times."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from anabranch.stats.intervals import Estimate, finite, slope


def jain(shares: Iterable[float]) -> float:
    """`(sum x)^2 / (n sum x^2)`: 1 when all are equal, 1/n when one has everything.

    R. Jain, D. Chiu and W. Hawe, DEC-TR-301, 1984.

    >>> jain([1.0, 1.0, 1.0]), jain([1.0, 0.0, 0.0, 0.0])
    (1.0, 0.25)
    """
    values = finite(shares)
    square = float(values @ values)
    if values.size == 0 or square == 0.0 or bool((values < 0).any()):
        raise ValueError("Jain's index needs shares of 0 or more, one of them above 0")
    return float(values.sum()) ** 2 / (values.size * square)


def harm(solo: float, with_other: float, *, less_is_better: bool = False) -> float:
    """What another flow takes away, as a share: 0 nothing, 1 everything.

    R. Ware et al., "Beyond Jain's fairness index", HotNets 2019: for a quantity
    of which more is better (goodput) `(solo - with) / solo`, for one of which
    less is better (delay) `(with - solo) / with`. Negative when the other helps.

    >>> harm(10.0, 4.0), harm(20.0, 80.0, less_is_better=True)
    (0.6, 0.75)
    """
    whole = with_other if less_is_better else solo
    if not whole > 0 or solo < 0 or with_other < 0:
        raise ValueError(f"harm of {solo} to {with_other}: allowed: 0 or more, the larger above 0")
    lost = with_other - solo if less_is_better else solo - with_other
    return lost / whole


def rtt_exponent(rtts: Iterable[float], shares: Iterable[float]) -> Estimate:
    """The `a` of `share ~ 1 / RTT^a`, by least squares on logarithms, with its interval.

    0 is fairness whatever the RTT, 1 what CUBIC has between synchronised flows, 2
    what Reno has (T. Lakshman and U. Madhow, IEEE/ACM ToN 5(3), 1997).
    """
    times, parts = finite(rtts), finite(shares)
    if bool((times <= 0).any()) or bool((parts <= 0).any()):
        raise ValueError("round-trip times and shares must be above 0")
    fitted = slope(np.log(times), np.log(parts))
    return Estimate(-fitted.mean, -fitted.ci_high, -fitted.ci_low, fitted.n)
