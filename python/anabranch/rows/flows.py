"""Rows of flows, and of the paths that they take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from anabranch.rows.row import Row


@dataclass(frozen=True, slots=True)
class Transfer(Row):
    """What packets tell of a flow, and runs of all flows."""

    COMPUTED: ClassVar[tuple[str, ...]] = ("completion_s",)

    flow: str
    """Its name."""
    protocol: str
    """Its transport: `tcp`, `mptcp`, `sctp`, `udp`."""
    start_s: float
    """When it started."""
    finish_s: float | None
    """When the last octet reached the receiving application, if it did: a date, see
    `completion_s`."""
    bytes: int
    """Octets that the application of the host `to` received."""
    goodput_bps: float
    """`bytes`, or `reverse_bytes` where requests are answered, over the time from the start until
    the finish, or else until the flow stopped or the run ended."""
    retransmitted_packets: int
    """Data packets sent again, by both sides."""
    fast_retransmits: int | None
    """Entries into fast retransmit; `None` of a capture and of a kernel's sender."""
    timeouts: int | None
    """Expiries of the retransmission timer; `None` of a capture."""

    @property
    def completion_s(self) -> float | None:
        """The completion time: from the start to the finish, of a flow that has one."""
        return None if self.finish_s is None else self.finish_s - self.start_s

    def took_s(self) -> float:
        """Returns the completion time; raises a `ValueError` for a flow that has not finished."""
        if self.completion_s is None:
            raise ValueError(f"a transfer did not end: {self}")
        return self.completion_s


@dataclass(frozen=True, slots=True)
class Flow(Transfer):
    """A flow of a run, with what became of it."""

    timeouts: int
    """Expiries of the retransmission timer."""
    reverse_bytes: int
    """Octets that the application of the host `from` received."""
    established: bool
    """The connection was established."""
    closed: str | None
    """Why the connection ended, once it has: `normal`, `reset`, `refused`, `timed-out` or
    `aborted`."""
    outcome: str
    """How far it came: `complete`, `open`, `not-started`, `ended`, `unfinished` or `stalled`."""
    why: str | None
    """Where it is `ended`, `unfinished` or `stalled`: how much has arrived of how much, what it
    waits for, and the state of both ends."""
    wrong_octets: int
    """Octets that arrived other than they were sent, of flows of real octets."""
    undone_reductions: int | None
    """Reductions of the window that were undone, by both sides; `None` of a kernel's sender."""
    tail_loss_probes: int | None
    """Tail loss probes of both sides; `None` of a kernel's sender."""
    spurious_retransmissions: int
    """Retransmissions that turned out spurious to their sender, of both sides."""
    fallback: bool | None
    """Of Multipath TCP: a side has fallen back to TCP (RFC 8684 §3.7); else `None`."""


@dataclass(frozen=True, slots=True)
class CapturedFlow(Transfer):
    """A direction of a connection in a packet capture."""

    packets: int
    """Data packets sent."""
    established: bool
    """`SYN`s of both sides were seen."""


@dataclass(frozen=True, slots=True)
class Path(Row):
    """A path of an SCTP association, or a subflow of Multipath TCP, in one direction."""

    flow: str
    """The flow that it belongs to."""
    from_: str
    """The sender's interface; the column `from`."""
    to: str
    """The peer's."""
    subflow: int
    """Which of the subflows between the two, from 0."""
    state: str
    """`unconfirmed`, `active`, `potentially-failed` or `inactive`."""
    packets: int
    """Packets with data sent."""
    retransmitted_packets: int
    """Of these, sent again."""
    bytes: int
    """Octets sent this way that the peer has acknowledged; what went several ways counts in
    each."""
    new_bytes: int | None
    """Octets that came this way to the receiver and were new to it; `None` where it does not count
    them."""
    goodput_bps: float | None
    """`new_bytes` over the time of the flow's `goodput_bps`."""
    fast_retransmits: int
    """Reductions of the window for missing reports."""
    timeouts: int
    """Expiries of the retransmission timer."""
    heartbeats: int
    """Heartbeats sent."""
    errors: int
    """Errors in a row."""
    cwnd: int
    """Congestion window in octets."""
    srtt_s: float | None
    """Smoothed round-trip time, once measured."""
    rto_s: float
    """Retransmission timeout."""


@dataclass(frozen=True, slots=True)
class FlowEvent(Row):
    """An event of a flow at one of its ends, or several equal ones less than 50 ms apart."""

    time_s: float
    """When the first of them happened."""
    until_s: float
    """When the last did."""
    flow: str
    """The flow."""
    host: str
    """The host at which it happened."""
    end: str
    """`sender` or `receiver` of the flow's data."""
    path: str | None
    """Of a flow with several paths which, by the name that its series have."""
    kind: str
    """`handshake`, `close`, `address`, `heartbeat`, `mark`, `ecn`, `fast-retransmit`, `timeout`,
    `probe`, `undo` or `state`."""
    event: str
    """What happened, in words."""
    cause: str | None
    """What brought the first of them about, in words: how long the timer ran, how many errors in a
    row the path had."""
    count: int
    """How often."""
