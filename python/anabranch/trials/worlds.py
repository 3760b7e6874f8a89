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
from anabranch.rows import Flow, Lateness, Port, Row
from anabranch.trials import usrsctp
from anabranch.trials.parallel import MARK, Trial, batches, merged, parted, programs

ATTEMPTS = 4
"""A trial whose timing is in doubt runs again, with the others of its batch that are: so often in
all. Its best run counts."""
ENDLESS_ATTEMPTS = 2
"""A transfer that does not end runs so often."""
FORMAT = 4
"""Raised when the layout of the files changes."""
SIMULATED_TOGETHER = 64
MOST_LACKING = 0.2
"""If more than this part of all trials lack a path, it is no accident, and the comparison ends."""
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
    """How often some of its trials were run."""
    packets: int
    """Packets of the first attempt, which has all trials; the next four are of it, too."""
    median_s: float
    p99_s: float
    max_s: float
    longest_absence_s: float
    doubts: tuple[str, ...]
    """What the attempts have left in doubt."""
    doubtful: int = 0
    """Trials that are in doubt, have not ended, or lacked a path."""

    @classmethod
    def of(cls, batch: str, attempts: Sequence[Batch], tried: Sequence[Tried]) -> Timing:
        """Makes the timing from the attempts and from each trial's best run."""
        first = attempts[0].told
        late = first.lateness
        unended = sum(not each.ended for each in tried)
        other = [each.lacks for each in tried if each.ended and each.lacks]
        doubtful = [each.doubts[0] for each in tried if each.counts and each.doubts]
        doubts = []
        if doubtful:
            doubts.append(f"{len(doubtful)} of {len(tried)} trials: {doubtful[0]}")
        if unended:
            doubts.append(f"{unended} of {len(tried)} transfers did not end, and are left out")
        if other:
            doubts.append(f"{len(other)} of {len(tried)} trials are left out: {other[0]}")
        return cls(
            batch,
            len(tried),
            len(attempts),
            late.packets,
            late.median_s,
            late.p99_s,
            late.max_s,
            first.longest_absence_s,
            tuple(doubts),
            len(doubtful) + unended + len(other),
        )


@dataclass(frozen=True)
class Told(Row):
    """What a batch in real time told beside its rows and series."""

    lateness: Lateness
    longest_absence_s: float
    started_monotonic_s: float
    doubts: Mapping[str, list[str]]
    """By host why the lateness of its packets may have changed what it did."""
    arrivals: Mapping[str, tuple[int, int, float | None] | None]
    """By host what its program received: octets, of these wrong ones, and the date of the last by
    the machine's monotonic clock."""
    begun: Mapping[str, float | None]
    """By host when its program began to send, by the same clock."""


@dataclass(frozen=True)
class Batch:
    """A batch of trials in real time."""

    run: RunResult
    told: Told


@dataclass(frozen=True)
class Tried:
    """A trial's best run."""

    result: RunResult
    ended: bool
    """Everything has arrived that arrives in virtual time."""
    doubts: tuple[str, ...]
    """Why its timing may have changed the result."""
    lacks: str = ""
    """Which path was missing that it has in virtual time, in words."""

    @property
    def counts(self) -> bool:
        """Whether it is of the condition that was to be measured."""
        return self.ended and not self.lacks

    @property
    def rank(self) -> tuple[bool, bool, int]:
        """Less is better."""
        return not self.ended, bool(self.lacks), len(self.doubts)

    def is_worth_more(self, attempts: int) -> bool:
        """Whether it runs again after so many attempts: once where it does not count."""
        return bool(self.doubts) if self.counts else attempts < ENDLESS_ATTEMPTS


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
    timings, lacking = [], []
    progress(0, len(groups))
    for number, group in enumerate(groups):
        name = f"batch-{number:02d}"
        tried, timing = _live(group, directory / name, before, resume)
        live |= {key: each.result for key, each in tried.items() if each.counts}
        lacking += [each.lacks for each in tried.values() if each.lacks]
        timings.append(timing)
        progress(number + 1, len(groups))
    if len(lacking) > MOST_LACKING * len(trials):
        raise RunError(f"live run: {len(lacking)} of {len(trials)} trials: {lacking[0]}")
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


def _live(
    group: Sequence[Trial], place: Path, before: Results, resume: bool
) -> tuple[dict[Any, Tried], Timing]:
    """The best run of each trial of a batch, by its key; `place` is the batch's folder and name.
    What is in doubt runs again, side by side, until nothing is or the attempts are spent."""
    best: dict[Any, Tried] = {}
    attempts: list[Batch] = []
    left = list(group)
    while left and len(attempts) < ATTEMPTS:
        again = f"-{len(attempts) + 1}" if attempts else ""
        batch = _batch(left, place.with_name(place.name + again), before, resume)
        attempts.append(batch)
        results = _results(batch, left)
        for trial in left:
            tried = _tried(trial, results[trial.key], before[trial.key], batch.told)
            best[trial.key] = min(best.get(trial.key, tried), tried, key=lambda each: each.rank)
        left = [trial for trial in left if best[trial.key].is_worth_more(len(attempts))]
    return best, Timing.of(place.name, attempts, list(best.values()))


def _tried(trial: Trial, result: RunResult, before: RunResult, told: Told) -> Tried:
    hosts = (f"{trial.name}{MARK}{host}" for host in trial.external)
    doubts = tuple(doubt for host in hosts for doubt in told.doubts.get(host, []))
    return Tried(result, _ended(result, before), doubts, lacks(trial.name, result, before))


def lacks(name: str, live: RunResult, simulated: RunResult) -> str:
    """Which paths a Multipath TCP connection of the trial had in virtual time and not live, in
    words; nothing if there is none. Such a run is of another condition: its kernels fell back to
    TCP, say, because the first packets were lost (RFC 8684 §3.7)."""
    for number, flow in enumerate(simulated.flows):
        wanted, found = (_paths(run, run.flows[number].flow) for run in (simulated, live))
        if flow.protocol == "mptcp" and len(found) < len(wanted):
            missing = ", ".join(" to ".join(ends) for ends in sorted(wanted - found))
            return f"{flow.flow} of {name} had {len(found)} of {len(wanted)} paths, not {missing}"
    return ""


def _paths(run: RunResult, flow: str) -> set[tuple[str, str]]:
    return {(path.from_, path.to) for path in run.paths if path.flow == flow}


def _batch(group: Sequence[Trial], place: Path, before: Results, resume: bool) -> Batch:
    """Trials side by side in real time, or as they are stored."""
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
    batch = _attempt(scenario, commands, logs, limit)
    if resume:
        cache.store(path, batch.run, batch.told)
    return batch


def _stored(path: Path) -> Batch | None:
    """A batch as it is stored; `None` where there is none that can be read."""
    found = cache.load_with_more(path)
    if found is None:
        return None
    run, told = found
    return Batch(run, Told.of({**told, "lateness": Lateness.of(told["lateness"])}))


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
        _doubts(facts.ports),
        {host: usrsctp.read(logs / f"{host}.log") for host, _ in commands},
        {host: usrsctp.began(logs / f"{host}.log") for host, _ in commands},
    )
    return Batch(result.run, told)


def _doubts(ports: Sequence[Port]) -> dict[str, list[str]]:
    """By host what is in doubt of its ports."""
    found: dict[str, list[str]] = {}
    for port in ports:
        if port.doubts:
            found.setdefault(port.host, []).extend(port.doubts)
    return found


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
