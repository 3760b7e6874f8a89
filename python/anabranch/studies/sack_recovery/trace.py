"""What one run shows: segments sent, ACKs that arrived, the window; and the
dates and counts that the claims speak of.

Segments are numbered from 1 as the paper (and ns-2, whose SYN is packet 0)
numbers them. All dates are seconds of virtual time at the sender.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anabranch.experiment import RunResult

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Trace:
    """One connection that loses segments `first_drop` to `last_drop`."""

    sent_at: Floats
    sent: Ints
    resent: NDArray[np.bool_]
    acked_at: Floats
    acked: Ints
    """Highest segment acknowledged cumulatively by each ACK."""
    cwnd_at: Floats
    cwnd: Floats
    """In segments."""
    first_drop: int
    last_drop: int
    timeouts: int

    @classmethod
    def of(cls, result: RunResult, first_drop: int, drops: int, mss: int = 1000) -> Trace:
        """From the series of flow `f`."""

        def column(name: str, column: str) -> NDArray[Any]:
            return result.series[f"f.{name}"][column]

        return cls(
            sent_at=column("sends", "time_s"),
            sent=column("sends", "value").astype(np.int64) // mss + 1,
            resent=column("sends", "retransmission").astype(np.bool_),
            acked_at=column("acks", "time_s"),
            acked=column("acks", "value").astype(np.int64) // mss,
            cwnd_at=column("cwnd", "time_s"),
            cwnd=column("cwnd", "value") / mss,
            first_drop=first_drop,
            last_drop=first_drop + drops - 1,
            timeouts=result.flows[0].timeouts,
        )

    @property
    def rtt(self) -> float:
        """Round trip of the first data segment: propagation and one serialisation a link."""
        return float(self.acked_at[self.acked >= 1][0] - self.sent_at[0])

    @property
    def first_duplicate(self) -> float:
        """Arrival of the first duplicate ACK for the first lost segment."""
        waiting = self.acked_at[self.acked == self.first_drop - 1]
        return float(waiting[1]) if len(waiting) > 1 else math.nan

    @property
    def detection(self) -> float:
        """When the sender takes the loss as detected: its window shrinks."""
        shrinks = self.cwnd_at[1:][np.diff(self.cwnd) < 0]
        shrinks = shrinks[shrinks >= self.first_duplicate]
        return float(shrinks[0]) if len(shrinks) else math.nan

    @property
    def recovered(self) -> float:
        """Arrival of the ACK that covers every lost segment."""
        covering = self.acked_at[self.acked >= self.last_drop]
        return float(covering[0]) if len(covering) else math.nan

    @property
    def growth_after_recovery(self) -> float:
        """First growth of the window at or after `recovered`."""
        grows = self.cwnd_at[1:][np.diff(self.cwnd) > 0]
        grows = grows[grows >= self.recovered]
        return float(grows[0]) if len(grows) else math.nan

    @property
    def recovery_rtts(self) -> float:
        """From the detection to the ACK of all losses, in RTTs."""
        return (self.recovered - self.detection) / self.rtt

    @property
    def frozen_rtts(self) -> float:
        """From the detection until the window grows after the repair, in RTTs."""
        return (self.growth_after_recovery - self.detection) / self.rtt

    @property
    def repair_rounds(self) -> int:
        """Groups, an RTT apart, in which the lost segments are first sent again."""
        first = [
            self.sent_at[self.resent & (self.sent == lost)][:1]
            for lost in range(self.first_drop, self.last_drop + 1)
        ]
        return len(self._groups(np.sort(np.concatenate(first))))

    @property
    def new_before_detection(self) -> int:
        """New segments sent from the first duplicate ACK until the detection."""
        early = (self.sent_at >= self.first_duplicate) & (self.sent_at < self.detection)
        return int(np.count_nonzero(early & ~self.resent))

    @property
    def turns(self) -> list[int]:
        """Segments sent in each turn, from the turn of the detection on."""
        return [len(group) for group in self._turns()]

    @property
    def second_turn(self) -> float:
        """Start of the turn after the one in which the loss was detected."""
        groups = self._turns()
        return float(groups[1][0]) if len(groups) > 1 else math.nan

    def highest_sent(self, at: Floats) -> Ints:
        """Highest segment sent by each date."""
        return _staircase(self.sent_at, self.sent, at)

    def highest_acked(self, at: Floats) -> Ints:
        """Highest segment acknowledged by each date."""
        return _staircase(self.acked_at, self.acked, at)

    def reaches(self, segment: int) -> float:
        """Arrival of the first ACK that covers `segment`."""
        covering = self.acked_at[self.acked >= segment]
        return float(covering[0]) if len(covering) else math.nan

    def _turns(self) -> list[Floats]:
        return self._groups(self.sent_at[self.sent_at >= self.first_duplicate])

    def _groups(self, dates: Floats) -> list[Floats]:
        """Splits sorted dates where more than a quarter of an RTT lies between two."""
        if not len(dates):
            return []
        return np.split(dates, np.flatnonzero(np.diff(dates) > self.rtt / 4) + 1)


def worst_deficit(ours: Trace, theirs: Trace, slack: float, *, acked: bool) -> int:
    """By how many segments `ours` is behind at worst, `slack` seconds granted.

    Looks at every date at which the other one advances.
    """
    at = theirs.acked_at if acked else theirs.sent_at
    if acked:
        behind = theirs.highest_acked(at) - ours.highest_acked(at + slack)
    else:
        behind = theirs.highest_sent(at) - ours.highest_sent(at + slack)
    inside = at + slack <= min(ours.acked_at[-1], theirs.acked_at[-1])
    return int(max(0, behind[inside].max(initial=0)))


def _staircase(dates: Floats, values: Ints, at: Floats) -> Ints:
    highest = np.concatenate([[0], np.maximum.accumulate(values)])
    return highest[np.searchsorted(dates, at, side="right")]
