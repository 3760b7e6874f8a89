"""Trials side by side on real packets: many scenarios as one, run in both worlds, and taken apart.

`parallel` makes one scenario of many, `worlds` runs it in the simulator and live, `usrsctp` is the
independent SCTP peer. Live studies and `anabranch compare` judge what comes out.
"""

from __future__ import annotations

from anabranch.trials.parallel import Trial, start_ms

__all__ = ["Trial", "start_ms"]
