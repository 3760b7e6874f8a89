"""C9 and C10: sending again on an alternate of another rate or delay."""

from __future__ import annotations

from anabranch import stats
from anabranch.studies.sctp_multihoming import measures
from anabranch.studies.sctp_multihoming.claims.policies import ALTERNATE, SAME
from anabranch.studies.sctp_multihoming.conditions import Paths, by_bandwidth, by_delay
from anabranch.studies.sctp_multihoming.worlds import World
from anabranch.verdicts import Claim, Statement, at_least, at_most


def bandwidth(world: World) -> Claim:
    """C9."""
    ratios = world.grid["figure5"]["bandwidth"]
    found = [world.longer(ALTERNATE, SAME, paths) for paths in by_bandwidth(ratios)]
    judged = []
    for ratio, difference in zip(ratios, found, strict=True):
        quantity = f"s that the alternate takes longer, bandwidth ratio {ratio:g}"
        rule = at_most(0) if ratio > 1 else at_least(0)
        judged.append(Statement.of(quantity, difference, rule))
    # It helps above a ratio, not below: the crossing is that of the negated ratios.
    at = measures.crossing([-x for x in reversed(ratios)], list(reversed(found)))
    end = _end([d.mean for d in found], "rates")
    return Claim(
        "C9",
        "With 4 % and 2 % the alternate helps only if its rate is higher than the primary's.",
        [*judged, Statement.of("rate ratio above which it helps", at.negated())],
        f"Against sending again on the same path.{end}",
    )


def delay(world: World) -> Claim:
    """C10."""
    ratios = world.grid["figure6"]["delay"]
    found = [world.longer(ALTERNATE, SAME, paths) for paths in by_delay(ratios)]
    judged = []
    for ratio, difference in zip(ratios, found, strict=True):
        quantity = f"s that the alternate takes longer, delay ratio {ratio:g}"
        rule = at_most(0) if ratio < 1 else at_least(0)
        judged.append(Statement.of(quantity, difference, rule))
    plain, faster = (Paths(4, 2, bandwidth=ratio) for ratio in (1, 2))
    nearer = Paths(4, 2, delay=0.5)
    times = [world.times[world.batch(ALTERNATE, paths)] for paths in (plain, nearer, faster)]
    gain = stats.mean((p - n) - (p - f) for p, n, f in zip(*times, strict=True))
    more = Statement.of("s that half the delay gains more than twice the rate", gain, at_least(0))
    at = measures.crossing(ratios, found)
    end = _end([d.mean for d in found], "delays")
    return Claim(
        "C10",
        "And only if its delay is lower; delay matters more than rate in this topology.",
        [*judged, more, Statement.of("delay ratio below which it helps", at)],
        f"Against sending again on the same path.{end}",
    )


def _end(differences: list[float], what: str) -> str:
    if all(d <= 0 for d in differences):
        return f" It helps at all {what}: the ratio is an end of the range."
    if all(d > 0 for d in differences):
        return f" It helps at none of the {what}: the ratio is an end of the range."
    return ""
