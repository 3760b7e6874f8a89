"""Many scenarios as one: their networks side by side, so that one emulator runs them at once.

A transfer over a link of 2 Mbit/s takes as long as it takes; samples come from parallel links.
Names get the trial's name in front, and lose it when results are taken apart. What links draw hangs
on their names alone: trials of one name see the same fates, in whatever batch they run.
"""

from __future__ import annotations

import functools
import math
import re
import tomllib
import zlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import tomli_w

from anabranch.experiment import RunResult, Scenario
from anabranch.recorded import TABLES

LISTS = ("hosts", "routers", "channels", "links", "flows", "observe")
MARK = "_"
"""Between a trial's name and the names inside it."""
START_MS, SPREAD_MS = 2000, 3000
"""Peers have time to start, and the emulator to fill a send buffer, before the first transfer; all
transfers of a batch have started after the spread."""


@dataclass(frozen=True)
class Trial:
    """A scenario that runs beside others."""

    key: Hashable
    """What its result is found by."""
    name: str
    """Letters and digits. Trials that are compared may share it, and with it what their links
    draw."""
    scenario: Scenario
    external: tuple[str, ...]
    """Hosts that are real."""
    programs: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Commands by real host; `{HOST}` in them is an address."""


def start_ms(name: str) -> int:
    """When the transfer of a trial starts, ms. Transfers of a batch that all sent their first
    packets at once would make each other late. The date hangs on the name alone, so that it is the
    same in whatever batch."""
    return START_MS + zlib.crc32(name.encode()) % SPREAD_MS


def merged(trials: Sequence[Trial], title: str) -> Scenario:
    """One scenario of all, with the real hosts external; their names differ, and they agree in
    seed and duration."""
    whole: dict[str, Any] = {}
    for trial in trials:
        own = dict(_resolved(trial.scenario))
        lists = {name: own.pop(name) for name in LISTS if name in own}
        own["name"] = title
        if whole and {k: v for k, v in whole.items() if k not in LISTS} != own:
            raise ValueError(f"trial {trial.name} differs from the others in more than its network")
        whole = own | {
            name: whole.get(name, []) for name in LISTS if name in lists or name in whole
        }
        for name, entries in lists.items():
            named = [_named(name, entry, trial) for entry in entries]
            # What is observed of all flows is so for every trial.
            whole[name] += [each for each in named if name != "observe" or each not in whole[name]]
    return Scenario(tomli_w.dumps(whole), title)


def programs(trials: Iterable[Trial]) -> list[tuple[str, str]]:
    """The programs of all, by host of the merged scenario."""
    found = []
    for trial in trials:
        hosts = (host["name"] if isinstance(host, dict) else host for host in _hosts(trial))
        address = re.compile(rf"\{{(?=({'|'.join(map(re.escape, hosts))})[.}}])")
        for host, command in trial.programs.items():
            own = address.sub(f"{{{trial.name}{MARK}", command)
            found.append((f"{trial.name}{MARK}{host}", own))
    return found


def parted(result: RunResult, trials: Iterable[Trial]) -> Iterator[tuple[Trial, RunResult]]:
    """Each trial with its own rows and series, under its own names."""
    for trial in trials:
        prefix = trial.name + MARK
        tables: dict[str, Any] = {
            table: [
                type(row).of({key: _stripped(value, prefix) for key, value in row.items()})
                for row in result.rows_of(table)
                if str(next(iter(row.values()))).startswith(prefix)
            ]
            for table in TABLES
        }
        series = {
            _stripped(name, prefix): columns
            for name, columns in result.series.items()
            if name.startswith(prefix)
        }
        yield trial, RunResult(series=series, run=result.run, **tables)


def batches(
    trials: Iterable[Trial],
    size: int,
    length: Callable[[Trial], float],
    load: Callable[[Trial], float] = lambda _: 0.0,
    most_load: float = math.inf,
) -> list[list[Trial]]:
    """Trials that run at the same time: at most `size`, of one duration, no two of one name, of
    about one length so that none waits long for another, and whose loads add up to `most_load` at
    most; a trial beyond it runs alone."""
    found: list[list[Trial]] = []
    loads: list[float] = []
    for trial in sorted(trials, key=length):
        own = load(trial)
        room = (
            n
            for n, each in enumerate(found)
            if len(each) < size and loads[n] + own <= most_load and _fits(trial, each)
        )
        n = next(room, len(found))
        if n == len(found):
            found.append([])
            loads.append(0.0)
        found[n].append(trial)
        loads[n] += own
    return found


def _hosts(trial: Trial) -> list[Any]:
    return list(_resolved(trial.scenario)["hosts"])


def _fits(trial: Trial, batch: Sequence[Trial]) -> bool:
    durations = (_resolved(each.scenario).get("duration") for each in (trial, batch[0]))
    return len(set(durations)) == 1 and all(each.name != trial.name for each in batch)


@functools.lru_cache(maxsize=8192)
def _resolved(scenario: Scenario) -> Mapping[str, Any]:
    return tomllib.loads(scenario.resolved())


def _named(table: str, entry: Any, trial: Trial) -> Any:
    """An entry of one of the lists with all names in it made the trial's."""
    prefix = trial.name + MARK
    if table == "hosts":
        host = dict(entry) if isinstance(entry, dict) else {"name": entry}
        external = {"external": True} if host["name"] in trial.external else {}
        return host | {"name": prefix + host["name"]} | external
    if isinstance(entry, str):
        return prefix + entry
    names = {"flows": ("name", "from", "to"), "observe": ("flow", "link", "host")}
    changed = {}
    for key, value in entry.items():
        if key == "ends":
            changed[key] = [prefix + end for end in value]
        elif key in names.get(table, ("name",)):
            changed[key] = prefix + value
        else:
            changed[key] = _nested(value, prefix)
    return changed


REFERENCES = ("name", "flow", "explicit", "alternates")
"""Fields further inside that hold names: of a link's reverse, an impairment's flow, a channel, a
flow's other interfaces."""


def _nested(value: Any, prefix: str) -> Any:
    if isinstance(value, dict):
        return {
            key: _prefixed(each, prefix) if key in REFERENCES else _nested(each, prefix)
            for key, each in value.items()
        }
    return [_nested(each, prefix) for each in value] if isinstance(value, list) else value


def _prefixed(value: Any, prefix: str) -> Any:
    """A name, or names in a list."""
    if isinstance(value, list):
        return [_prefixed(each, prefix) for each in value]
    return prefix + value if isinstance(value, str) else value


def _stripped(value: Any, prefix: str) -> Any:
    """Names joined by dots or dashes, each without the prefix."""
    return value.replace(prefix, "") if isinstance(value, str) else value
