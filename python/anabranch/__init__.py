"""Anabranch: a laboratory for transport protocols.

>>> from anabranch import Scenario
>>> scenario = Scenario.load("two-hosts.toml")          # doctest: +SKIP
>>> result = scenario.run(seed=1)                       # doctest: +SKIP
>>> result.flows[0]["goodput_bps"]                      # doctest: +SKIP
"""

from anabranch.errors import AlgorithmError, InputError, RunError
from anabranch.experiment import LiveResult, RunResult, Scenario, Series
from anabranch.network import Network
from anabranch.replay import replay

__all__ = [
    "AlgorithmError",
    "InputError",
    "LiveResult",
    "Network",
    "RunError",
    "RunResult",
    "Scenario",
    "Series",
    "replay",
]
