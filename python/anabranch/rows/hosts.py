"""Rows of hosts: ports that listen, attacks on them, the memory that connections took."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.rows.row import Row


@dataclass(frozen=True, slots=True)
class Listener(Row):
    """A port that listens to strangers, and what it counted."""

    name: str
    """Its name."""
    accepted: int
    """Connections that it accepted."""
    strangers: int
    """Of these, from hosts that are no flow's."""
    gave_way: int
    """Connections in TIME-WAIT whose place another of the same addresses and ports took."""
    bytes: int
    """Octets that these brought."""
    half_open: int
    """Half-open connections when the run ended."""
    most_half_open: int
    """The most at a time."""
    waiting: int
    """Connections that wait to be accepted."""
    dropped: int
    """Connection requests dropped for want of room."""
    overflows: int
    """Handshakes that were complete and found no room to wait in."""
    cookies_sent: int
    """Requests that were answered without being remembered (RFC 4987 §3.6, RFC 9260 §5.1.3)."""
    cookies_accepted: int
    """Connections made of cookies that came back."""
    most_memory: int
    """The most octets of memory that it took."""


@dataclass(frozen=True, slots=True)
class Attack(Row):
    """An attack from outside, and what was sent."""

    name: str
    """Its name."""
    packets: int
    """Packets that it sent."""
    bytes: int
    """Their octets."""
    answers: int
    """Packets that came back to it."""


@dataclass(frozen=True, slots=True)
class Memory(Row):
    """What the connections of a host took of its memory."""

    host: str
    """Its name."""
    mean_bytes: float
    """Mean over the run."""
    most_bytes: int
    """The most at a time."""
    last_bytes: int
    """When the run ended."""
