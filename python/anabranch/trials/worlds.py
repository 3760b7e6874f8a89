"""Runs the same trials in both worlds: in virtual time, then on real packets.

A finished company of trials is a file; an interrupted study goes on where it was.
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
from anabranch.experiment import RunResult, Scenario, code_fingerprint
from anabranch.files import write_text
from anabranch.trials import usrsctp
from anabranch.trials.parallel import MARK, Trial, companies, merged, parted, programs

ATTEMPTS = 2
"""A company whose timing is in doubt runs once more; the better run counts."""
FORMAT = 2
"""Raised when the layout of the files changes."""
SIMULATED_TOGETHER = 64
PATIENCE, PATIENCE_S = 3, 20
"""A company that takes so many times as long as in virtual time, and so many seconds more, is
stopped."""

Progress = Callable[[int, int], None]
Results = Mapping[Any, RunResult]
"""What each trial gave, by its key."""


@dataclass(frozen=True)
class Timing:
    """How late the packets of one company of trials left."""

    company: str
    trials: int
    attempts: int
    packets: int
    median_s: float
    p99_s: float
    max_s: float
    longest_absence_s: float
    doubts: tuple[str, ...]

    @classmethod
    def of(cls, company: str, trials: int, attempts: int, facts: dict[str, Any]) -> Timing:
        """From the facts of a live run."""
        late = facts["lateness"]
        return cls(
            company,
            trials,
            attempts,
            int(late["packets"]),
            float(late["median_s"]),
            float(late["p99_s"]),
            float(late["max_s"]),
            float(facts["longest_absence_s"]),
            tuple(facts["doubts"]),
        )


@dataclass(frozen=True)
class Worlds:
    """What the trials gave in both worlds."""

    simulated: Results
    live: Results
    timings: list[Timing]
    loads: list[float]
    """What links carry in virtual time of each company, in packets a second."""


def run(
    trials: Sequence[Trial],
    directory: Path,
    progress: Progress,
    *,
    together: int,
    most_load: float = math.inf,
    resume: bool = True,
) -> Worlds:
    """All trials in both worlds, live at most `together` at a time, of which links carry at most
    `most_load` packets a second in virtual time. Scenarios, programs' output and finished runs are
    kept in the folder; with `resume` a finished run is not run again."""
    before = simulated(trials)
    groups = companies(
        trials,
        together,
        lambda it: length(before[it.key]),
        lambda it: load(before[it.key]),
        most_load,
    )
    live: dict[Any, RunResult] = {}
    timings = []
    progress(0, len(groups))
    for number, group in enumerate(groups):
        name = f"company-{number:02d}"
        result = _live(group, directory / name, before, resume)
        facts = result.run["live"]
        found = _results(result, group)
        live |= {key: each for key, each in found.items() if _ended(each, before[key])}
        timings.append(Timing.of(name, len(group), facts["attempts"], facts))
        progress(number + 1, len(groups))
    loads = [sum(load(before[trial.key]) for trial in group) for group in groups]
    return Worlds(before, live, timings, loads)


def simulated(trials: Sequence[Trial]) -> dict[Any, RunResult]:
    """All trials in virtual time; every host is ours."""
    found: dict[Any, RunResult] = {}
    for group in companies(trials, SIMULATED_TOGETHER, lambda _: 0.0):
        result = merged(group, "simulated").run()
        found |= {trial.key: _until_its_end(each) for trial, each in parted(result, group)}
    return found


def length(result: RunResult) -> float:
    """When the trial was over, in virtual time: flows' ends, or the whole run's."""
    ends = [flow["finish_s"] for flow in result.flows]
    return max((float(end) for end in ends if end is not None), default=float(result.run["end_s"]))


def load(result: RunResult) -> float:
    """Packets that its links carried for each second of its length."""
    taken = length(result)
    return sum(int(link["delivered"]) for link in result.links) / taken if taken else 0.0


def _live(group: Sequence[Trial], place: Path, before: Results, resume: bool) -> RunResult:
    """A company in real time, or as it is stored; `place` is its folder and its name."""
    scenario, commands = merged(group, place.name), programs(group)
    write_text(place.with_suffix(".toml"), scenario.text)
    identity = json.dumps([FORMAT, code_fingerprint(), scenario.resolved(), commands])
    stem = hashlib.sha256(identity.encode()).hexdigest()[:32]
    path = place.parent / "runs" / f"{stem}.npz"
    stored = cache.load(path) if resume else None
    if stored is not None:
        return stored
    logs = place.parent / "logs" / place.name
    limit = PATIENCE_S + PATIENCE * max(length(before[trial.key]) for trial in group)
    attempts: list[RunResult] = []
    while len(attempts) < ATTEMPTS and (not attempts or attempts[-1].run["live"]["doubts"]):
        result = _attempt(scenario, commands, logs, limit)
        facts = result.run["live"]
        left = sum(not _ended(it, before[key]) for key, it in _results(result, group).items())
        if left:
            facts["doubts"].append(
                f"{left} of {len(group)} transfers did not end, and are left out"
            )
        attempts.append(result)
    best = min(attempts, key=_doubt)
    best.run["live"]["attempts"] = len(attempts)
    if resume:
        cache.store(path, best)
    return best


def _doubt(result: RunResult) -> tuple[int, float]:
    """The run of which there are the fewest doubts, and the least late among such."""
    facts = result.run["live"]
    return len(facts["doubts"]), facts["lateness"]["p99_s"]


def _attempt(
    scenario: Scenario, commands: list[tuple[str, str]], logs: Path, limit: float
) -> RunResult:
    """One run, with what its programs told among its facts."""
    logs.mkdir(parents=True, exist_ok=True)
    for old in logs.glob("*.log"):
        old.unlink()
    result = scenario.live(programs=commands, logs=logs, limit_s=limit)
    if result.facts["interrupted"]:
        raise KeyboardInterrupt
    told = {host: usrsctp.read(logs / f"{host}.log") for host, _ in commands}
    facts = {name: it for name, it in result.facts.items() if name not in ("ports", "programs")}
    begun = {host: usrsctp.began(logs / f"{host}.log") for host, _ in commands}
    facts |= {"arrivals": told, "begun": begun, "doubts": list(facts["doubts"])}
    return replace(result.run, run={**result.run.run, "live": facts})


def _results(company: RunResult, group: Sequence[Trial]) -> dict[Any, RunResult]:
    """Each trial's result, with the arrival that a program told of its transfer, and the beginning
    if one sent it: only they know."""
    facts = company.run["live"]
    found: dict[Any, RunResult] = {}
    for trial, result in parted(company, group):
        for host in trial.programs:
            name = f"{trial.name}{MARK}{host}"
            if (begun := facts["begun"][name]) is not None:
                result.flows[0]["start_s"] = begun - facts["started_monotonic_s"]
                continue
            octets, wrong, at = facts["arrivals"][name] or (0, 0, None)
            if wrong:
                raise RunError(f"live run: {wrong} octets of {trial.name} arrived wrong")
            finish = None if at is None else at - facts["started_monotonic_s"]
            result.flows[0] |= {"bytes": octets, "wrong_octets": wrong, "finish_s": finish}
        found[trial.key] = _until_its_end(result)
    return found


def _until_its_end(result: RunResult) -> RunResult:
    """A trial ends with its own transfers, whatever its company does: what is observed until then
    counts."""
    ends = [flow["finish_s"] for flow in result.flows]
    if any(end is None for end in ends):
        return result
    end = max(float(end) for end in ends)
    series = {
        name: {column: values[columns["time_s"] <= end] for column, values in columns.items()}
        for name, columns in result.series.items()
    }
    return replace(result, series=series, run={**result.run, "end_s": end})


def _ended(result: RunResult, before: RunResult) -> bool:
    """Everything has arrived that arrives in virtual time."""
    return all(
        after["finish_s"] is not None and after["bytes"] == flow["bytes"]
        for after, flow in zip(result.flows, before.flows, strict=True)
        if flow["finish_s"] is not None
    )
