"""C5 to C7: sending again on the alternate or on the same path, by the alternate's loss."""

from __future__ import annotations

from anabranch.stats import Sample
from anabranch.studies.sctp_multihoming import measures
from anabranch.studies.sctp_multihoming.conditions import Paths
from anabranch.studies.sctp_multihoming.worlds import World
from anabranch.verdicts import Claim, Statement, less, more, near

SAME, ALTERNATE = "same", "alternate"
WINS = 0.01
"""Share of the time by which a policy must be sooner to win: nobody chooses one for less."""
EQUAL = 0.03
"""Share of the time by which two policies may differ and still lie on each other in a figure:
nearly equal (C5, C9, C10), hardly different (C7)."""
CLEAR = 0.25
"""Distance from a crossing, as a share of the primary's loss, from which on a point is clearly on
one side: that of the two crossings which C5 and C6 name."""
NAMED = {4: 0.5, 2: 0.25}
"""The crossings of C5 and C6 by the primary's loss: shares of it."""


def crossing_at_4(world: World) -> Claim:
    """C5."""
    where = (
        f"relative change of transfer time, {ALTERNATE} against {SAME}, losses of 4 % and 2 %,"
        " where"
        " the paper has them equal"
    )
    equal = Statement.of(where, _change(world, 4, 2), near(0, EQUAL))
    return _crossing(world, "C5", 4, [equal])


def crossing_at_2(world: World) -> Claim:
    """C6."""
    further = []
    for share in NAMED.values():
        at_2, at_4 = (_change(world, loss, share * loss) for loss in (2, 4))
        quantity = (
            f"relative change of transfer time, {ALTERNATE} against {SAME}, with 2 % loss on the"
            f" primary minus that with 4 %, the alternate losing {share:.0%} of that"
        )
        further.append(Statement.of(quantity, at_2 - at_4, more(0, WINS)))
    return _crossing(world, "C6", 2, further if _has_all(world) else [])


def _has_all(world: World) -> bool:
    others = world.grid["figure4"]["other"]
    return all(share * loss in others for share in NAMED.values() for loss in NAMED)


def _change(world: World, loss: float, other: float) -> Sample:
    return world.change(ALTERNATE, SAME, Paths(loss, other))


def _crossing(world: World, name: str, loss: float, further: list[Statement]) -> Claim:
    others = world.grid["figure4"]["other"]
    share = NAMED[int(loss)]
    changes = [_change(world, loss, other) for other in others]
    judged = []
    for other, change in zip(others, changes, strict=True):
        quantity = (
            f"relative change of transfer time, {ALTERNATE} against {SAME}, losses of {loss:g} %"
            " and"
            f" {other:g} %"
        )
        if other <= (share - CLEAR) * loss:
            judged.append(Statement.of(quantity, change, less(0, WINS)))
        elif other >= (share + CLEAR) * loss:
            judged.append(Statement.of(quantity, change, more(0, WINS)))
    at = measures.crossing([x / loss for x in others], [each.estimate for each in changes])
    where = Statement.of(
        "loss of the alternate at which both policies are equally fast, divided by the primary's",
        at,
    )
    tail = " That share is smaller than with 4 % on the primary." if name == "C6" else ""
    return Claim(
        name,
        f"With {loss:g} % on the primary, sending again on the alternate wins only while that loses"
        f" less than about {share:.0%} of it.{tail}",
        [*judged, *further, where],
        f"Judged at the points of the figure that lie at least {CLEAR:.0%} of the primary's loss"
        f" from there; who wins is sooner by {WINS:.0%}. The share at which they are equal is by"
        " straight lines between the points, its interval where those of the changes end.",
        source=f"§4.2.2, figure 4, {loss:g} % on the primary",
    )


def hardly(world: World) -> Claim:
    """C7."""
    loss = world.grid["figure4"]["loss"][0]
    return Claim(
        "C7",
        f"With {loss:g} % on the primary the two policies hardly differ.",
        [
            Statement.of(
                (
                    f"relative change of transfer time, {ALTERNATE} against {SAME}, losses of"
                    f" {loss:g} % and"
                    f" {other:g} %"
                ),
                _change(world, loss, other),
                near(0, EQUAL),
            )
            for other in world.grid["figure4"]["other"]
        ],
        f"Hardly: by at most {EQUAL:.0%}, at each of the alternate's losses.",
        source=f"§4.2.2, figure 4, {loss:g} % on the primary",
    )
