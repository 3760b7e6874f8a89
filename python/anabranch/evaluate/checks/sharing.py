"""Checks beside other algorithms and other traffic: RFC 9743 §5.2."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from anabranch import stats
from anabranch.evaluate.check import STANDARDS, Check, Quantity, Rule, Scale
from anabranch.evaluate.paths import Path, completion, flow_rows, goodput
from anabranch.experiment import RunResult, Scenario
from anabranch.library.entry import Window

BUFFERS = (0.25, 1.0, 4.0)
"""In BDPs. What is harmless in one may not be in another (Ware et al., HotNets 2019)."""


def _beside(standard: str, window: Window, scale: Scale) -> list[Scenario]:
    """For each buffer: a standard flow alone, and two of them beside two of the candidate's."""
    built = []
    for buffer in BUFFERS:
        alone = Path("alone", scale.seconds(45), buffer_bdp=buffer)
        alone.flow(standard, "standard")
        shared = Path("shared", scale.seconds(90), buffer_bdp=buffer)
        for n in range(2):
            shared.flow(standard, f"standard-{n}")
            shared.flow(window, f"candidate-{n}")
        for path in (alone, shared):
            path.net.observe("received", interval="1 s")
            built.append(path.scenario())
    return built


def _harm(index: int, runs: Sequence[RunResult]) -> float:
    alone, shared = runs[2 * index], runs[2 * index + 1]
    solo = goodput(alone, "standard", _end(alone) / 4, _end(alone))
    beside = goodput(shared, "standard", _end(shared) / 4, _end(shared))
    return stats.harm(solo, beside)


def _harm_check(standard: str) -> Check:
    return Check(
        f"harm-to-{standard}",
        "§5.2.1",
        f"Does it take more from {standard} than the standards take from it?",
        f"two flows beside two of {standard} on 20 Mbit/s, 40 ms; harm is the share of what a "
        f"{standard} flow has alone that it loses",
        partial(_beside, standard),
        [
            Quantity(
                f"harm, buffer of {buffer:g} BDP", partial(_harm, index), Rule("at most", 1.0, 0.1)
            )
            for index, buffer in enumerate(BUFFERS)
        ],
    )


def _call(window: Window, scale: Scale) -> list[Scenario]:
    """A call of 64 kbit/s in messages, beside two flows."""
    path = Path("call", scale.seconds(60), rate="10 Mbit/s")
    for n in range(2):
        path.flow(window, f"f{n}")
    ends = path.pair()
    path.net.flow(
        *ends,
        name="call",
        protocol="sctp",
        traffic={"kind": "messages", "size": "160 B", "interval": "20 ms", "order": "unordered"},
        duration=f"{scale.seconds(60) - 1:g} s",
        sctp={"rto": {"min": "200 ms"}, "sack_frequency": 1},
    )
    return [path.scenario()]


def _delay(runs: Sequence[RunResult]) -> float:
    delay = next(row.delay_s for row in runs[0].messages if row.flow == "call")
    return math.nan if delay is None else delay * 1e3


def _mice(window: Window, scale: Scale) -> list[Scenario]:
    seconds = scale.seconds(60)
    path = Path("short beside long", seconds)
    path.flow(window, "long")
    per_second = 0.2 * 20e6 / 8 / 50e3
    path.flow(
        "cubic",
        "short",
        size="50 kB",
        count=int(per_second * (seconds - 6)),
        arrivals={"per_second": per_second},
        start=2.0,
        start_spread=None,
    )
    return [path.scenario()]


def _short_time(runs: Sequence[RunResult]) -> float:
    return completion(flow_rows(runs[0], "short"))


def _end(run: RunResult) -> float:
    return max(float(series["time_s"][-1]) for series in run.series.values())


CHECKS = (
    *map(_harm_check, STANDARDS),
    Check(
        "real-time",
        "§5.2.2",
        "How long do the packets of a call take that shares the path?",
        "64 kbit/s in messages of 20 ms beside two flows on 10 Mbit/s, 40 ms",
        _call,
        (Quantity("mean delay of a message, ms", _delay, Rule("at most", 1.15)),),
    ),
    Check(
        "short-beside-long",
        "§5.2.3",
        "How long do short flows of cubic take beside a long one of it?",
        "flows of 50 kB at 20 % of 20 Mbit/s, 40 ms, beside one long flow",
        _mice,
        (Quantity("mean time of a short flow, s", _short_time, Rule("at most", 1.2)),),
    ),
)
