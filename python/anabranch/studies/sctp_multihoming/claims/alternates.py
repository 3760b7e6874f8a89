"""C9 and C10: sending again on an alternate of another rate or delay."""

from __future__ import annotations

from anabranch import stats
from anabranch.studies.results import Claim, Measure
from anabranch.studies.sctp_multihoming import measures
from anabranch.studies.sctp_multihoming.claims.policies import ALTERNATE, SAME
from anabranch.studies.sctp_multihoming.conditions import Paths, by_bandwidth, by_delay
from anabranch.studies.sctp_multihoming.worlds import World


def bandwidth(world: World) -> Claim:
    """C9."""
    ratios = world.grid["figure5"]["bandwidth"]
    found = [world.longer(ALTERNATE, SAME, paths) for paths in by_bandwidth(ratios)]
    judged = []
    for ratio, difference in zip(ratios, found, strict=True):
        quantity = f"s that the alternate takes longer, bandwidth ratio {ratio:g}"
        rule = Measure.at_most if ratio > 1 else Measure.at_least
        judged.append(rule(quantity, 0, difference))
    # It helps above a ratio, not below: the crossing is that of the negated ratios.
    at = measures.crossing([-x for x in reversed(ratios)], list(reversed(found)))
    end = _end([d.mean for d in found], "rates")
    return Claim(
        "C9",
        "With 4 % and 2 % the alternate helps only if its rate is higher than the primary's.",
        [*judged, Measure("rate ratio above which it helps", None, at.negated())],
        f"Against sending again on the same path.{end}",
    )


def delay(world: World) -> Claim:
    """C10."""
    ratios = world.grid["figure6"]["delay"]
    found = [world.longer(ALTERNATE, SAME, paths) for paths in by_delay(ratios)]
    judged = []
    for ratio, difference in zip(ratios, found, strict=True):
        quantity = f"s that the alternate takes longer, delay ratio {ratio:g}"
        rule = Measure.at_most if ratio < 1 else Measure.at_least
        judged.append(rule(quantity, 0, difference))
    plain, faster = (Paths(4, 2, bandwidth=ratio) for ratio in (1, 2))
    nearer = Paths(4, 2, delay=0.5)
    times = [world.times[world.batch(ALTERNATE, paths)] for paths in (plain, nearer, faster)]
    gain = stats.mean((p - n) - (p - f) for p, n, f in zip(*times, strict=True))
    more = Measure.at_least("s that half the delay gains more than twice the rate", 0, gain)
    at = measures.crossing(ratios, found)
    end = _end([d.mean for d in found], "delays")
    return Claim(
        "C10",
        "And only if its delay is lower; delay matters more than rate in this topology.",
        [*judged, more, Measure("delay ratio below which it helps", None, at)],
        f"Against sending again on the same path.{end}",
    )


def _end(differences: list[float], what: str) -> str:
    if all(d <= 0 for d in differences):
        return f" It helps at all {what}: the ratio is an end of the range."
    if all(d > 0 for d in differences):
        return f" It helps at none of the {what}: the ratio is an end of the range."
    return ""
