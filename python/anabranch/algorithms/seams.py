"""The seams that take classes of the user's: the base class of each, and what it asks."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.algorithms.multipath import PathPolicy, Scheduler
from anabranch.algorithms.recovery import LossRecovery
from anabranch.algorithms.regulator import AckDelay
from anabranch.algorithms.window import WindowControl


@dataclass(frozen=True)
class Seam:
    """A seam: a kind of algorithm that users can write."""

    base: type
    required: tuple[str, ...]
    """What a class must define."""


SEAMS: dict[str, Seam] = {
    "window": Seam(WindowControl, ("on_ack", "on_loss")),
    "recovery": Seam(LossRecovery, ("on_ack",)),
    "scheduler": Seam(Scheduler, ("choose",)),
    "destination": Seam(PathPolicy, ("choose",)),
    "regulator": Seam(AckDelay, ("delay",)),
}
