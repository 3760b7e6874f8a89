"""A scenario of the library, which is built when it is needed, and what opens it by name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from anabranch.errors import InputError
from anabranch.experiment import LIBRARY, Scenario, dotted
from anabranch.library.entries import ALL, build, find


@dataclass(frozen=True)
class LibraryScenario(Scenario):
    """A scenario by its name, `library:NAME`, and what it is built with."""

    parameters: tuple[tuple[str, Any], ...] = ()
    """Values of parameters; the others have their defaults."""

    @property
    def name(self) -> str:
        """The name without `library:`."""
        return self.file.removeprefix(LIBRARY)

    def set(self, *assignments: str) -> Self:
        """The same scenario with `key=value` overrides added; a key may be a parameter."""
        entry = find(self.name)
        known, given, fields = entry.parameters(), dict(self.parameters), list(self.overrides)
        for assignment in assignments:
            key, _, value = (part.strip() for part in assignment.partition("="))
            if key in known:
                given[key] = entry.value(key, value)
            else:
                fields.append(dotted(assignment))
        return replace(self, overrides=tuple(fields), parameters=tuple(given.items()))

    def toml(self) -> str:
        """The text, built now, without the overrides."""
        return build(self.name, dict(self.parameters)).toml()


def load(path: str | Path) -> Scenario:
    """A scenario by its file, or one of the library by its name, `library:NAME`.

    It is checked when it is resolved or run.
    """
    if str(path) in ALL and not Path(path).exists():
        raise InputError.about(str(path), "scenario", "no such file", f"`{LIBRARY}{path}`")
    if not str(path).startswith(LIBRARY):
        return Scenario.load(path)
    return LibraryScenario("", str(path)).set()  # a name that there is not is told at once
