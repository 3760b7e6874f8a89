"""Anabranch: a laboratory for transport protocols.

>>> from anabranch import Scenario
>>> scenario = Scenario.load("two-hosts.toml")          # doctest: +SKIP
>>> result = scenario.run(seed=1)                       # doctest: +SKIP
>>> result.flows[0].goodput_bps                         # doctest: +SKIP

Each name is imported when it is first used, so that `anabranch --help` waits for none of them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anabranch.capture import CaptureResult, replay
    from anabranch.errors import AlgorithmError, InputError, RunError
    from anabranch.experiment import LiveResult, RunResult, Scenario
    from anabranch.library import load
    from anabranch.network import Network
    from anabranch.recorded import Series

__all__ = [
    "AlgorithmError",
    "CaptureResult",
    "InputError",
    "LiveResult",
    "Network",
    "RunError",
    "RunResult",
    "Scenario",
    "Series",
    "load",
    "replay",
]

_MODULES = {
    "AlgorithmError": "errors",
    "CaptureResult": "capture",
    "InputError": "errors",
    "LiveResult": "experiment",
    "Network": "network",
    "RunError": "errors",
    "RunResult": "experiment",
    "Scenario": "experiment",
    "Series": "recorded",
    "load": "library",
    "replay": "capture",
}


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(f"anabranch.{_MODULES[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
