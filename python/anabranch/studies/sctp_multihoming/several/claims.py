"""Several alternates that differ: which policy finds the good one (S1 to S5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from anabranch.stats import Sample
from anabranch.studies.replications import Replicated
from anabranch.studies.sctp_multihoming import blocks, measures
from anabranch.studies.sctp_multihoming.several.conditions import (
    FAILING,
    SENDING_AGAIN,
    Run,
    plan,
    policies,
    sets,
)
from anabranch.tables import write_csv
from anabranch.verdicts import Claim, Statement, at_most, less

MATTERS = 0.02
"""Share of the time that is worth a policy which must know the paths."""
ORDERS = (False, True)
"""The worst alternate comes first, or the best."""
COLUMNS = ("what", "alternates", "first", "policy", "mean_s", "ci_low_s", "ci_high_s", "n")
NOTE = (
    "RFC 9260 with multiple fast retransmit, timestamps and PFMR 0, 4 MB; the alternates lose 10 %,"
    f" have a tenth of the rate or six times the delay, but for a good one. Margin {MATTERS:.0%}."
    " Policies without knowledge take the next path in order."
)


@dataclass(frozen=True)
class Seen:
    """The transfers of all runs."""

    results: Replicated[Run]
    quick: bool

    def seconds(self, run: Run) -> Sample:
        """Mean times, by blocks."""
        size = 1 if self.quick else int(plan()["block"])
        return blocks.of(self.results.sample(run, measures.seconds), size)

    def change(self, kind: str, ours: str, theirs: str, orders: Iterable[bool] = ORDERS) -> Sample:
        """By what share a policy takes longer than another, over all sets in such orders."""
        found = []
        for backwards in orders:
            for name in sets(self.quick):
                a, b = (self.seconds(Run(kind, it, name, backwards)) for it in (ours, theirs))
                found.append((a - b) / float(b.values.mean()))
        return Sample.across(found)

    def more_paths(self, kind: str, policy: str) -> Sample:
        """By what share it takes longer among the most alternates than among the fewest, of which
        they have the best and the worst by losses."""
        few, many = sets(self.quick)[0], sets(self.quick)[-1]
        found = []
        for backwards in ORDERS:
            a, b = (self.seconds(Run(kind, policy, name, backwards)) for name in (many, few))
            found.append((a - b) / float(b.values.mean()))
        return Sample.across(found)


def judge(results: Replicated[Run], quick: bool) -> list[Claim]:
    """All statements."""
    seen = Seen(results, quick)
    best, blind = plan()["default"]["policy"], plan()["default"]["blind"]
    return [
        Claim(
            "S1",
            f"{best} is the destination of retransmissions to choose among several alternates: no"
            " other is faster.",
            _no_slower(seen, SENDING_AGAIN, best),
            NOTE,
        ),
        Claim(
            "S2",
            "To know the alternates makes retransmissions faster where the worst comes first,"
            " and no"
            " slower where the best does.",
            [
                Statement.of(
                    f"change of time from {blind} to {best}, the worst first",
                    seen.change(SENDING_AGAIN, best, blind, [False]),
                    less(0, MATTERS),
                ),
                Statement.of(
                    f"change of time from {blind} to {best}, the best first",
                    seen.change(SENDING_AGAIN, best, blind, [True]),
                    at_most(0, MATTERS),
                ),
            ],
            NOTE,
        ),
        Claim(
            "S3",
            f"When the primary fails, {best} finds the better of several alternates: it is"
            " faster than"
            " every policy that takes the next in order.",
            [
                Statement.of(
                    f"change of time from {other} to {best}, the primary fails",
                    seen.change(FAILING, best, other),
                    less(0, MATTERS),
                )
                for other in policies(FAILING)
                if other != best
            ],
            f"{NOTE} The primary stops for good after 5 s. The paper's §5 asks for a way to"
            " choose.",
        ),
        Claim(
            "S4",
            "It costs nothing where the best alternate comes first anyway.",
            [
                Statement.of(
                    f"change of time from {blind} to {best}, the primary fails, the best first",
                    seen.change(FAILING, best, blind, [True]),
                    at_most(0, MATTERS),
                )
            ],
            f"{NOTE} Heartbeats tell an alternate's round-trip time and whether it works. They"
            " are too"
            " few to tell its losses before it carries data.",
        ),
        Claim(
            "S5",
            "More alternates do no harm, bad ones included.",
            [
                Statement.of(
                    f"change of time from the fewest alternates to the most, {best}, {text}",
                    seen.more_paths(kind, best),
                    at_most(0, MATTERS),
                )
                for kind, text in ((SENDING_AGAIN, "losses"), (FAILING, "the primary fails"))
            ],
            NOTE,
        ),
    ]


def _no_slower(seen: Seen, kind: str, best: str) -> list[Statement]:
    return [
        Statement.of(
            f"change of time from {other} to {best}",
            seen.change(kind, best, other),
            at_most(0, MATTERS),
        )
        for other in policies(kind)
        if other != best
    ]


def write_table(directory: Path, results: Replicated[Run], quick: bool) -> None:
    """`several.csv`: times of every policy among every set of alternates."""
    seen, rows = Seen(results, quick), []
    for run in results:
        found = seen.seconds(run).estimate
        first = "best" if run.backwards else "worst"
        means = (found.mean, found.ci_low, found.ci_high, found.n)
        row = (run.kind, run.alternates, first, run.policy, *means)
        rows.append(dict(zip(COLUMNS, row, strict=True)))
    write_csv(directory / "several.csv", COLUMNS, rows)
