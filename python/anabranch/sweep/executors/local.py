"""All cores of this machine, as threads: the core computes without the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class Local:
    """So many threads."""

    def __init__(self, jobs: int) -> None:
        self.workers = jobs
        self._pool = ThreadPoolExecutor(max_workers=jobs)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begins a call."""
        return self._pool.submit(function, *arguments)

    def close(self) -> None:
        """Drops what was not begun."""
        self._pool.shutdown(wait=False, cancel_futures=True)
