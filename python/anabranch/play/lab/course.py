"""The exercises of the lab, from `course.toml`."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from importlib import resources

from anabranch.experiment import Scenario
from anabranch.play import code
from anabranch.play.controls import turn
from anabranch.play.controls.control import Value
from anabranch.play.document import Table, opened

Changes = dict[str, Value]
"""Values by the id of their control."""


@dataclass(frozen=True)
class Step:
    """Something to try: one setting, or two beside each other."""

    text: str
    a: Changes
    b: Changes | None = None
    page: str = ""
    """What the text says besides on the page: notebooks cannot play a run."""
    pace: float | None = None
    """Seconds of the run in a second when it is played, of a step that asks for it."""

    def described(self) -> Table:
        """Describes the step for the page."""
        found: Table = {"text": f"{self.text} {self.page}".strip(), "a": self.a}
        optional = {"b": self.b, "pace": self.pace}
        return found | {key: value for key, value in optional.items() if value is not None}


@dataclass(frozen=True)
class Measure:
    """A number of the answers: what is measured of which setting."""

    name: str
    measure: str
    """One of `anabranch.play.lab.measures.MEASURES`."""
    of: str
    """The flow, link or path."""
    unit: str
    says: str
    set: Changes


@dataclass(frozen=True)
class Exercise:
    """An exercise of the lab, which is a page."""

    id: str
    title: str
    minutes: int
    scenario: str
    question: str
    background: str
    see: tuple[str, ...]
    """What there is to see."""
    answer: str
    """For the teacher, with the names of measures in braces."""
    steps: tuple[Step, ...]
    measures: tuple[Measure, ...]

    def described(self) -> Table:
        """Describes the exercise for the page: all but the answers."""
        return {
            "id": self.id,
            "title": self.title,
            "minutes": self.minutes,
            "scenario": self.scenario,
            "question": self.question,
            "background": self.background,
            "see": list(self.see),
            "steps": [step.described() for step in self.steps],
        }


@functools.cache
def exercises() -> tuple[Exercise, ...]:
    """Returns all exercises, in the order of the lab."""
    text = resources.files("anabranch.play").joinpath("lab", "course.toml").read_text("utf-8")
    return tuple(_read(table) for table in tomllib.loads(text)["exercises"])


def _read(table: Table) -> Exercise:
    steps = tuple(Step(**step) for step in table.pop("steps"))
    measures = tuple(Measure(**measure) for measure in table.pop("measures"))
    see = tuple(table.pop("see"))
    return Exercise(**table, see=see, steps=steps, measures=measures)


def course() -> Table:
    """Describes the lab for the page."""
    return {"exercises": [exercise.described() for exercise in exercises()]}


def setting(scenario: str, changes: Changes) -> Scenario:
    """A scenario of the lab or the library with some of its controls turned, which observes
    windows, round-trip times, queues, packets and what is received: for notebooks.

    >>> setting("lab:sawtooth", {"links.bottleneck.buffer": 10}).run().flows[0].flow
    'long'
    """
    turned = turn(opened(scenario), changes)
    for error in turned.errors:
        raise error
    kinds = ["cwnd", "srtt", "queue", "received", "packets"]
    document = {**turned.document, "observe": [{"what": what} for what in kinds]}
    return Scenario(code.as_toml(document), scenario)
