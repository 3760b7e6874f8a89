"""Several alternates that differ: which policy finds the good one (S1 to S9)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from anabranch.stats import Sample
from anabranch.studies.replications import Replicated
from anabranch.studies.sctp_multihoming import blocks, measures
from anabranch.studies.sctp_multihoming.several import measures as own
from anabranch.studies.sctp_multihoming.several.conditions import (
    FAILING,
    SENDING_AGAIN,
    Run,
    plan,
    policies,
    probed,
    sets,
)
from anabranch.tables import write_csv
from anabranch.verdicts import Claim, Statement, at_most, less, near

MATTERS = 0.02
"""Share of the time that is worth a policy which must know the paths."""
SOON = 0.25
"""Seconds of a failover that a user of a transfer of 20 s would notice."""
ORDERS = (False, True)
"""The worst alternate comes first, or the best."""
COLUMNS = ("what", "alternates", "first", "policy", "mean_s", "ci_low_s", "ci_high_s", "n")
NOTE = (
    "RFC 9260 with multiple fast retransmit, timestamps and PFMR 0, 4 MB; the alternates lose 10 %,"
    " have a tenth of the rate or six times the delay, or stop at 2 s, but for a good one. Margin"
    f" {MATTERS:.0%}. Policies without knowledge take the next path in order."
)


@dataclass(frozen=True)
class Seen:
    """The transfers of all runs."""

    results: Replicated[Run]
    quick: bool

    def _blocks(self, sample: Sample) -> Sample:
        return blocks.of(sample, 1 if self.quick else int(plan()["block"]))

    def seconds(self, run: Run) -> Sample:
        """Mean times, by blocks."""
        return self._blocks(self.results.sample(run, measures.seconds))

    def failover(self, run: Run) -> Sample:
        """Mean times of failover, by blocks."""
        return self._blocks(self.results.sample(run, own.failover))

    def change(
        self,
        kind: str,
        ours: str,
        theirs: str,
        orders: Iterable[bool] = ORDERS,
        among: Iterable[str] = (),
    ) -> Sample:
        """By what share a policy takes longer than another, over all sets (or those) in such
        orders."""
        found = []
        for backwards in orders:
            for name in among or sets(self.quick):
                a, b = (self.seconds(Run(kind, each, name, backwards)) for each in (ours, theirs))
                found.append((a - b) / float(b.values.mean()))
        return Sample.across(found)

    def later(self, ours: str, theirs: str, among: Iterable[str] = ()) -> Sample:
        """By how many seconds the failover of a policy takes longer than that of another."""
        found = []
        for backwards in ORDERS:
            for name in among or sets(self.quick):
                a, b = (
                    self.failover(Run(FAILING, each, name, backwards)) for each in (ours, theirs)
                )
                found.append(a - b)
        return Sample.across(found)

    def more_paths(self, kind: str, policy: str) -> Sample:
        """By what share it takes longer among five paths than among three, of which they have the
        best and the worst by losses."""
        few, many = plan()["few"], plan()["many"]
        found = []
        for backwards in ORDERS:
            a, b = (self.seconds(Run(kind, policy, name, backwards)) for name in (many, few))
            found.append((a - b) / float(b.values.mean()))
        return Sample.across(found)


def judge(results: Replicated[Run], quick: bool) -> list[Claim]:
    """All statements."""
    seen = Seen(results, quick)
    return [*_sending_again(seen), *_failing(seen)]


def _sending_again(seen: Seen) -> list[Claim]:
    best, blind = plan()["default"]["sending_again"], plan()["default"]["blind"]
    name = best.split(",")[0]
    return [
        Claim(
            "S1",
            f"{name} is the destination of retransmissions to choose among several alternates: no"
            " other is faster.",
            _no_slower(seen, SENDING_AGAIN, best),
            f"{NOTE} The primary loses 4 %.",
        ),
        Claim(
            "S2",
            "To know the alternates makes retransmissions faster where the worst comes first, and"
            " no slower where the best does.",
            [
                Statement.of(
                    f"relative change of transfer time, {best} against {blind}, worst alternate"
                    " first",
                    seen.change(SENDING_AGAIN, best, blind, [False]),
                    less(0, MATTERS),
                ),
                Statement.of(
                    f"relative change of transfer time, {best} against {blind}, best alternate"
                    " first",
                    seen.change(SENDING_AGAIN, best, blind, [True]),
                    at_most(0, MATTERS),
                ),
            ],
            NOTE,
        ),
        Claim(
            "S3",
            "Retransmissions tell enough of the alternates: heartbeats make no policy faster.",
            [
                Statement.of(
                    f"relative change of transfer time by one heartbeat per second, {policy}",
                    seen.change(SENDING_AGAIN, probed(policy, "active"), probed(policy, "passive")),
                    near(0, MATTERS),
                )
                for policy in plan()["sending_again"]["knowing"]
            ],
            NOTE,
        ),
    ]


def _failing(seen: Seen) -> list[Claim]:
    best, blind = plan()["default"]["failing"], plan()["default"]["blind"]
    rule = best.split(",")[0]
    note = f"{NOTE} The primary stops for good after 5 s. The paper's §5 asks for a way to choose."
    return [
        Claim(
            "S4",
            f"{best} is the failover to choose among several alternates: no other rule is"
            " faster, nor are more heartbeats.",
            _no_slower(seen, FAILING, best),
            note,
        ),
        Claim(
            "S5",
            "It is faster than the rules without knowledge where the worst alternate comes first.",
            [
                Statement.of(
                    f"relative change of transfer time, {best} against {other}, worst alternate"
                    " first",
                    seen.change(FAILING, best, other, [False]),
                    less(0, MATTERS),
                )
                for other in plan()["failing"]["blind"]
            ],
            note,
        ),
        Claim(
            "S6",
            "It costs nothing where the best alternate comes first anyway.",
            [
                Statement.of(
                    f"relative change of transfer time, {best} against {blind}, best alternate"
                    " first",
                    seen.change(FAILING, best, blind, [True]),
                    at_most(0, MATTERS),
                )
            ],
            note,
        ),
        Claim(
            "S7",
            f"{rule} hardly needs heartbeats: it leaves an alternate that disappoints.",
            [
                Statement.of(
                    f"relative change of transfer time, heartbeats {after} against {before},"
                    f" {rule}",
                    seen.change(FAILING, probed(rule, after), probed(rule, before)),
                    near(0, MATTERS),
                )
                for before, after in (("passive", "active"), ("active", "bursts"))
            ],
            f"{note} Heartbeats: none but those of HB.interval, one a second, eight a second.",
        ),
        Claim(
            "S8",
            "Heartbeats shorten the failover where alternates are dead, whatever the rule;"
            f" over all {best} is no later than the next in order.",
            [
                *(
                    Statement.of(
                        f"change of failover time by active heartbeats in s, {each}, dead"
                        " alternates",
                        seen.later(probed(each, "active"), probed(each, "passive"), _dead(seen)),
                        less(0, SOON),
                    )
                    for each in plan()["failing"]["knowing"]
                ),
                Statement.of(
                    f"failover time of {best} minus {blind} in s, all sets",
                    seen.later(best, blind),
                    at_most(0, SOON),
                ),
            ],
            f"{note} Seconds from the failure until as much has arrived again as the primary"
            f" brought in a second. Margin {SOON:g} s.",
        ),
        Claim(
            "S9",
            "More alternates do no harm, bad ones included.",
            [
                Statement.of(
                    f"relative change of transfer time, five paths against three, {policy}, {text}",
                    seen.more_paths(kind, policy),
                    at_most(0, MATTERS),
                )
                for kind, policy, text in (
                    (SENDING_AGAIN, plan()["default"]["sending_again"], "losses"),
                    (FAILING, best, "the primary fails"),
                )
            ],
            NOTE,
        ),
    ]


def _dead(seen: Seen) -> list[str]:
    """The sets in which an alternate stops."""
    all_sets = plan()["sets"]
    return [name for name in sets(seen.quick) if any("fails" in path for path in all_sets[name])]


def _no_slower(seen: Seen, kind: str, best: str) -> list[Statement]:
    return [
        Statement.of(
            f"relative change of transfer time, {best} against {other}",
            seen.change(kind, best, other),
            at_most(0, MATTERS),
        )
        for other in policies(kind)
        if other != best
    ]


def write_table(directory: Path, results: Replicated[Run], quick: bool) -> None:
    """`several.csv`: times of every policy among every set of alternates, and of failovers."""
    seen, rows = Seen(results, quick), []
    for run in results:
        first = "best" if run.backwards else "worst"
        found = {run.kind: seen.seconds(run).estimate}
        if run.kind == FAILING:
            found["failover"] = seen.failover(run).estimate
        for what, each in found.items():
            row = (
                what,
                run.alternates,
                first,
                run.policy,
                each.mean,
                each.ci_low,
                each.ci_high,
                each.n,
            )
            rows.append(dict(zip(COLUMNS, row, strict=True)))
    write_csv(directory / "several.csv", COLUMNS, rows)
