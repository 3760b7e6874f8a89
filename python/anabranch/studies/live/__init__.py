"""Studies on real packets, judged as the simulated ones are.

A study's `live.py` has a `LivePart`: trials, which are scenarios of the study with some hosts real,
and a function that judges their results. `anabranch.trials` runs them side by side in both worlds;
`outcome` keeps and writes what was found.
"""

from __future__ import annotations

from anabranch.studies.live.outcome import Further, LiveOutcome
from anabranch.studies.live.part import LivePart, LiveWorld

__all__ = ["Further", "LiveOutcome", "LivePart", "LiveWorld"]
