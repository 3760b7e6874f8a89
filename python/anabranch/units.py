"""Quantities with their units, as scenarios have them: `ms(10)` is `"10 ms"`.

>>> from anabranch.units import Mbit_s, ms, packets
>>> Mbit_s(2.5), ms(10), packets(50)
('2.5 Mbit/s', '10 ms', '50 packets')
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal

Unit = Callable[[float], str]


def _unit(name: str) -> Unit:
    def quantity(value: float) -> str:
        if not math.isfinite(value) or value < 0:
            raise ValueError(f"{value} {name}: allowed: a finite number of 0 or more")
        digits = format(Decimal(repr(value)), "f")
        return f"{digits.rstrip('0').rstrip('.') if '.' in digits else digits} {name}"

    quantity.__name__ = quantity.__qualname__ = name.replace("/", "_")
    quantity.__doc__ = f"So many {name}."
    return quantity


ps, ns, us, ms, s, minutes, hours = map(_unit, ("ps", "ns", "us", "ms", "s", "min", "h"))
bit_s, kbit_s, Mbit_s, Gbit_s, Tbit_s = map(
    _unit, ("bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s")
)
B_s, kB_s, MB_s, GB_s = map(_unit, ("B/s", "kB/s", "MB/s", "GB/s"))
B, kB, MB, GB, TB = map(_unit, ("B", "kB", "MB", "GB", "TB"))
KiB, MiB, GiB, TiB = map(_unit, ("KiB", "MiB", "GiB", "TiB"))
packets = _unit("packets")
