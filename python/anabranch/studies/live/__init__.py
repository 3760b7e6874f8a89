"""Studies on real packets: trials side by side in one emulator, judged as the simulated ones are.

A study's `live.py` has a `LivePart`: trials, which are scenarios of the study with some hosts real,
and a function that judges their results. Here is what all share: `parallel` makes one scenario of
many, `worlds` runs it in the simulator and live, `outcome` keeps and writes what was found.
"""

from __future__ import annotations

from anabranch.studies.live.outcome import LiveOutcome
from anabranch.studies.live.parallel import Trial
from anabranch.studies.live.part import LivePart

__all__ = ["LiveOutcome", "LivePart", "Trial"]
