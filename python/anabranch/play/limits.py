"""Bounds of what one turn of a knob may cost."""

from __future__ import annotations

LONGEST_S = 120.0
"""Virtual time of a run, in seconds."""
MOST_PACKETS = 4_000_000
"""Data packets that a run may send, as far as can be told before it: flows at the rate of their
bottleneck to the end."""
ARRIVALS = 500_000
"""Data packets of a run up to which each is looked at for the rates of arrival; of a longer one the
data is counted that is in order."""
WALL_S = 20.0
"""Real time after which a run is ended, in seconds."""
MEMORY = 2 << 30
"""Address space of a worker beyond what it has when it is idle, in octets."""
SAMPLES = 1200
"""Samples of each series: more than a chart has pixels."""
MOST_SERIES = 40
"""Series of a kind in an answer."""
DRAWN_PACKETS = 120_000
"""Packets whose journeys an answer has; beyond it, a stretch of the run."""
BODY = 64 << 10
"""Octets of a request."""
MOST_CHANGES = 200
"""Controls that a request may turn."""
