"""What is stated beyond the paper: judged for MCubic and its variant, the others beside them."""

from __future__ import annotations

from collections.abc import Callable

from anabranch import stats
from anabranch.experiment import RunResult
from anabranch.stats import Estimate
from anabranch.studies.mcubic import measures as m
from anabranch.studies.mcubic.claims import OURS, UNCOUPLED, VARIANT
from anabranch.studies.mcubic.conditions import ALONE, Run
from anabranch.studies.mcubic.further import conditions
from anabranch.studies.mcubic.further import measures as f
from anabranch.verdicts import Claim, Statement, at_least, at_most

Goal = Callable[[m.Results, Run], list[float]]
HARM = 0.1
"""Part of its goodput that a neighbour may lose."""


def judge(results: m.Results, quick: bool) -> list[Claim]:
    """All statements."""
    return [
        *goals(results, quick, OURS, "M"),
        *goals(results, quick, VARIANT, "V"),
        _reaction(results, quick),
        _remains(results, quick),
        _blocking(results, quick),
    ]


def over_grid(results: m.Results, quick: bool, scheme: str, goal: Goal) -> Estimate:
    """A goal's number over all conditions: the mean of each, and the interval over them."""
    return stats.mean(
        stats.mean(goal(results, run.with_scheme(scheme))).mean for run in conditions.grid(quick)
    )


def goals(results: m.Results, quick: bool, ours: str, letter: str) -> list[Claim]:
    """The three goals for a scheme, with the others' numbers."""
    others = [s for s in conditions.part("goals", quick)["schemes"] if s != ours]

    def beside(what: str, goal: Goal) -> list[Statement]:
        return [
            Statement.of(f"{what}, {scheme}", over_grid(results, quick, scheme, goal))
            for scheme in others
        ]

    first = "change of goodput against a CUBIC on the better path"
    second = "part of its goodput that the neighbour loses which loses most"
    third = "part of the octets on the better path"
    balanced = stats.mean(
        stats.mean(f.balance(results, run.with_scheme(ours))).mean
        - stats.mean(f.balance(results, run.with_scheme(UNCOUPLED))).mean
        for run in conditions.grid(quick)
    )
    note = (
        "Over the grid of rates, delays, losses and buffers; the interval is over conditions, each"
        " the mean of its replications. Neighbours are CUBIC flows."
    )
    return [
        Claim(
            f"{letter}1",
            f"RFC 6356, goal 1: {ours} carries at least what a CUBIC would on its better path.",
            [
                Statement.of(
                    first, over_grid(results, quick, ours, f.against_best_path), at_least(0)
                ),
                *beside(first, f.against_best_path),
            ],
            note,
        ),
        Claim(
            f"{letter}2",
            f"Goal 2: beside {ours} no neighbour loses more than {HARM:.0%} against a CUBIC in its"
            " place.",
            [
                Statement.of(second, over_grid(results, quick, ours, f.harm), at_most(HARM)),
                *beside(second, f.harm),
            ],
            note,
        ),
        Claim(
            f"{letter}3",
            f"Goal 3: {ours} sends more of its octets on the better path than uncoupled CUBIC.",
            [
                Statement.of(f"{third}, more than {UNCOUPLED}", balanced, at_least(0)),
                Statement.of(f"{third}, {ours}", over_grid(results, quick, ours, f.balance)),
                *beside(third, f.balance),
            ],
            note,
        ),
    ]


def reaction(results: m.Results, quick: bool, scheme: str, kind: str) -> Estimate:
    """Goodput soon after an event over that long after it."""
    p = conditions.part("events", quick)
    run = conditions.event(scheme, kind, quick)
    return stats.mean(
        f.reaction(run, result, p["reaction"], p["settled"]) for result in results[run]
    )


def _reaction(results: m.Results, quick: bool) -> Claim:
    p = conditions.part("events", quick)
    found = []
    for kind in p["kinds"]:
        uncoupled = conditions.event(UNCOUPLED, kind, quick)
        ours = conditions.event(OURS, kind, quick)

        def soon(run: Run) -> list[float]:
            return [f.reaction(run, each, p["reaction"], p["settled"]) for each in results[run]]

        less = stats.paired(soon(ours), soon(uncoupled))
        text = f"the second path {kind}: goodput soon over goodput late, more than {UNCOUPLED}"
        found.append(Statement.of(text, less, at_least(0)))
    for kind in p["kinds"]:
        found += [
            Statement.of(
                f"{kind}: goodput soon over goodput late, {scheme}",
                reaction(results, quick, scheme, kind),
            )
            for scheme in p["schemes"]
        ]
    return Claim(
        "N1",
        "MCubic adapts as soon as uncoupled CUBIC when a path appears, vanishes or changes rate.",
        found,
        f"Soon: the {p['reaction']} s after the change; late: the last {p['settled']} s. Rates"
        " change by a factor of five; a single-path flow is on each path.",
    )


def _remains(results: m.Results, quick: bool) -> Claim:
    p = conditions.part("events", quick)

    def late(run: Run, result: RunResult) -> float:
        return m.goodput_between(result, m.CONNECTION, run.end - p["settled"], run.end)

    def change(scheme: str) -> Estimate:
        ours, theirs = (conditions.event(s, "vanishes", quick) for s in (scheme, ALONE[0]))
        return stats.mean(m.change(results, ours, theirs, late))

    others = [conditions.ZERO, *(scheme for scheme in p["schemes"] if scheme != OURS)]
    what = "change of goodput on what remains, against a CUBIC there"
    return Claim(
        "N2",
        "When a path has vanished, MCubic carries on the other what a CUBIC would in its place.",
        [
            Statement.of(f"{what}, {OURS}", change(OURS), at_least(0)),
            *(Statement.of(f"{what}, {scheme}", change(scheme)) for scheme in others),
        ],
        f"The last {p['settled']} s. The K that the lost path had last goes on counting: the other"
        " is as slow as beside an equal path. By mcubic-zero it counts with its floor instead.",
    )


def _blocking(results: m.Results, quick: bool) -> Claim:
    p = conditions.part("blocking", quick)
    found = []
    for scheme in p["schemes"]:
        for scheduler in p["schedulers"]:
            whole = conditions.blocking(scheme, scheduler, p["receive"][-1], quick)
            for receive in p["receive"][:-1]:
                run = conditions.blocking(scheme, scheduler, receive, quick)
                lost = stats.mean(m.change(results, run, whole, m.goodput))
                text = f"change of goodput, {scheme}, {scheduler}, receive buffer {receive:g}"
                judged = scheme == OURS and scheduler == "min-rtt" and receive < 1
                found.append(
                    Statement.of(text, lost, at_most(0)) if judged else Statement.of(text, lost)
                )
    return Claim(
        "N3",
        "Head-of-line blocking: with less receive buffer than the rates times the longest"
        " round-trip time the connection loses goodput.",
        found,
        f"Against a buffer of {p['receive'][-1]} times that; round-trip times of"
        f" {p['round_trips'][0]} and {p['round_trips'][1]} ms and full queues.",
    )
