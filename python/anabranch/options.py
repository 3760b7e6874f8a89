"""How a scenario is run: what the core takes as one object, by its attributes.

crates/python/src/options.rs reads every field; their meanings are those of the arguments of
`Scenario.run`, `run_batch` and `live`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """One run in virtual time."""

    seed: int | None
    """Replaces the scenario's own."""
    replication: int
    """Which replication: another one has other random draws."""
    pcap: Path | None
    """File for the packets of all hosts, or those at `capture`."""
    capture: Sequence[str]
    """Hosts, interfaces and links."""
    trace_hash: bool
    """Hash all packet events."""
    check: bool
    """Check conservation on every link at every event."""


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
    """One run in real time."""

    seed: int | None
    """Replaces the scenario's own."""
    pcap: Path | None
    """File for the packets of all hosts, or those at `capture`."""
    capture: Sequence[str]
    """Hosts, interfaces and links."""
    programs: Sequence[tuple[str, str]]
    """Pairs of an external host and a command for the shell."""
    logs: Path
    """Folder for what programs write."""
    command: str | None
    """A program with the terminal."""
    limit_s: float | None
    """Real time after which the run is stopped."""
