"""Algorithms of your own: base classes for each seam, and what finds them by name.

See docs/your-algorithm.md.
"""

from __future__ import annotations

from anabranch._core import (
    Ack,
    Congestion,
    DataStream,
    Destination,
    ForwardLink,
    Path,
    RecoveryAck,
    Report,
    Sent,
    Subflow,
)
from anabranch.algorithms.checking import Violation, check
from anabranch.algorithms.limits import set_call_limit
from anabranch.algorithms.loading import load
from anabranch.algorithms.multipath import PathPolicy, Scheduler
from anabranch.algorithms.recovery import LossRecovery
from anabranch.algorithms.regulator import AckDelay
from anabranch.algorithms.window import CoupledControl, WindowControl

__all__ = [
    "Ack",
    "AckDelay",
    "Congestion",
    "CoupledControl",
    "DataStream",
    "Destination",
    "ForwardLink",
    "LossRecovery",
    "Path",
    "PathPolicy",
    "RecoveryAck",
    "Report",
    "Scheduler",
    "Sent",
    "Subflow",
    "Violation",
    "WindowControl",
    "check",
    "load",
    "set_call_limit",
]
