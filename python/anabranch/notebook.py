"""What notebooks and the interpreter show of a result: a table, not all that it holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from anabranch import rows, si
from anabranch.recorded import Recorded
from anabranch.tables import FLOW_COLUMNS

MOST = 20
"""Rows shown; the rest is counted."""
DIGITS = 4
"""Of a number."""


def flows_html(result: Recorded) -> str:
    """The flows as an HTML table, and the run's facts below."""
    return f"{html(*_flows(result))}<p>{escape(_facts(result))}</p>"


def flows_text(result: Recorded) -> str:
    """The flows as lines of text, and below them the run's facts and the names of its series."""
    lines = [text(*_flows(result)), _facts(result)]
    if result.series:
        names = list(result.series)
        lines.append(f"series {', '.join(names[:MOST])}{', ...' if len(names) > MOST else ''}")
    return "\n".join(lines)


def html(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table of texts as HTML."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>"
        for line in lines[:MOST]
    )
    rest = f"<p>{_rest(lines)}</p>" if _rest(lines) else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def text(columns: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table of texts as lines, its columns aligned.

    >>> print(text(["flow", "goodput"], [["f0", "5.40 Mbit/s"], ["web-1", "9 kbit/s"]]))
    flow       goodput
    f0     5.40 Mbit/s
    web-1     9 kbit/s
    """
    shown = [columns, *lines[:MOST]]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    told = [_aligned(line, widths) for line in shown]
    return "\n".join([*told, *([_rest(lines)] if _rest(lines) else [])])


def _aligned(line: Iterable[str], widths: Sequence[int]) -> str:
    first, *others = (
        cell.ljust(width) if at == 0 else cell.rjust(width)
        for at, (cell, width) in enumerate(zip(line, widths, strict=True))
    )
    return "  ".join([first, *others]).rstrip()


def _rest(lines: Sequence[object]) -> str:
    return f"... and {len(lines) - MOST} more" if len(lines) > MOST else ""


def _flows(result: Recorded) -> tuple[list[str], list[list[str]]]:
    columns = [_cells(name, [row[name] for row in result.flows]) for name in FLOW_COLUMNS]
    lines = [list(line) for line in zip(*columns, strict=True)]
    return [si.name_of(name) for name in FLOW_COLUMNS], lines


def _cells(column: str, values: Sequence[Any]) -> list[str]:
    """A column's texts, in one unit."""
    if any(isinstance(value, str) for value in values):
        return [value or "" for value in values]
    texts = si.texts(values, si.unit_of(column), DIGITS)
    return ["" if value is None else text for value, text in zip(values, texts, strict=True)]


def _facts(result: Recorded) -> str:
    run = result.run
    if isinstance(run, rows.Run):
        return f"seed {run.seed}, replication {run.replication}, {run.events:,} events"
    return si.text(run.end_s, "s", DIGITS)
