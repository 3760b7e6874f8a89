"""A scenario and its result: thin typed classes over the native module."""

from __future__ import annotations

import importlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from anabranch import notebook, rows, timeline
from anabranch.errors import InputError, RunError
from anabranch.files import read_text
from anabranch.native import core, guarded
from anabranch.observed import EXPLORED, EXPLORED_PATHS
from anabranch.options import BatchOptions, CaptureOptions, LiveOptions, RunOptions
from anabranch.recorded import TABLES, Recorded, arrays
from anabranch.timeline import Event

if TYPE_CHECKING:  # matplotlib is imported when something is drawn
    from matplotlib.figure import Figure

LIBRARY = "library:"
"""What the name of a scenario of the library begins with."""


@dataclass(frozen=True, repr=False)
class Result(Recorded):
    """A result, with what notebooks show of it."""

    def plot(
        self,
        kind: str,
        of: str | Sequence[str] | None = None,
        axes: Any = None,
        *,
        columns: float | None = None,
        height: float | None = None,
    ) -> Figure:
        """A figure of what was observed, see `anabranch.plot.plot`. `columns` of a paper are its
        width, `height` is in inches."""
        drawn = importlib.import_module("anabranch.plot").plot
        figure: Figure = drawn(self, kind, of, axes, columns=columns, height=height)
        return figure

    def timeline(self) -> list[Event]:
        """Outages, handshakes, path states, timeouts, losses, marks and where new data went, by
        date, as far as it was observed: `Scenario.explored` observes all of it."""
        return timeline.events(self)

    def __repr__(self) -> str:
        """The flows as a table of text, and what else there is."""
        return notebook.flows_text(self)

    def _repr_html_(self) -> str:
        """The flows as a table, for notebooks."""
        return notebook.flows_html(self)


@dataclass(frozen=True, repr=False)
class RunResult(Result):
    """The rows, series and facts of one run."""

    flows: Sequence[rows.Flow]
    run: rows.Run

    @classmethod
    def from_native(cls, value: Mapping[str, Any]) -> Self:
        """Makes the result from the dictionary that the core returns, or one that was stored."""
        tables: dict[str, Any] = {
            name: [kind.of(row) for row in value[name]] for name, kind in TABLES.items()
        }
        return cls(series=arrays(value["series"]), run=rows.Run.of(value["run"]), **tables)


@dataclass(frozen=True)
class LiveResult:
    """What a run in real time left: the same as one in virtual time, and how precise it was."""

    run: RunResult
    facts: rows.LiveFacts

    @classmethod
    def from_native(cls, value: Mapping[str, Any]) -> Self:
        """Makes the result from the dictionary that the core returns."""
        facts = _live_facts(value["live"])
        run = RunResult.from_native(value)
        flows = [
            _of_a_kernel(flow) if flow.flow in facts.kernel_senders else flow for flow in run.flows
        ]
        return cls(replace(run, flows=flows), facts)

    def raise_interrupt(self) -> None:
        """Raises `KeyboardInterrupt` where Ctrl-C stopped the run: the core takes it to itself, so
        that what came until then is a result."""
        if self.facts.interrupted:
            raise KeyboardInterrupt


def _live_facts(value: Mapping[str, Any]) -> rows.LiveFacts:
    nested = {
        "lateness": rows.Lateness.of(value["lateness"]),
        "ports": [rows.Port.of(port) for port in value["ports"]],
        "controls": [rows.Control.of(control) for control in value["controls"]],
        "programs": [rows.Program.of(program) for program in value["programs"]],
    }
    return rows.LiveFacts.of({**value, **nested})


def _of_a_kernel(flow: rows.Flow) -> rows.Flow:
    """Without what a kernel does not tell of its connections."""
    return replace(flow, fast_retransmits=None, undone_reductions=None, tail_loss_probes=None)


INDEX = re.compile(r"\[(\d+)\]")
"""An entry of a list as messages have it."""


def dotted(assignment: str) -> str:
    """An override with its key as overrides have it; messages count entries in brackets.

    >>> dotted("flows[0].tcp.window=reno"), dotted("bands=[[0], [1]]")
    ('flows.0.tcp.window=reno', 'bands=[[0], [1]]')
    """
    key, equals, value = assignment.partition("=")
    return INDEX.sub(r".\1", key) + equals + value


def _exploring(resolved: Mapping[str, Any]) -> str:
    """What a scenario observes and the explorer shows, as TOML: entries of its own come first."""
    own = list(resolved.get("observe", ()))
    whole = {entry["what"] for entry in own if len(entry) == 1}
    wanted: tuple[str, ...] = EXPLORED
    if any(flow["protocol"] != "tcp" for flow in resolved.get("flows", ())):
        wanted += EXPLORED_PATHS
    entries = own + [{"what": each} for each in wanted if each not in whole]
    tables = (
        ", ".join(
            f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.items()
        )
        for entry in entries
    )
    return f"[{', '.join(f'{{ {table} }}' for table in tables)}]"


@dataclass(frozen=True)
class Scenario:
    """The text of a scenario, where it came from, and the overrides on top."""

    text: str
    file: str = "<text>"
    overrides: tuple[str, ...] = field(default=())
    exploring: bool = field(default=False, kw_only=True)
    """Whether it also observes what the explorer shows: `explored` makes such a scenario."""

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """Reads a TOML file; it is checked when it is resolved or run. `anabranch.load` also takes
        `library:NAME`."""
        if str(path).startswith(LIBRARY):
            raise InputError.about(
                "Scenario.load",
                "path",
                str(path),
                "a file; anabranch.load takes names of the library",
            )
        return Scenario(read_text(Path(path)), str(path))

    def set(self, *assignments: str) -> Self:
        """The same scenario with `key=value` overrides added, as `--set` has them."""
        return replace(self, overrides=(*self.overrides, *map(dotted, assignments)))

    def toml(self) -> str:
        """The text without the overrides."""
        return self.text

    def _source(self) -> tuple[str, str, list[str]]:
        """What every call of the core begins with: text, file and overrides."""
        text, overrides = self.toml(), list(self.overrides)
        if self.exploring:
            with guarded():
                resolved = core.resolve(text, self.file, overrides)
            overrides.append(f"observe={_exploring(tomllib.loads(resolved))}")
        return text, self.file, overrides

    def resolved(self) -> str:
        """The scenario with every default written out, as TOML that can be run again."""
        with guarded():
            return core.resolve(*self._source())

    def explored(self) -> Self:
        """The same scenario that also observes what the report's time-sequence explorer shows:
        packets, windows, round-trip times and queues of everything. It takes overrides as the
        scenario itself does, profiles and presets too."""
        return replace(self, exploring=True)

    def warnings(self) -> list[str]:
        """Fields whose values are allowed and likely to do harm, or nothing at all."""
        with guarded():
            return core.warnings(*self._source())

    def run(
        self,
        *,
        seed: int | None = None,
        replication: int = 0,
        pcap: Path | None = None,
        capture: Sequence[str] = (),
        capture_end: str = "sender",
        snaplen: int | None = None,
        trace_hash: bool = False,
        check: bool = False,
        cores: int = 1,
    ) -> RunResult:
        """Runs once in virtual time; `seed` replaces the scenario's own. Packets go to `pcap`:
        those at the hosts, interfaces and links in `capture`, or else those of each flow at its
        `sender`, its `receiver` or `both`. Payload that only has a length is left out; `snaplen`
        octets of each packet are kept instead, or with 0 everything. The run is divided over
        `cores` threads where it gains by that; `result.run.one_core` says why not. The results are
        the same."""
        options = RunOptions(
            seed=seed,
            replication=replication,
            pcap=pcap,
            capture=CaptureOptions(places=capture, end=capture_end, snaplen=snaplen),
            trace_hash=trace_hash,
            check=check,
            cores=cores,
        )
        with guarded():
            value = core.run(*self._source(), options)
        return RunResult.from_native(value)

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
        capture_end: str = "sender",
        snaplen: int | None = None,
    ) -> LiveResult:
        """Runs once in real time, on Linux, as root: `programs` are pairs of an external host
        and a command, whose output goes to `logs`; `command` has the terminal. After `limit_s`
        seconds the run is stopped as it stands. What is captured is as with `run`."""
        if not hasattr(core, "live"):
            raise RunError("live runs need Linux")
        options = LiveOptions(
            seed=seed,
            pcap=pcap,
            capture=CaptureOptions(places=capture, end=capture_end, snaplen=snaplen),
            programs=programs,
            logs=logs,
            command=command,
            limit_s=limit_s,
        )
        with guarded():
            value = core.live(*self._source(), options)
        return LiveResult.from_native(value)

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
        options = BatchOptions(
            seed=seed, replications=replications, first=first, jobs=jobs, trace_hash=trace_hash
        )
        with guarded():
            values = core.run_batch(*self._source(), options)
        return [RunResult.from_native(value) for value in values]


def catalogue(kind: str) -> list[tuple[str, str, str]]:
    """Name, summary and reference of every `algorithms`, `queues`, ... there is."""
    with guarded():
        return core.catalogue(kind)


def schema() -> dict[str, Any]:
    """The JSON Schema of scenarios (draft 2020-12): what `anabranch schema` writes."""
    with guarded():
        found: dict[str, Any] = json.loads(core.schema())
    return found


def bench(workload: str) -> list[dict[str, Any]]:
    """Runs a speed workload; one row a variant, with figures of the workload's own."""
    with guarded():
        return core.bench(workload)


def drill(
    places: Sequence[Path],
    *,
    profile: str,
    definitions: Sequence[tuple[str, str]],
    settings: Sequence[tuple[str, str]],
    jobs: int,
    traces: Path | None,
    against: str,
    ip_version: str,
) -> list[rows.Script]:
    """Runs packetdrill scripts; one row a script."""
    with guarded():
        found = core.drill(
            list(places),
            profile,
            list(definitions),
            list(settings),
            jobs,
            traces,
            against,
            ip_version,
        )
    return [rows.Script.of(row) for row in found]


def value_at(times: Sequence[float] | NDArray[Any], values: NDArray[Any], at: float) -> float:
    """A step series' value at a date: that of the last record not after it, 0 before."""
    index = int(np.searchsorted(np.asarray(times), at, side="right")) - 1
    return float(values[index]) if index >= 0 else 0.0
