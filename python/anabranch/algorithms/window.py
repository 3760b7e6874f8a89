"""Congestion controllers: how much may be in flight on one path.

>>> from anabranch.algorithms import Ack, Congestion, WindowControl
>>> class Aimd(WindowControl):
...     def on_ack(self, ack: Ack) -> None:
...         if not ack.app_limited and not self.slow_start(ack):
...             self.cwnd += ack.mss * ack.acked / self.cwnd
...     def on_loss(self, signal: Congestion) -> None:
...         self.cwnd = self.ssthresh = max(self.cwnd / 2, 2 * signal.mss)
"""

from __future__ import annotations

from typing import ClassVar

from anabranch._core import Ack, Congestion, Report, Sent, Window
from anabranch.settings import Tcp, Toml


class WindowControl(Window):
    """A congestion controller. A subclass has `on_ack` and `on_loss` at least.

    Variables, which the sender reads after every hook:

    - `cwnd`: the congestion window in octets, at least one segment of `mss`
      octets and at most 2**40. A fraction is kept. It starts at the flow's
      initial window, unless `__init__` sets it.
    - `ssthresh`: the slow-start threshold in octets; infinite at first.
    - `pacing_bps`: the rate to pace at in bit/s; `None`, the default, sends
      when ACKs come.
    - `mss`, `seed`, `place`: the segment payload in octets, a number for
      `random.Random` that is the same in each run with the same seed, and the
      flow and side; to read, from `on_start` on.

    Order of calls: `__init__` with the options of the scenario, then `on_start`
    before the first data leaves; `on_sent` for each data segment. For an ACK
    that acknowledges something: `on_ack` unless a loss is being repaired, or
    `on_loss` when it reveals one, then `on_report`. A hook must depend on
    nothing but what it is given, or a run is no longer a function of its seed.
    """

    coupled: ClassVar[bool] = False
    needs: ClassVar[Tcp | Toml] = {}
    """Fields of `tcp` without which it is not itself, as `{"ecn": "dctcp"}`: scenarios of the
    library and `anabranch evaluate` set them. A scenario file says them itself."""

    def on_start(self) -> None:
        """The first data is about to leave; the variables have their first values."""

    def on_ack(self, ack: Ack) -> None:
        """New data was acknowledged, and the window may grow.

        It may not while `ack.app_limited` says that it is not what limits sending.
        """
        raise NotImplementedError

    def on_loss(self, signal: Congestion) -> None:
        """ACKs told of a loss; once in a window of data. Must not raise `cwnd`."""
        raise NotImplementedError

    def on_timeout(self, signal: Congestion) -> None:
        """The retransmission timer expired.

        Unless overridden: half the flight is the threshold, one segment the
        window (RFC 5681 §3.1); the threshold stays at further timeouts in a row.
        """
        if not signal.repeated:
            self.ssthresh = max(signal.in_flight / 2, 2.0 * signal.mss)
        self.cwnd = float(signal.mss)

    def on_mark(self, signal: Congestion) -> None:
        """The network marked a packet (ECN); once in a window of data.

        Unless overridden it counts as a loss (RFC 3168 §6.1.2).
        """
        self.on_loss(signal)

    def on_undo(self, cwnd: float, ssthresh: float) -> None:
        """The last reduction was spurious; the arguments are the values before it.

        Unless overridden they are restored, where the window has not outgrown them.
        """

    def on_idle(self, initial: float) -> None:
        """Nothing was sent for a retransmission timeout (RFC 5681 §4.1)."""
        self.cwnd = min(self.cwnd, max(initial, float(self.mss)))

    def on_sent(self, sent: Sent) -> None:
        """Data is about to leave. Heard only where overridden."""

    def on_report(self, report: Report) -> None:
        """All that an acknowledgment told. Heard only where overridden.

        A class that overrides this gets a round-trip sample with every ACK, and
        delivery rates.
        """

    def on_penalty(self) -> None:
        """Multipath TCP: this path holds others back.

        Unless overridden its window is halved, and its threshold too where that was reached.
        """
        avoids = self.cwnd >= self.ssthresh
        self.cwnd = max(self.cwnd / 2, float(self.mss))
        if avoids:
            self.ssthresh = max(self.ssthresh / 2, 2.0 * self.mss)

    def slow_start(self, ack: Ack) -> bool:
        """Below the threshold, grows by what was acknowledged, and says so.

        RFC 5681 §3.1, with at most two segments for an ACK, or one while a
        timeout is repaired (RFC 3465 §2.2, §2.3).
        """
        if self.cwnd >= self.ssthresh:
            return False
        self.cwnd += min(ack.acked, ack.mss if ack.after_timeout else 2 * ack.mss)
        return True


class CoupledControl(WindowControl):
    """A controller of one path of a connection that may have several (Multipath TCP).

    Before each `on_ack`, `ack.siblings` has the other paths as they are: windows,
    round-trip times and the number `shared` that their controllers set. Without
    siblings it is a controller like any other.
    """

    coupled: ClassVar[bool] = True
