"""One scenario, or the points of a sweep, in virtual time and on real packets, side by side.

Replications are copies of the scenario whose links draw for themselves: the same copies run in both
worlds, so that the k-th packet of a link has the same fate in both, and the copies of a live run
cross one emulator at once.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from anabranch import stats
from anabranch.errors import InputError
from anabranch.experiment import LIBRARY, RunResult, Scenario
from anabranch.library import load
from anabranch.rows import CsvRow, Flow
from anabranch.stats import Estimate
from anabranch.sweep import plan
from anabranch.sweep.parameters import Value
from anabranch.trials import Trial, worlds
from anabranch.trials.worlds import Timing
from anabranch.verdicts import Verdict, near

HOLDS = 30_000
"""Packets a second over all emulated links that one emulator holds with its departures in time, on
two virtual cores of a shared machine; docs/live.md has the measurement."""
MOST_TOGETHER = 100
"""Copies at a time, unless asked for: each takes about 65 ms to set up and to remove."""
MARGIN = 0.05
"""Differences up to this share of the live mean would not matter, unless said otherwise."""

COLUMNS = (
    "flow",
    "measure",
    "simulated",
    "simulated_low",
    "simulated_high",
    "live",
    "live_low",
    "live_high",
    "difference",
    "difference_low",
    "difference_high",
    "n",
    "verdict",
    "margin",
)
"""The columns of `compare.csv` after those of a sweep's parameters: means, 95 % intervals, live
minus simulated in pairs of a copy."""

RESERVED = frozenset(COLUMNS)


def _goodput(flow: Flow, _run: RunResult) -> float | None:
    return flow.goodput_bps / 1e6


def _completion(flow: Flow, _run: RunResult) -> float | None:
    return flow.completion_s


def _retransmissions(flow: Flow, _run: RunResult) -> float | None:
    return float(flow.retransmitted_packets)


def _timeouts(flow: Flow, _run: RunResult) -> float | None:
    return float(flow.timeouts)


LARGEST_WINDOW = 2**32
"""Bytes: no sequence number is that far from another."""


def _mean_window(flow: Flow, run: RunResult) -> float | None:
    """From the first window above zero to the end of the flow, where `cwnd` is observed. None
    where a kernel told of a window that nothing could fill."""
    series = run.series.get(f"{flow.flow}.cwnd")
    finish = run.run.end_s if flow.finish_s is None else flow.finish_s
    if series is None:
        return None
    begun = series["value"] > 0
    times, values = series["time_s"][begun], series["value"][begun]
    if not len(times) or not times[0] < finish or values.max() > LARGEST_WINDOW:
        return None
    return stats.step_mean(times, values, float(times[0]), float(finish)) / 1e3


MEASURES = {
    "goodput Mbit/s": _goodput,
    "completion s": _completion,
    "retransmissions": _retransmissions,
    "timeouts": _timeouts,
    "mean cwnd kB": _mean_window,
}
"""What is compared: a number of a flow and its run, or nothing."""


FLOORS = {"retransmissions": 1.0, "timeouts": 0.5}
"""Of counts the difference that would not matter, however small they are."""

SAYS = {Verdict.HOLDS: "agree", Verdict.FAILS: "differ", Verdict.UNDECIDED: "undecided"}


@dataclass(frozen=True)
class Point:
    """A scenario to compare, and what sets it apart from others of the same sweep."""

    labels: Mapping[str, Value]
    scenario: Scenario


@dataclass(frozen=True)
class Row:
    """A measure of a flow in both worlds."""

    labels: Mapping[str, Value]
    flow: str
    measure: str
    simulated: Estimate
    live: Estimate
    difference: Estimate
    margin: float = MARGIN
    """Up to this share of the live mean a difference would not matter."""

    @property
    def bound(self) -> float:
        """The largest difference that would not matter, in the measure's unit."""
        return max(self.margin * abs(self.live.mean), FLOORS.get(self.measure, 0.0))

    @property
    def title(self) -> str:
        """The point's labels as one text; empty where it has none."""
        return "; ".join(f"{name}: {value}" for name, value in self.labels.items())

    @property
    def verdict(self) -> str:
        """Whether the interval of the paired difference lies within the margin (`agree`), beside
        it (`differ`) or across one of its ends (`undecided`); of a single pair none of these is
        shown, and it is empty."""
        return SAYS[near(0.0, self.bound).judge(self.difference)] if self.live.n > 1 else ""

    def cells(self) -> CsvRow:
        """Returns a row of `compare.csv`."""
        cells: CsvRow = {**self.labels, "flow": self.flow, "measure": self.measure}
        for name in ("simulated", "live", "difference"):
            each: Estimate = getattr(self, name)
            cells |= {name: each.mean, f"{name}_low": each.ci_low, f"{name}_high": each.ci_high}
        return cells | {
            "n": self.live.n,
            "verdict": self.verdict,
            "margin": self.bound,
        }


@dataclass(frozen=True)
class Comparison:
    """The results of both environments, side by side."""

    rows: list[Row]
    timings: list[Timing]
    loads: list[float]
    """Packets a second of each batch in virtual time, in the order of the timings."""
    left_out: int
    """Copies whose transfers did not end live."""

    @property
    def doubts(self) -> list[str]:
        """Why the timing of some batch may have changed an answer."""
        return [f"{timing.batch}: {doubt}" for timing in self.timings for doubt in timing.doubts]


def points(file: Path, assignments: Sequence[str]) -> tuple[list[Point], int | None]:
    """What a file asks to compare: a scenario, or a sweep's file, which has the field `scenario`;
    and how many replications it wants, if it says so."""
    if not str(file).startswith(LIBRARY) and _is_sweep(file):
        sweep = plan.load(file)
        sweep = replace(sweep, scenario=sweep.scenario.set(*assignments))
        for parameter in sweep.parameters:
            if parameter.name in RESERVED:
                allowed = f"a name that is none of {', '.join(COLUMNS)}"
                raise InputError.about(str(file), "parameters.name", parameter.name, allowed)
        found = [
            Point(point.labels, Scenario(point.scenario, str(file))) for point in sweep.points()
        ]
        has_kernels(file, found)
        rule = sweep.replications
        if rule.metric is not None:
            allowed = "a number: a live run's length is known before it begins"
            raise InputError.about(str(file), "replications", "a rule", allowed)
        return found, rule.most
    scenario = load(file).set(*assignments)
    return [Point({}, Scenario(scenario.resolved(), str(file)))], None


def has_kernels(file: Path, found: Sequence[Point]) -> None:
    """Refuses points without an external host, whose author may want another command."""
    for point in found:
        hosts = tomllib.loads(point.scenario.text).get("hosts", ())
        if not any(isinstance(host, Mapping) and host.get("external") for host in hosts):
            raise InputError(
                f"{file}: no host is external (`external = true`): `compare` runs one scenario in"
                " the simulator and live, where external hosts have the kernel's stack. Algorithms"
                " are compared with each other by `anabranch sweep`: docs/howto/compare.md"
            )


def _is_sweep(file: Path) -> bool:
    try:
        return "scenario" in tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        # Whoever reads it as a scenario says what is wrong.
        return False


def compare(
    points: Sequence[Point],
    replications: int,
    directory: Path,
    *,
    together: int | None = None,
    margin: float = MARGIN,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Comparison:
    """Runs so many copies of each point in both worlds; live so many `together`, or as many as
    the emulator holds."""
    trials = [
        Trial((p, r), f"p{p}r{r}", point.scenario, ())
        for p, point in enumerate(points)
        for r in range(replications)
    ]
    found = worlds.run(
        trials,
        directory,
        progress,
        together=together or MOST_TOGETHER,
        most_load=HOLDS if together is None else float("inf"),
        resume=False,
    )
    rows: list[Row] = []
    for p, point in enumerate(points):
        keys = [(p, r) for r in range(replications) if (p, r) in found.live]
        simulated, live = ([world[key] for key in keys] for world in (found.simulated, found.live))
        rows += compared(point.labels, simulated, live, margin=margin)
    return Comparison(rows, found.timings, found.loads, len(trials) - len(found.live))


def compared(
    labels: Mapping[str, Value],
    simulated: Sequence[RunResult],
    live: Sequence[RunResult],
    *,
    margin: float = MARGIN,
) -> list[Row]:
    """A row for each flow and measure that all runs have."""
    rows = []
    for i, flow in enumerate(simulated[0].flows if simulated else ()):
        for name, measure in MEASURES.items():
            values = [
                (measure(a.flows[i], a), measure(b.flows[i], b))
                for a, b in zip(simulated, live, strict=True)
            ]
            pairs = [(a, b) for a, b in values if a is not None and b is not None]
            if pairs:
                first, second = ([pair[side] for pair in pairs] for side in (0, 1))
                ours, theirs = (stats.mean(each).within(0, math.inf) for each in (first, second))
                change = stats.paired(second, first)
                rows.append(Row(labels, flow.flow, name, ours, theirs, change, margin))
    return rows
