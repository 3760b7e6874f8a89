"""The tables of a sweep as people read them: on the terminal, in the report, printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from anabranch import si
from anabranch.rows import CsvRow
from anabranch.stats import Estimate

NAMED = 4
"""Points up to which a sentence names each."""


@dataclass(frozen=True)
class Measured(Estimate):
    """An estimate of a metric, or of its paired difference, with its unit."""

    unit: str = ""

    def scaled(self, factor: float) -> Estimate:
        """The number alone: `factor` times it has another unit."""
        return Estimate(self.mean, self.ci_low, self.ci_high, self.n, self.exact).scaled(factor)

    def text(self, digits: int = 2) -> str:
        """`9.07 (8.77 to 9.36, n = 10) Mbit/s`."""
        scaled = si.scale_of([self], self.unit)
        return f"{self.scaled(1 / scaled.factor).text(digits)} {scaled.unit}".rstrip()


@dataclass(frozen=True)
class Shown:
    """A table of texts."""

    columns: list[str]
    rows: list[list[str]]


def means(names: Sequence[str], rows: Sequence[CsvRow], unit: Mapping[str, str]) -> Shown:
    """Means with their intervals, of the rows of `SweepResult.summary`; a metric has a unit."""
    shown = _estimates(rows, "mean", unit, _scales(rows, unit))
    lines = [
        [*(told(row[name]) for name in names), str(row["metric"]), mean, str(row["n"])]
        for row, mean in zip(rows, shown, strict=True)
    ]
    return Shown([*names, "metric", "mean", "n"], lines)


def differences(
    names: Sequence[str],
    rows: Sequence[CsvRow],
    unit: Mapping[str, str],
    summary: Sequence[CsvRow],
) -> Shown:
    """Paired differences, of the rows of `SweepResult.pairs`, in the units of the means in the
    rows of `SweepResult.summary`."""
    apart = {metric: si.unit_of_difference(each) for metric, each in unit.items()}
    scaled = {
        metric: si.scale((), apart[metric]) if apart[metric] == si.POINTS else each
        for metric, each in _scales(summary, unit).items()
    }
    shown = _estimates(rows, "difference", apart, scaled)
    lines = [
        [
            f"{told(row['value'])} - {told(row['against'])}",
            *("" if name == row["parameter"] else told(row[name]) for name in names),
            str(row["metric"]),
            difference,
            str(row["n"]),
        ]
        for row, difference in zip(rows, shown, strict=True)
    ]
    columns = ["pair", *names, "metric", "difference", "n"]
    # A parameter that is in the pair alone has no column of its own.
    used = [n for n, name in enumerate(columns) if any(row[n] for row in lines)]
    return Shown([columns[n] for n in used], [[row[n] for n in used] for row in lines])


def markdown(shown: Shown) -> str:
    """The table in Markdown.

    >>> print(markdown(Shown(["queue", "mean"], [["a|b", "1 s"]])))
    | queue | mean |
    |---|---|
    | a\\|b | 1 s |
    """
    lines = [shown.columns, *shown.rows]
    texts = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    return "\n".join([texts[0], "|" + "---|" * len(shown.columns), *texts[1:]])


_LATEX = {each: f"\\{each}" for each in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "µ": r"\textmu{}",
}
"""What stands for a character that LaTeX takes for a command."""


def latex(shown: Shown) -> str:
    """The table as a `tabular` of LaTeX, with the rules of the package booktabs."""
    lines = [
        " & ".join("".join(_LATEX.get(each, each) for each in cell) for cell in line) + r" \\"
        for line in (shown.columns, *shown.rows)
    ]
    begin = rf"\begin{{tabular}}{{{'l' * len(shown.columns)}}}"
    head, *body = lines
    rows = [r"\toprule", head, r"\midrule", *body, r"\bottomrule"]
    return "\n".join([begin, *rows, r"\end{tabular}"])


def span(least: int, most: int) -> str:
    """Both ends of a range, or one number.

    >>> span(3, 5), span(3, 3)
    ('3 to 5', '3')
    """
    return f"{least}" if least == most else f"{least} to {most}"


def at_points(points: Sequence[Mapping[str, Any]], of: int) -> str:
    """The end of a sentence: at which of so many points something holds; many are counted.

    >>> at_points([{"window": "reno", "loss": 0.1}], 4)
    ' at window=reno, loss=0.1'
    >>> at_points([{"window": "reno"}, {"window": "cubic"}], 2)
    ' at every point'
    >>> at_points([{}], 1)
    ''
    """
    if of == 1:
        return ""
    if len(points) == of:
        return " at every point"
    named = [", ".join(f"{name}={told(value)}" for name, value in each.items()) for each in points]
    if len(points) <= NAMED:
        return f" at {'; '.join(named)}"
    return f" at {len(points)} of {of} points, the first {named[0]}"


def told(value: Any) -> str:
    """The value of a parameter."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def _scales(rows: Sequence[CsvRow], unit: Mapping[str, str]) -> dict[str, si.Scale]:
    """The one unit in which the means of a metric are shown."""
    of = _by_metric(rows, "mean")
    return {metric: si.scale_of(each, unit[metric]) for metric, each in of.items()}


def _estimates(
    rows: Sequence[CsvRow], name: str, unit: Mapping[str, str], scaled: Mapping[str, si.Scale]
) -> list[str]:
    """The estimates of the column `name`."""
    shown = {
        metric: iter(si.estimates(each, unit[metric], scaled[metric]))
        for metric, each in _by_metric(rows, name).items()
    }
    return [next(shown[str(row["metric"])]) for row in rows]


def _by_metric(rows: Sequence[CsvRow], name: str) -> dict[str, list[Estimate]]:
    """The estimates of the column `name` of each metric, in the order of the rows."""
    of: dict[str, list[Estimate]] = {}
    for row in rows:
        of.setdefault(str(row["metric"]), []).append(_estimate(row, name))
    return of


def _estimate(row: Mapping[str, Any], name: str) -> Estimate:
    return Estimate(row[name], row["ci_low"], row["ci_high"], row["n"])
