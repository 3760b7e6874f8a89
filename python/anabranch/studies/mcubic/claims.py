"""The paper's claims C1 to C6, by the same rules in its test bed and over our grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from anabranch.stats import Exact, Sample
from anabranch.studies.mcubic import conditions, formula, scope
from anabranch.studies.mcubic import measures as m
from anabranch.studies.mcubic.conditions import OURS, UNCOUPLED, Size, part
from anabranch.studies.mcubic.scope import Scope
from anabranch.verdicts import Claim, Statement, at_least, less, more

OTHERS = ("lia", "olia", "wvegas")
"""The coupled algorithms that the paper compares."""
RATIO = 0.1
"""Of the connection's goodput over a single-path flow's. A tenth of a flow's goodput is what a user
on either side may notice, and the least by which table 2 has anyone below 1."""
INDEX = 0.02
"""Of Jain's index among three. With the shares of table 1 it is what moving some 3 % of the
capacity between the connection and a neighbour makes."""
GOODPUT = 0.05
"""Of a goodput, as a share of it: less is within what one TCP differs from another in its place."""
LEFT_OF_WMAX = (0.9, 0.5, 0.1)
"""Parts of its Wmax that a congested path keeps: a mild, a usual and a heavy congestion."""

Builder = Callable[[Scope], Iterator[Statement]]


def judge(results: m.Results, size: Size) -> list[Claim]:
    """All claims of the paper, in order; without runs in its test bed the grid alone decides."""
    scopes = scope.published(results, size), scope.grid(results, size)
    return [make(*scopes) for make in (_c1, _c2, _c3, _c4, _c5, _c6)]


def judge_live(results: m.Results, size: Size) -> list[Claim]:
    """The same from real packets, where nobody asks the formulas."""
    return [
        replace(each, statements=[s for s in each.grid if not s.measured.exact], grid=())
        for each in judge(results, size)
    ]


def _c1(published: Scope, grid: Scope) -> Claim:
    return Claim(
        "C1",
        "Distinct bottlenecks: MCubic leaves the most to the two single-path flows, uncoupled"
        " CUBIC the least.",
        [*leaves_most(published)],
        "Goodput of both single-path flows together; mean over all rates of the second path within"
        f" each replication. {GOODPUT:.0%} matter.",
        [*leaves_most(grid)],
        "§4.2.1, figure 3: 100 Mbit/s, and 10 to 50 Mbit/s on the second path",
    )


def leaves_most(at: Scope) -> Iterator[Statement]:
    """MCubic no less than the others (table 1 has some equal), and each more than uncoupled."""

    def left_more(ours: str, theirs: str) -> Sample:
        pairs = (
            (at.cell("distinct", ours, x), at.cell("distinct", theirs, x))
            for x in at.columns("distinct")
        )
        return Sample.across([m.change(at.results, *pair, m.singles) for pair in pairs])

    if not at.columns("distinct"):
        return
    for theirs in OTHERS:
        text = f"relative change of the single-path flows' goodput beside {OURS} against {theirs}"
        yield Statement.of(text, left_more(OURS, theirs), at_least(0, GOODPUT))
    for ours in (OURS, *OTHERS):
        text = (
            f"relative change of the single-path flows' goodput beside {ours} against {UNCOUPLED}"
        )
        yield Statement.of(text, left_more(ours, UNCOUPLED), more(0, GOODPUT))


def _c2(published: Scope, grid: Scope) -> Claim:
    return Claim(
        "C2",
        "MCubic's Jain index is the highest, or equal highest, in every cell of table 1.",
        [*fairest(published)],
        f"Over the goodputs of the connection and both single-path flows, n = 3; {INDEX:g} matter.",
        [*fairest(grid)],
        "§4.2.1, table 1",
    )


def fairest(at: Scope) -> Iterator[Statement]:
    """Against each other scheme in each cell."""
    for x in at.columns("distinct"):
        ours = at.sample("distinct", OURS, x, m.index)
        for theirs in (*OTHERS, UNCOUPLED):
            text = f"Jain's index, {OURS} minus {theirs}, second path of {x:g} Mbit/s"
            less_theirs = ours - at.sample("distinct", theirs, x, m.index)
            yield Statement.of(text, less_theirs, at_least(0, INDEX))


def _c3(published: Scope, grid: Scope) -> Claim:
    return Claim(
        "C3",
        "Equal delays: MCubic's ratio is above 1 at 100 ms and at least 1 at every delay; LIA, OLIA"
        " and wVegas fall below 1 from 200 ms on.",
        [*equal_delays(published)],
        "Goodput of the connection over that of the single-path CUBIC flow beside it;"
        f" {RATIO:g} matter.",
        [*equal_delays(grid)],
        "§4.2.2 a, table 2 and figure 5",
    )


def equal_delays(at: Scope) -> Iterator[Statement]:
    """By the text MCubic's connection carries more up to 100 ms, and as much or more beyond."""
    for x in at.columns("equal"):
        rule = more(1, RATIO) if x <= 100 else at_least(1, RATIO)
        yield Statement.of(
            f"MPTCP divided by single-path goodput, {OURS}, {x:g} ms",
            at.sample("equal", OURS, x, m.ratio),
            rule,
        )
    for scheme in OTHERS:
        for x in at.columns("equal"):
            if x >= 200:
                measured = at.sample("equal", scheme, x, m.ratio)
                yield Statement.of(
                    f"MPTCP divided by single-path goodput, {scheme}, {x:g} ms",
                    measured,
                    less(1, RATIO),
                )


def _c4(published: Scope, grid: Scope) -> Claim:
    return Claim(
        "C4",
        "Unequal delays: every scheme falls below 1 as the difference grows, by reordering in the"
        " shared receive buffer; MCubic stays above LIA, OLIA and wVegas.",
        [*unequal_delays(published)],
        f"Ratios as in C3, {RATIO:g} matter; between schemes, and by the receive buffer, as shares:"
        f" {GOODPUT:.0%} matter.",
        [*unequal_delays(grid)],
        "§4.2.2 b, table 3 and figure 6: 100 ms beside 300, 400, 500 ms",
    )


def unequal_delays(at: Scope) -> Iterator[Statement]:
    """Below 1, falling, above the others, and the cause that the text names."""
    xs = at.columns("unequal")
    for scheme in (*OTHERS, OURS, UNCOUPLED) if xs else ():
        last = at.sample("unequal", scheme, xs[-1], m.ratio)
        yield Statement.of(
            f"MPTCP divided by single-path goodput, {scheme}, 100 and {xs[-1]:g} ms",
            last,
            less(1, RATIO),
        )
        if len(xs) > 1:
            fallen = last - at.sample("unequal", scheme, xs[0], m.ratio)
            text = (
                f"change of MPTCP divided by single-path goodput, {scheme}, from 100 and {xs[0]:g}"
                f" ms to 100 and {xs[-1]:g} ms"
            )
            yield Statement.of(text, fallen, less(0, RATIO))
    for scheme in OTHERS:
        for x in xs:
            ours, theirs = (at.sample("unequal", s, x, m.ratio) for s in (OURS, scheme))
            text = (
                f"relative change of MPTCP divided by single-path goodput, {OURS} against {scheme},"
                f" 100 and {x:g} ms"
            )
            yield Statement.of(text, ours.change_from(theirs), more(0, GOODPUT))
    for x in xs[-1:]:
        run = at.cell("unequal", OURS, x)
        wider = conditions.unblocked(run)
        if wider in at.results:
            gained = m.change(at.results, wider, run, m.goodput)
            what = "that blocks nothing" if run.window else "of twice the size"
            text = f"relative change of goodput by a receive buffer {what}, 100 and {x:g} ms"
            yield Statement.of(text, gained, more(0, GOODPUT))


def _c5(published: Scope, grid: Scope) -> Claim:
    equal = Exact.of(formula.rate([8.0] * paths) for paths in (2, 3, 4))
    unequal = Exact.of(formula.rate([8.0, 8.0 * times]) for times in (1.1, 1.25, 1.5, 2, 4))
    return Claim(
        "C5",
        "The sum of 1/K' is at least 1/K for equal subflows, so that MPTCP does at least as well as"
        " one TCP.",
        [
            Statement.of(
                "sum of 1/K' divided by 1/K, 2 to 4 equal paths", equal, at_least(1, GOODPUT)
            ),
            *at_least_one_tcp(published),
        ],
        "By the formula it is a mean of the paths' 1/K weighted by 1/K: that of one TCP if all are"
        f" equal, below that of the best path else. In runs {GOODPUT:.0%} of a goodput matter.",
        [
            Statement.of(
                "sum of 1/K' divided by 1/K of the best path, K of the other path 1.1 to 4 times as"
                " long",
                unequal,
                at_least(1, GOODPUT),
            ),
            *at_least_one_tcp(grid),
        ],
        "§3.2, equations 8 and 9; the runs are those of table 2, with a TCP in the connection's"
        " place",
    )


def at_least_one_tcp(at: Scope) -> Iterator[Statement]:
    """Against a single-path CUBIC in the connection's place."""
    for x in at.columns("equal"):
        pair = at.cell("equal", OURS, x), at.cell("equal", "path1", x)
        text = f"relative change of goodput, {OURS} against one TCP in its place, {x:g} ms"
        gain = m.change(at.results, *pair, m.goodput)
        yield Statement.of(text, gain, at_least(0, GOODPUT))


def _c6(_published: Scope, grid: Scope) -> Claim:
    fall = Exact.of(formula.shifted(left)[0] - 1 for left in LEFT_OF_WMAX)
    parts = ", ".join(f"{left:g}" for left in LEFT_OF_WMAX)
    p = part("shift", grid.size)
    return Claim(
        "C6",
        "When one subflow is congested, the others' K' falls at once and they speed up.",
        [
            Statement.of(
                f"relative change of K' when the other path's Wmax falls to {parts} of its value,"
                " formula",
                fall,
                less(0, GOODPUT),
            )
        ],
        f"Formula: two equal paths. Runs: {p['flows'][1]} further flows on the second of two paths"
        f" of {p['rate']} Mbit/s, against none.",
        [*traffic_shift(grid)],
        "§3.2, below equation 11; the paper has no experiment of it",
    )


def traffic_shift(at: Scope) -> Iterator[Statement]:
    """What is sent on the path that stays; the others beside it."""
    p = part("shift", at.size)
    none, some = p["flows"]
    for scheme in [OURS, *(s for s in p["schemes"] if s != OURS)]:
        runs = [conditions.shift(scheme, flows, at.size) for flows in (some, none)]
        if all(run in at.results for run in runs):
            moved = m.change(at.results, runs[0], runs[1], m.sent_on_first)
            text = f"relative change of data that {scheme} sends on the uncongested path, measured"
            rule = more(0, GOODPUT) if scheme == OURS else None
            yield Statement.of(text, moved, rule)
            if all(m.COUPLING in each.series for run in runs for each in at.results[run]):
                fallen = m.change(at.results, runs[0], runs[1], m.k_prime_of_first)
                yield Statement.of(f"change of {scheme}'s K' on the other path, in runs", fallen)
    share = Exact.of(formula.shifted_by_shares(left)[0] - 1 for left in LEFT_OF_WMAX)
    yield Statement.of("relative change of the time to the plateau in mcubic-share, formula", share)
