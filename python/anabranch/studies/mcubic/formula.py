"""What the paper's formulas say by themselves; windows in segments, times in seconds."""

from __future__ import annotations

from collections.abc import Sequence

SCALE = 0.4
"""C of CUBIC."""
GIVEN_UP = 0.3
"""The part of the window that a loss takes."""


def k(w_max: float) -> float:
    """CUBIC's time from a loss back to the window before it.

    >>> round(k(750), 3)
    8.255
    """
    return float((w_max * GIVEN_UP / SCALE) ** (1 / 3))


def cubic(t: float, k: float, w_max: float) -> float:
    """The window at a time after a loss (equations 6 and 10).

    >>> cubic(8, 8, 750), cubic(9, 8, 750)
    (750.0, 750.4)
    """
    return SCALE * (t - k) ** 3 + w_max


def k_prime(ks: Sequence[float], path: int) -> float:
    """MCubic's, of one of the paths (equation 11).

    >>> k_prime([8, 8], 0), k_prime([8, 4], 0), k_prime([8, 4], 1)
    (16.0, 24.0, 6.0)
    """
    return ks[path] ** 2 * sum(1 / each for each in ks)


def rate(ks: Sequence[float]) -> float:
    """The paper's measure of the connection's growth, the sum of 1/K', over that of a TCP on the
    path where 1/K is largest (equation 9).

    >>> rate([8, 8]), rate([8, 8, 8]), round(rate([8, 4]), 3)
    (1.0, 1.0, 0.833)
    """
    return sum(1 / k_prime(ks, path) for path in range(len(ks))) * min(ks)


def shifted(left: float) -> tuple[float, float]:
    """K' of a path, and of an equal other path whose Wmax has fallen to the share `left` of what it
    was, both over K' before.

    >>> shifted(1.0)
    (1.0, 1.0)
    >>> both = shifted(0.5)
    >>> round(both[0], 3), round(both[1], 3)
    (1.13, 0.712)
    """
    ks = [k(1000), k(1000 * left)]
    before = 2 * ks[0]
    return k_prime(ks, 0) / before, k_prime(ks, 1) / before


def shifted_by_shares(left: float) -> tuple[float, float]:
    """The same time to the plateau in `mcubic-share`, K / s^(4/3): both round-trip times are equal.

    >>> both = shifted_by_shares(0.5)
    >>> round(both[0], 3), round(both[1], 3)
    (0.681, 1.363)
    """
    shares = 1 / (1 + left), left / (1 + left)
    before = 2 ** (4 / 3)
    first, second = (share ** (-4 / 3) for share in shares)
    return first / before, second * left ** (1 / 3) / before
