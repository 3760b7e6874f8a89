"""A control: one field of a scenario that the page can change, with its range or choices."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from anabranch.errors import InputError
from anabranch.play.document import Table

Value = float | str | bool
Scale = Literal["linear", "log", "sqrt"]


class ControlError(InputError):
    """A value that a control does not take: named by its `id`, so that the page can show the
    message beside it."""

    def __init__(self, control: str, message: str) -> None:
        super().__init__(message)
        self.control = control


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, in `unit`."""

    low: float
    high: float
    unit: str = ""
    scale: Scale = "linear"
    """How a slider's way is divided."""
    whole: bool = False

    def checked(self, given: Any) -> float:
        """The number, or a `ValueError` that says what is allowed."""
        number = given if isinstance(given, int | float) and not isinstance(given, bool) else None
        # What is not a number is not between any two.
        if number is None or not self.low <= number <= self.high:
            raise ValueError(self._allowed())
        if self.whole and number != int(number):
            raise ValueError(self._allowed())
        return int(number) if self.whole else float(number)

    def _allowed(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        unit = f" {self.unit}" if self.unit else ""
        return f"{kind} from {self.low:g} to {self.high:g}{unit}"

    def holding(self, value: Value) -> Range:
        """Returns the control, wide enough for the value that the scenario has."""
        if not isinstance(value, int | float) or not math.isfinite(value):
            return self
        low, high = min(self.low, value), max(self.high, value)
        return Range(low, high, self.unit, self.scale, self.whole)

    def described(self) -> Table:
        """Describes the control for the page."""
        return {
            "kind": "number",
            "low": self.low,
            "high": self.high,
            "unit": self.unit,
            "scale": self.scale,
            "whole": self.whole,
        }


@dataclass(frozen=True)
class Choices:
    """One of some names, each with a line that explains it."""

    names: Mapping[str, str]

    def checked(self, given: Any) -> str:
        """The name, or a `ValueError` that says what is allowed."""
        if not isinstance(given, str) or given not in self.names:
            raise ValueError(", ".join(self.names))
        return given

    def holding(self, value: Value) -> Choices:
        """Returns the control with the name that the scenario has among its choices."""
        if not isinstance(value, str) or value in self.names:
            return self
        return Choices({**self.names, value: "as the scenario has it"})

    def described(self) -> Table:
        """Describes the control for the page."""
        return {"kind": "choice", "choices": [[name, hint] for name, hint in self.names.items()]}


@dataclass(frozen=True)
class Switch:
    """A control that is on or off."""

    def checked(self, given: Any) -> bool:
        """The value, or a `ValueError` that says what is allowed."""
        if not isinstance(given, bool):
            raise ValueError("true or false")
        return given

    def holding(self, _value: Value) -> Switch:
        """Itself: there is nothing else that a scenario could have."""
        return self

    def described(self) -> Table:
        """Describes the control for the page."""
        return {"kind": "switch"}


@dataclass(frozen=True)
class Control:
    """A field that can be turned. `put` writes a checked value into the scenario, `read` finds the
    value in force in the resolved scenario, where every default is written out."""

    id: str
    """Stable name, such as `links.bottleneck.rate`: part of addresses that people share."""
    group: str
    """What it belongs to, as a heading."""
    label: str
    allowed: Range | Choices | Switch
    put: Callable[[Any], None]
    read: Callable[[Table], Value | None]
    hint: str = ""
    folded: bool = False
    """Shown only when asked for."""
    fields: tuple[str, ...] = ()
    """Fields of the scenario that it writes, as messages of the core name them."""

    def checked(self, given: Any) -> Value:
        """The value that `given` stands for, or a `ControlError`."""
        try:
            return self.allowed.checked(given)
        except ValueError as allowed:
            shown = given if isinstance(given, str | int | float) else type(given).__name__
            message = f"{self.label}: `{str(shown)[:40]}`: allowed: {allowed}"
            raise ControlError(self.id, message) from None

    def described(self, value: Value | None) -> Table:
        """Describes the control for the page, with the value in force."""
        return {
            "id": self.id,
            "group": self.group,
            "label": self.label,
            "hint": self.hint,
            "folded": self.folded,
            "value": value,
            **self.allowed.described(),
        }
