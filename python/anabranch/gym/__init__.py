"""Learned congestion control: an environment for Gymnasium (`pip install anabranch[gym]`).

>>> import gymnasium
>>> import anabranch.gym                                        # registers it
>>> env = gymnasium.make("anabranch/Congestion-v0")             # doctest: +SKIP
"""

from __future__ import annotations

from anabranch.errors import RunError

try:
    import gymnasium
except ImportError:
    raise RunError("gymnasium is not installed: pip install anabranch[gym]") from None

from anabranch.gym.environment import CongestionEnv, default_scenario

__all__ = ["CongestionEnv", "default_scenario"]

if "anabranch/Congestion-v0" not in gymnasium.registry:
    gymnasium.register("anabranch/Congestion-v0", entry_point="anabranch.gym:CongestionEnv")
