"""A sweep: parameters, how often each point runs, and what is measured."""

from __future__ import annotations

import importlib
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from anabranch import notebook, si, stats
from anabranch.errors import InputError, RunError
from anabranch.experiment import Scenario
from anabranch.native import core
from anabranch.rows import CsvRow
from anabranch.stats import Estimate
from anabranch.sweep import parameters as varied
from anabranch.sweep import probe, shown
from anabranch.sweep.executors import Executor, Local
from anabranch.sweep.metrics import Metric, Replications
from anabranch.sweep.parameters import Parameter, Value
from anabranch.sweep.schedule import Progress, Schedule
from anabranch.sweep.store import Point, Store
from anabranch.tables import write_csv

if TYPE_CHECKING:  # figures are imported when something is drawn
    from matplotlib.figure import Figure

    from anabranch.plotting.frame import Frame

DEFAULT_METRICS = (Metric("goodput_bps", "goodput_bps"),)


@dataclass(frozen=True)
class Sweep:
    """Every combination of the parameters, run again and again.

    All points run under the same seed: replication `n` of each sees the same
    network randomness, so that differences between points are paired.
    """

    scenario: Scenario
    parameters: Sequence[Parameter]
    replications: Replications = field(default_factory=lambda: Replications.exactly(1))
    metrics: Sequence[Metric] = DEFAULT_METRICS
    seed: int | None = None
    """Replaces the scenario's own."""
    series: bool = False
    """Whether the observed series are kept, too."""
    source: str = "sweep"
    """Where the description came from, for messages."""

    def checked(self, before: Callable[[], None] = lambda: None) -> Sweep:
        """The sweep itself, unless something in it cannot be meant."""
        before()
        varied.check(self.parameters, self.source)
        names = [metric.name for metric in self.metrics]
        for index, name in enumerate(names):
            if name in names[:index]:
                raise InputError.about(self.source, "metrics.name", name, "every name once")
        for metric in self.metrics:
            metric.check(self.source)
        rule = self.replications.metric
        if rule is not None and rule not in names:
            raise InputError.about(self.source, "replications.metric", rule, ", ".join(names))
        return self

    def points(self) -> list[Point]:
        """Every combination as a resolved scenario; wrong ones raise `InputError`."""
        points = []
        for combination in varied.combinations(self.parameters):
            assignments = combination.assignments()
            if self.seed is not None:
                assignments.append(f"seed={self.seed}")
            scenario = self.scenario.set(*assignments)
            resolved = scenario.resolved()
            seed = int(tomllib.loads(resolved)["seed"])
            points.append(Point.of(combination.labels(), resolved, seed))
        by_scenario: dict[str, Point] = {}
        for point in points:
            twin = by_scenario.setdefault(point.scenario, point)
            if twin is not point:
                value = f"{dict(twin.labels)} and {dict(point.labels)}"
                allowed = "combinations that give different scenarios"
                raise InputError.about(self.source, "parameters", value, allowed)
        return points

    def run(
        self,
        directory: str | Path,
        *,
        executor: Executor | None = None,
        resume: bool = False,
        against: Sequence[str] = (),
        progress: Callable[[int, int], None] = lambda _done, _all: None,
        damaged: Callable[[str], None] = lambda _what: None,
    ) -> SweepResult:
        """Computes what the folder does not have yet, and writes `summary.csv`.

        `against` says what paired differences are from, as `NAME=VALUE` or the value of one
        parameter: the first value of each parameter unless said.

        `progress` hears how many runs are finished, and of how many; `damaged` which
        file of an earlier run is not what was written, and why: its unit is computed
        again, and what was there is in `superseded/`. A point
        whose run fails is left as it is; the others go on, and the result says so.
        """
        self.checked()
        store = Store(Path(directory))
        points = self.points()
        bases = varied.baselines([point.labels for point in points], against)
        probe.refuse_empty(self.metrics, points, self.source)
        metrics = probe.expanded(self.metrics, points)
        facts = {
            "version": core.__version__,
            "source": self.source,
            "parameters": {p.name: [case.label for case in p.cases] for p in self.parameters},
            "points": len(points),
            "metrics": [asdict(metric) for metric in metrics],
            "confidence": self.replications.confidence,
            "series": self.series,
        }
        with store.opened(points, facts, resume):
            schedule = Schedule(
                store,
                points,
                self.replications,
                metrics,
                series=self.series,
                progress=progress,
            )
            for what in store.damaged:
                damaged(what)
            ours = executor is None
            crew = executor if executor is not None else Local(1)
            try:
                schedule.run(crew)
            finally:
                if ours:
                    crew.close()
            result = SweepResult(store, schedule.points, metrics, self.replications, bases)
            write_csv(store.directory / "summary.csv", (), result.summary())
            if pairs := result.pairs():
                write_csv(store.directory / "paired.csv", (), pairs)
        return result


@dataclass(frozen=True, repr=False)
class SweepResult:
    """The result of a finished sweep."""

    store: Store
    states: list[Progress]
    metrics: list[Metric]
    rule: Replications
    against: Mapping[str, Value] = field(default_factory=dict)
    """What paired differences are from, by parameter, where that is not its first value."""

    def __repr__(self) -> str:
        """The means with their intervals as a table of text."""
        return notebook.text(*self._means())

    def _repr_html_(self) -> str:
        """The means with their intervals as a table, for notebooks."""
        return notebook.html(*self._means())

    def _means(self) -> tuple[list[str], list[list[str]]]:
        unit = {metric.name: metric.unit for metric in self.metrics}
        table = shown.means(list(self.states[0].point.labels), self.summary(), unit)
        return table.columns, table.rows

    def failures(self) -> list[tuple[dict[str, Value], str]]:
        """The points that failed, by their parameters, and why."""
        return [(dict(s.point.labels), s.failed) for s in self.states if s.failed is not None]

    def table(self, name: str = "flows") -> pa.Table:
        """All rows of `flows`, `links`, `runs`, ... of all points, parameters first."""
        parts = [
            part
            for state in self.states
            for part in self.store.table(name, state.point, state.target)
        ]
        return pa.concat_tables(parts) if parts else pa.table({})

    def alike(self) -> bool:
        """Whether each point was run several times and came out the same every time, by its events
        and its metrics: then the scenario draws nothing at random that matters, and there are no
        intervals. Initial sequence numbers always differ."""
        several = [state for state in self.states if state.target > 1]
        return bool(several) and all(
            len(set(self._events(state))) == 1
            and all(len(set(self.values(each.name, state))) <= 1 for each in self.metrics)
            for state in several
        )

    def constant(self, only: Sequence[str] = ()) -> list[str]:
        """A sentence for each metric, or each of some, that was the same in all replications of
        some points: there its mean has no interval."""
        told = []
        for metric in (each for each in self.metrics if not only or each.name in only):
            values = [(state, self.values(metric.name, state)) for state in self.states]
            same = [(state, len(v)) for state, v in values if len(v) > 1 and len(set(v)) == 1]
            if same:
                counts = [count for _, count in same]
                points = [dict(state.point.labels) for state, _ in same]
                number = shown.span(min(counts), max(counts))
                at = shown.at_points(points, len(self.states))
                told.append(f"{metric.name} is constant over {number} replications{at}.")
        return told

    def pooled(self) -> list[str]:
        """A sentence for each metric that is the mean over several flows, links, ... of a run,
        unless `of` asks for several."""
        told = []
        for metric in self.metrics:
            if metric.reduce != "mean" or metric.grouped():
                continue
            counts = [
                count
                for state in self.states
                for part in self.store.table(metric.table, state.point, state.target)
                for count in metric.counts(part)
            ]
            least, most = min(counts, default=0), max(counts, default=0)
            if most > 1:
                number = shown.span(least, most)
                told.append(f"{metric.name} is the mean of {number} {metric.table} of each run.")
        return told

    def _events(self, state: Progress) -> list[tuple[int, float]]:
        """Of each replication the number of events and the date at which it ended."""
        parts = self.store.table("runs", state.point, state.target)
        return [(row["events"], row["end_s"]) for part in parts for row in part.to_pylist()]

    def values(self, metric: str, state: Progress) -> list[float]:
        """The metric of each replication of a point, in order."""
        known = state.values.get(metric, {})
        return [known[n] for n in range(state.target) if n in known]

    def estimate(self, metric: str, **labels: Value) -> Estimate:
        """Mean and interval of a metric at one point, with its unit."""
        most = next((each.most for each in self.metrics if each.name == metric), math.inf)
        values = self.values(metric, self._state(labels))
        found = stats.mean(values, self.rule.confidence).within(0, most)
        return shown.Measured(**vars(found), unit=self._unit(metric))

    def paired(self, metric: str, first: dict[str, Value], second: dict[str, Value]) -> Estimate:
        """Mean and interval of `first - second` over the replications that both have, with the
        unit."""
        one, two = (self._state(each).values.get(metric, {}) for each in (first, second))
        both = sorted(one.keys() & two.keys())
        pairs = [one[n] for n in both], [two[n] for n in both]
        found = stats.paired(*pairs, self.rule.confidence)
        return shown.Measured(**vars(found), unit=si.unit_of_difference(self._unit(metric)))

    def _unit(self, metric: str) -> str:
        return next((each.unit for each in self.metrics if each.name == metric), si.UNKNOWN)

    def summary(self) -> list[CsvRow]:
        """A row for each point and metric: parameters, mean, interval, n."""
        rows: list[CsvRow] = []
        for state in self.states:
            for metric in self.metrics:
                values = self.values(metric.name, state)
                estimate = stats.mean(values, self.rule.confidence).within(0, metric.most)
                rows.append(
                    {
                        **state.point.labels,
                        "metric": metric.name,
                        "mean": estimate.mean,
                        "ci_low": estimate.ci_low,
                        "ci_high": estimate.ci_high,
                        "n": estimate.n,
                        "point": state.point.name,
                    }
                )
        return rows

    def pairs(self) -> list[CsvRow]:
        """The paired differences of parameters whose values are names, and of those in `against`:
        of each metric and combination of the other parameters a row for each value but the first,
        or that in `against`, which is subtracted."""
        labels = [dict(state.point.labels) for state in self.states]
        names = dict.fromkeys((*varied.categorical(labels), *self.against))
        rows: list[CsvRow] = []
        for metric in self.metrics:
            for name in names:
                for own in labels:
                    base = own | {name: self.against.get(name, labels[0][name])}
                    if own[name] == base[name]:
                        continue
                    each = self.paired(metric.name, own, base)
                    rows.append(
                        {
                            "metric": metric.name,
                            "parameter": name,
                            "value": own[name],
                            "against": base[name],
                            **{key: value for key, value in own.items() if key != name},
                            "difference": each.mean,
                            "ci_low": each.ci_low,
                            "ci_high": each.ci_high,
                            "n": each.n,
                        }
                    )
        return rows

    def plot(
        self,
        y: str | None = None,
        *,
        x: str | None = None,
        by: str | None = None,
        panels: str | None = None,
        where: Mapping[str, Any] | Sequence[str] = (),
        kind: str | None = None,
        against: str | None = None,
        log: str = "",
        columns: float = 1.0,
        height: float | None = None,
    ) -> Figure:
        """A figure of a metric, of a column of a table, or of a series over time that the runs
        kept; docs/figures.md has what is drawn where nothing is said. `columns` of a paper are its
        width, `height` is in inches."""
        plotting = importlib.import_module("anabranch.plotting")
        request = plotting.Request(x, by, panels, where, kind, against, log)
        figure: Figure = plotting.figure_of(self.frame(y), request, columns, height)
        return figure

    def frame(self, y: str | None = None, origin: str = "sweep") -> Frame:
        """What `plot` draws: the rows of a metric, a column of a table, or a kind of series."""
        frames = importlib.import_module("anabranch.sweep.frames")
        found: Frame = frames.frame(
            self.states, self.metrics, self.rule.confidence, self.table,
            y=y, kept=self.store.keeps_series(), origin=origin,
        )  # fmt: skip
        return found

    def _state(self, labels: dict[str, Value]) -> Progress:
        found = [state for state in self.states if state.point.labels.items() >= labels.items()]
        if len(found) != 1:
            raise RunError(f"{labels} names {len(found)} points; it must name one")
        return found[0]
