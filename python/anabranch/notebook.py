"""What notebooks show of a result."""

from __future__ import annotations

from html import escape

from anabranch import rows, si
from anabranch.recorded import Recorded
from anabranch.tables import FLOW_COLUMNS

MOST = 20
"""Rows shown; the rest is counted."""
DIGITS = 4
"""Of a number."""


def flows_html(result: Recorded) -> str:
    """The flows as an HTML table, and the run's facts below."""
    head = "".join(f"<th>{escape(si.name_of(name))}</th>" for name in FLOW_COLUMNS)
    lines = "".join(
        "<tr>"
        + "".join(f"<td>{escape(_cell(name, row[name]))}</td>" for name in FLOW_COLUMNS)
        + "</tr>"
        for row in result.flows[:MOST]
    )
    more = len(result.flows) - MOST
    rest = f"<p>... and {more} more</p>" if more > 0 else ""
    facts = f"<p>{_facts(result.run)}</p>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>{rest}{facts}"


def _cell(column: str, value: rows.Cell) -> str:
    if value is None or isinstance(value, (str, bool)):
        return str(value or "")
    return si.text(float(value), si.unit_of(column), DIGITS)


def _facts(run: rows.Facts) -> str:
    if isinstance(run, rows.Run):
        return f"seed {run.seed}, replication {run.replication}, {run.events} events"
    return f"{run.end_s:g} s"
