"""Numbers of controls and the quantities with units that stand for them in scenarios."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from anabranch import units
from anabranch.errors import InputError
from anabranch.library.quantities import bits_per_second, octets, seconds


@dataclass(frozen=True)
class Quantity:
    """A unit in which a control counts."""

    unit: str
    factor: float
    """How many of the base (bit/s, seconds, octets) one of it is."""
    kind: str
    """`rate`, `time`, `size` or `packets`."""

    def text(self, number: float) -> str:
        """Writes a quantity as a scenario has it: `20 ms`.

        >>> MILLISECONDS.text(20), MBIT.text(0.5)
        ('20 ms', '0.5 Mbit/s')
        """
        make = {"Mbit/s": units.Mbit_s, "ms": units.ms, "s": units.s, "kB": units.kB}
        make |= {"KiB": units.KiB, "MB": units.MB, "packets": units.packets}
        return make[self.unit](number)

    def number(self, value: Any) -> float | None:
        """Reads a quantity in any unit of its kind; `None` if it is no such quantity.

        >>> MILLISECONDS.number("0.02 s"), PACKETS.number("100 packets"), PACKETS.number("4 kB")
        (20.0, 100.0, None)
        """
        if not isinstance(value, str):
            return None
        if self.kind == "packets":
            found = re.fullmatch(r"(\d+) packets?", value)
            return float(found[1]) if found else None
        try:
            read = {"rate": bits_per_second, "time": seconds, "size": octets}[self.kind](value)
        except InputError:
            return None
        return float(f"{read / self.factor:.9g}")


MBIT = Quantity("Mbit/s", 1e6, "rate")
MILLISECONDS = Quantity("ms", 1e-3, "time")
SECONDS = Quantity("s", 1.0, "time")
PACKETS = Quantity("packets", 1.0, "packets")
KILOBYTES = Quantity("kB", 1e3, "size")
KIBIBYTES = Quantity("KiB", 1024.0, "size")
MEGABYTES = Quantity("MB", 1e6, "size")
