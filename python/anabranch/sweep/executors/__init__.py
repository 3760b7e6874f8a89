"""Where the units of a sweep are computed: one file an executor, one line here."""

from __future__ import annotations

from collections.abc import Callable

from anabranch.errors import InputError
from anabranch.sweep.executors.executor import Executor
from anabranch.sweep.executors.local import Local
from anabranch.sweep.executors.ray import Ray

__all__ = ["ALL", "Executor", "Local", "Ray", "named"]

ALL: dict[str, Callable[[int], Executor]] = {"local": Local, "ray": lambda _jobs: Ray()}
"""What makes each, given how many runs there may be at a time on this machine."""


def named(name: str, jobs: int) -> Executor:
    """The executor of that name; `jobs` is for those that run here."""
    if name not in ALL:
        raise InputError.about("command line", "--executor", name, ", ".join(ALL))
    return ALL[name](jobs)
