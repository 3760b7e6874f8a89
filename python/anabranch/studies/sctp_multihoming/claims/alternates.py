"""C9 and C10: sending again on an alternate of another rate or delay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from anabranch.stats import Sample
from anabranch.studies.sctp_multihoming.claims.policies import ALTERNATE, EQUAL, SAME, WINS
from anabranch.studies.sctp_multihoming.conditions import PRIMARY, Paths, by_bandwidth, by_delay
from anabranch.studies.sctp_multihoming.worlds import World
from anabranch.verdicts import Claim, Rule, Statement, less, more, near

NOTE = (
    "The paper takes 4 and 2 % because its two policies are equal there. Each set of rules is"
    " judged"
    " where its own are (a pilot with other seeds chose the alternate's loss; the first statement"
    " holds it to that). What another alternate changes is then a gain or a loss against the same"
    f" path; it counts from {WINS:.0%} of the time on."
)


def bandwidth(world: World) -> Claim:
    """C9."""
    ratios = world.grid["figure5"]["bandwidth"]
    judged = _by_ratio(
        world, ratios, "rate", lambda paths, x: replace(paths, bandwidth=x), lambda x: x > 1
    )
    return Claim(
        "C9",
        "Where the losses favour neither policy, the alternate helps only if its rate is higher"
        " than"
        " the primary's.",
        [_equal(world), *judged],
        NOTE,
        source="§4.2.2, figure 5, 4 % and 2 %, where the paper's policies are equal",
    )


def delay(world: World) -> Claim:
    """C10."""
    ratios = world.grid["figure6"]["delay"]
    judged = _by_ratio(
        world, ratios, "delay", lambda paths, x: replace(paths, delay=x), lambda x: x < 1
    )
    usual = _paths(world)
    rates = world.grid["figure5"]["bandwidth"]
    for text, shift, near_by, fast in (
        ("half the delay gains more than twice the rate", -1, 0.5, 2),
        ("twice the delay loses more than half the rate", 1, 2, 0.5),
    ):
        if near_by not in ratios or fast not in rates:
            continue
        by_delay = _against_usual(world, replace(usual, delay=near_by))
        by_rate = _against_usual(world, replace(usual, bandwidth=fast))
        more_of_it = (by_delay - by_rate) * shift
        judged.append(
            Statement.of(
                f"difference of the relative changes of transfer time: {text}",
                more_of_it,
                more(0, WINS),
            )
        )
    return Claim(
        "C10",
        "Likewise only if its delay is lower; delay matters more than rate in this topology.",
        [_equal(world), *judged],
        NOTE,
        source="§4.2.2, figure 6, 4 % and 2 %, where the paper's policies are equal",
    )


def rates_as_printed(world: World) -> list[Statement]:
    """C9 at the paper's 4 and 2 %, by who wins."""
    paths = by_bandwidth(world.grid["figure5"]["bandwidth"])
    return [_wins(world, each, "rate", each.bandwidth, each.bandwidth > 1) for each in paths]


def delays_as_printed(world: World) -> list[Statement]:
    """C10 at the paper's 4 and 2 %, by who wins."""
    paths = by_delay(world.grid["figure6"]["delay"])
    return [_wins(world, each, "delay", each.delay, each.delay < 1) for each in paths]


def _wins(world: World, paths: Paths, what: str, ratio: float, better: bool) -> Statement:
    quantity = (
        f"relative change of transfer time, {ALTERNATE} against {SAME}, losses of 4 % and 2 %,"
        f" {what} of the alternate x {ratio:g}"
    )
    rule = less(0, WINS) if better else near(0, EQUAL) if ratio == 1 else more(0, WINS)
    return Statement.of(quantity, world.change(ALTERNATE, SAME, paths), rule)


def _paths(world: World) -> Paths:
    return Paths(PRIMARY, world.equal)


def _equal(world: World) -> Statement:
    paths = _paths(world)
    quantity = (
        f"relative change of transfer time, {ALTERNATE} against {SAME}, losses of 4 % and"
        f" {paths.other:g} %"
    )
    return Statement.of(quantity, world.change(ALTERNATE, SAME, paths), near(0, EQUAL))


def _against_usual(world: World, paths: Paths) -> Sample:
    """What another alternate changes, as a share of the time on the same path."""
    usual = world.seconds(ALTERNATE, _paths(world))
    return world.share(world.seconds(ALTERNATE, paths) - usual, SAME, paths)


def _by_ratio(
    world: World,
    ratios: list[float],
    what: str,
    change: Callable[[Paths, float], Paths],
    better: Callable[[float], bool],
) -> list[Statement]:
    found = []
    for ratio in ratios:
        if ratio == 1:
            continue
        rule: Rule = less(0, WINS) if better(ratio) else more(0, WINS)
        measured = _against_usual(world, change(_paths(world), ratio))
        quantity = f"relative change of transfer time by {what} of the alternate x {ratio:g}"
        found.append(Statement.of(quantity, measured, rule))
    return found
