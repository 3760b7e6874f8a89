"""The paper's claims: as functions of the rules, and judged by the paper's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from anabranch.experiment import RunResult
from anabranch.studies.sctp_multihoming.claims import alternates, losses, policies, timeouts
from anabranch.studies.sctp_multihoming.measures import Times
from anabranch.studies.sctp_multihoming.worlds import World, of_policies, with_tcp
from anabranch.verdicts import Claim, Statement

ABOUT_TCP: Sequence[Callable[[World], Claim]] = (
    losses.without_loss,
    losses.order,
    losses.high_loss,
)
ABOUT_POLICIES: Sequence[Callable[[World], Claim]] = (
    losses.second_path,
    policies.crossing_at_4,
    policies.crossing_at_2,
    policies.hardly,
    alternates.bandwidth,
    alternates.delay,
)
Judged = Mapping[str, Sequence[tuple[World, Claim]]]
"""Each claim under each set of rules, the paper's first."""


def under_all_rules(times: Times) -> Judged:
    """All claims that are about times."""
    judged = {}
    for worlds, claims in ((with_tcp(times), ABOUT_TCP), (of_policies(times), ABOUT_POLICIES)):
        for judge in claims:
            found = [(world, judge(world)) for world in worlds]
            judged[found[0][1].claim] = found
    return judged


def judge(judged: Judged, watched: Mapping[str, list[RunResult]]) -> list[Claim]:
    """The claims by the paper's rules, in order, with what other rules give beside them."""
    claims = [_with_others(found) for found in judged.values()]
    claims.append(timeouts.stays_high(watched))
    return sorted(claims, key=lambda claim: int(claim.claim[1:]))


def _with_others(found: Sequence[tuple[World, Claim]]) -> Claim:
    (paper, claim), *others = found
    by_verdict: dict[str, list[str]] = {}
    beside = []
    for world, other in others:
        name = world.sctp if world.tcp == paper.tcp else f"{world.sctp} against TCP {world.tcp}"
        by_verdict.setdefault(other.verdict.value, []).append(name)
        if world.tcp == paper.tcp:
            beside += [
                Statement.of(f"{m.quantity}; rules {world.sctp}", m.measured)
                for m in _telling(claim, other)
            ]
    listed = [f"{verdict}: {_listed(names)}" for verdict, names in by_verdict.items()]
    note = f"{claim.note} By other rules (rules.csv) {'; '.join(listed)}."
    return replace(claim, statements=[*claim.statements, *beside], note=note)


def _telling(paper: Claim, other: Claim) -> Sequence[Statement]:
    """What is worth reading of a claim by other rules: numbers that are not judged, else those
    whose verdicts differ, else the first."""
    plain = [m for m in other.statements if m.verdict is None]
    pairs = zip(paper.statements, other.statements, strict=True)
    differ = [b for a, b in pairs if a.verdict is not b.verdict]
    return plain or differ or other.statements[:1]


def _listed(names: list[str]) -> str:
    return ", ".join(names) if len(names) <= 6 else f"{len(names)} sets of rules"
