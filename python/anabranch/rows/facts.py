"""Facts of a result as a whole: of a run, of a capture."""

from __future__ import annotations

from dataclasses import dataclass

from anabranch.rows.row import Row


class Facts(Row):
    """Facts that every result has of itself."""

    __slots__ = ()

    end_s: float
    """When it ended, in simulated time; of a capture the last date."""


@dataclass(frozen=True, slots=True)
class Run(Facts):
    """Facts of a run in virtual time."""

    version: str
    """Of this package."""
    seed: int
    """The seed of its randomness."""
    replication: int
    """Which replication, from 0."""
    generator: str
    """Name of the random generator."""
    events: int
    """Events handled."""
    packet_hops: int
    """Packets times the links that each crossed."""
    dropped_checksum: int
    """Packets that hosts dropped because the transport's checksum did not match."""
    icmp_withheld: int
    """ICMP errors that a limit of their rate kept back."""
    wall_s: float
    """Real time that it took."""
    cpu_s: float
    """Processor time of its thread, the first of several."""
    end_s: float
    """When it ended, in simulated time."""
    ended: str
    """Why it ended then, such as `time-limit`."""
    trace_hash: str | None
    """A hash over all packet events, when asked for."""
    warnings: list[str]
    """What the scenario says, but hardly means."""
    resolved: str = ""
    """The scenario with every default written out; empty of a run that a study has stored."""
    cores: int = 1
    """Threads that the run was divided over."""
    one_core: str | None = None
    """Why it was not divided, where somebody asked for that."""


@dataclass(frozen=True, slots=True)
class Interface(Row):
    """An interface at which the packets of a capture were seen."""

    name: str
    """As the capture calls it."""
    packets: int
    """Packets seen there."""


@dataclass(frozen=True, slots=True)
class Capture(Facts):
    """Facts of a packet capture."""

    end_s: float
    """The last date."""
    application: str
    """Who wrote it, as it says itself."""
    other_packets: int
    """Packets that are neither TCP nor SCTP, or not whole in their headers."""
    cut: bool
    """The file ends within a packet."""
    interfaces: list[Interface]
    """Where packets were seen."""
