"""The figures: regret of all policies, and transfer times of those that are judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from anabranch.figures import COLOURS, MARKERS, Look, Plot
from anabranch.rows import CsvRow
from anabranch.studies import drawing
from anabranch.studies.results import FigureEntry
from anabranch.studies.sctp_multihoming.conditions import Paths
from anabranch.studies.sctp_multihoming.figures import TIME
from anabranch.studies.sctp_multihoming.policies.claims import PAPER
from anabranch.studies.sctp_multihoming.policies.regret import Table

DRAWN = ("fr-same-rto-alt", "fr-same-rto-alt+mfr+ts", "best-path", "best-path+mfr+ts")
"""Beside the paper's two."""


def write_all(directory: Path, tables: Sequence[Table]) -> list[FigureEntry]:
    """Writes every figure's CSV, SVG and PNG; returns their captions in order."""
    found = [_regrets(directory, table) for table in tables]
    table = tables[-1]
    plain = [each for each in table.paths if each.bandwidth == each.delay == 1]
    for loss in sorted({each.loss for each in plain}):
        paths = [each for each in plain if each.loss == loss]
        plot = Plot(f"Primary loses {loss:g} %", "loss of the alternate path (%)", TIME)
        caption = f"Policies with a loss of {loss:g} % on the primary path, rules {table.rules}."
        rows = _rows(table, paths, [each.other for each in paths])
        found.append(drawing.points(directory, f"policies_{loss:g}", rows, plot, caption))
    for what in ("bandwidth", "delay"):
        usual = [each for each in plain if (each.loss, each.other) == (4, 2)]
        others = [each for each in table.paths if getattr(each, what) != 1]
        paths = sorted([*usual, *others])
        axis = f"{what} of the alternate over the primary's"
        plot = Plot("Losses of 4 % and 2 %", axis, TIME, log="x")
        caption = f"Policies against the alternate's {what}, rules {table.rules}."
        rows = _rows(table, paths, [getattr(each, what) for each in paths])
        found.append(drawing.points(directory, f"policies_{what}", rows, plot, caption))
    return found


def _rows(table: Table, paths: Sequence[Paths], x: Sequence[float]) -> list[CsvRow]:
    rows = []
    for policy in (*PAPER, *DRAWN):
        for at, each in zip(x, paths, strict=True):
            seconds = table.times(policy, each).estimate
            rows.append({"series": policy, "x": at, **vars(seconds)})
    return rows


def _regrets(directory: Path, table: Table) -> FigureEntry:
    rows, looks = [], {}
    families = sorted({_family(policy) for policy in table.policies})
    for index, family in enumerate(families):
        looks[family] = Look("none", MARKERS[index], COLOURS[index])
        for policy in table.policies:
            if _family(policy) == family:
                regret = table.regret(policy)
                worst = vars(regret.worst.estimate.scaled(100))
                x = 100 * float(regret.mean.values.mean())
                rows.append({"series": family, "x": x, **worst, "policy": policy})
    plot = Plot(
        f"Regret of {len(table.policies)} policies, rules {table.rules}",
        "mean over the conditions (%)",
        "at the worst condition (%)",
        looks,
    )
    caption = (
        "By how much longer than the best policy of each condition: at the mean, and where a policy"
        f" does worst, with 95 % intervals. Rules {table.rules}."
    )
    return drawing.points(directory, f"regret_{table.rules}", rows, plot, caption)


def _family(policy: str) -> str:
    destination = policy.partition("+")[0].partition(",")[0]
    return "rtx-..." if destination.startswith("rtx-") else destination
