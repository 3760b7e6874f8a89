"""A Ray cluster: the one that `RAY_ADDRESS` names, else one on this machine.

Units go out as plain values and come back as Arrow tables; only the process
that leads the sweep writes files. A unit whose node is lost is computed again
elsewhere: its result does not depend on where.
"""

from __future__ import annotations

import importlib
import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from anabranch.errors import InputError

RETRIES = 8
"""How often a unit may lose its node."""


class Ray:
    """A connection to a cluster; a process that is connected already stays so."""

    def __init__(self, address: str | None = None) -> None:
        try:
            self._ray: Any = importlib.import_module("ray")
        except ImportError:
            allowed = "local; ray after `pip install anabranch[ray]`"
            raise InputError.about("command line", "--executor", "ray", allowed) from None
        self._ours = not self._ray.is_initialized()
        if self._ours:
            self._ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        self._remote: dict[Callable[..., Any], Any] = {}

    @property
    def workers(self) -> int:
        """Processors of the cluster, as it is now."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Begins a call on one processor of the cluster."""
        if function not in self._remote:
            self._remote[function] = self._ray.remote(num_cpus=1, max_retries=RETRIES)(function)
        future: Future[Any] = self._remote[function].remote(*arguments).future()
        return future

    def close(self) -> None:
        """Leaves the cluster, unless somebody else had joined it before."""
        if self._ours:
            self._ray.shutdown()
