"""What a scenario of the library is: a name, its source, and a function that builds it."""

from __future__ import annotations

import inspect
import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from anabranch.errors import InputError
from anabranch.library.needs import needs
from anabranch.network import Network
from anabranch.settings import Tcp

Window = str | Mapping[str, Any]
"""A window algorithm by name or with its options, as the field `window` takes it."""


@dataclass(frozen=True)
class Entry:
    """A scenario by name. Its parameters are the keyword arguments of `build`."""

    name: str
    reference: str
    build: Callable[..., Network]

    @property
    def summary(self) -> str:
        """The first line of the function's description."""
        return (inspect.getdoc(self.build) or "").partition("\n")[0].removesuffix(".")

    def parameters(self) -> dict[str, Any]:
        """Names and defaults; `None` is the default of what must or may be left out."""
        signature = inspect.signature(self.build)
        return {
            name: None if each.default is inspect.Parameter.empty else each.default
            for name, each in signature.parameters.items()
        }

    def value(self, name: str, text: str) -> Any:
        """A parameter's value from the text that the command line has."""
        signature = inspect.signature(self.build)
        kind = str(signature.parameters[name].annotation)
        if kind == "int":
            return self._number(name, text, int, "a whole number")
        if kind == "float":
            return self._number(name, text, float, "a number")
        if kind == "bool":
            if text not in ("true", "false"):
                raise self._wrong(name, text, "true or false")
            return text == "true"
        return text[1:-1] if len(text) >= 2 and text[0] == text[-1] == '"' else text

    def _number(self, name: str, text: str, kind: type[Any], allowed: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            raise self._wrong(name, text, allowed) from None
        if not math.isfinite(value):
            raise self._wrong(name, text, allowed)
        return value

    def _wrong(self, name: str, text: str, allowed: str) -> InputError:
        return InputError.about(f"library:{self.name}", name, text, allowed)


def tcp(window: Window) -> Tcp:
    """The table `tcp` of a flow with this window algorithm, and what the algorithm needs.

    >>> tcp("reno"), tcp('{ algorithm = "cubic", fast_convergence = false }')
    ({'window': 'reno'}, {'window': {'algorithm': 'cubic', 'fast_convergence': False}})
    >>> tcp("dctcp")
    {'window': 'dctcp', 'ecn': 'dctcp'}
    """
    read: Any = window
    if isinstance(window, str) and window.lstrip().startswith("{"):
        try:
            read = tomllib.loads(f"w = {window}")["w"]
        except tomllib.TOMLDecodeError as error:
            raise InputError.about("library", "window", window, f"TOML: {error}") from None
    name = read.get("algorithm", "") if isinstance(read, Mapping) else read
    return {"window": read, **needs(str(name))}


def within(name: str, value: float, least: float, most: float) -> None:
    """Refuses a number that no scenario can be built from."""
    if not least <= value <= most:
        raise InputError.about("library", name, f"{value:g}", f"from {least:g} to {most:g}")
