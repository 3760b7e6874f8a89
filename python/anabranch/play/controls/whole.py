"""What can be turned of the run as a whole: its duration and seed."""

from __future__ import annotations

from collections.abc import Iterator

from anabranch.play.controls.control import Control, Range, Value
from anabranch.play.controls.quantities import SECONDS
from anabranch.play.document import Table
from anabranch.play.limits import LONGEST_S

MOST_SEED = 1_000_000


def controls(document: Table) -> Iterator[Control]:
    """The controls of the run; its duration unless flows say when it ends."""
    if "duration" in document:
        yield _duration(document)
    yield _seed(document)


def _duration(document: Table) -> Control:
    def put(number: float) -> None:
        document["duration"] = SECONDS.text(number)

    def read(scenario: Table) -> Value | None:
        return SECONDS.number(scenario.get("duration"))

    return Control(
        id="duration",
        group="Run",
        label="Duration",
        allowed=Range(0.1, LONGEST_S, "s", "log"),
        put=put,
        read=read,
        fields=("duration",),
    )


def _seed(document: Table) -> Control:
    def put(number: int) -> None:
        document["seed"] = number

    def read(scenario: Table) -> Value | None:
        found = scenario.get("seed")
        return found if isinstance(found, int) else None

    return Control(
        id="seed",
        group="Run",
        label="Seed",
        allowed=Range(0, MOST_SEED, "", whole=True).holding(document.get("seed", 1)),
        put=put,
        read=read,
        hint="Another seed, other random draws.",
        fields=("seed",),
    )
