"""The paper's claims: as published, and by other rules beside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from anabranch.studies.replications import Replicated
from anabranch.studies.sctp_multihoming.claims import alternates, losses, policies
from anabranch.studies.sctp_multihoming.conditions import Batch
from anabranch.studies.sctp_multihoming.worlds import World, of_policies, with_tcp
from anabranch.verdicts import Claim, Statement

About = Callable[[World], Claim]
ABOUT_TCP: Sequence[About] = (losses.without_loss, losses.order, losses.high_loss)
ABOUT_POLICIES: Sequence[About] = (
    losses.second_path,
    policies.crossing_at_4,
    policies.crossing_at_2,
    policies.hardly,
    alternates.bandwidth,
    alternates.delay,
)


def judge(results: Replicated[Batch], quick: bool) -> list[Claim]:
    """The claims that are about times: as published, and by other rules."""
    found = [_claim(about, with_tcp(results, quick)) for about in ABOUT_TCP]
    worlds = of_policies(results, quick)
    found += [_claim(about, worlds) for about in ABOUT_POLICIES]
    literal = {"C9": alternates.rates_as_printed, "C10": alternates.delays_as_printed}
    return [
        replace(claim, grid=[*literal[claim.claim](worlds[0]), *claim.grid])
        if claim.claim in literal
        else claim
        for claim in found
    ]


def _claim(about: About, worlds: Sequence[World]) -> Claim:
    paper, *others = worlds
    grid = [each for world in others for each in _named(paper, world, about(world).statements)]
    return replace(about(paper), grid=grid)


def _named(paper: World, world: World, statements: Iterable[Statement]) -> list[Statement]:
    """Statements that say by which rules."""
    name = f"SCTP {world.sctp}" if world.tcp == paper.tcp else world.name
    return [replace(each, quantity=f"{each.quantity}; {name}") for each in statements]
