"""What is stated beyond the paper: judged for MCubic and its variant, the others beside them."""

from __future__ import annotations

from collections.abc import Iterator

from anabranch.experiment import RunResult
from anabranch.stats import Sample
from anabranch.studies.mcubic import measures as m
from anabranch.studies.mcubic.claims import GOODPUT
from anabranch.studies.mcubic.conditions import OURS, UNCOUPLED, Run
from anabranch.studies.mcubic.further import conditions
from anabranch.studies.mcubic.further import measures as f
from anabranch.studies.mcubic.further.measures import Goal
from anabranch.verdicts import Claim, Statement, at_least, at_most, less, more

VARIANT = "mcubic-share"
HARM = 0.1
"""Part of its goodput that a neighbour may lose: two TCPs on one path differ by as much."""
OCTETS = 0.05
"""Part of the octets on the better path: a twentieth moves nothing that an operator would see."""
SOON = 0.1
"""Of goodput soon after a change over that at the end: a tenth for a quarter of a minute."""
FIRST = "relative change of goodput against one CUBIC flow on the better path"
SECOND = "share of its goodput that the single-path flow on the {} path loses"
THIRD = "share of data sent on the better path"


def judge(results: m.Results, quick: bool) -> list[Claim]:
    """All statements."""
    return [
        *goals(results, quick, OURS, "M"),
        *goals(results, quick, VARIANT, "V"),
        _reaction(results, quick),
        _remains(results, quick),
        _blocking(results, quick),
    ]


def over_grid(results: m.Results, quick: bool, scheme: str, goal: Goal) -> Sample:
    """A goal's mean over all conditions, within each replication."""
    return Sample.across([goal(results, run.with_scheme(scheme)) for run in grid(quick, goal)])


def grid(quick: bool, goal: Goal) -> list[Run]:
    """The conditions that a goal is about: there is no better path where both are equal."""
    found = conditions.grid(quick)
    balanced = goal in (f.balance, f.more_balanced)
    return [run for run in found if conditions.differs(run)] if balanced else found


def goals(results: m.Results, quick: bool, ours: str, letter: str) -> list[Claim]:
    """The three goals for a scheme, with the others' numbers."""
    schemes = conditions.part("goals", quick)["schemes"]
    others = [
        s for s in schemes if s != ours and conditions.grid(quick)[0].with_scheme(s) in results
    ]

    def beside(what: str, goal: Goal) -> Iterator[Statement]:
        for scheme in others:
            measured = over_grid(results, quick, scheme, goal)
            yield Statement.of(f"{what}, {scheme}", measured)

    harms = [(SECOND.format(which), goal) for which, goal in HARMS]
    balanced = over_grid(results, quick, ours, f.more_balanced)
    note = (
        "Over the grid of rates, delays, losses and buffers, its mean within each replication."
        " Neighbours are CUBIC flows."
    )
    return [
        Claim(
            f"{letter}1",
            f"RFC 6356, goal 1: {ours} carries at least what a CUBIC would on its better path.",
            [
                Statement.of(
                    f"{FIRST}, {ours}",
                    over_grid(results, quick, ours, f.against_best_path),
                    at_least(0, GOODPUT),
                ),
                *beside(FIRST, f.against_best_path),
            ],
            note,
            source="RFC 6356 §3, not the paper",
        ),
        Claim(
            f"{letter}2",
            f"Goal 2: beside {ours} no neighbour loses more than {HARM:.0%} against a CUBIC in its"
            " place.",
            [
                Statement.of(
                    f"{text}, {ours}", over_grid(results, quick, ours, goal), at_most(0, HARM)
                )
                for text, goal in harms
            ]
            + [statement for text, goal in harms for statement in beside(text, goal)],
            note,
            source="RFC 6356 §3, not the paper",
        ),
        Claim(
            f"{letter}3",
            f"Goal 3: {ours} sends more of its octets on the better path than uncoupled CUBIC.",
            [
                Statement.of(f"{THIRD}, {ours} minus {UNCOUPLED}", balanced, more(0, OCTETS)),
                Statement.of(f"{THIRD}, {ours}", over_grid(results, quick, ours, f.balance)),
                *beside(THIRD, f.balance),
            ],
            f"{note} Without those where both paths are equal.",
            source="RFC 6356 §3, not the paper",
        ),
    ]


HARMS = (("first", f.harm(0)), ("second", f.harm(1)))


def reaction(results: m.Results, quick: bool, scheme: str, kind: str) -> Sample:
    """Goodput soon after an event over that long after it."""
    p = conditions.part("events", quick)

    def soon(run: Run, result: RunResult) -> float:
        return f.reaction(run, result, p["reaction"], p["settled"])

    return m.sample(results, conditions.event(scheme, kind, quick), soon)


def _reaction(results: m.Results, quick: bool) -> Claim:
    p = conditions.part("events", quick)
    found = []
    for kind in p["kinds"]:
        ours, uncoupled = (reaction(results, quick, s, kind) for s in (OURS, UNCOUPLED))
        text = (
            f"goodput soon after divided by goodput at the end, second path {kind}, {OURS} minus"
            f" {UNCOUPLED}"
        )
        found.append(Statement.of(text, ours - uncoupled, at_least(0, SOON)))
    found += [
        Statement.of(
            f"goodput soon after divided by goodput at the end, second path {kind}, {scheme}",
            reaction(results, quick, scheme, kind),
        )
        for kind in p["kinds"]
        for scheme in p["schemes"]
        if conditions.event(scheme, kind, quick) in results
    ]
    return Claim(
        "N1",
        "MCubic adapts as soon as uncoupled CUBIC when a path appears, vanishes or changes rate.",
        found,
        f"Soon: the {p['reaction']} s after the change; late: the last {p['settled']} s. Rates"
        f" change by a factor of five; a single-path flow is on each path. {SOON:g} matter.",
        source="our question",
    )


def _remains(results: m.Results, quick: bool) -> Claim:
    p = conditions.part("events", quick)
    alone = conditions.event(f.BETTER, "vanishes", quick)
    what = "relative change of goodput on the remaining path against one CUBIC flow there"

    def late(run: Run, result: RunResult) -> float:
        return m.goodput_between(result, m.CONNECTION, run.end - p["settled"], run.end)

    found = []
    for scheme in (OURS, conditions.ZERO, *(s for s in p["schemes"] if s != OURS)):
        run = conditions.event(scheme, "vanishes", quick)
        if run in results:
            rule = at_least(0, GOODPUT) if scheme == OURS else None
            measured = m.change(results, run, alone, late)
            found.append(Statement.of(f"{what}, {scheme}", measured, rule))
    return Claim(
        "N2",
        "When a path has vanished, MCubic carries on the other what a CUBIC would in its place.",
        found,
        f"The last {p['settled']} s. The K that the lost path had last goes on counting: the other"
        " is as slow as beside an equal path. By mcubic-zero it counts with its floor instead.",
        source="our question",
    )


def _blocking(results: m.Results, quick: bool) -> Claim:
    p = conditions.part("blocking", quick)
    found = []
    for scheme in p["schemes"]:
        for scheduler in p["schedulers"]:
            whole = conditions.blocking(scheme, scheduler, p["receive"][-1], quick)
            for receive in p["receive"][:-1]:
                run = conditions.blocking(scheme, scheduler, receive, quick)
                if run in results:
                    lost = m.change(results, run, whole, m.goodput)
                    text = (
                        f"relative change of goodput by a receive buffer of {receive:g}, {scheme},"
                        f" {scheduler}"
                    )
                    judged = (scheme, scheduler) == (OURS, conditions.MIN_RTT) and receive < 1
                    rule = less(0, GOODPUT) if judged else None
                    found.append(Statement.of(text, lost, rule))
    return Claim(
        "N3",
        "Head-of-line blocking: with less receive buffer than the rates times the longest"
        " round-trip time the connection loses goodput.",
        found,
        f"Against a buffer of {p['receive'][-1]} times that; round-trip times of"
        f" {p['round_trips'][0]} and {p['round_trips'][1]} ms and full queues."
        f" {GOODPUT:.0%} matter.",
        source="our question",
    )
