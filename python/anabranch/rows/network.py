"""Rows of what stands in the network: links, regulators, lines of ATM."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.rows.row import Row


@dataclass(frozen=True, slots=True)
class Link(Row):
    """A direction of a link: packets, and their octets with headers.

    `received` and `duplicated` together are `delivered`, all that was dropped, and `queued`.
    """

    name: str
    """The link's; of its way back with `-reverse`, unless it has a name of its own."""
    received: int
    """Packets offered to it."""
    delivered: int
    """Packets that reached the far end."""
    dropped_queue: int
    """Dropped because the queue was full."""
    dropped_aqm: int
    """Dropped by a decision of active queue management."""
    dropped_loss: int
    """Dropped by a loss impairment."""
    dropped_corrupt: int
    """Dropped because bits were in error."""
    dropped_mtu: int
    """Dropped because they were larger than the MTU."""
    marked: int
    """Marked by the queue: congestion experienced."""
    duplicated: int
    """Copies that the link made."""
    queued: int
    """In the link when the run ended: waiting, being transmitted or under way."""
    bytes_received: int
    """Octets offered, with the headers of IP."""
    bytes_delivered: int
    """Octets that reached the far end."""
    bytes_dropped: int
    """Octets dropped, for any reason."""
    bytes_duplicated: int
    """Octets of the copies."""
    bytes_queued: int
    """Octets in the link when the run ended."""
    utilisation: float | None = None
    """Octets that it delivered over those that its rate carries in the run; `None` where its rate
    changes."""
    queue_mean: float | None = None
    """Packets that wait, without the one being transmitted: mean over time; this column and those
    that follow where `what = "queueing"` observes the link."""
    queue_p50: float | None = None
    """Half of the time no more waited."""
    queue_p95: float | None = None
    """95 % of the time no more waited."""
    queue_p99: float | None = None
    """99 % of the time no more waited."""
    queue_max: float | None = None
    """The most."""
    queue_delay_mean_s: float | None = None
    """Time from joining the queue to the start of the transmission: mean over packets."""
    queue_delay_p50_s: float | None = None
    """Its median."""
    queue_delay_p95_s: float | None = None
    """95 % of packets waited no longer."""
    queue_delay_p99_s: float | None = None
    """99 % of packets waited no longer."""
    queue_delay_max_s: float | None = None
    """The longest."""

    @property
    def dropped(self) -> int:
        """Packets dropped, for any reason."""
        by_queue = self.dropped_queue + self.dropped_aqm
        return by_queue + self.dropped_loss + self.dropped_corrupt + self.dropped_mtu


@dataclass(frozen=True, slots=True)
class Regulator(Row):
    """A regulator, which holds ACKs: packets and octets."""

    name: str
    """Name of its forward link's direction."""
    received: int
    """ACKs that came to it."""
    released: int
    """ACKs that it let go."""
    delayed: int
    """Of these, not at once."""
    dropped: int
    """ACKs that it had no room for."""
    held: int
    """ACKs that it held when the run ended."""
    most_held: int
    """The most that it held at a time."""
    bytes_received: int
    """Octets that came, with the headers of IP."""
    bytes_released: int
    """Octets that went on."""
    bytes_dropped: int
    """Octets dropped."""
    bytes_held: int
    """Octets held when the run ended."""
    total_delay_s: float
    """Sum of the delays of all ACKs."""
    longest_delay_s: float
    """The longest of them."""


@dataclass(frozen=True, slots=True)
class Line(Row):
    """A port of a line of ATM: cells."""

    name: str
    """The line's; of the port at its second end with `-reverse`."""
    received: int
    """Cells that came to the port."""
    forward_rm: int
    """Of these, forward RM cells."""
    backward_rm: int
    """Of these, backward RM cells."""
    delivered: int
    """Cells that left at the line's other end."""
    dropped: int
    """Cells that found the port full."""
    queued: int
    """Cells still there when the run ended."""
    most_waiting: int
    """The most cells that a cell found waiting before it."""
    mean_wait_s: float
    """Mean time that a cell waited, of those that were taken."""
    utilisation: float
    """Share of the run in which the line was busy."""
