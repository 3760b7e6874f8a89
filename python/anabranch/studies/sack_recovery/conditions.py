"""The grid of conditions: which runs the study needs, as scenarios."""

from __future__ import annotations

import itertools
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anabranch.experiment import Scenario
from anabranch.settings import Toml

FOLDER = Path(__file__).parent


@dataclass(frozen=True, order=True)
class Condition:
    """One network and loss pattern, under which every scheme is run."""

    rtt_ms: int
    drops: int
    first_drop: int
    window: int = 0
    """Initial window in segments; 0 for the scenario's own (claim C7 sets 3)."""


@cache
def plan() -> Toml:
    """The parameters of plan.toml."""
    return tomllib.loads((FOLDER / "plan.toml").read_text(encoding="utf-8"))


def schemes(small: bool = False) -> list[str]:
    """Labels of the schemes run over the grid; with `small`, of those run at a window of three."""
    return [
        str(scheme["label"])
        for scheme in plan()["schemes"]
        if small or not scheme.get("small_window_only", False)
    ]


def paper_schemes() -> list[str]:
    """Labels of the schemes that the paper compares."""
    return [str(scheme["label"]) for scheme in plan()["schemes"] if scheme["paper"]]


def paper_case() -> Condition:
    """The case of figures 5 and 6: seven drops."""
    paper = plan()["paper"]
    return Condition(paper["rtt_ms"], paper["drops"], paper["first_drop"])


def paper_conditions() -> list[Condition]:
    """The paper's own runs: figures 5, 6 and 7."""
    paper = plan()["paper"]
    counts = sorted({paper["drops"], *paper["drop_counts"]})
    return [Condition(paper["rtt_ms"], drops, paper["first_drop"]) for drops in counts]


def grid(quick: bool) -> list[Condition]:
    """The conditions over which intervals are stated; holds the paper's own case."""
    part = plan()["quick" if quick else "full"]
    product = itertools.product(part["rtt_ms"], part["drop_counts"], part["first_drop"])
    return [Condition(*values) for values in product]


def small_window() -> list[Condition]:
    """Claim C7: a window of three, the first segment lost."""
    part = plan()["small_window"]
    return [Condition(rtt, 1, 1, part["window"]) for rtt in part["rtt_ms"]]


def scenario(scheme: str, condition: Condition) -> Scenario:
    """The scenario of a scheme under a condition."""
    entry = next(each for each in plan()["schemes"] if each["label"] == scheme)
    rounds, seconds = plan()["horizon"]["rounds"], plan()["paper"]["seconds"]
    duration = max(seconds, rounds * condition.rtt_ms / 1000)
    lost = list(range(condition.first_drop, condition.first_drop + condition.drops))
    assignments = [
        f"flows.0.tcp.recovery={entry['recovery']}",
        f"links.1.impairments.0.numbers={lost}",
        # The access links have 1 ms each way at both ends.
        f'links.1.delay="{condition.rtt_ms / 2 - 2:g} ms"',
        f'duration="{duration:g} s"',
        *entry.get("set", []),
    ]
    if condition.window:
        assignments.append(f'flows.0.tcp.initial_window="{condition.window} packets"')
    text = (FOLDER / "scenario.toml").read_text(encoding="utf-8")
    return Scenario(text, "studies/sack_recovery/scenario.toml").set(*assignments)
