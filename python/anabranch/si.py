"""Numbers as people read them: three digits, a prefix of the SI, and the unit.

>>> from anabranch import si
>>> si.text(12988363.413333334, "bit/s"), si.text(0.0421, "s"), si.text(0.2, si.SHARE)
('13.0 Mbit/s', '42.1 ms', '20.0 %')
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # SciPy takes a quarter of a second
    from anabranch.stats import Estimate

SHARE = "%"
"""The unit of a number from 0 to 1 that is shown in per cent."""
POINTS = "points"
"""The unit of a difference of such numbers, which is shown in percentage points."""
COUNT = ""
"""The unit of what is counted."""
UNKNOWN = ""
MISSING = "\u2013"
"""What stands for a number that there is not."""

MOST_DIGITS = 4
"""Significant digits of an estimate, however narrow its interval is."""

_LARGE = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1.0, ""))
_SMALL = ((1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n"))
_PREFIXES = {"bit/s": _LARGE, "B": _LARGE, "s": _SMALL}
"""Of each unit the prefixes that are used, the largest first."""

_ENDINGS = (("_bps", "bit/s"), ("_s", "s"), ("_bytes", "B"), ("_share", SHARE))
_BYTES = frozenset(
    {"bytes", "cwnd", "ssthresh", "in_flight", "path_cwnd", "path_ssthresh"}
    | {"path_in_flight", "most_memory", "sends", "acks", "receives", "sacks", "drops"}
)
_SHARES = frozenset({"utilisation", "loss_ratio", "reordered_ratio", "unplayed_ratio"})
_SECONDS = frozenset({"rtt", "srtt", "path_srtt", "path_rto", "message_delay", "message_wait"})
_NAMES = {
    "finish_s": "finish",
    "completion_s": "completion time",
    "srtt_s": "smoothed RTT",
    "rto_s": "RTO",
    "end_s": "end of the run",
    "cwnd": "congestion window",
    "ssthresh": "slow-start threshold",
    "srtt": "smoothed RTT",
    "rtt": "RTT",
    "bytes": "bytes received",
    "time_s": "time",
}


@dataclass(frozen=True)
class Scale:
    """One prefix for all numbers of an axis or a column."""

    factor: float
    """A number is divided by it."""
    unit: str
    """The unit with its prefix, such as `Mbit/s`."""

    def of(self, value: float) -> float:
        """The number in the scaled unit."""
        return value / self.factor

    def axis(self, name: str) -> str:
        """The label of an axis: `goodput (Mbit/s)`."""
        return f"{name} ({self.unit})" if self.unit else name


def scale(values: Iterable[float], unit: str) -> Scale:
    """The prefix under which the largest of the values has one to three digits before the point."""
    if unit in (SHARE, POINTS):
        return Scale(0.01, unit)
    prefixes = _PREFIXES.get(unit)
    largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
    if prefixes is None or largest == 0:
        return Scale(1.0, unit)
    # 999.6 kbit/s is 1.00 Mbit/s with three digits.
    factor, prefix = next(
        (each for each in prefixes if largest * (1 + 5e-4) >= each[0]), prefixes[-1]
    )
    return Scale(factor, prefix + unit)


def number(value: float, digits: int = 3) -> str:
    """Writes so many significant digits without an exponent; whole numbers whole.

    >>> number(12.988), number(1234.5), number(3.0), number(0.00012)
    ('13.0', '1,234', '3', '0.000120')
    """
    if math.isnan(value):
        return MISSING
    if value == int(value) if math.isfinite(value) else True:
        return f"{value:,.0f}"
    return f"{value:,.{_decimals(value, digits)}f}"


def text(
    value: float | None, unit: str = UNKNOWN, digits: int = 3, scaled: Scale | None = None
) -> str:
    """A number with its unit, in the prefix that fits it unless one is given; a dash where there is
    no number."""
    if value is None or math.isnan(value):
        return MISSING
    scaled = scaled or scale([value], unit)
    shown = scaled.of(value)
    digit_text = number(shown, digits)
    if unit != COUNT and shown == int(shown) and value != 0:
        digit_text = f"{shown:,.{_decimals(shown, digits)}f}"
    return f"{digit_text} {scaled.unit}".rstrip()


def texts(values: Iterable[float | None], unit: str = UNKNOWN, digits: int = 3) -> list[str]:
    """A column of numbers, all in the unit that fits the largest.

    >>> texts([9_600_000.0, 750_000.0], "bit/s")
    ['9.60 Mbit/s', '0.750 Mbit/s']
    """
    column = list(values)
    scaled = scale([value for value in column if value is not None], unit)
    return [text(value, unit, digits, scaled) for value in column]


def counted(count: int, what: str) -> str:
    """How many there are of what has a plural in s.

    >>> counted(1, "timeout"), counted(1200, "packet")
    ('1 timeout', '1,200 packets')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def estimate(
    each: Estimate, unit: str = UNKNOWN, scaled: Scale | None = None, least: int = 0
) -> str:
    """Mean and interval in one unit: `13.0 (12.6 to 13.4) Mbit/s`.

    There are as many digits as the interval's width deserves: two of its half-width, and three of
    a mean that is larger than that, or `least` after the point, but no more than four. Where all
    ends come out the same, the mean stands alone.
    """
    if math.isnan(each.mean):
        return MISSING
    scaled = scaled or scale([each.mean], unit)
    shown = each.scaled(1 / scaled.factor)
    if each.n <= 1 or shown.ci_high == shown.ci_low:
        return text(each.mean, unit, scaled=scaled)
    ends = (shown.mean, shown.ci_low, shown.ci_high)
    most = _decimals(max(map(abs, ends)), MOST_DIGITS)
    decimals = min(max(_deserved(shown), least), most, 6)
    if len({f"{end:z.{decimals}f}" for end in ends}) == 1:
        mean = round(shown.mean, decimals) + 0.0  # no minus before a zero
        return text(mean * scaled.factor, unit, MOST_DIGITS, scaled)
    return f"{shown.interval_text(decimals)} {scaled.unit}".rstrip()


def estimates(column: Iterable[Estimate], unit: str, scaled: Scale) -> list[str]:
    """A column of estimates in one unit. As many digits follow the point as the finest of them
    deserves, where that makes no more than four in all.

    >>> from anabranch.stats import Estimate
    >>> column = [Estimate(8.99, 7.74, 10.24, 5), Estimate(10.2, 9, 11.4, 5)]
    >>> estimates(column, "s", Scale(1.0, "s"))
    ['8.99 (7.74 to 10.24) s', '10.20 (9.00 to 11.40) s']
    """
    every = list(column)
    shown = [each.scaled(1 / scaled.factor) for each in every]
    deserved = [_deserved(each) for each in shown if each.n > 1 and each.ci_high > each.ci_low]
    return [estimate(each, unit, scaled, max(deserved, default=0)) for each in every]


def _deserved(shown: Estimate) -> int:
    """Digits after the point that an estimate with an interval deserves."""
    half = (shown.ci_high - shown.ci_low) / 2
    fine = _decimals(half, 2)
    return fine if half > abs(shown.mean) else max(_decimals(shown.mean, 3), fine)


def scale_of(estimates: Iterable[Estimate], unit: str) -> Scale:
    """The prefix for a column of estimates, by the largest mean or end of an interval."""
    return scale([end for e in estimates for end in (e.mean, e.ci_low, e.ci_high)], unit)


def unit_of(column: str) -> str:
    """The unit of a column of a table of results by its name.

    >>> unit_of("goodput_bps"), unit_of("finish_s"), unit_of("bytes_dropped"), unit_of("timeouts")
    ('bit/s', 's', 'B', '')
    """
    if column in _BYTES or column.startswith("bytes_"):
        return "B"
    if column in _SECONDS:
        return "s"
    if column in _SHARES:
        return SHARE
    return next((unit for ending, unit in _ENDINGS if column.endswith(ending)), COUNT)


def unit_of_series(kind: str) -> str:
    """The unit of a kind of series; `received` is octets there, and a count in tables.

    >>> unit_of_series("received"), unit_of("received"), unit_of_series("srtt")
    ('B', '', 's')
    """
    return "B" if kind == "received" else unit_of(kind)


def unit_of_difference(unit: str) -> str:
    """The unit of the difference of two numbers: from 40 % to 50 % it is 10 points, which are
    percentage points; 10 % of the former is less.

    >>> unit_of_difference(SHARE), unit_of_difference("bit/s")
    ('points', 'bit/s')
    """
    return POINTS if unit == SHARE else unit


def name_of(column: str) -> str:
    """A column's name in words, without the unit that ends it.

    >>> name_of("goodput_bps"), name_of("retransmitted_packets"), name_of("srtt_s")
    ('goodput', 'retransmitted packets', 'smoothed RTT')
    """
    if column in _NAMES:
        return _NAMES[column]
    for ending, _unit in _ENDINGS[:2]:
        column = column.removesuffix(ending)
    return column.replace("_", " ")


_UNITS: dict[str, tuple[str, float]] = {
    **{f"{p}bit/s": ("bit/s", f) for f, p in _LARGE},
    **{f"{p}B": ("B", f) for f, p in _LARGE},
    **{f"{p}iB": ("B", 1024.0**n) for n, p in enumerate("KMGT", start=1)},
    **{f"{p}s": ("s", f) for f, p in _SMALL},
    "us": ("s", 1e-6),
    "packets": ("packets", 1.0),
    "%": (SHARE, 0.01),
}


def quantity(label: str) -> tuple[float, str] | None:
    """A number with a unit, as scenarios have it, in the unit without prefix; else nothing.

    >>> quantity("20 Mbit/s"), quantity("0.1 %"), quantity("reno")
    ((20000000.0, 'bit/s'), (0.001, '%'), None)
    """
    digits, _, unit = label.strip().partition(" ")
    if unit not in _UNITS:
        return None
    try:
        value = float(digits)
    except ValueError:
        return None
    base, factor = _UNITS[unit]
    return value * factor, base


def _decimals(value: float, digits: int) -> int:
    """Digits after the point that make so many significant ones."""
    if value == 0 or not math.isfinite(value):
        return 0
    # The logarithm of what is rounded: 9.996 is 10.0 with three digits.
    magnitude = math.floor(math.log10(abs(value)) + 1e-12)
    if round(abs(value) / 10.0**magnitude, digits - 1) >= 10:
        magnitude += 1
    return max(0, digits - 1 - magnitude)
