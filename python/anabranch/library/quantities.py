"""Quantities as numbers, for what a builder has to compute: the inverse of `anabranch.units`.

>>> seconds("20 ms"), bits_per_second("10 Mbit/s"), octets("4 kB")
(0.02, 10000000.0, 4000)
"""

from __future__ import annotations

from fractions import Fraction

from anabranch.errors import InputError

_TIMES = {
    "ps": Fraction(1, 10**12),
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "min": Fraction(60),
    "h": Fraction(3600),
}
_RATES = {
    f"{prefix}{unit}": Fraction(factor * bits)
    for prefix, factor in (("", 1), ("k", 10**3), ("M", 10**6), ("G", 10**9), ("T", 10**12))
    for unit, bits in (("bit/s", 1), ("B/s", 8))
}
_OCTETS = {
    **{f"{prefix}B": Fraction(1000**n) for n, prefix in enumerate(("", "k", "M", "G", "T"))},
    **{f"{prefix}iB": Fraction(1024**n) for n, prefix in enumerate("KMGT", start=1)},
}


def seconds(text: str, field: str = "time") -> float:
    """Writes a time in seconds as a quantity."""
    return float(_read(text, _TIMES, field))


def bits_per_second(text: str, field: str = "rate") -> float:
    """Writes a rate in bit/s as a quantity."""
    return float(_read(text, _RATES, field))


def octets(text: str, field: str = "size") -> int:
    """Writes a number of octets as a quantity."""
    return round(_read(text, _OCTETS, field))


def _read(text: str, units: dict[str, Fraction], field: str) -> Fraction:
    number, _, unit = str(text).strip().partition(" ")
    try:
        value = Fraction(number)
        factor = units[unit.strip()]
    except (ValueError, ZeroDivisionError, KeyError):
        value, factor = Fraction(-1), Fraction(1)
    if value < 0 or "/" in number:
        allowed = f"a number, a space and one of {', '.join(units)}"
        raise InputError.about("library", field, str(text), allowed)
    return value * factor
