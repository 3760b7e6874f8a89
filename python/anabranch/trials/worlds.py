"""Runs the same trials in both worlds: in virtual time, then on real packets.

A finished batch of trials is a file; an interrupted study goes on where it was.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from anabranch import cache
from anabranch.errors import RunError
from anabranch.experiment import RunResult, Scenario
from anabranch.files import write_text
from anabranch.native import code_fingerprint
from anabranch.rows import Flow, Lateness, Row
from anabranch.trials import usrsctp
from anabranch.trials.parallel import MARK, Trial, batches, merged, parted, programs

ATTEMPTS = 2
"""A batch whose timing is in doubt runs once more; the better run counts."""
FORMAT = 3
"""Raised when the layout of the files changes."""
SIMULATED_TOGETHER = 64
PATIENCE, PATIENCE_S = 3, 20
"""A batch that takes so many times as long as in virtual time, and so many seconds more, is
stopped."""

Progress = Callable[[int, int], None]
Results = Mapping[Any, RunResult]
"""What each trial gave, by its key."""


@dataclass(frozen=True)
class Timing:
    """The lateness of the packets of one batch of trials."""

    batch: str
    trials: int
    attempts: int
    packets: int
    median_s: float
    p99_s: float
    max_s: float
    longest_absence_s: float
    doubts: tuple[str, ...]

    @classmethod
    def of(cls, batch: str, trials: int, facts: Told) -> Timing:
        """Makes the timing from the facts of a live run."""
        late = facts.lateness
        return cls(
            batch,
            trials,
            facts.attempts,
            late.packets,
            late.median_s,
            late.p99_s,
            late.max_s,
            facts.longest_absence_s,
            tuple(facts.doubts),
        )


@dataclass(frozen=True)
class Told(Row):
    """What a batch in real time told beside its rows and series."""

    lateness: Lateness
    longest_absence_s: float
    started_monotonic_s: float
    doubts: list[str]
    """Of the timing, and transfers that did not end."""
    arrivals: Mapping[str, tuple[int, int, float | None] | None]
    """By host what its program received: octets, of these wrong ones, and the date of the last by
    the machine's monotonic clock."""
    begun: Mapping[str, float | None]
    """By host when its program began to send, by the same clock."""
    attempts: int = 1
    """How often the batch was run."""


@dataclass(frozen=True)
class Batch:
    """A batch of trials in real time."""

    run: RunResult
    told: Told


@dataclass(frozen=True)
class Worlds:
    """The results of the trials in both environments."""

    simulated: Results
    live: Results
    timings: list[Timing]
    loads: list[float]
    """What links carry in virtual time of each batch, in packets a second."""


def run(
    trials: Sequence[Trial],
    directory: Path,
    progress: Progress,
    *,
    together: int,
    most_load: float = math.inf,
    resume: bool = True,
    known: Results | None = None,
) -> Worlds:
    """All trials in both worlds, live at most `together` at a time, of which links carry at most
    `most_load` packets a second in virtual time. Scenarios, programs' output and finished runs are
    kept in the folder; with `resume` a finished run is not run again. `known` is what the trials
    gave in virtual time, where that was computed before."""
    before = simulated(trials) if known is None else known
    groups = batches(
        trials,
        together,
        lambda each: length(before[each.key]),
        lambda each: load(before[each.key]),
        most_load,
    )
    live: dict[Any, RunResult] = {}
    timings = []
    progress(0, len(groups))
    for number, group in enumerate(groups):
        name = f"batch-{number:02d}"
        batch = _live(group, directory / name, before, resume)
        found = _results(batch, group)
        live |= {key: each for key, each in found.items() if _ended(each, before[key])}
        timings.append(Timing.of(name, len(group), batch.told))
        progress(number + 1, len(groups))
    loads = [sum(load(before[trial.key]) for trial in group) for group in groups]
    return Worlds(before, live, timings, loads)


def simulated(trials: Sequence[Trial]) -> dict[Any, RunResult]:
    """All trials in virtual time; every host is ours."""
    found: dict[Any, RunResult] = {}
    for group in batches(trials, SIMULATED_TOGETHER, lambda _: 0.0):
        result = merged(group, "simulated").run()
        found |= {trial.key: _until_its_end(each) for trial, each in parted(result, group)}
    return found


def length(result: RunResult) -> float:
    """When the trial was over, in virtual time: flows' ends, or the whole run's."""
    ends = (flow.finish_s for flow in result.flows)
    return max((end for end in ends if end is not None), default=result.run.end_s)


def load(result: RunResult) -> float:
    """Packets that its links carried for each second of its length."""
    taken = length(result)
    return sum(link.delivered for link in result.links) / taken if taken else 0.0


def _live(group: Sequence[Trial], place: Path, before: Results, resume: bool) -> Batch:
    """A batch in real time, or as it is stored; `place` is its folder and its name."""
    scenario, commands = merged(group, place.name), programs(group)
    write_text(place.with_suffix(".toml"), scenario.text)
    identity = json.dumps([FORMAT, code_fingerprint(), scenario.resolved(), commands])
    stem = hashlib.sha256(identity.encode()).hexdigest()[:32]
    path = place.parent / "runs" / f"{stem}.npz"
    stored = _stored(path) if resume else None
    if stored is not None:
        return stored
    logs = place.parent / "logs" / place.name
    limit = PATIENCE_S + PATIENCE * max(length(before[trial.key]) for trial in group)
    attempts: list[Batch] = []
    while len(attempts) < ATTEMPTS and (not attempts or attempts[-1].told.doubts):
        batch = _attempt(scenario, commands, logs, limit)
        left = sum(not _ended(each, before[key]) for key, each in _results(batch, group).items())
        if left:
            batch.told.doubts.append(
                f"{left} of {len(group)} transfers did not end, and are left out"
            )
        attempts.append(batch)
    best = min(attempts, key=_doubt)
    best = replace(best, told=replace(best.told, attempts=len(attempts)))
    if resume:
        cache.store(path, best.run, best.told)
    return best


def _stored(path: Path) -> Batch | None:
    """A batch as it is stored; `None` where there is none that can be read."""
    found = cache.load_with_more(path)
    if found is None:
        return None
    run, told = found
    return Batch(run, Told.of({**told, "lateness": Lateness.of(told["lateness"])}))


def _doubt(batch: Batch) -> tuple[int, float]:
    """The run of which there are the fewest doubts, and the least late among such."""
    return len(batch.told.doubts), batch.told.lateness.p99_s


def _attempt(
    scenario: Scenario, commands: list[tuple[str, str]], logs: Path, limit: float
) -> Batch:
    """One run, with what its programs told."""
    logs.mkdir(parents=True, exist_ok=True)
    for old in logs.glob("*.log"):
        old.unlink()
    result = scenario.live(programs=commands, logs=logs, limit_s=limit)
    result.raise_interrupt()
    facts = result.facts
    told = Told(
        facts.lateness,
        facts.longest_absence_s,
        facts.started_monotonic_s,
        list(facts.doubts),
        {host: usrsctp.read(logs / f"{host}.log") for host, _ in commands},
        {host: usrsctp.began(logs / f"{host}.log") for host, _ in commands},
    )
    return Batch(result.run, told)


def _results(batch: Batch, group: Sequence[Trial]) -> dict[Any, RunResult]:
    """Each trial's result, with the arrival that a program told of its transfer, and the beginning
    if one sent it: only they know."""
    found: dict[Any, RunResult] = {}
    for trial, result in parted(batch.run, group):
        flows = list(result.flows)
        for host in trial.programs:
            flows[0] = _as_told(flows[0], trial, f"{trial.name}{MARK}{host}", batch.told)
        found[trial.key] = _until_its_end(replace(result, flows=flows))
    return found


def _as_told(flow: Flow, trial: Trial, host: str, told: Told) -> Flow:
    """The flow with what the program of one of its hosts told."""
    zero = told.started_monotonic_s
    if (begun := told.begun[host]) is not None:
        return replace(flow, start_s=begun - zero)
    octets, wrong, at = told.arrivals[host] or (0, 0, None)
    if wrong:
        raise RunError(f"live run: {wrong} octets of {trial.name} arrived wrong")
    finish = None if at is None else at - zero
    return replace(flow, bytes=octets, wrong_octets=wrong, finish_s=finish)


def _until_its_end(result: RunResult) -> RunResult:
    """A trial ends with its own transfers, whatever its batch does: what is observed until then
    counts."""
    ends = [flow.finish_s for flow in result.flows if flow.finish_s is not None]
    if len(ends) < len(result.flows):
        return result
    end = max(ends)
    series = {
        name: {column: values[columns["time_s"] <= end] for column, values in columns.items()}
        for name, columns in result.series.items()
    }
    return replace(result, series=series, run=replace(result.run, end_s=end))


def _ended(result: RunResult, before: RunResult) -> bool:
    """Everything has arrived that arrives in virtual time."""
    return all(
        after.finish_s is not None and after.bytes == flow.bytes
        for after, flow in zip(result.flows, before.flows, strict=True)
        if flow.finish_s is not None
    )
