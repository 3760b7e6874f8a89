"""How a scenario is run: what the core takes as one object, by its attributes.

crates/python/src/options.rs reads every field; their meanings are those of the arguments of
`Scenario.run`, `run_batch` and `live`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch.errors import InputError

ENDS = ("sender", "receiver", "both")
"""Ends of a flow's data at which it can be captured."""


MOST_CORES = 256
"""Threads of one run."""


@dataclass(frozen=True, kw_only=True)
class CaptureOptions:
    """The packets that a capture has, and how much of each."""

    places: Sequence[str] = ()
    """Hosts, interfaces and links; none: all hosts, each flow at `end`."""
    end: str = ENDS[0]
    """`sender` of a flow's data, `receiver`, or `both`, where a packet that arrives is twice."""
    snaplen: int | None = None
    """Octets of each packet to keep; `None`: all but payload that only has a length; 0: all."""

    def __post_init__(self) -> None:
        """Refuses settings that no capture can have."""
        if self.end not in ENDS:
            raise InputError.about("capture", "capture_end", self.end, ", ".join(ENDS))
        if self.snaplen is not None and not 0 <= self.snaplen < 2**32:
            allowed = "a number of octets, 0 for all, or None"
            raise InputError.about("capture", "snaplen", str(self.snaplen), allowed)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """Options of one run in virtual time."""

    seed: int | None
    """Replaces the scenario's own."""
    replication: int
    """Which replication: another one has other random draws."""
    pcap: Path | None
    """File for packets."""
    capture: CaptureOptions
    """Which packets."""
    trace_hash: bool
    """Hash all packet events."""
    check: bool
    """Check conservation on every link at every event."""
    cores: int = 1
    """Threads to divide the run over."""

    def __post_init__(self) -> None:
        """Refuses numbers of threads that no run can have."""
        if not 1 <= self.cores <= MOST_CORES:
            allowed = f"1 to {MOST_CORES}"
            raise InputError.about("run", "cores", str(self.cores), allowed)


@dataclass(frozen=True, kw_only=True)
class BatchOptions:
    """Several replications in virtual time."""

    seed: int | None
    """Replaces the scenario's own."""
    replications: int
    """How many."""
    first: int
    """The first of them."""
    jobs: int
    """Threads; 0: one per core."""
    trace_hash: bool
    """Hash all packet events."""


@dataclass(frozen=True, kw_only=True)
class LiveOptions:
    """Options of one run in real time."""

    seed: int | None
    """Replaces the scenario's own."""
    pcap: Path | None
    """File for packets."""
    capture: CaptureOptions
    """Which packets."""
    programs: Sequence[tuple[str, str]]
    """Pairs of an external host and a command for the shell."""
    logs: Path
    """Folder for what programs write."""
    command: str | None
    """A program with the terminal."""
    limit_s: float | None
    """Real time after which the run is stopped."""
