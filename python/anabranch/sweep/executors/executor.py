"""What the scheduler needs of an executor."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Protocol


class Executor(Protocol):
    """Takes calls and answers with futures, like `concurrent.futures`."""

    @property
    def workers(self) -> int:
        """Calls that are computed at a time."""
        ...

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begins a call; the future has its value, or what it raised."""
        ...

    def close(self) -> None:
        """Lets go of what was taken; calls not begun are dropped."""
        ...
