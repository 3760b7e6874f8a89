"""Concurrent transfer (CMT): new data on both paths, by destination of retransmissions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from anabranch.experiment import Scenario
from anabranch.figures import Plot
from anabranch.settings import Toml
from anabranch.stats import Sample
from anabranch.studies import drawing
from anabranch.studies.replications import Replicated
from anabranch.studies.results import FigureEntry
from anabranch.studies.sctp_multihoming import conditions, measures
from anabranch.studies.sctp_multihoming.conditions import Paths
from anabranch.studies.sctp_multihoming.policies.conditions import Case, plan
from anabranch.studies.sctp_multihoming.policies.regret import Table
from anabranch.verdicts import Claim, Statement, less

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


Key = Case | Run
FASTER = 0.01
"""Share of the time by which a destination must be faster to be called so."""


def part(quick: bool) -> Toml:
    """Its part of the plan."""
    whole: Toml = plan()["concurrent"]
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


def judge(results: Replicated[Key], runs: Sequence[Run], table: Table) -> Claim:
    """Loss-based destinations against the same path (Iyengar et al. 2006), where the second path
    loses less or more than the first; and concurrent transfer against one path at a time."""
    destinations = sorted({run.destination for run in runs})
    buffers = sorted({run.buffer for run in runs}, key=lambda text: "MiB" in text)
    paths = sorted({run.paths for run in runs})

    def seconds(destination: str, buffer: str, each: Paths) -> Sample:
        return results.sample(Run(destination, buffer, each), measures.seconds)

    judged, beside = [], []
    for buffer, destination in itertools.product(buffers, destinations):
        if destination == SAME:
            continue
        changes = []
        for each in paths:
            theirs = seconds(SAME, buffer, each)
            ours = seconds(destination, buffer, each)
            changes.append((ours - theirs) / float(theirs.values.mean()))
        change = Sample.across(changes)
        quantity = (
            f"relative change of transfer time, {destination} against {SAME}, buffer of {buffer}"
        )
        if destination in LOSS_BASED and buffer == buffers[0]:
            judged.append(Statement.of(quantity, change, less(0, FASTER)))
        else:
            beside.append(Statement.of(quantity, change.estimate))
    for buffer in buffers:
        gains = [
            table.times("best-path+mfr+ts", each) / seconds("rtx-cwnd", buffer, each)
            for each in paths
        ]
        quantity = (
            "goodput of rtx-cwnd on both paths divided by best-path+mfr+ts on one, buffer of"
            f" {buffer}"
        )
        beside.append(Statement.of(quantity, Sample.across(gains).estimate))
    return Claim(
        "K1",
        "With new data on both paths and a small receive buffer, destinations that look at losses"
        " are faster than the same path.",
        [*judged, *beside],
        f"Faster: by at least {FASTER:.0%} of the time, as a mean over the losses of figure 4,"
        " by the"
        " rules of RFC 9260 with split fast retransmit, window update and delayed-ACK algorithms."
        " Iyengar et al. have it for paths of 10 Mbit/s.",
        source="not the paper's: Iyengar, Amer, Stewart 2006, §V",
    )


def write_all(directory: Path, results: Replicated[Key], runs: Sequence[Run]) -> list[FigureEntry]:
    """Goodput by the alternate's loss, with the larger loss on the primary."""
    loss = max(run.paths.loss for run in runs)
    buffer = sorted({run.buffer for run in runs}, key=lambda text: "MiB" in text)[0]
    chosen = [run for run in runs if run.paths.loss == loss and run.buffer == buffer]
    rows = []
    for run in sorted(chosen):
        goodput = results.sample(run, lambda result: MBIT / measures.seconds(result))
        rows.append({"series": run.destination, "x": run.paths.other, **vars(goodput.estimate)})
    plot = Plot(
        f"Concurrent transfer, the first path loses {loss:g} %, buffer {buffer}",
        "loss of the second path (%)",
        "goodput (Mbit/s)",
        legend="upper right",
    )
    caption = "Goodput with new data on both paths, by where retransmissions go."
    return [drawing.points(directory, "concurrent", rows, plot, caption)]
