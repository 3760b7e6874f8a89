"""Goodput of the flows, fairness among them, and how the connection uses its paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from anabranch.experiment import RunResult
from anabranch.stats import Sample
from anabranch.studies.mcubic import conditions
from anabranch.studies.mcubic.conditions import Run
from anabranch.studies.replications import Replicated

Results = Replicated[Run]
Metric = Callable[[Run, RunResult], float]
Measure = Callable[[Results, Run], Sample]
CONNECTION = "multipath"


def goodput(run: Run, result: RunResult, flow: str = CONNECTION) -> float:
    """Mbit/s that arrived in order after the warm-up."""
    return goodput_between(result, flow, run.warm_up, run.end)


def goodput_between(result: RunResult, flow: str, start: float, end: float) -> float:
    """Mbit/s that arrived in order between two dates."""
    times, values = received(result, flow)
    first, last = np.interp([start, end], times, values)
    return float(last - first) * 8e-6 / (end - start)


def received(
    result: RunResult, flow: str
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Dates and octets received in order until then, from 0 on."""
    series = result.series[f"{flow}.received"]
    times = np.concatenate([[0.0], series["time_s"]])
    return times, np.concatenate([[0.0], series["value"]])


def singles(run: Run, result: RunResult) -> float:
    """Mbit/s of the single-path flows together."""
    names = [row.flow for row in result.flows if row.flow != CONNECTION]
    return sum(goodput(run, result, name) for name in names)


def jain(values: Sequence[float]) -> float:
    """Jain's index.

    >>> jain([2, 2, 2]), jain([1, 0, 0, 0])
    (1.0, 0.25)
    """
    return sum(values) ** 2 / (len(values) * sum(value**2 for value in values))


def fairness(run: Run, result: RunResult) -> float:
    """Jain's index of all flows' goodput."""
    return jain([goodput(run, result, row.flow) for row in result.flows])


def of_single(run: Run, result: RunResult) -> float:
    """Mbit/s of the single-path flow beside the connection on one bottleneck."""
    return goodput(run, result, "tcp1")


def sent(result: RunResult, path: int) -> float:
    """Octets that the connection sent on a path, from the start to the end of the run."""
    name = f"in{path + 1}"
    return float(next(row for row in result.links if row.name == name).bytes_delivered)


def sent_on_first(_run: Run, result: RunResult) -> float:
    """Octets that the connection sent on the first path."""
    return sent(result, 0)


def first_share(_run: Run, result: RunResult) -> float:
    """Part of the connection's octets that took the first path."""
    return sent(result, 0) / (sent(result, 0) + sent(result, 1))


COUPLING = f"{CONNECTION}.a.x-b.x.path_coupling"
"""K' of the first path, where it is observed."""


def k_prime_of_first(run: Run, result: RunResult) -> float:
    """Mean K' of the first path after the warm-up, in s."""
    series = result.series[COUPLING]
    return float(np.mean(series["value"][series["time_s"] >= run.warm_up]))


def sample(results: Results, run: Run, metric: Metric) -> Sample:
    """A measure of each replication, the mean over its draws."""
    return Sample.across(
        [
            results.sample(each, lambda result: metric(run, result))
            for each in conditions.draws(run)
            if each in results
        ]
    )


def ratio(results: Results, run: Run) -> Sample:
    """The connection's goodput over the single-path flow's; of several draws that of the means, as
    single ratios are skewed."""
    return sample(results, run, goodput) / sample(results, run, of_single)


def index(results: Results, run: Run) -> Sample:
    """Jain's index of all flows' goodput."""
    return sample(results, run, fairness)


def change(results: Results, ours: Run, theirs: Run, metric: Metric) -> Sample:
    """By how much ours is more, as a share of theirs, replication by replication."""
    return sample(results, ours, metric).change_from(sample(results, theirs, metric))
