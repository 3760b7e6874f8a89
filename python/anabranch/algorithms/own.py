"""Attributes that the classes of all seams but windows have."""

from __future__ import annotations


class Own:
    """An object at a place. `__init__` takes the options of the scenario; nothing may
    depend on anything but them, `seed` and what hooks are given."""

    seed: int = 0
    """For `random.Random`, from `on_start` on: the same in each run with the same seed."""
    place: str = ""
    """The flow and side, or the link, for messages."""

    def on_start(self) -> None:
        """The first call is about to come."""
