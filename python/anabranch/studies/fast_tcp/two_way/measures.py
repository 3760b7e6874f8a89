"""Numbers out of runs: shares of the lines, and how ACKs and data bunch."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from anabranch.experiment import RunResult
from anabranch.stats import Estimate, Exact
from anabranch.studies.fast_tcp.two_way.conditions import Run

CLOSE = 0.5
"""ACKs count as compressed when they come closer than this part of a data packet's time; those
that data packets clock come one such time apart."""


@dataclass(frozen=True)
class Value:
    """What a run is for."""

    shares: tuple[float, float]
    """Part of each line that data took."""
    lost: int
    """Packets dropped on all links, and data sent again."""
    compressed: float
    """Part of the ACKs that come compressed to the first host; NaN where it is not observed."""


Values = Mapping[Run, Value]


def value(run: Run, result: RunResult) -> Value:
    """The shares over the measured time, and what was lost in all."""
    dropped = sum(link.dropped for link in result.links)
    again = sum(flow.retransmitted_packets for flow in result.flows)
    shares = (_share(run, result, 0), _share(run, result, 1))
    return Value(shares, dropped + again, _compressed(run, result))


def _share(run: Run, result: RunResult, way: int) -> float:
    channel = run.channel()
    name = ("forth", "back")[way]
    series = result.series.get(f"{name}.received")
    if series is None:
        return 0.0
    octets = at(series["time_s"], series["value"], run.until_s())
    octets -= at(series["time_s"], series["value"], run.from_s())
    return octets / run.mss * channel.data[way] / (run.until_s() - run.from_s())


def at(times: NDArray[np.float64], values: NDArray[np.float64], date: float) -> float:
    """The value of a step function."""
    after = int(np.searchsorted(times, date, side="right"))
    return float(values[after - 1]) if after else 0.0


def one(values: Values, run: Run, measure: Callable[[Value], float]) -> float:
    """What a run gave: nothing in it is left to chance."""
    return measure(values[run])


def estimate(values: Values, run: Run, measure: Callable[[Value], float]) -> Estimate:
    """The same as figures take it."""
    return Exact.of([one(values, run, measure)]).estimate


def forth(value: Value) -> float:
    """Share of the line from the first host."""
    return value.shares[0]


def back(value: Value) -> float:
    """Share of the line from the second host."""
    return value.shares[1]


def steady(run: Run, result: RunResult, name: str) -> NDArray[np.float64]:
    """Values of a series while the run is measured."""
    series = result.series[name]
    times = series["time_s"]
    chosen = (times > run.from_s()) & (times <= run.until_s())
    return np.asarray(series["value"][chosen], dtype=np.float64)


def compressed(value: Value) -> float:
    """Part of the ACKs that come compressed to the first host."""
    return value.compressed


def _compressed(run: Run, result: RunResult) -> float:
    if "forth.ack_gaps" not in result.series:
        return math.nan
    return float(np.mean(steady(run, result, "forth.ack_gaps") < CLOSE))
