"""C1 to C4: TCP and SCTP against the loss of the first path, the second lossless."""

from __future__ import annotations

import itertools

from anabranch import stats
from anabranch.stats import Estimate
from anabranch.studies.sctp_multihoming.conditions import Paths
from anabranch.studies.sctp_multihoming.worlds import World
from anabranch.verdicts import Claim, Statement, at_least, at_most

TCP = ("tcp-reno", "tcp-sack")
SCTP = ("sctp-single", "sctp-multi")
ORDER = ("sctp-multi", "tcp-sack", "sctp-single", "tcp-reno")
"""From the soonest to the last, by C2."""


def without_loss(world: World) -> Claim:
    """C1."""
    return Claim(
        "C1",
        "At losses of 0 and 0.1 % both TCPs finish before both SCTPs.",
        [
            Statement.of(
                f"s that {tcp} takes longer than {sctp} at {loss:g} %",
                world.longer(tcp, sctp, Paths(loss)),
                at_most(0),
            )
            for loss in (0, 0.1)
            for tcp in TCP
            for sctp in SCTP
        ],
        "An SCTP packet carries 1452 octets of the transfer, a TCP segment 1460.",
    )


def order(world: World) -> Claim:
    """C2."""
    every = world.grid["figure2"]["loss"]
    losses = [loss for loss in every if loss > 0.5]
    found = []
    for sooner, later in itertools.pairwise(ORDER):
        lost = [s for loss in losses for s in world.differences(sooner, later, Paths(loss))]
        quantity = f"s that {sooner} takes longer than {later}, above 0.5 %"
        found.append(Statement.of(quantity, stats.mean(lost), at_most(0)))
    for sooner, later in itertools.pairwise(ORDER):
        gaps = [world.longer(later, sooner, Paths(loss)).mean for loss in every]
        quantity = f"s per % by which the gap from {sooner} to {later} grows"
        found.append(Statement.of(quantity, stats.slope(every, gaps), at_least(0)))
    return Claim(
        "C2",
        "Above 0.5 % the order is SCTP on two paths, TCP SACK, SCTP on one path, TCP Reno, and the"
        " gaps grow with the loss.",
        found,
        "Over 0.6 to 1 %, replication by replication; growth over 0 to 1 %.",
    )


def high_loss(world: World) -> Claim:
    """C3."""
    losses = [loss for loss in world.grid["figure3"]["loss"] if loss > 0]
    found = []
    for sctp, tcp in itertools.product(SCTP, TCP):
        worst = _worst(world, sctp, tcp, losses)
        found.append(
            Statement.of(f"largest change of time from {tcp} to {sctp}", worst, at_most(0))
        )
    for sctp in SCTP:
        shares = [stats.mean(world.relative("tcp-sack", sctp, Paths(x))).mean for x in losses]
        quantity = f"growth per % of the share by which tcp-sack takes longer than {sctp}"
        found.append(Statement.of(quantity, stats.slope(losses, shares), at_least(0)))
    most = losses[-1]
    for tcp in TCP:
        share = stats.mean(world.relative(tcp, "sctp-single", Paths(most)))
        quantity = f"share by which {tcp} takes longer than sctp-single at {most:g} %"
        found.append(Statement.of(quantity, share))
    return Claim(
        "C3",
        "From 0 to 16 % both SCTPs are far better than both TCPs, the more so the higher the loss.",
        found,
        f"Over {losses[0]:g} to {most:g} %; the largest change is that at the loss where SCTP"
        " does worst.",
    )


def _worst(world: World, ours: str, theirs: str, losses: list[float]) -> Estimate:
    changes = [stats.mean(world.relative(ours, theirs, Paths(x))) for x in losses]
    return max(changes, key=lambda estimate: estimate.mean)


def second_path(world: World) -> Claim:
    """C4."""
    losses = [loss for loss in world.grid["figure3"]["loss"] if loss > 4]
    return Claim(
        "C4",
        "Above 4 % SCTP on two paths beats SCTP on one.",
        [
            Statement.of(
                f"s that two paths take longer than one at {loss:g} %",
                world.longer("sctp-multi", "sctp-single", Paths(loss)),
                at_most(0),
            )
            for loss in losses
        ],
        "The second path loses nothing.",
    )
