"""The closed form of two-way traffic, derived in docs/two-way.md; times in seconds."""

from __future__ import annotations

from dataclasses import dataclass

HEADERS = 40
"""TCP's and IP's headers, octets; there are no options."""


@dataclass(frozen=True)
class Channel:
    """A channel between two hosts, and a window in segments for the data of each."""

    windows: tuple[int, int]
    rates: tuple[float, float]
    """Of the lines from the first host and from the second, bit/s."""
    round_trip: float
    """Propagation there and back."""
    mss: int
    processing: float = 0.0
    """Of each packet received and of each packet sent, at both hosts."""

    def time(self, octets: int, line: int) -> float:
        """What a packet takes on a line."""
        return octets * 8 / self.rates[line]

    @property
    def data(self) -> tuple[float, float]:
        """What a data packet takes on the line of its sender."""
        return self.time(self.mss + HEADERS, 0), self.time(self.mss + HEADERS, 1)

    @property
    def ack(self) -> tuple[float, float]:
        """What an ACK takes on each line."""
        return self.time(HEADERS, 0), self.time(HEADERS, 1)

    @property
    def delay(self) -> float:
        """Propagation, and processing once to send and once to receive at both hosts."""
        return self.round_trip + 4 * self.processing

    @property
    def work(self) -> tuple[float, float]:
        """What each window takes on the line of its sender."""
        return self.windows[0] * self.data[0], self.windows[1] * self.data[1]

    @property
    def cycle(self) -> float:
        """Seconds in which each segment of both windows goes round once, equation (1).

        >>> channel = Channel((100, 100), (1e7, 1e7), 0.12, 1460)
        >>> round(channel.work[0] / channel.cycle, 4)
        0.6665
        """
        (a, b), (e, f) = self.data, self.ack
        (wa, wb), (first, second) = self.windows, self.work
        return max(
            first + wb * e,
            second + wa * f,
            self.delay + max(a + f, b + e),
            (first + second + e + f + self.delay) / 2,
            2 * (wa + wb) * self.processing,
        )

    @property
    def shares(self) -> tuple[float, float]:
        """Part of each line that its data takes."""
        return self.work[0] / self.cycle, self.work[1] / self.cycle

    @property
    def alone(self) -> tuple[float, float]:
        """The same of each connection without the other."""
        (a, b), (e, f) = self.data, self.ack
        first = self.work[0] / max(self.work[0], self.delay + a + f)
        second = self.work[1] / max(self.work[1], self.delay + b + e)
        return first, second

    @property
    def bunch(self) -> float:
        """Seconds of data that a bunch of ACKs sets free, ACKs without a length.

        >>> channel = Channel((100, 100), (1e7, 1e7), 0.12, 1460)
        >>> round(channel.bunch / channel.data[0])
        50
        """
        return max(0.0, (sum(self.work) - self.delay) / 2)
