"""What hangs on the choices that the text leaves open, and MCubic beside its nearest rivals."""

from __future__ import annotations

from collections.abc import Iterator

from anabranch.studies.mcubic import conditions, scope
from anabranch.studies.mcubic import measures as m
from anabranch.studies.mcubic.claims import INDEX, RATIO
from anabranch.studies.mcubic.conditions import OURS, Run, Size, plan
from anabranch.verdicts import Claim, Statement, at_least, less


def judge(results: m.Results, size: Size) -> list[Claim]:
    """Both questions; they are ours, not the paper's."""
    return [open_choices(results, size), rivals(results, size)]


def open_choices(results: m.Results, size: Size) -> Claim:
    """Each choice by itself at equal delays; the other experiments beside them."""
    distinct, equal, unequal = conditions.open_cells(size)
    found = [
        Statement.of(
            f"MPTCP divided by single-path goodput at equal delays, {label(run)}",
            m.ratio(results, run),
            less(1, RATIO),
        )
        for run in _variants(equal, size)
    ]
    for cell, what, measure in (
        (unequal, "MPTCP divided by single-path goodput at unequal delays", m.ratio),
        (distinct, "Jain's index", m.index),
    ):
        found += [
            Statement.of(f"{what}, {label(run)}", measure(results, run))
            for run in _variants(cell, size)
            if run in results
        ]
    return Claim(
        "open",
        "Whatever is chosen of what the text leaves open, MCubic's ratio at equal delays stays"
        " below 1.",
        found,
        "One at a time: buffer, scheduler, receive buffer, the floor of K in round-trip times, and"
        " the part of Wmax that is left as beta. 100 Mbit/s and 100 ms; beside it, without a rule,"
        f" 100:300 ms, and 20 Mbit/s on the second path for Jain's index. {RATIO:g} matter.",
        source="our question",
    )


def _variants(cell: Run, size: Size) -> Iterator[Run]:
    """A cell under every choice, with MCubic."""
    yield from (run for run in conditions.varied(cell, size) if run.scheme.startswith(OURS))


def label(run: Run) -> str:
    """What is varied in a run."""
    plain = Run(run.bed, run.scheme, run.rates, run.round_trips, run.warm_up, run.seconds)
    if run.scheme.startswith("mcubic-floor-"):
        return f"floor of {run.scheme.removeprefix('mcubic-floor-')} round-trip times"
    if run.scheme == "mcubic-left":
        return "beta the part that is left"
    if run.scheme == "mcubic-zero":
        return "K none after a timeout"
    if run.buffer != plain.buffer:
        return f"buffer of {run.buffer:g} BDP"
    if run.scheduler != plain.scheduler:
        return run.scheduler
    if run.receive != plain.receive:
        return f"{run.receive / plain.receive:g} of the receive buffer"
    return "as judged"


def rivals(results: m.Results, size: Size) -> Claim:
    """The paper compares no other way to couple CUBICs."""
    grid = scope.grid(results, size)
    found = []
    for experiment, what, measure, margin in (
        ("distinct", "Jain's index, mean over rates of the second path", m.index, INDEX),
        (
            "equal",
            "MPTCP divided by single-path goodput at equal delays, mean over delays",
            m.ratio,
            RATIO,
        ),
        (
            "unequal",
            "MPTCP divided by single-path goodput at unequal delays, mean over delays",
            m.ratio,
            RATIO,
        ),
    ):
        ours = grid.across(experiment, OURS, measure)
        for rival in plan()["rivals"]:
            beside = ours - grid.across(experiment, rival, measure)
            text = f"{what}: {OURS} minus {rival}"
            found.append(Statement.of(text, beside, at_least(0, margin)))
    return Claim(
        "R1",
        "Among the ways to couple CUBICs MCubic is as fair and carries as much as any.",
        found,
        f"Over our grid; means are within each replication. {INDEX:g} of Jain's index and {RATIO:g}"
        " of a ratio matter.",
        source="our question; the paper runs no other coupled CUBIC. It names MPCubic [10], for"
        " whose law no text was found (docs/algorithms/coupled.md)",
    )
