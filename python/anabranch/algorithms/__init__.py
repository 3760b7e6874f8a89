"""Algorithms of your own: base classes for each seam, and what finds them by name.

See docs/your-algorithm.md.
"""

from __future__ import annotations

from anabranch._core import Ack, Congestion, Path, Report, Sent
from anabranch.algorithms.loading import load
from anabranch.algorithms.window import CoupledControl, WindowControl

__all__ = [
    "Ack",
    "Congestion",
    "CoupledControl",
    "Path",
    "Report",
    "Sent",
    "WindowControl",
    "load",
]
