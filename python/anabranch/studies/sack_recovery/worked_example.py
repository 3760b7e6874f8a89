"""The paper's worked example (figure 4): a window of six, its first segment lost.

Six segments leave and the first is lost; the duplicate ACKs halve the window to three, and in the
second turn 1, 7 and 8 leave; in the third the paper sends `cwnd / 2 + 1` segments from 9 on: four.
"""

from __future__ import annotations

import numpy as np

from anabranch.experiment import Scenario
from anabranch.studies.sack_recovery.conditions import Condition, paper_case
from anabranch.studies.sack_recovery.conditions import scenario as scenario_of
from anabranch.studies.sack_recovery.trace import Trace

WINDOW = 6
"""Segments in the first turn; congestion avoidance begins with it."""
LOST = 1
TURNS = 5
"""How many turns the run lasts; the paper shows three."""
PUBLISHED = ({1, 2, 3, 4, 5, 6}, {1, 7, 8}, {9, 10, 11, 12})
"""What leaves in the paper's three turns."""


def scenario() -> Scenario:
    """The example on the study's path. Limited transmit is off: with it the same segments leave in
    the second turn, the new ones first."""
    rtt_ms = paper_case().rtt_ms
    condition = Condition(rtt_ms, drops=1, first_drop=LOST, window=WINDOW)
    return scenario_of("decoupled", condition).set(
        f'flows.0.tcp.initial_ssthresh="{WINDOW} packets"',
        "flows.0.tcp.limited_transmit=false",
        # The handshake, the turns, and no more.
        f'duration="{(TURNS + 0.8) * rtt_ms} ms"',
    )


def turns(trace: Trace) -> list[list[int]]:
    """The segments that leave in each turn, in order: a turn ends where nothing leaves for more
    than a quarter of a round trip."""
    ends = np.flatnonzero(np.diff(trace.sent_at) > trace.rtt / 4) + 1
    return [group.tolist() for group in np.split(trace.sent, ends)]
