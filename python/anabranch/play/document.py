"""Scenarios that the page can open: a file, one of the library, one of the lab."""

from __future__ import annotations

import copy
import tomllib
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any

from anabranch.errors import InputError
from anabranch.experiment import LIBRARY, Scenario
from anabranch.library.entries import ALL, build, find
from anabranch.library.entry import Entry
from anabranch.library.scenario import LibraryScenario, load
from anabranch.nearest import one_of

Table = dict[str, Any]
"""A table of a scenario, as `tomllib` reads it; controls write into it."""

LAB = "lab:"
"""What the name of a scenario of the lab begins with."""

DEFAULT = "lab:dumbbell"
"""What the page opens when nothing is named."""


@dataclass(frozen=True)
class Opened:
    """A scenario as it was before anything was turned."""

    name: str
    """By which the page asks for it: `library:web`, `lab:sawtooth`, or the name of a file."""
    file: str
    """As messages and files beside it have it."""
    text: str = ""
    """TOML; empty of one of the library, which is built."""
    entry: Entry | None = None
    """Its entry in the library."""
    given: Table = field(default_factory=dict)
    """Parameters of the library's scenario that are not its defaults."""

    def document(self, given: Table | None = None) -> Table:
        """The tables of the scenario, which may be written into."""
        if self.entry is not None:
            text = build(self.entry.name, self.given if given is None else given).toml()
            return tomllib.loads(text)
        return copy.deepcopy(self._parsed())

    def _parsed(self) -> Table:
        try:
            return tomllib.loads(self.text)
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"{self.file}: {error}") from None


def opened(name: str) -> Opened:
    """One of the library or the lab, by its name."""
    if name.startswith(LAB):
        return Opened(name, name, text=lab_text(name.removeprefix(LAB)))
    if name.startswith(LIBRARY):
        return Opened(name, name, entry=find(name.removeprefix(LIBRARY)))
    raise InputError.about("playground", "scenario", name[:80], one_of(name, names()))


def opened_file(path: Path | str) -> Opened:
    """A file, or a name as `opened` takes it; wrong ones raise `InputError`."""
    name = str(path)
    if name.startswith(LAB):
        return opened(name)
    scenario = load(path)
    if isinstance(scenario, LibraryScenario):
        return opened(name)
    scenario.resolved()  # what is wrong is told before a page is opened
    return Opened(Path(name).name, scenario.file, text=scenario.toml())


def scenario_of(opened: Opened, text: str) -> Scenario:
    """A scenario that is run: files beside the opened one are found."""
    return Scenario(text, opened.file)


def names() -> list[str]:
    """Returns all names that `opened` takes."""
    made = [f"{LIBRARY}{name}" for name, entry in ALL.items() if _complete(entry)]
    return [*(f"{LAB}{name}" for name in lab_names()), *made]


def _complete(entry: Entry) -> bool:
    """Whether it can be built without a parameter that has no default, such as a file."""
    return "file" not in entry.parameters()


def lab_names() -> list[str]:
    """Returns the names of the lab's scenarios."""
    folder = resources.files("anabranch.play").joinpath("lab", "scenarios")
    found = (each.name.removesuffix(".toml") for each in folder.iterdir())
    return sorted(name for name in found if not name.startswith("_"))


def lab_text(name: str) -> str:
    """The TOML of a scenario of the lab."""
    if name not in lab_names():
        raise InputError.about("lab", "scenario", name[:80], one_of(name, lab_names()))
    folder = resources.files("anabranch.play").joinpath("lab", "scenarios")
    return folder.joinpath(f"{name}.toml").read_text("utf-8")
