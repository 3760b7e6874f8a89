"""The timeline as a chart: a lane for each link, flow and path."""

from __future__ import annotations

from collections.abc import Sequence

from anabranch.observed import STATES
from anabranch.report.charts import Chart, Kind, Trace
from anabranch.timeline import Event, lanes

MOST = 40
"""Lanes of a chart."""
_SPANS = {
    "flow": ("flow lasts", 5),
    "data": ("new data sent", 0),
    "outage": ("outage", 1),
}
_POINTS: dict[str, tuple[str, Kind, int, int]] = {
    "handshake": ("handshake", "marks", 2, 0),
    "close": ("end of the connection", "marks", 2, 1),
    "address": ("addresses", "marks", 4, 2),
    "heartbeat": ("heartbeat", "marks", 5, 0),
    "timeout": ("timeout", "marks", 6, 3),
    "fast-retransmit": ("fast retransmit", "marks", 6, 2),
    "ecn": ("window reduced for marks", "marks", 3, 2),
    "mark": ("CE marks received", "marks", 3, 0),
    "probe": ("tail loss probe", "marks", 0, 1),
    "undo": ("reduction undone", "marks", 0, 2),
    "loss": ("lost", "crosses", 6, 0),
    "retransmission": ("sent again", "dots", 4, 0),
}
"""Of each kind of event its name, form, colour and mark."""
_DOWN = STATES[2:]


def timeline_chart(every: Sequence[Event], end_s: float, link: str) -> Chart | None:
    """Charts the events of a run over time; nothing of a run of which only flows are known."""
    if not any(event.kind != "flow" for event in every) or not end_s > 0:
        return None
    names = lanes(list(every))
    shown = names[:MOST]
    lane = {name: float(at) for at, name in enumerate(reversed(shown))}
    known = [event for event in every if event.lane in lane]
    traces = []
    for kind, (name, colour) in _SPANS.items():
        traces += _spans(name, [e for e in known if e.kind == kind], lane, colour)
    down = [event for event in known if event.kind == "state" and event.detail in _DOWN]
    traces += _spans("path failed", down, lane, 3)
    for kind, (name, form, colour, mark) in _POINTS.items():
        mine = [event for event in known if event.kind == kind]
        if mine:
            x, y = [event.time_s for event in mine], [lane[event.lane] for event in mine]
            traces.append(Trace(name, form, x, y, colour=colour, mark=mark))
    more = len(names) - len(shown)
    notes = [f"{more} more flows and paths are in the table."] if more > 0 else []
    return Chart(
        "Timeline", "time (s)", "", traces, link=link, xlim=(0.0, end_s), tall=len(shown) > 6,
        ynames=list(reversed(shown)), notes=notes,
    )  # fmt: skip


def _spans(name: str, events: Sequence[Event], lane: dict[str, float], colour: int) -> list[Trace]:
    if not events:
        return []
    ends = [event.time_s if event.until_s is None else event.until_s for event in events]
    x, y = [event.time_s for event in events], [lane[event.lane] for event in events]
    return [Trace(name, "spans", x, y, high=ends, colour=colour)]
