"""All cores of this machine, as threads: the core computes without the interpreter."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class Local:
    """An executor with so many threads."""

    def __init__(self, jobs: int) -> None:
        self.workers = jobs
        self._pool = ThreadPoolExecutor(max_workers=jobs)

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begins a call on one of the threads."""
        return self._pool.submit(function, *arguments)

    def close(self) -> None:
        """Drops the calls that were not begun."""
        self._pool.shutdown(wait=False, cancel_futures=True)
