"""A scenario and its result: thin typed classes over the native module.

The core is imported when first used, so that `anabranch --help` answers even
from a source tree that was not built.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from anabranch import arrow
from anabranch.errors import AlgorithmError, InputError, RunError
from anabranch.files import read_text
from anabranch.observed import EXPLORED, EXPLORED_PATHS

if TYPE_CHECKING:  # matplotlib is imported when something is drawn
    from matplotlib.figure import Figure

Series = dict[str, NDArray[Any]]
"""The columns of one recorded series: `time_s`, `value` and, for packets, `len`
and `retransmission`."""


LIBRARY = "library:"
"""What the name of a scenario of the library begins with."""

TABLES = (
    "flows",
    "links",
    "paths",
    "messages",
    "regulators",
    "lines",
    "listeners",
    "attacks",
    "memory",
)
"""What a run has rows of."""


@functools.cache
def core() -> ModuleType:
    """The native module, or a `RunError` that says how to build it."""
    try:
        return importlib.import_module("anabranch._core")
    except ImportError as error:
        raise RunError(f"the native module is not built ({error}); run `make setup`") from None


@functools.cache
def code_fingerprint() -> str:
    """Names the code that computes results: a hash of the native module.

    A stored result is reused only under the same fingerprint: a run is a
    function of (scenario, seed, code).
    """
    file = core().__file__
    if file is None:
        raise RunError("the native module has no file")
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]


@dataclass(frozen=True)
class RunResult:
    """What one run left: a row per flow, link, regulator, port of a line of ATM, path of a
    multihomed flow, flow of messages, listening port, attack from outside and host whose memory was
    looked at; the observed series, its facts."""

    flows: list[dict[str, Any]]
    series: dict[str, Series]
    links: list[dict[str, Any]]
    run: dict[str, Any]
    regulators: list[dict[str, Any]] = field(default_factory=list)
    paths: list[dict[str, Any]] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)
    listeners: list[dict[str, Any]] = field(default_factory=list)
    attacks: list[dict[str, Any]] = field(default_factory=list)
    memory: list[dict[str, Any]] = field(default_factory=list)
    lines: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def from_native(cls, value: dict[str, Any]) -> RunResult:
        """From the dictionary that the core returns."""
        series = {
            name: {column: np.asarray(data) for column, data in columns.items()}
            for name, columns in value["series"].items()
        }
        return cls(
            list(value["flows"]),
            series,
            list(value["links"]),
            dict(value["run"]),
            list(value["regulators"]),
            list(value["paths"]),
            list(value["messages"]),
            list(value["listeners"]),
            list(value["attacks"]),
            list(value["memory"]),
            list(value["lines"]),
        )

    def table(self, name: str = "flows") -> pa.Table:
        """The rows of one of `TABLES` (`flows`, `links`, ...) as an Arrow table.

        `polars.from_arrow(...)` and `.to_pandas()` take it as it is.
        """
        if name not in TABLES:
            raise InputError.about("result", "table", name, ", ".join(TABLES))
        return arrow.rows_table(getattr(self, name))

    def series_table(self, name: str) -> pa.Table:
        """One observed series as an Arrow table, without a copy."""
        if name not in self.series:
            allowed = ", ".join(self.series) or "none: the scenario observes nothing"
            raise InputError.about("result", "series", name, allowed)
        return arrow.series_table(self.series[name])

    def plot(self, kind: str, of: str | Sequence[str] | None = None, axes: Any = None) -> Figure:
        """A figure of what was observed, see `anabranch.plot.plot`."""
        figure: Figure = importlib.import_module("anabranch.plot").plot(self, kind, of, axes)
        return figure

    def _repr_html_(self) -> str:
        """The flows as a table, for notebooks."""
        text: str = importlib.import_module("anabranch.notebook").flows_html(self)
        return text


@dataclass(frozen=True)
class LiveResult:
    """What a run in real time left: the same as one in virtual time, and how precise it was."""

    run: RunResult
    facts: dict[str, Any]
    """`lateness` of departures (`median_s`, `p99_s`, `p999_s`, `max_s`), `doubts` about the
    timing, `ports`, `programs`, `scheduling`, `kernel_senders`, `stopped`, `interrupted`: whether
    by somebody."""

    @classmethod
    def from_native(cls, value: dict[str, Any]) -> LiveResult:
        """From the dictionary that the core returns."""
        facts = dict(value["live"])
        run = RunResult.from_native(value)
        for flow in run.flows:
            if flow["flow"] in facts["kernel_senders"]:
                # What a kernel does not tell of its connections.
                for name in ("fast_retransmits", "undone_reductions", "tail_loss_probes"):
                    flow[name] = None
        return cls(run, facts)


@dataclass(frozen=True)
class Scenario:
    """The text of a scenario, where it came from, and the overrides on top."""

    text: str
    file: str = "<text>"
    overrides: tuple[str, ...] = field(default=())
    parameters: tuple[tuple[str, Any], ...] = field(default=())
    """Of a scenario of the library: what its text was built with."""

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """Reads a TOML file, or names a scenario of the library, `library:NAME`; it is checked
        when it is resolved or run."""
        if str(path).startswith(LIBRARY):
            return cls("", str(path)).set()
        return cls(read_text(Path(path)), str(path))

    def set(self, *assignments: str) -> Scenario:
        """The same scenario with `key=value` overrides added, as `--set` has them.

        Of a scenario of the library a key may be one of its parameters.
        """
        if not self.file.startswith(LIBRARY):
            return replace(self, overrides=(*self.overrides, *assignments))
        entry = _library().find(self.file.removeprefix(LIBRARY))
        given, fields = dict(self.parameters), list(self.overrides)
        for assignment in assignments:
            key, _, value = (part.strip() for part in assignment.partition("="))
            if key in entry.parameters():
                given[key] = entry.value(key, value)
            else:
                fields.append(assignment)
        return replace(self, overrides=tuple(fields), parameters=tuple(given.items()))

    def _toml(self) -> str:
        """The text; of a scenario of the library it is built now."""
        if not self.file.startswith(LIBRARY):
            return self.text
        name = self.file.removeprefix(LIBRARY)
        return str(_library().build(name, dict(self.parameters)).toml())

    def resolved(self) -> str:
        """The scenario with every default written out, as TOML that can be run again."""
        return str(_guard(core().resolve, self._toml(), self.file, list(self.overrides)))

    def explored(self) -> Scenario:
        """The same scenario, resolved, that also observes what the report's time-sequence
        explorer shows: packets, windows, round-trip times and queues of everything."""
        text = self.resolved()
        fields = tomllib.loads(text)
        whole = {it["what"] for it in fields.get("observe", ()) if len(it) == 1}
        wanted: tuple[str, ...] = EXPLORED
        if any(flow["protocol"] != "tcp" for flow in fields.get("flows", ())):
            wanted += EXPLORED_PATHS
        more = "".join(f'\n[[observe]]\nwhat = "{it}"\n' for it in wanted if it not in whole)
        return Scenario(text + more, self.file)

    def warnings(self) -> list[str]:
        """What the scenario says, but hardly means; allowed, and likely to do harm."""
        return list(_guard(core().warnings, self._toml(), self.file, list(self.overrides)))

    def run(
        self,
        *,
        seed: int | None = None,
        replication: int = 0,
        pcap: Path | None = None,
        capture: Sequence[str] = (),
        trace_hash: bool = False,
        check: bool = False,
    ) -> RunResult:
        """Runs once in virtual time; `seed` replaces the scenario's own. Packets go to `pcap`:
        those at all hosts, or those at the hosts, interfaces and links in `capture`."""
        arguments = (self._toml(), self.file, list(self.overrides), seed, replication)
        file = None if pcap is None else str(pcap)
        more = (file, trace_hash, check, list(capture))
        return RunResult.from_native(_guard(core().run, *arguments, *more))

    def live(
        self,
        *,
        seed: int | None = None,
        pcap: Path | None = None,
        programs: Sequence[tuple[str, str]] = (),
        logs: Path = Path(),
        command: str | None = None,
        limit_s: float | None = None,
        capture: Sequence[str] = (),
    ) -> LiveResult:
        """Runs once in real time, on Linux, as root: `programs` are pairs of an external host
        and a command, whose output goes to `logs`; `command` has the terminal. After `limit_s`
        seconds the run is stopped as it stands. `pcap` and `capture` are those of `run`."""
        if not hasattr(core(), "live"):
            raise RunError("live runs need Linux")
        file = None if pcap is None else str(pcap)
        arguments = (self._toml(), self.file, list(self.overrides), seed, file)
        more = (list(programs), str(logs), command, limit_s, list(capture))
        return LiveResult.from_native(_guard(core().live, *arguments, *more))

    def run_batch(
        self,
        replications: int,
        *,
        first: int = 0,
        seed: int | None = None,
        jobs: int = 1,
        trace_hash: bool = False,
    ) -> list[RunResult]:
        """Replications `first` to `first + n - 1`, in order whatever the number of threads."""
        arguments = (
            self._toml(),
            self.file,
            list(self.overrides),
            seed,
            replications,
            first,
            jobs,
            trace_hash,
        )
        return [RunResult.from_native(value) for value in _guard(core().run_batch, *arguments)]


def _library() -> ModuleType:
    """The library, which needs the classes of this module."""
    return importlib.import_module("anabranch.library")


def catalogue(kind: str) -> list[tuple[str, str, str]]:
    """Name, summary and reference of every `algorithms`, `queues`, ... there is."""
    return [(str(n), str(s), str(r)) for n, s, r in _guard(core().catalogue, kind)]


def bench(workload: str) -> list[dict[str, Any]]:
    """Runs a speed workload; one row a variant."""
    value = _guard(core().bench, workload)
    rows: Iterable[dict[str, Any]] = [value] if isinstance(value, dict) else value
    return [dict(row) for row in rows]


def drill(
    places: Sequence[Path],
    *,
    profile: str,
    definitions: Sequence[tuple[str, str]],
    settings: Sequence[tuple[str, str]],
    jobs: int,
    traces: Path | None,
) -> list[dict[str, Any]]:
    """Runs packetdrill scripts; one row a script."""
    arguments = (list(places), profile, list(definitions), list(settings), jobs, traces)
    return [dict(row) for row in _guard(core().drill, *arguments)]


def _guard(function: Any, *arguments: Any) -> Any:
    """Calls into the core and maps its errors to our family."""
    try:
        return function(*arguments)
    except core().InputError as error:
        raise InputError(str(error)) from None
    except core().AlgorithmError as error:
        message, facts = error.args
        raise AlgorithmError(message, **facts) from error.__cause__
    except (OSError, RuntimeError, ValueError, MemoryError) as error:
        raise RunError(f"the run failed: {error or type(error).__name__}") from None
    except BaseException as error:
        # A broken invariant of the core: PyO3 makes its panics a BaseException.
        if type(error).__name__ == "PanicException":
            raise RunError(f"the run failed: broken invariant: {error}") from None
        raise


def value_at(times: Sequence[float] | NDArray[Any], values: NDArray[Any], at: float) -> float:
    """A step series' value at a date: that of the last record not after it, 0 before."""
    index = int(np.searchsorted(np.asarray(times), at, side="right")) - 1
    return float(values[index]) if index >= 0 else 0.0
