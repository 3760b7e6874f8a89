"""The native module: private; use the classes of `anabranch`."""

from os import PathLike
from typing import Any

__all__ = [
    "WORKLOADS",
    "InputError",
    "__version__",
    "bench",
    "catalogue",
    "drill",
    "enter_user_namespace",
    "live",
    "load",
    "resolve",
    "run",
    "run_batch",
    "warnings",
]

__version__: str

WORKLOADS: list[str]
"""The names that `bench` takes."""

class InputError(ValueError):
    """A scenario that cannot be run as written: file, field, value and what is allowed."""

def load(path: str | PathLike[str]) -> str:
    """The text of a scenario file; refuses what is over 16 MiB or not UTF-8."""

def resolve(text: str, file: str = "scenario", overrides: list[str] = ...) -> str:
    """The scenario with every default spelt out, as TOML that can be run again."""

def warnings(text: str, file: str = "scenario", overrides: list[str] = ...) -> list[str]:
    """What the scenario says, but hardly means."""

def run(
    text: str,
    file: str = "scenario",
    overrides: list[str] = ...,
    seed: int | None = None,
    replication: int = 0,
    pcap: str | PathLike[str] | None = None,
    trace_hash: bool = False,
    check: bool = False,
) -> dict[str, Any]:
    """Runs a scenario once: `flows`, `series`, `links`, `regulators`, `paths`, `messages`
    and `run`."""

def live(
    text: str,
    file: str = "scenario",
    overrides: list[str] = ...,
    seed: int | None = None,
    pcap: str | PathLike[str] | None = None,
    programs: list[tuple[str, str]] = ...,
    logs: str | PathLike[str] = ...,
    command: str | None = None,
) -> dict[str, Any]:
    """Runs a scenario once in real time: as `run`, and `live`. An interrupt from the keyboard
    stops it; the result then says so. On Linux alone."""

def enter_user_namespace() -> None:
    """Makes the process, which must have a single thread, root in a user namespace of its own,
    where the kernel allows that; nothing happens to root. On Linux alone."""

def run_batch(
    text: str,
    file: str = "scenario",
    overrides: list[str] = ...,
    seed: int | None = None,
    replications: int = 1,
    first: int = 0,
    jobs: int = 0,
    trace_hash: bool = False,
) -> list[dict[str, Any]]:
    """Replications `first` to `first + n - 1` on `jobs` threads (0: one per core), in order."""

def catalogue(kind: str) -> list[tuple[str, str, str]]:
    """Name, summary and reference of each entry of `algorithms`, `recoveries`, `destinations`,
    `schedulers`, `queues`, `transmitters`, `regulators`, `impairments`, `topologies` or
    `observers`."""

def bench(workload: str) -> list[dict[str, Any]]:
    """Runs a speed workload: one dictionary a variant."""

def drill(
    places: list[str | PathLike[str]],
    profile: str = "auto",
    definitions: list[tuple[str, str]] = ...,
    settings: list[tuple[str, str]] = ...,
    jobs: int = 1,
    traces: str | PathLike[str] | None = None,
) -> list[dict[str, Any]]:
    """Runs packetdrill scripts: `suite`, `category`, `script`, `verdict`, `line`, `report`
    and, with a folder for `traces`, `trace` of each, in order."""
