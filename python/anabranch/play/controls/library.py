"""Parameters of a scenario of the library, as controls: the scenario is built anew with them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anabranch.library.entry import Entry
from anabranch.play.controls.control import Choices, Control, Range
from anabranch.play.controls.names import catalogued, windows
from anabranch.play.controls.quantities import (
    KILOBYTES,
    MBIT,
    MILLISECONDS,
    PACKETS,
    SECONDS,
    Quantity,
)
from anabranch.play.document import Table

RANGES: dict[str, tuple[float, float]] = {
    "pairs": (1, 16),
    "hops": (1, 8),
    "k": (2, 6),
    "senders": (1, 48),
    "browsers": (1, 12),
    "rounds": (1, 50),
    "pages": (1, 30),
    "objects": (0, 60),
    "load": (0.05, 1.2),
    "reverse_load": (0, 1.2),
    "buffer_bdp": (0.05, 10),
    "flows": (1, 32),
    "long": (0, 16),
}
"""Of parameters that are numbers; of others a tenth to ten times their default."""

QUANTITIES: tuple[tuple[Quantity, Range], ...] = (
    (MBIT, Range(0.05, 10_000, "Mbit/s", "log")),
    (MILLISECONDS, Range(0, 1000, "ms", "sqrt")),
    (PACKETS, Range(1, 10_000, "packets", "log", whole=True)),
    (KILOBYTES, Range(0.1, 1_000_000, "kB", "log")),
)
"""What a parameter that is a text can be a quantity of, with its range."""


def controls(entry: Entry, given: Table) -> Iterator[Control]:
    """A control for each parameter that is a number, a quantity, a window or a queue; turning it
    writes into `given`."""
    for name, default in entry.parameters().items():
        made = _of(given, name, default)
        if made is not None:
            yield made


def _of(given: Table, name: str, default: Any) -> Control | None:
    found = _allowed(name, default)
    if found is None:
        return None
    allowed, quantity = found

    def put(value: Any) -> None:
        given[name] = value if quantity is None else quantity.text(value)

    def read(_scenario: Table) -> Any:
        value = given.get(name, default)
        return value if quantity is None else quantity.number(value)

    return Control(
        id=f"library.{name}",
        group="Scenario",
        label=name.replace("_", " ").capitalize(),
        allowed=allowed.holding(read({})),
        put=put,
        read=read,
    )


def _allowed(name: str, default: Any) -> tuple[Range | Choices, Quantity | None] | None:
    if name in ("window", "other", "standard"):
        return (Choices(windows("tcp")), None) if isinstance(default, str) else None
    if name == "queue":
        return Choices(catalogued("queues")), None
    if isinstance(default, int | float) and not isinstance(default, bool):
        whole = isinstance(default, int)
        low, high = RANGES.get(name, (default / 10, default * 10))
        if not low < high:
            return None
        return Range(int(low) if whole else low, int(high) if whole else high, whole=whole), None
    if name == "duration" and isinstance(default, str):
        return None  # the run has it
    if isinstance(default, str):
        for quantity, allowed in QUANTITIES:
            if quantity.number(default) is not None:
                return allowed, quantity
        if SECONDS.number(default) is not None:
            return Range(0, 600, "s", "sqrt"), SECONDS
    return None
