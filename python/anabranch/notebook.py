"""What notebooks show of a result."""

from __future__ import annotations

from html import escape

from anabranch.experiment import RunResult
from anabranch.tables import FLOW_COLUMNS, cell

MOST = 20
"""Rows shown; the rest is counted."""


def flows_html(result: RunResult) -> str:
    """The flows as an HTML table, and the run's facts below."""
    head = "".join(f"<th>{escape(name)}</th>" for name in FLOW_COLUMNS)
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell(row[name]))}</td>" for name in FLOW_COLUMNS) + "</tr>"
        for row in result.flows[:MOST]
    )
    more = len(result.flows) - MOST
    rest = f"<p>... and {more} more</p>" if more > 0 else ""
    facts = f"seed {result.run['seed']}, replication {result.run['replication']}"
    facts += f", {result.run['events']} events"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{rest}<p>{facts}</p>"
