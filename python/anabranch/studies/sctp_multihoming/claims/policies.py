"""C5 to C7: sending again on the alternate or on the same path, by the alternate's loss."""

from __future__ import annotations

from anabranch import stats
from anabranch.studies.sctp_multihoming import measures
from anabranch.studies.sctp_multihoming.conditions import Paths
from anabranch.studies.sctp_multihoming.worlds import World
from anabranch.verdicts import Claim, Statement, at_most, near

SAME, ALTERNATE = "same", "alternate"
CROSSING_TOLERANCE = 0.125
"""Half the distance between the shares that C5 and C6 name."""
HARDLY = 0.03
"""Relative difference of two times that "hardly differ" (C7)."""


def crossing_at_4(world: World) -> Claim:
    """C5."""
    return _crossing(world, "C5", 4, 0.5)


def crossing_at_2(world: World) -> Claim:
    """C6."""
    return _crossing(world, "C6", 2, 0.25)


def _crossing(world: World, name: str, loss: float, share: float) -> Claim:
    others = world.grid["figure4"]["other"]
    differences = [world.longer(ALTERNATE, SAME, Paths(loss, x)) for x in others]
    listed = [f"{x:g} %: {each.mean:+.1f} s" for x, each in zip(others, differences, strict=True)]
    found = measures.crossing([x / loss for x in others], differences)
    quantity = "alternate's loss at which the policies are equal, share of the primary's"
    return Claim(
        name,
        f"With {loss:g} % on the primary, sending again on the alternate wins only while that loses"
        f" less than about {share:.0%} of it.",
        [Statement.of(quantity, found, near(share, CROSSING_TOLERANCE))],
        "Time on the alternate less time on the same path, by the alternate's loss: "
        + ", ".join(listed)
        + ". The interval is where the intervals of the difference end.",
    )


def hardly(world: World) -> Claim:
    """C7."""
    loss = world.grid["figure4"]["loss"][0]
    changes = [
        stats.mean(world.relative(ALTERNATE, SAME, Paths(loss, x)))
        for x in world.grid["figure4"]["other"]
    ]
    most = max(changes, key=lambda estimate: abs(estimate.mean))
    if most.mean < 0:
        most = most.negated()
    return Claim(
        "C7",
        f"With {loss:g} % on the primary the two policies hardly differ.",
        [Statement.of("largest relative difference of the times", most, at_most(HARDLY))],
        f"Hardly: by at most {HARDLY:.0%}. Over the alternate's losses of 0 to 5 %.",
    )
