"""What the table of the field asks beside RFC 9743: shares over buffers, and random loss."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from anabranch.evaluate.check import STANDARDS, Check, Fixed, Quantity, Rule, Scale
from anabranch.evaluate.paths import Path, delivered, use
from anabranch.experiment import RunResult, Scenario
from anabranch.library.entry import Window

RATE = "20 Mbit/s"
BUFFERS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
"""In BDPs: what is fair in a short buffer may starve the other in a long one."""
LOSSES = (1, 2, 5, 10)
"""Percent of the packets, lost at random."""
STARVED = 0.2
"""A flow is starved that gets less than this part of what both deliver: 40 % of an equal share."""


def share_name(buffer: float) -> str:
    """The quantity of a buffer, as tables call it."""
    return f"share, buffer of {buffer:g} BDP"


def loss_name(percent: int) -> str:
    """The quantity of a loss rate, as tables call it."""
    return f"use at {percent} % loss, %"


def _pairs(standard: str, window: Window, scale: Scale) -> list[Scenario]:
    """For each buffer one flow beside one of the standard."""
    built = []
    for buffer in BUFFERS:
        path = Path("pair", scale.seconds(120), rate=RATE, buffer_bdp=buffer)
        path.flow(window, "candidate")
        path.flow(standard, "standard")
        path.net.observe("received", interval="1 s")
        built.append(path.scenario())
    return built


def _share(index: int, runs: Sequence[RunResult]) -> float:
    """Of what both deliver after the first quarter of the run."""
    run = runs[index]
    end = max(float(series["time_s"][-1]) for series in run.series.values())
    own, other = (delivered(run, flow, end / 4, end) for flow in ("candidate", "standard"))
    return own / (own + other) if own + other else 0.5


def _share_check(standard: str) -> Check:
    return Check(
        f"share-beside-{standard}",
        "§5.2.1",
        f"What share does it take beside one flow of {standard}, by the buffer?",
        f"one flow beside one of {standard} on 20 Mbit/s, 40 ms",
        partial(_pairs, standard),
        [
            Quantity(
                share_name(buffer), partial(_share, index), Fixed("at most", 1 - STARVED), 1.0, 0.0
            )
            for index, buffer in enumerate(BUFFERS)
        ],
    )


def _lossy(window: Window, scale: Scale) -> list[Scenario]:
    built = []
    for percent in LOSSES:
        chance = {"kind": "bernoulli", "rate": percent / 100, "at": "egress"}
        path = Path("random loss", scale.seconds(60), rate=RATE, impairments=[chance])
        path.flow(window, "f")
        path.net.observe("received", interval="1 s")
        built.append(path.scenario())
    return built


def _used(index: int, runs: Sequence[RunResult]) -> float:
    run = runs[index]
    end = float(run.series["f.received"]["time_s"][-1])
    return use(run, RATE, end / 4, end)


CHECKS = (
    *map(_share_check, reversed(STANDARDS)),
    Check(
        "random-loss",
        "§6.4",
        "How much of a path does it use that loses packets at random?",
        "one flow on 20 Mbit/s, 40 ms; 1, 2, 5 and 10 % lost at random",
        _lossy,
        [
            Quantity(loss_name(percent), partial(_used, index), Rule("at least", 0.9), 100.0, 0.0)
            for index, percent in enumerate(LOSSES)
        ],
    ),
)
