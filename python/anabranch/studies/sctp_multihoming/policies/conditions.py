"""The runs: every retransmission policy with every set of remedies, over figures 4 to 6."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from anabranch.experiment import Scenario
from anabranch.settings import Toml
from anabranch.studies.sctp_multihoming import conditions
from anabranch.studies.sctp_multihoming.conditions import Paths

SAME = "all-same"


@dataclass(frozen=True, order=True)
class Case:
    """A policy under a set of rules on two paths."""

    policy: str
    rules: str
    paths: Paths


@cache
def plan() -> Toml:
    """The parameters of plan.toml."""
    return tomllib.loads((Path(__file__).parent / "plan.toml").read_text(encoding="utf-8"))


@cache
def settings() -> dict[str, Toml]:
    """Options of every policy by its name, in order."""
    part = plan()["policies"]
    found: dict[str, Toml] = {}
    for destination, remedies in itertools.product(part["destinations"], part["remedies"]):
        names = remedies.split("+") if remedies else []
        if set(names) & set(plan()["implied"].get(destination, [])):
            continue
        options: Toml = {"destination": destination}
        for name in names:
            options |= plan()["remedies"][name]
        found["+".join([destination, *names])] = options
    found |= plan()["further"]
    return found


@dataclass(frozen=True)
class Grid:
    """What is run: policies, sets of rules and paths."""

    policies: Sequence[str]
    rules: Sequence[str]
    paths: Sequence[Paths]

    def cases(self) -> list[Case]:
        """Each once."""
        product = itertools.product(self.policies, self.rules, self.paths)
        return sorted({case(*each) for each in product})


def grid(quick: bool) -> Grid:
    """The grid of figures 4 to 6."""
    size = {**plan()["grid"], **(plan()["quick"] if quick else {})}
    paths = [Paths(*pair) for pair in itertools.product(size["loss"], size["other"])]
    paths += conditions.by_bandwidth(size["bandwidth"])
    paths += conditions.by_delay(size["delay"])
    few = plan()["quick"]
    policies = [name for name in settings() if not quick or _is_chosen(name, few)]
    return Grid(policies, plan()["rules"], paths)


def wide(quick: bool) -> Grid:
    """Alternates much worse than the grid's, for the defaults and those they are held against."""
    size = {**plan()["wide"], **(plan()["wide"]["quick"] if quick else {})}
    paths = [Paths(*pair) for pair in itertools.product(size["loss"], size["other"])]
    paths += conditions.by_bandwidth(size["bandwidth"])
    paths += conditions.by_delay(size["delay"])
    known = grid(quick)
    part = plan()["default"]
    wanted = {part["best"], part["alone"], *part["against"]}
    policies = [name for name in known.policies if name in wanted]
    return Grid(policies, known.rules, paths)


def _is_chosen(policy: str, few: Toml) -> bool:
    destination, _, remedies = policy.partition("+")
    known = destination in plan()["policies"]["destinations"]
    return remedies in few["remedies"] if known else destination in few["destinations"]


def judged(quick: bool) -> list[str]:
    """The policies that the statements N1, N2, ... are about."""
    return list(plan()["judged"]["quick" if quick else "policies"])


def case(policy: str, rules: str, paths: Paths) -> Case:
    """A case; of a policy that sends no data on the second path, one for all its states."""
    alone = settings()[policy]["destination"] == SAME
    return Case(policy, rules, Paths(paths.loss) if alone else paths)


def scenario(case: Case) -> Scenario:
    """The scenario of a case."""
    common = conditions.plan()
    options = {**common["sctp"], **common["rules"][case.rules], **settings()[case.policy]}
    return conditions.transfer("sctp", options, case.paths)
