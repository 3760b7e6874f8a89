"""The controller behind the environment: it asks for an action at every interval.

A run computes in a thread of its own and waits while the learner thinks; the
two hand over to each other, so that one of them runs at a time, and the result
does not depend on how threads are scheduled.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from queue import SimpleQueue

from anabranch.algorithms import Ack, Congestion, Report, WindowControl


@dataclass
class Interval:
    """Measurements of the time since the last action."""

    start_s: float = 0.0
    end_s: float = 0.0
    delivered: int = 0
    lost: int = 0
    rtt_sum_s: float = 0.0
    rtts: int = 0
    min_rtt_s: float = 0.0
    srtt_s: float = 0.0
    cwnd: float = 0.0
    mss: int = 0
    final: bool = False
    """The run is over; nothing else is told."""


class Stopped(Exception):
    """The environment needs no more of this run."""


@dataclass
class Link:
    """Between the environment and the run."""

    interval_s: float
    told: SimpleQueue[Interval | BaseException]
    """From the run."""
    actions: SimpleQueue[float | None]
    """From the learner: the factor of the window; `None` stops the run."""


_open: dict[int, Link] = {}
"""Links that runs of this process look for, by number."""
_lock = threading.Lock()
_count = 0


def opened(link: Link) -> int:
    """Gives a link its number among the agent's links."""
    global _count  # noqa: PLW0603 -- numbers are this process's
    with _lock:
        _count += 1
        _open[_count] = link
        return _count


def closed(number: int) -> None:
    """Forgets a link that is gone."""
    with _lock:
        _open.pop(number, None)


class Agent(WindowControl):
    """A window that the environment moves."""

    unlimited = True
    """It waits for the learner."""

    def __init__(self, link: int) -> None:
        self.link = _open[link]
        self.interval = Interval()

    def on_start(self) -> None:
        self.interval = Interval(cwnd=self.cwnd, mss=self.mss)

    def on_ack(self, ack: Ack) -> None:
        """The window is the learner's alone."""

    def on_loss(self, signal: Congestion) -> None:
        """Losses are told with the interval."""

    def on_report(self, report: Report) -> None:
        now, interval = report.time_s, self.interval
        interval.delivered += report.delivered
        interval.lost += report.lost
        if report.rtt_s is not None:
            interval.rtt_sum_s += report.rtt_s
            interval.rtts += 1
        if now - interval.start_s < self.link.interval_s:
            return
        interval.end_s, interval.cwnd, interval.mss = now, self.cwnd, report.mss
        interval.min_rtt_s = report.min_rtt_s or 0.0
        interval.srtt_s = report.srtt_s or 0.0
        self.link.told.put(interval)
        factor = self.link.actions.get()
        if factor is None:
            raise Stopped
        self.cwnd = min(max(self.cwnd * factor, 2.0 * report.mss), 2.0**30)
        self.interval = Interval(start_s=now)
