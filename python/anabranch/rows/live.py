"""How a run in real time went, and what became of packetdrill scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from anabranch.rows.row import Row


@dataclass(frozen=True, slots=True)
class Lateness(Row):
    """Distribution of the lateness of packets in real time, over all departures."""

    packets: int
    """Departures."""
    median_s: float
    """Half of them left no later than this."""
    p99_s: float
    """99 of 100 packets left no later than this."""
    p999_s: float
    """999 of 1000."""
    max_s: float
    """The latest."""


@dataclass(frozen=True, slots=True)
class Port(Row):
    """The port of an external host: packets."""

    name: str
    """Device and host."""
    entered: int
    """Came from the host."""
    left: int
    """Went to it."""
    ignored: int
    """Came from the host and were not for this network: no IP, a fragment, a wrong checksum, or an
    address that nobody has."""
    refused: int
    """Were for the host, which did not take them."""
    overrun: int
    """Came from the host and were lost in the full queue of the device."""
    first_ignored: str | None
    """Why the first of the ignored was."""
    first_refused: str | None
    """Why the first of the refused was."""
    doubts: list[str] = field(default_factory=list)
    """Why the lateness of its packets may have changed what the host did; empty where it has
    not."""

    @property
    def host(self) -> str:
        """The host's name."""
        return self.name.rpartition(" of ")[2]


@dataclass(frozen=True, slots=True)
class Program(Row):
    """A program that ran on an external host."""

    host: str
    """The host."""
    command: str
    """Its command, for the shell."""
    status: int | None
    """Its exit status, or 128 and the number of the signal that ended it; `None` if the run ended
    it, or it never ran."""
    failure: str | None
    """Why it could not be started."""


@dataclass(frozen=True, slots=True)
class Control(Row):
    """A window algorithm of ours in the running kernel."""

    name: str
    """What the kernel calls it."""
    flows: int
    """Sockets that began with it."""
    coupled: int
    """Of them subflows that are coupled with those of their connection."""
    no_storage: int
    """Sockets for which there was no memory; their windows are plain Reno's."""
    no_connection: int
    """Subflows of connections for which there was no room; their windows are uncoupled."""
    no_slot: int
    """Subflows beyond the eighth of a connection; their windows are uncoupled."""
    window: str = ""
    """What the scenario calls it; empty outside of scenarios."""

    @property
    def unfitting(self) -> int:
        """Sockets and subflows that did not fit."""
        return self.no_storage + self.no_connection + self.no_slot


@dataclass(frozen=True, slots=True)
class LiveFacts(Row):
    """Facts of a run in real time: its precision, sockets and programs."""

    lateness: Lateness
    """How late packets left."""
    longest_absence_s: float
    """The longest time that the loop was away beyond its sleep."""
    started_monotonic_s: float
    """Date zero of the run by the machine's monotonic clock."""
    loop_cpu_s: float
    """Processor time of the loop."""
    shortest_round_trip_s: float
    """The least that any flow's round trip takes by the delays of links."""
    doubts: list[str]
    """Why the timing may have changed the results; empty where it has not."""
    scheduling: str
    """How the loop's thread is scheduled."""
    unprivileged: bool
    """It ran without root's rights."""
    kernel_senders: list[str]
    """Flows whose sender is a kernel."""
    stopped: bool
    """It was stopped before its end, by Ctrl-C or by its limit."""
    sockets: Sequence[Mapping[str, Any]]
    """What kernels told last of their connections: `flow`, `host`, `ends` and the fields of
    `TCP_INFO` or `MPTCP_INFO`, as the kernel calls them."""
    ports: list[Port]
    """The ports of external hosts."""
    controls: list[Control]
    """Window algorithms of ours that were in the kernel."""
    programs: list[Program]
    """What became of programs."""
    interrupted: bool = field(default=False)
    """Somebody pressed Ctrl-C."""


@dataclass(frozen=True, slots=True)
class Script(Row):
    """The verdict on a packetdrill script."""

    suite: str
    """The suite that an index names; empty of a single script."""
    category: str
    """The folder that it stands in."""
    script: str
    """Its file."""
    verdict: str
    """`passed`, `failed`, `not applicable` or `unreadable`."""
    line: int | None
    """The line at which it failed."""
    report: str
    """What happened, for people."""
    trace: str | None = None
    """Where its packets are, if they were asked for."""
