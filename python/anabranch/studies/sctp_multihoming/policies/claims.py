"""Statements about the policies: each against the better of the paper's two (N1, N2, ...), and
which one should be the default (D1 to D3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from anabranch.rows import CsvRow
from anabranch.stats import Sample
from anabranch.studies.sctp_multihoming.conditions import Paths
from anabranch.studies.sctp_multihoming.policies.conditions import plan
from anabranch.studies.sctp_multihoming.policies.regret import Table
from anabranch.tables import write_csv
from anabranch.verdicts import Claim, Statement, at_most

MATTERS = 0.01
"""Share of the time by which one policy must be slower than another to be called slower."""
PAPER = ("all-same", "all-alternate")
"""The paper's two policies."""
COLUMNS = (
    "rules",
    "policy",
    "mean_regret",
    "mean_regret_low",
    "mean_regret_high",
    "worst_regret",
    "worst_regret_low",
    "worst_regret_high",
    "worst_at",
    "best_at",
    "change_from_all_same",
    "change_from_all_alternate",
    "change_from_fr_same_rto_alt",
)
BESIDE = ("all-same", "all-alternate", "fr-same-rto-alt")


def judge(tables: Sequence[Table], wide: Sequence[Table], policies: Sequence[str]) -> list[Claim]:
    """All statements, from the tables of the grid and of what lies beyond."""
    found = [_as_fast(tables, policy, n) for n, policy in enumerate(policies, start=1)]
    return [*found, *_defaults(tables, wide)]


def _as_fast(tables: Sequence[Table], policy: str, number: int) -> Claim:
    judged, beside = [], []
    for table in tables:
        changes = [table.from_better(policy, PAPER, paths) for paths in table.paths]
        over_all = Sample.across(changes)
        worst = max(range(len(changes)), key=lambda index: float(changes[index].values.mean()))
        rules = f"rules {table.rules}"
        quantity = (
            f"relative change of transfer time against the better policy, all conditions, {rules}"
        )
        judged.append(Statement.of(quantity, over_all, at_most(0, MATTERS)))
        where = (
            f"relative change of transfer time against the better policy, worst condition"
            f" ({text(table.paths[worst])}), {rules}"
        )
        beside.append(Statement.of(where, changes[worst].estimate))
    return Claim(
        f"N{number}",
        f"{policy} is as fast as the better of the paper's two policies, whichever that is.",
        [*judged, *beside],
        f"No more than {MATTERS:.0%} slower, as a mean over the conditions. A policy cannot know"
        " the"
        " better one beforehand; which it is, is chosen for each replication by the others."
        " mfr: multiple fast retransmit, ts:"
        " timestamps, hb: a heartbeat after each timeout.",
    )


def _defaults(tables: Sequence[Table], wide: Sequence[Table]) -> Iterator[Claim]:
    best, alone = plan()["default"]["best"], plan()["default"]["alone"]
    all_of_them = tables[0].policies
    without = [policy for policy in all_of_them if "ts" not in policy.split("+")]
    statement = (
        f"{best} should be the default: over the grid it is as fast as every other destination,"
        " with and without the remedies of Caro et al."
    )
    yield _default(tables, "D1", best, all_of_them, statement)
    statement = f"Of what needs nothing of the peer (no timestamps), {alone} should be."
    yield _default(tables, "D2", alone, without, statement)
    statement = (
        f"{best} should be the default where alternates may be much worse too: losses up to 20 %, a"
        " twentieth of the rate, eight times the delay."
    )
    yield _default(wide, "D3", best, wide[0].policies, statement)


def _default(
    tables: Sequence[Table], name: str, policy: str, field: Sequence[str], statement: str
) -> Claim:
    judged, beside, least = [], [], []
    for table in tables:
        rules = f"rules {table.rules}"
        against = [
            each for each in plan()["default"]["against"] if each in field and each != policy
        ]
        for other in against:
            quantity = f"relative change of transfer time against {other}, all conditions, {rules}"
            judged.append(Statement.of(quantity, table.change(policy, other), at_most(0, MATTERS)))
        regret = table.regret(policy)
        beside.append(
            Statement.of(
                f"mean excess of transfer time over the fastest policy, {rules}",
                regret.mean.estimate,
            )
        )
        where = text(regret.where)
        beside.append(
            Statement.of(
                f"largest excess of transfer time over the fastest policy ({where}), {rules}",
                regret.worst.estimate,
            )
        )
        first = table.least(field)
        least.append(f"{first} by {table.rules}")
    return Claim(
        name,
        statement,
        [*judged, *beside],
        "Regret: time beyond that of the best policy of each condition, as a share; the best, and"
        " the worst condition, are chosen for each replication by the others."
        f" As fast: no more than {MATTERS:.0%} slower. Least mean regret: {'; '.join(least)}."
        " All of them: policies.csv, policies_wide.csv.",
    )


def write_table(directory: Path, name: str, tables: Sequence[Table]) -> None:
    """`NAME.csv`: every policy under every set of rules, the least regret first."""
    rows = [row for table in tables for row in _rows(table)]
    write_csv(directory / f"{name}.csv", COLUMNS, rows)


def _rows(table: Table) -> list[CsvRow]:
    best = table.best()
    rows = []
    for policy in sorted(table.policies, key=lambda name: table.regret(name).mean.estimate.mean):
        regret = table.regret(policy)
        row: CsvRow = {
            "rules": table.rules,
            "policy": policy,
            "worst_at": text(regret.where),
            "best_at": best.count(policy),
        }
        for what, sample in (("mean_regret", regret.mean), ("worst_regret", regret.worst)):
            estimate = sample.estimate
            row[what] = estimate.mean
            row |= {f"{what}_low": estimate.ci_low, f"{what}_high": estimate.ci_high}
        for other in BESIDE:
            name = f"change_from_{other.replace('-', '_')}"
            row[name] = float(table.change(policy, other).values.mean())
        rows.append(row)
    return rows


def text(paths: Paths) -> str:
    """`4 %, 2 %, delay x 0.5`."""
    parts = [f"{paths.loss:g} %", f"{paths.other:g} %"]
    if paths.bandwidth != 1:
        parts.append(f"rate x {paths.bandwidth:g}")
    if paths.delay != 1:
        parts.append(f"delay x {paths.delay:g}")
    return ", ".join(parts)
