"""Concurrent transfer (CMT): new data on both paths, by destination of retransmissions."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from anabranch import stats
from anabranch.experiment import Scenario
from anabranch.figures import Plot
from anabranch.studies import drawing
from anabranch.studies.results import FigureEntry
from anabranch.studies.sctp_multihoming import conditions
from anabranch.studies.sctp_multihoming.conditions import Paths
from anabranch.studies.sctp_multihoming.policies.conditions import plan
from anabranch.studies.sctp_multihoming.policies.regret import Table
from anabranch.verdicts import Claim, Statement, at_most

SAME = "all-same"
LOSS_BASED = ("rtx-cwnd", "rtx-ssthresh", "rtx-lossrate")
MBIT = 4_000_000 * 8 / 1e6
"""What is transferred, Mbit."""


@dataclass(frozen=True, order=True)
class Run:
    """Replications of a concurrent transfer."""

    destination: str
    buffer: str
    paths: Paths


Times = Mapping[Run, list[float]]


def part(quick: bool) -> dict[str, Any]:
    """Its part of the plan."""
    whole: dict[str, Any] = plan()["concurrent"]
    return {**whole, **(whole["quick"] if quick else {})}


def runs(quick: bool) -> list[Run]:
    """All runs."""
    size = part(quick)
    paths = [Paths(*pair) for pair in itertools.product(size["loss"], size["other"])]
    return [Run(*each) for each in itertools.product(size["destinations"], size["buffers"], paths)]


def scenario(run: Run) -> Scenario:
    """The scenario of a run."""
    common = conditions.plan()
    options = {
        **common["rules"][plan()["concurrent"]["rules"]],
        "receive_buffer": run.buffer,
        "destination": run.destination,
        "concurrent": True,
    }
    return conditions.transfer("sctp", options, run.paths)


def judge(times: Times, table: Table) -> Claim:
    """Loss-based destinations against the same path (Iyengar et al. 2006), where the second path
    loses less or more than the first; and concurrent transfer against one path at a time."""
    destinations = sorted({run.destination for run in times})
    buffers = sorted({run.buffer for run in times}, key=lambda text: "MiB" in text)
    paths = sorted({run.paths for run in times})
    judged, beside = [], []
    for buffer, destination in itertools.product(buffers, destinations):
        if destination == SAME:
            continue
        ratios = [
            [a / b - 1 for a, b in zip(*pair, strict=True)]
            for each in paths
            if (pair := [times[Run(d, buffer, each)] for d in (destination, SAME)])
        ]
        change = stats.mean(np.mean(ratios, axis=0).tolist())
        quantity = f"change of time from {SAME} to {destination}, buffer {buffer}"
        if destination in LOSS_BASED and buffer == buffers[0]:
            judged.append(Statement.of(quantity, change, at_most(0)))
        else:
            beside.append(Statement.of(quantity, change))
    for buffer in buffers:
        one = np.array([table.times("best-path+mfr+ts")[table.paths.index(p)] for p in paths])
        both = np.array([times[Run("rtx-cwnd", buffer, each)] for each in paths])
        count = min(one.shape[1], both.shape[1])
        gain = (one[:, :count] / both[:, :count]).mean(axis=0)
        quantity = f"goodput over that of best-path+mfr+ts on one path, rtx-cwnd, buffer {buffer}"
        beside.append(Statement.of(quantity, stats.mean(gain.tolist())))
    return Claim(
        "K1",
        "With new data on both paths and a small receive buffer, destinations that look at losses"
        " are faster than the same path.",
        [*judged, *beside],
        "Iyengar et al. 2006 for 10 Mbit/s paths. Over the losses of figure 4, by the rules of RFC"
        " 9260 with split fast retransmit, window update and delayed-ACK algorithms.",
    )


def write_all(directory: Path, times: Times) -> list[FigureEntry]:
    """Goodput by the alternate's loss, with the larger loss on the primary."""
    loss = max(run.paths.loss for run in times)
    buffer = sorted({run.buffer for run in times}, key=lambda text: "MiB" in text)[0]
    chosen = [run for run in times if run.paths.loss == loss and run.buffer == buffer]
    rows = []
    for run in sorted(chosen):
        goodput = stats.mean(MBIT / seconds for seconds in times[run])
        rows.append({"series": run.destination, "x": run.paths.other, **vars(goodput)})
    plot = Plot(
        f"Concurrent transfer, the first path loses {loss:g} %, buffer {buffer}",
        "loss of the second path (%)",
        "goodput (Mbit/s)",
        legend="upper right",
    )
    caption = "Goodput with new data on both paths, by where retransmissions go."
    return [drawing.points(directory, "concurrent", rows, plot, caption)]
